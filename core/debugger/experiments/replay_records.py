"""What came of replaying exemplars, as records that travel."""

from collections import Counter

from core.debugger.experiments.measurement import JobReport, success_word
from core.schema.record import Record


class ReplayResult(Record):
    """What came of carrying an exemplar's actions out on its task."""

    id: str
    version: int = 1
    task: str = ""
    seed: int = 0
    success: bool | None = None
    """None where it was not replayed, or nobody could judge."""
    looks: int = 0
    """How many of its looks were carried out."""
    problem: str = ""
    """Why it was no success, or was not replayed."""
    guessed: tuple[str, ...] = ()
    """Elements that were found again, but not for certain."""
    when: float = 0.0

    @property
    def outcome(self) -> str:
        """How it ended, in one or two words."""
        return success_word(self.success) if self.task else "not tried"

    @property
    def sentence(self) -> str:
        where = f"{self.task}, seed {self.seed}: " if self.task else ""
        found = {True: "a success", False: "no success", None: "not known"}[self.success]
        guessed = f" Not for certain: {'; '.join(self.guessed)}." if self.guessed else ""
        return f"{where}{found}. {self.problem}".rstrip() + guessed


class ReplayReport(JobReport):
    """What came of those that were replayed so far."""

    wanted: int
    """How many are replayed in all; so named in the lines that ``exemplars replay --lines`` prints."""
    results: tuple[ReplayResult, ...] = ()

    @property
    def done(self) -> int:
        return len(self.results)

    @property
    def is_complete(self) -> bool:
        return self.done == self.wanted

    @property
    def sentence(self) -> str:
        counts = Counter((bool(one.task), one.success) for one in self.results)
        others = (
            (counts[(True, False)], "do not"),
            (counts[(True, None)], "could not be judged"),
            (sum(not one.task for one in self.results), "were not tried"),
        )
        parts = [f"{counts[(True, True)]} of {self.wanted} still succeed"]
        return ", ".join(parts + [f"{count} {words}" for count, words in others if count]) + "."

    def with_result(self, result: ReplayResult) -> "ReplayReport":
        return self.replace(results=(*self.results, result))
