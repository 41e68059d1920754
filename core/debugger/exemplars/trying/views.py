"""The results of trying exemplars: replays, and the sums of credits."""

from collections import Counter
from collections.abc import Iterable, Sequence

from core.debugger.ask_again.views import Attribution
from core.debugger.evaluations.figures import success_word
from core.schema.formats import count
from core.schema.record import Record


class ReplayResult(Record):
    """The result of carrying an exemplar's actions out on its task."""

    id: str
    version: int = 1
    task: str = ""
    seed: int = 0
    success: bool | None = None
    """None if it was not replayed, or nobody could judge."""
    looks: int = 0
    """How many of its looks were carried out."""
    problem: str = ""
    """Why it was not a success, or was not replayed."""
    stopped_at: int = 0
    """The look that could not be carried out, or was not followed by another; 0 if all were."""
    guessed: tuple[str, ...] = ()
    """Elements that were found again, but not for certain."""
    when: float = 0.0

    @property
    def outcome(self) -> str:
        """How it ended, in one or two words."""
        return success_word(self.success) if self.task else "not tried"

    @property
    def plays(self) -> str:
        """Whether it can be carried out, and how far, as a sentence."""
        if not self.task:
            return f"Not replayed: {self.problem}"
        steps = count(self.looks, "step")
        guessed = f", not certain of {'; '.join(self.guessed)}" if self.guessed else ""
        if self.success:
            return f"Plays: yes, {steps}, success{guessed}."
        plays = "no" if self.success is False else "not known"
        where = f"step {self.stopped_at}: " if self.stopped_at else f"{steps} carried out. "
        return f"Plays: {plays}, {where}{self.problem}"

    @property
    def sentence(self) -> str:
        where = f"{self.task}, seed {self.seed}: " if self.task else ""
        found = {True: "a success", False: "no success", None: "not known"}[self.success]
        guessed = f" Not for certain: {'; '.join(self.guessed)}." if self.guessed else ""
        return f"{where}{found}. {self.problem}".rstrip() + guessed


def replays_in_words(results: Sequence[ReplayResult]) -> str:
    """Return how many replays succeeded, as a sentence."""
    counts = Counter((bool(result.task), result.success) for result in results)
    others = (
        (counts[(True, False)], "do not"),
        (counts[(True, None)], "could not be judged"),
        (sum(not result.task for result in results), "were not tried"),
    )
    parts = [f"{counts[(True, True)]} of {len(results)} still succeed"]
    return ", ".join(parts + [f"{count} {words}" for count, words in others if count]) + "."


class AttributionSum(Record):
    """The credits of an exemplar at all steps that were measured."""

    id: str
    family: str = ""
    steps: int = 0
    total: float = 0.0
    mean: float = 0.0


def sums_of(attributions: Iterable[Attribution]) -> tuple[AttributionSum, ...]:
    """Return the sum for each exemplar, the largest first; steps that nobody could answer do not count."""
    by_id: dict[str, list[tuple[str, float]]] = {}
    for attribution in attributions:
        if attribution.share is not None:
            by_id.setdefault(attribution.id, []).append((attribution.family, attribution.share))
    sums = []
    for id, shares in by_id.items():
        total = sum(share for _, share in shares)
        sums.append(
            AttributionSum(
                id=id, family=shares[-1][0], steps=len(shares), total=total, mean=total / len(shares)
            )
        )
    return tuple(sorted(sums, key=lambda one: (-one.total, one.id)))
