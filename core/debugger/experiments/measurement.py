"""The common part of bisections and experiments: runs that are repeated, judged and counted."""

from abc import abstractmethod
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from math import sqrt
from random import Random
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from pydantic import Field

from core.schema.errors import BackstepError
from core.schema.record import Record

if TYPE_CHECKING:
    from core.debugger.headless import RunReport
    from core.trace.records import RunRow

_MOST_NUMBERS = 10_000
_DRAWS = 2000
Z = 1.96
"""Standard normal quantile of a two-sided 95 % interval."""


class HasCost(Protocol):
    """Something with a cost, such as a run."""

    @property
    def cost(self) -> float | None: ...


class RunResult(Record):
    """The result of one run."""

    run: int | None = None
    """None if the trace could not be written."""
    success: bool | None = None
    """None if nobody could judge."""
    reward: float | None = None
    outcome: str = ""
    steps: int = 0
    llm_calls: int = 0
    cost: float | None = None
    """US dollars; None if no call had a price."""
    seconds: float = 0.0
    error: str = ""

    @classmethod
    async def of(cls, run: Awaitable["RunReport"]) -> Self:
        """Wait for the end of a run; one that cannot begin is a result with an error."""
        try:
            report = await run
        except BackstepError as error:
            return cls(outcome="error", error=str(error))
        return cls.model_validate(report.model_dump(include=set(cls.model_fields)))

    @classmethod
    def of_row(cls, row: "RunRow") -> Self:
        """Return what came of a stored run."""
        same = {"run", "outcome", "steps", "llm_calls", "cost", "seconds", "error"}
        verdict = {"success": row.verdict.success, "reward": row.verdict.reward}
        return cls.model_validate({**row.model_dump(include=same), **verdict})


def success_word(success: bool | None) -> str:
    return {True: "success", False: "no success", None: "not judged"}[success]


def some(number: int, noun: str) -> str:
    """Return ``1 step`` or ``3 steps``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def calls_of(runs: Iterable[RunResult]) -> int:
    """Return the LLM calls of all runs."""
    return sum(one.llm_calls for one in runs)


def cost_of(runs: Iterable[HasCost]) -> float | None:
    """Return the US dollars of the calls that have a price; None if none has."""
    costs = [one.cost for one in runs if one.cost is not None]
    return sum(costs) if costs else None


class MeasurementRequest(Record):
    """The common request of measurements."""

    times: int = Field(default=1, ge=1)
    preset: str = ""
    llm: str = ""
    most_calls: int | None = Field(default=None, ge=1)
    """LLM calls of all runs after which nothing further is begun."""
    most_cost: float | None = Field(default=None, gt=0)
    """US dollars, likewise; calls without a price do not count."""

    @property
    def common(self) -> dict[str, Any]:
        """What a measurement says of its request."""
        return self.model_dump(include={"times", "most_calls", "most_cost"})


class JobReport(Record):
    """The progress of a job in a subprocess."""

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Whether the job ended by itself, and not by a failure."""

    @property
    @abstractmethod
    def done(self) -> int:
        """How much of `total` is done."""

    @property
    @abstractmethod
    def total(self) -> int:
        """How much is to be done."""

    @property
    def failure(self) -> str:
        """Why it failed, as far as it says so itself."""
        return ""

    @property
    def sentence(self) -> str:
        """The result so far."""
        return ""


