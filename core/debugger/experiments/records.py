"""What is asked of an experiment with exemplars, and what came of it, as records that travel."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from pydantic import Field, model_validator

from core.debugger.experiments.bisect_records import BranchResult
from core.debugger.experiments.confidence import paired
from core.schema.changes import Changes
from core.schema.record import Record
from core.settings.settings import OnGate


class Subject(Record):
    """What is tried: an exemplar, all of a family, or a change of one."""

    kind: Literal["exemplar", "family", "change"] = "exemplar"
    name: str = Field(min_length=1)
    """The id, or the family."""
    before: int = 0
    """For a change: the version without it."""
    after: int = 0
    """For a change: the version with it."""

    @model_validator(mode="after")
    def _told(self) -> "Subject":
        if self.kind == "change" and (self.before < 1 or self.after < 1 or self.before == self.after):
            raise ValueError("a change is told by two different versions, such as 1 and 2")
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
        """What the runs with it go by."""
        return Changes(versions={self.name: self.after}) if self.kind == "change" else Changes()

    @property
    def without_it(self) -> Changes:
        """What the runs without it go by."""
        if self.kind == "change":
            return Changes(versions={self.name: self.before})
        return (
            Changes(without_families=(self.name,)) if self.kind == "family" else Changes(without=(self.name,))
        )


class WorthWanted(Record):
    """What is asked of an experiment."""

    subject: Subject
    tasks: tuple[str, ...] = ()
    """Ids, or patterns such as ``miniwob/click-*``; empty for those that the subject came from."""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    times: int = Field(default=1, ge=1, le=100)
    """How often each task is done at each seed."""
    preset: str = "synapse"
    llm: str = ""
    """Empty for the one of the settings."""
    on_gate: OnGate | Literal[""] = ""
    """What is done where a person would be asked; empty for the rule of the settings."""
    most_calls: int | None = Field(default=None, ge=1)
    """LLM calls of all runs after which no further pair is begun."""
    most_cost: float | None = Field(default=None, gt=0)
    """US dollars, likewise; calls without a price do not count."""


class RunResult(BranchResult):
    """What came of one run."""

    used: bool = False
    """Whether the LLM was shown the exemplar, or one of the family."""


class Pair(Record):
    """One task at one seed, done with and without."""

    task: str
    seed: int
    time: int = 1
    with_it: RunResult
    without_it: RunResult

    @property
    def judged(self) -> bool:
        return self.with_it.success is not None and self.without_it.success is not None

    @property
    def flip(self) -> Literal["", "to success", "to failure"]:
        """What having it changed."""
        if not self.judged or self.with_it.success == self.without_it.success:
            return ""
        return "to success" if self.with_it.success else "to failure"


class Experiment(Record):
    """An experiment as far as it has come; kept in the library."""

    number: int = 0
    """Given by the library."""
    subject: Subject
    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    times: int = 1
    preset: str
    llm: str
    browser: str = ""
    on_gate: str = ""
    """What was done where a person would have been asked."""
    unseeded: tuple[str, ...] = ()
    """Tasks that are the same at every seed."""
    left_out: tuple[tuple[str, int], ...] = ()
    """Tasks and seeds that the subject itself was recorded at, which would tell nothing."""
    trace: str = ""
    """The database of traces that has the runs."""
    most_calls: int | None = None
    most_cost: float | None = None
    when: float
    """Seconds since the epoch."""
    state: Literal["running", "done", "cancelled", "limit", "failed"] = "running"
    why: str = ""
    """Why it ended before all was tried."""
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
    def runs(self) -> Iterable[RunResult]:
        for pair in self.pairs:
            yield from (pair.with_it, pair.without_it)

    @property
    def calls(self) -> int:
        return sum(one.llm_calls for one in self.runs)

    @property
    def cost(self) -> float | None:
        """US dollars of the calls that have a price; None where none has."""
        costs = [one.cost for one in self.runs if one.cost is not None]
        return sum(costs) if costs else None

    def enough(self) -> str:
        """Return why no further pair is to be begun, or nothing."""
        if self.most_calls is not None and self.calls >= self.most_calls:
            return f"The limit of {self.most_calls} LLM calls was reached."
        if self.most_cost is not None and (self.cost or 0.0) >= self.most_cost:
            return f"The limit of ${self.most_cost:g} was reached."
        return ""

    @property
    def worth(self) -> "Worth":
        return Worth.of(self.pairs)

    @property
    def sentence(self) -> str:
        """What came of it so far, with what is to be known of it."""
        words = self.worth.sentence
        if self.unseeded and len({(seed, time) for _, seed, time in self.cases}) > 1:
            same = ", ".join(self.unseeded[:3]) + (" and more" if len(self.unseeded) > 3 else "")
            are = "is" if len(self.unseeded) == 1 else "are"
            words += f" {same} {are} the same at every seed: these pairs repeat one another."
        return words


class Worth(Record):
    """What pairs of runs say of their subject."""

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
            return "No pair of runs was judged: nothing can be said."
        words = (
            f"{self.successes_with} of {self.judged} succeed with it, {self.successes_without} without: "
            f"{self.difference * 100:+.0f} points (95 %: {self.low * 100:+.0f} to {self.high * 100:+.0f})."
        )
        if self.low <= 0 <= self.high:
            words += " The interval holds 0: it is not shown to matter."
        if self.used < self.pairs:
            words += f" It was in the prompts of {self.used} of {self.pairs} pairs."
        return words

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> "Worth":
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


class Replayed(Record):
    """What came of carrying an exemplar's actions out on its task."""

    id: str
    version: int = 1
    task: str = ""
    seed: int = 0
    success: bool | None = None
    """None where it could not be tried, or nobody could tell."""
    looks: int = 0
    """How many of its looks were carried out."""
    problem: str = ""
    """Why it was no success, or was not tried."""
    guessed: tuple[str, ...] = ()
    """Elements that were found again, but not for certain."""
    when: float = 0.0

    @property
    def sentence(self) -> str:
        told = f"{self.task}, seed {self.seed}: " if self.task else ""
        found = {True: "a success", False: "no success", None: "not known"}[self.success]
        guessed = f" Not for certain: {'; '.join(self.guessed)}." if self.guessed else ""
        return f"{told}{found}. {self.problem}".rstrip() + guessed


