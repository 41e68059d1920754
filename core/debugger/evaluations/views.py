"""The views of evaluations."""

from typing import Literal

from pydantic import SerializeAsAny

from core.debugger.causes.records import Suspicion
from core.debugger.evaluations.matrix import Matrix
from core.debugger.evaluations.records import EvaluationPlan, Request
from core.schema.record import Record
from core.trace.records import RunRow

EvaluationState = Literal["under way", "interrupted", "finished"]


class EvaluationItem(Record):
    """An evaluation as the list shows it."""

    number: int
    name: str
    when: float
    """Seconds since the epoch."""
    total: int = 0
    done: int = 0
    judged: int = 0
    successes: int = 0
    failed: int = 0
    """Cases that came to no success, or failed with their world."""
    state: EvaluationState = "interrupted"
    mine: bool = False
    """Whether this window has started the process that does it."""
    failures_of: str = ""
    """The evaluation whose failures it does again."""
    problem: str = ""
    """Why its plan cannot be read."""


class ChosenEvaluation(Record):
    """An evaluation with all its results."""

    number: int
    name: str
    plan: EvaluationPlan
    matrix: Matrix
    suspicions: tuple[Suspicion, ...] = ()
    """What its runs used, the most suspicious first; empty without failures."""


class SuiteItem(Record):
    """A named selection of tasks."""

    name: str
    title: str


class EvaluationsView(Record):
    """All evaluations of the database, and the selected one."""

    ready: bool = False
    """Whether they were read."""
    items: tuple[EvaluationItem, ...] = ()
    """The newest first."""
    suites: tuple[SuiteItem, ...] = ()
    """Those that can be chosen from."""
    number: int | None = None
    """The evaluation that is looked at."""
    chosen: ChosenEvaluation | None = None
    """None while it is read."""
    started: tuple[str, ...] = ()
    """The names of those that processes of this window do now."""
    said: dict[str, str] = {}
    """By the name of an evaluation that this window has started, what its process said last."""
    notice: str = ""
    problem: str = ""

    @property
    def item(self) -> EvaluationItem | None:
        """The evaluation that is looked at, as the list has it."""
        return next((item for item in self.items if item.number == self.number), None)


class RequestPreview(Record):
    """The size and cost of a request, before it is started."""

    request: SerializeAsAny[Request]
    tasks: tuple[str, ...] = ()
    """The ids of those that are selected."""
    variants: int = 0
    runs: int = 0
    command: str = ""
    """The command line that does the same."""
    cost: float | None = None
    """US dollars, by what runs of the same presets and LLMs have cost so far; None if no run had a price."""
    priced: int = 0
    """Runs of which a price is known, by their variant."""
    problem: str = ""
    """Why it cannot be begun."""


class BisectChoices(Record):
    """What can be chosen to bisect a run."""

    row: RunRow
    steps: tuple[int, ...]


class OpenedRun(Record):
    """A run, and the step to show."""

    run: int
    step: int
