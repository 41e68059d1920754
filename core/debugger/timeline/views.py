"""The views of a run over time: its steps, their pictures, and the page logs."""

from typing import Literal

from core.browser.log.records import LogPart
from core.debugger.steps.views import ScreenshotView
from core.schema.record import Record
from core.schema.step import BlobHash, CallRecord, Phase, seconds_covered
from core.trace.records import RunRow, StepRow


class PageLogView(Record):
    """The log of one step."""

    run: int = 0
    step: int = 0
    parts: tuple[LogPart, ...] = ()
    message: str = ""
    """In place of the rest: why there is none, or that it is being read."""


MarkKind = Literal[
    "breakpoint",  # the run was to stop, or to tell, there
    "person",  # a person changed something
    "went back",  # the page was brought back to an earlier step
    "error",  # an action or a call failed
    "remedy",  # a prepared alternative was tried
    "trial",  # a new trial begins
    "branch",  # the run left the one it branched from, or another run left this one
    "right",  # the step was judged to have served its purpose
    "wrong",  # the step was judged not to have served it
]


class PhaseSpan(Record):
    """One phase of a step; times are seconds since the epoch."""

    phase: Phase
    begun: float
    ended: float
    begun_known: bool = True
    """False if only its end was stored: `begun` is then the end of what was before, waiting included."""


class HeldSpan(Record):
    """Time in which nothing ran: a person, a breakpoint, the pace or another program held the run."""

    begun: float
    ended: float
    step: int
    why: str = ""

    @property
    def seconds(self) -> float:
        return self.ended - self.begun


class TimeMark(Record):
    """A mark at one moment."""

    time: float
    step: int
    kind: MarkKind
    text: str
    """In words, with what it is."""


class StepSpan(StepRow):
    """One step from its beginning to the end of its last phase. For steps before a branch, its run is another one."""

    begun: float
    ended: float
    phases: tuple[PhaseSpan, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    picture: BlobHash = ""
    """The blob of the page as the step observed it; empty if no picture was taken or kept."""
    held: tuple[tuple[float, float], ...] = ()
    """When it was held within a phase."""

    @property
    def seconds_asked(self) -> float:
        """Wall time of the calls: those that overlapped count once."""
        return seconds_covered((call.started, call.seconds) for call in self.calls)


class TimeView(Record):
    """A run on the time bar."""

    run: int = 0
    row: RunRow | None = None
    """The run with its result; None if there is none, or it cannot be shown."""
    begun: float = 0.0
    ended: float = 0.0
    steps: tuple[StepSpan, ...] = ()
    held: tuple[HeldSpan, ...] = ()
    """In order, none over another."""
    marks: tuple[TimeMark, ...] = ()
    """In order."""
    costs: tuple[tuple[float, float], ...] = ()
    """When a call with a price has ended, and the total cost of all calls until then."""
    phases_known: bool = True
    """Whether all phases have their beginnings."""
    untimed: str = ""
    """Why the times are not those of the work, such as a run that was imported."""
    problem: str = ""
    """In place of the rest: why it cannot be shown."""

    @property
    def seconds(self) -> float:
        return max(self.ended - self.begun, 0.0)

    @property
    def seconds_held(self) -> float:
        return sum(one.seconds for one in self.held)

    @property
    def seconds_in_llm(self) -> float:
        """Wall time: calls that overlapped count once."""
        return seconds_covered((call.started, call.seconds) for step in self.steps for call in step.calls)

    def position(self, run: int, number: int) -> int | None:
        """Return the index of a step, which may be of this run's own number where a run before it took it."""
        return next(
            (at for at, one in enumerate(self.steps) if one.number == number and run in (self.run, one.run)),
            None,
        )

    def neighbour(self, run: int, number: int, offset: int) -> tuple[int, int] | None:
        """Return run and number of the step that is `offset` steps further; None if there is none."""
        at = self.position(run, number)
        if at is None or not 0 <= at + offset < len(self.steps):
            return None
        return self.steps[at + offset].run, self.steps[at + offset].number


class StepPictures(Record):
    """The page before a step and after it, or why there is no picture of it."""

    run: int
    number: int
    """As they were asked for: the row may be of the run that this one branched from."""
    row: StepRow | None = None
    before: ScreenshotView = ScreenshotView()
    after: ScreenshotView = ScreenshotView()
    restored: bool = False
    """Whether it is the step that a run branched from: as it was recorded, and as the run was brought back to it."""


Speed = Literal["0.5", "1", "2", "4", "even"]
LONGEST_LLM = 2.0
"""Seconds of waiting for LLMs that a step is shown at most, at its true speed."""
_LEAST = 0.1
_EVEN = 1.0


def seconds_shown(view: TimeView, at: int, speed: Speed) -> float:
    """Return how long the step at a position is shown before the next one; the last one is not followed.

    That is as long as it took until the next step began, without the time in
    which the run was held. Steps whose times are not known count a second.
    """
    if speed == "even":
        return _EVEN
    took = _EVEN
    if not view.untimed and at + 1 < len(view.steps):
        begun, ended = view.steps[at].begun, view.steps[at + 1].begun
        held = sum(max(min(one.ended, ended) - max(one.begun, begun), 0.0) for one in view.held)
        took = ended - begun - held - max(view.steps[at].seconds_asked - LONGEST_LLM, 0.0)
    return max(took / float(speed), _LEAST)