class Credit(Record):
    """How an exemplar moved the LLM at one step: asked again with all exemplars, and with this one left out."""

    id: str
    family: str = ""
    trace: str = ""
    run: int
    step: int
    llm: str
    temperature: float | None = None
    action: str
    """What the step did: how often it is answered is counted."""
    with_same: int = 0
    with_all: int = 0
    """Answers that came, with all exemplars."""
    without_same: int = 0
    without_all: int = 0
    when: float = 0.0
    success: bool | None = None
    """Whether the run was a success, as far as it was known."""

    @property
    def share(self) -> float | None:
        """By how much likelier the action was with it, from -1 to 1."""
        if not self.with_all or not self.without_all:
            return None
        return self.with_same / self.with_all - self.without_same / self.without_all


class CreditSum(Record):
    """The credits of an exemplar at all steps where it was asked about."""

    id: str
    family: str = ""
    steps: int = 0
    total: float = 0.0
    mean: float = 0.0


def summed(credits: Iterable[Credit]) -> tuple[CreditSum, ...]:
    """Return the sum for each exemplar, the largest first; a step that nobody could answer counts not."""
    by_id: dict[str, list[Credit]] = {}
    for one in credits:
        if one.share is not None:
            by_id.setdefault(one.id, []).append(one)
    sums = []
    for id, some in by_id.items():
        total = sum(one.share or 0.0 for one in some)
        sums.append(
            CreditSum(id=id, family=some[-1].family, steps=len(some), total=total, mean=total / len(some))
        )
    return tuple(sorted(sums, key=lambda one: (-one.total, one.id)))


def ends_in_words(found: Replayed) -> str:
    """Return how it ended in one or two words."""
    if not found.task:
        return "not tried"
    return {True: "success", False: "no success", None: "not judged"}[found.success]


class ReplayTally(Record):
    """What came of those that were replayed so far."""

    wanted: int
    results: tuple[Replayed, ...] = ()

    @property
    def done(self) -> int:
        return len(self.results)

    @property
    def sentence(self) -> str:
        counts = Counter((bool(one.task), one.success) for one in self.results)
        parts = [
            f"{counts[(True, True)]} of {self.wanted} still succeed",
            f"{counts[(True, False)]} do not",
            f"{counts[(True, None)]} could not be judged",
            f"{sum(count for (tried, _), count in counts.items() if not tried)} were not tried",
        ]
        told = [parts[0], *(part for part in parts[1:] if not part.startswith("0 "))]
        return f"{', '.join(told)}."

    def with_result(self, result: Replayed) -> "ReplayTally":
        return self.replace(results=(*self.results, result))
