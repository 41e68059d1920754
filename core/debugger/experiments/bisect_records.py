"""What is asked of a bisection, and what came of it, as records that travel."""

from typing import Literal

from pydantic import Field

from core.schema.errors import UsageError
from core.schema.record import Record


class BranchResult(Record):
    """What came of one branch."""

    run: int | None = None
    """None where the trace could not be written."""
    success: bool | None = None
    """None where nobody could tell."""
    reward: float | None = None
    outcome: str = ""
    steps: int = 0
    llm_calls: int = 0
    cost: float | None = None
    """None where no call had a price."""
    seconds: float = 0.0
    error: str = ""


class PrefixResult(Record):
    """What came of a prefix."""

    step: int
    """The first step that was not replayed."""
    action: str = ""
    """What the run itself did there."""
    runs: tuple[int, ...] = ()
    """The branches, in the order they were made."""
    successes: int = 0
    judged: int = 0
    """Branches that were judged; the others count neither way."""
    low: float = 0.0
    high: float = 1.0
    """The 95 % interval of the share of successes, from 0 to 1."""
    problems: tuple[str, ...] = ()
    """Why a branch could not be made or judged."""
    branches: tuple[BranchResult, ...] = ()

    @property
    def share(self) -> float | None:
        """The share of successes among those judged, from 0 to 1."""
        return self.successes / self.judged if self.judged else None


class Wanted(Record):
    """What is asked of a bisection."""

    run: int
    steps: tuple[int, ...] = ()
    """The steps to go on from; empty for all, or for every `every`-th."""
    every: int = Field(default=1, ge=1)
    times: int = Field(default=3, ge=1, le=1000)
    preset: str = ""
    """Empty for the run's own."""
    llm: str = ""
    """Empty for the run's own."""
    most_calls: int | None = Field(default=None, ge=1)
    """LLM calls of all branches after which no further one is begun."""
    most_cost: float | None = Field(default=None, gt=0)
    """US dollars, likewise; calls without a price do not count."""


class Bisection(Record):
    """A bisection as far as it has come; stored with its run."""

    number: int = 0
    """Given by the trace."""
    run: int
    preset: str
    llm: str
    browser: str = ""
    times: int
    chosen: tuple[int, ...]
    """The steps, in the order they are tried."""
    most_calls: int | None = None
    most_cost: float | None = None
    when: float
    """Seconds since the epoch."""
    state: Literal["running", "done", "cancelled", "limit", "failed"] = "running"
    why: str = ""
    """Why it ended before all was tried."""
    results: tuple[PrefixResult, ...] = ()

    @property
    def made(self) -> int:
        """Branches that were made, or that could not be."""
        return sum(max(len(one.branches), len(one.runs)) for one in self.results)

    @property
    def wanted(self) -> int:
        return len(self.chosen) * self.times

    @property
    def calls(self) -> int:
        return sum(branch.llm_calls for one in self.results for branch in one.branches)

    @property
    def cost(self) -> float | None:
        """US dollars of the calls that have a price; None where none has."""
        costs = [b.cost for one in self.results for b in one.branches if b.cost is not None]
        return sum(costs) if costs else None

    def enough(self) -> str:
        """Return why no further branch is to be begun, or nothing."""
        if self.most_calls is not None and self.calls >= self.most_calls:
            return f"The limit of {self.most_calls} LLM calls was reached."
        if self.most_cost is not None and (self.cost or 0.0) >= self.most_cost:
            return f"The limit of ${self.most_cost:g} was reached."
        return ""

    def with_result(self, result: PrefixResult) -> "Bisection":
        """Return it with this result, in place of an earlier one of the same step."""
        others = tuple(one for one in self.results if one.step != result.step)
        return self.replace(results=(*others, result))


def read_steps(text: str) -> tuple[int, ...]:
    """Return the steps of a text such as ``1, 3, 5-8``; raises UsageError where it is none."""
    found: list[int] = []
    for part in filter(None, (one.strip() for one in text.replace(" ", ",").split(","))):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(part) > 12:
            raise UsageError(f'"{part}" names no step: write numbers and ranges, such as 1, 3, 5-8.')
        end = int(last) if dash else int(first)
        if end < int(first) or end - int(first) > 10_000:
            raise UsageError(f'"{part}" is no range of steps: write the lower one first, such as 5-8.')
        found += range(int(first), end + 1)
    return tuple(dict.fromkeys(found))