class Measurement(JobReport):
    """A measurement with its results so far; stored as JSON."""

    number: int = 0
    """Given by the database that stores it."""
    preset: str
    llm: str
    browser: str = ""
    times: int = 1
    most_calls: int | None = None
    most_cost: float | None = None
    when: float
    """Seconds since the epoch."""
    state: Literal["running", "done", "cancelled", "limit", "failed"] = "running"
    why: str = ""
    """Why it ended before everything was done."""

    @property
    @abstractmethod
    def what(self) -> str:
        """What is measured, in a few words."""

    @property
    @abstractmethod
    def run_results(self) -> Iterable[RunResult]:
        """The result of each run."""

    @property
    @abstractmethod
    def done(self) -> int:
        """How much of `total` is done."""

    @property
    @abstractmethod
    def total(self) -> int: ...

    @abstractmethod
    def table(self) -> Sequence[Mapping[str, object]]:
        """Return the results as rows with the same columns, as they are exported."""

    @property
    def calls(self) -> int:
        return calls_of(self.run_results)

    @property
    def cost(self) -> float | None:
        return cost_of(self.run_results)

    @property
    def is_complete(self) -> bool:
        return self.state not in ("running", "failed")

    @property
    def failure(self) -> str:
        return self.why

    def limit_reached(self) -> str:
        """Return why nothing further is to be begun, or nothing."""
        if self.most_calls is not None and self.calls >= self.most_calls:
            return f"The limit of {self.most_calls} LLM calls was reached."
        if self.most_cost is not None and (self.cost or 0.0) >= self.most_cost:
            return f"The limit of ${self.most_cost:g} was reached."
        return ""

    def ended(self) -> Self:
        """Return it as done, as ended at its limit, or else as cancelled."""
        interrupted = any(one.outcome == "interrupted" for one in self.run_results)
        if self.done >= self.total and not interrupted:
            return self.replace(state="done")
        limit = "" if interrupted else self.limit_reached()
        state = "limit" if limit else "cancelled"
        return self.replace(state=state, why=limit or "It was cancelled.")

    def failed(self, error: BaseException) -> Self:
        """Return it as failed, or as cancelled where `error` is not an exception of ours."""
        if not isinstance(error, Exception):
            return self.replace(state="cancelled", why="It was cancelled.")
        why = str(error) if isinstance(error, BackstepError) else repr(error)
        return self.replace(state="failed", why=why)


def read_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a text such as ``1, 3, 5-8``, each once.

    Raises ValueError with the part that is no number and no range, or that is
    a range of more than 10 000 numbers.
    """
    found: dict[int, None] = {}
    for part in text.replace(",", " ").split():
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(part) > 12:
            raise ValueError(part)
        numbers = range(int(first), int(last or first) + 1)
        if not 0 < len(numbers) <= _MOST_NUMBERS:
            raise ValueError(part)
        found.update(dict.fromkeys(numbers))
    return tuple(found)


def wilson(successes: int, count: int) -> tuple[float, float]:
    """Return the 95 % score interval of a share, from 0 to 1; all of it if nothing was counted.

    E. B. Wilson, Probable inference, the law of succession, and statistical
    inference, JASA 22 (1927).
    """
    if count == 0:
        return 0.0, 1.0
    share = successes / count
    spread = Z * sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    middle = share + Z * Z / (2 * count)
    scale = 1 + Z * Z / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def over_groups(counts: Iterable[tuple[int, int]]) -> tuple[float, float] | None:
    """Return the 95 % interval of a ratio over groups such as tasks; None for fewer than two of them.

    Each group gives its part of the numerator and of the denominator. The
    groups are drawn with replacement, whole: runs of one task are not
    independent of each other. This is the cluster bootstrap with percentiles
    (A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application,
    1997, sections 3.8 and 5.3), with a fixed seed. With few groups it is
    narrower than it should be.
    """
    groups = sorted(one for one in counts if one[1])
    if len(groups) < 2:
        return None
    random = Random(0)
    ratios = []
    for _ in range(_DRAWS):
        drawn = random.choices(groups, k=len(groups))
        ratios.append(sum(one[0] for one in drawn) / sum(one[1] for one in drawn))
    ratios.sort()
    tail = round(_DRAWS * 0.025)
    return ratios[tail], ratios[-tail - 1]


def paired(both: int, first: int, second: int, neither: int) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two shares counted on the same cases, from -1 to 1.

    `first` and `second` are the cases that only the one, or only the other,
    brought to success. The square-and-add interval with continuity corrected
    phi: R. G. Newcombe, Improved confidence intervals for the difference
    between binomial proportions based on paired data, Statistics in Medicine
    17 (1998), method 10. All of it if nothing was counted.
    """
    count = both + first + second + neither
    if count == 0:
        return -1.0, 1.0
    one, other = (both + first) / count, (both + second) / count
    (low_1, high_1), (low_2, high_2) = wilson(both + first, count), wilson(both + second, count)
    product = (both + first) * (second + neither) * (both + second) * (first + neither)
    excess: float = both * neither - first * second
    if excess > 0:
        excess = max(excess - count / 2, 0.0)
    phi = excess / sqrt(product) if product else 0.0
    difference = one - other
    down, up = (one - low_1, high_2 - other), (high_1 - one, other - low_2)
    low = difference - sqrt(max(0.0, down[0] ** 2 - 2 * phi * down[0] * down[1] + down[1] ** 2))
    high = difference + sqrt(max(0.0, up[0] ** 2 - 2 * phi * up[0] * up[1] + up[1] ** 2))
    return max(-1.0, low), min(1.0, high)
