"""Records of requests and results of experiments and replays of exemplars."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field, model_validator

from core.debugger.ask_again.views import Attribution
from core.debugger.experiments.measurement import (
    JobReport,
    Measurement,
    MeasurementRequest,
    RunResult,
    paired,
    read_numbers,
    some,
    success_word,
)
from core.schema.changes import Changes
from core.schema.errors import UsageError
from core.schema.record import Record
from core.settings.settings import OnGate


class Subject(Record):
    """What is measured: an exemplar, all of a family, or a change of one."""

    kind: Literal["exemplar", "family", "change"] = "exemplar"
    name: str = Field(min_length=1)
    """The id, or the family."""
    before: int = 0
    """For a change: the version without it."""
    after: int = 0
    """For a change: the version with it."""

    @model_validator(mode="after")
    def _has_versions(self) -> "Subject":
        if self.kind == "change" and (self.before < 1 or self.after < 1 or self.before == self.after):
            raise ValueError("a change needs two different versions, such as 1 and 2")
        return self

    @property
    def words(self) -> str:
        if self.kind == "family":
            return f"the family {self.name}"
        return (
            self.name if self.kind == "exemplar" else f"{self.name}, version {self.after} for {self.before}"
        )

    @property
    def with_it(self) -> Changes:
        """What the runs with it use."""
        return Changes(versions={self.name: self.after}) if self.kind == "change" else Changes()

    @property
    def without_it(self) -> Changes:
        """What the runs without it use."""
        if self.kind == "change":
            return Changes(versions={self.name: self.before})
        return (
            Changes(without_families=(self.name,)) if self.kind == "family" else Changes(without=(self.name,))
        )


class WorthRequest(MeasurementRequest):
    """The request of an experiment; the LLM is by default that of the settings."""

    subject: Subject
    tasks: tuple[str, ...] = ()
    """Ids, or patterns such as ``miniwob/click-*``; empty for the tasks of the subject."""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    times: int = Field(default=1, ge=1, le=100)
    """How often each task is done at each seed."""
    preset: str = "synapse"
    on_gate: OnGate | Literal[""] = ""
    """What is done where a person would be asked; empty for the rule of the settings."""


class Arm(RunResult):
    """The result of one run of a pair."""

    used: bool = False
    """Whether the LLM was shown the exemplar, or one of the family."""


class Pair(Record):
    """One task at one seed, done with and without."""

    task: str
    seed: int
    time: int = 1
    with_it: Arm
    without_it: Arm

    @property
    def judged(self) -> bool:
        return self.with_it.success is not None and self.without_it.success is not None

    @property
    def flip(self) -> Literal["", "to success", "to failure"]:
        """What having it changed."""
        if not self.judged or self.with_it.success == self.without_it.success:
            return ""
        return "to success" if self.with_it.success else "to failure"

    @property
    def errors(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.with_it.error, self.without_it.error)))


class Worth(Measurement):
    """An experiment with its results so far; stored in the library."""

    subject: Subject
    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    on_gate: str = ""
    """What was done where a person would have been asked."""
    unseeded: tuple[str, ...] = ()
    """Tasks that are the same at every seed."""
    left_out: tuple[tuple[str, int], ...] = ()
    """Tasks and seeds that the subject itself was recorded at, which would tell nothing."""
    trace: str = ""
    """The database of traces that has the runs."""
    pairs: tuple[Pair, ...] = ()

    @property
    def cases(self) -> tuple[tuple[str, int, int], ...]:
        """What is to be done, as task, seed and time, in this order."""
        left_out = set(self.left_out)
        return tuple(
            (task, seed, time)
            for time in range(1, self.times + 1)
            for seed in self.seeds
            for task in self.tasks
            if (task, seed) not in left_out
        )

    @property
    def what(self) -> str:
        return f"{self.subject.words}, {some(len(self.tasks), 'task')}"

    @property
    def run_results(self) -> Iterable[Arm]:
        return (one for pair in self.pairs for one in (pair.with_it, pair.without_it))

    @property
    def done(self) -> int:
        return len(self.pairs)

    @property
    def total(self) -> int:
        return len(self.cases)

    @property
    def summary(self) -> "WorthSummary":
        return WorthSummary.of(self.pairs)

    @property
    def sentence(self) -> str:
        """The result so far, with what is to be known of it."""
        words = self.summary.sentence
        if self.unseeded and len({(seed, time) for _, seed, time in self.cases}) > 1:
            same = ", ".join(self.unseeded[:3]) + (" and more" if len(self.unseeded) > 3 else "")
            are = "is" if len(self.unseeded) == 1 else "are"
            words += f" {same} {are} the same at every seed, so these pairs are repetitions."
        return words

    def table(self) -> Sequence[Mapping[str, object]]:
        """Return a row for each pair."""
        return [
            {
                "task": one.task,
                "seed": one.seed,
                "time": one.time,
                "with": success_word(one.with_it.success),
                "without": success_word(one.without_it.success),
                "flip": one.flip,
                "used": "yes" if one.with_it.used else "no",
                "run_with": one.with_it.run,
                "run_without": one.without_it.run,
                "steps_with": one.with_it.steps,
                "steps_without": one.without_it.steps,
                "llm_calls_with": one.with_it.llm_calls,
                "llm_calls_without": one.without_it.llm_calls,
                "errors": " | ".join(one.errors),
            }
            for one in self.pairs
        ]


class WorthSummary(Record):
    """The summary of pairs of runs."""

    pairs: int = 0
    judged: int = 0
    """Pairs of which both runs were judged; the others count neither way."""
    used: int = 0
    """Pairs in which the LLM was shown it."""
    successes_with: int = 0
    successes_without: int = 0
    to_success: int = 0
    """Judged pairs that were a success only with it."""
    to_failure: int = 0
    """Judged pairs that were a success only without it."""
    low: float = -1.0
    high: float = 1.0
    """The 95 % interval of the difference of the shares of successes."""

    @property
    def difference(self) -> float | None:
        """By how much the share of successes is higher with it, from -1 to 1."""
        return (self.to_success - self.to_failure) / self.judged if self.judged else None

    @property
    def sentence(self) -> str:
        if self.difference is None:
            return "No pair of runs was judged, so there is no result."
        words = (
            f"{self.successes_with} of {self.judged} succeed with it, {self.successes_without} without: "
            f"{self.difference * 100:+.0f} points (95 %: {self.low * 100:+.0f} to {self.high * 100:+.0f})."
        )
        if self.low <= 0 <= self.high:
            words += " The interval contains 0, so there is no evidence that it matters."
        if self.used < self.pairs:
            words += f" It was in the prompts of {self.used} of {self.pairs} pairs."
        return words

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> "WorthSummary":
        pairs = tuple(pairs)
        judged = [one for one in pairs if one.judged]
        up = sum(one.flip == "to success" for one in judged)
        down = sum(one.flip == "to failure" for one in judged)
        both = sum(bool(one.with_it.success and one.without_it.success) for one in judged)
        low, high = paired(both, up, down, len(judged) - both - up - down)
        return cls(
            pairs=len(pairs),
            judged=len(judged),
            used=sum(one.with_it.used for one in pairs),
            successes_with=both + up,
            successes_without=both + down,
            to_success=up,
            to_failure=down,
            low=low,
            high=high,
        )


def read_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of a text such as ``0-4`` or ``1,4,7``; raises UsageError if it is none."""
    try:
        found = read_numbers(text)
    except ValueError:
        found = ()
    if not found:
        raise UsageError(f'"{text}" is not a list of seeds: write 0-9, or 1,4,7; a range has at most 10000.')
    return found


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
    """The replays so far."""

    wanted: int
    """How many are replayed in all; so named in the lines that ``exemplars replay --lines`` prints."""
    results: tuple[ReplayResult, ...] = ()

    @property
    def done(self) -> int:
        return len(self.results)

    @property
    def total(self) -> int:
        return self.wanted

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
    for one in attributions:
        if one.share is not None:
            by_id.setdefault(one.id, []).append((one.family, one.share))
    sums = []
    for id, shares in by_id.items():
        total = sum(share for _, share in shares)
        sums.append(
            AttributionSum(
                id=id, family=shares[-1][0], steps=len(shares), total=total, mean=total / len(shares)
            )
        )
    return tuple(sorted(sums, key=lambda one: (-one.total, one.id)))
