"""Where the time of a run went, and what its pages logged step by step."""

from typing import TYPE_CHECKING

from core.browser.log.records import LogPart
from core.debugger.service import LatestAnswer, Service, command
from core.debugger.timeline.times import time_view
from core.debugger.timeline.views import PageLogView, TimeView
from core.schema.signal import Signal
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session

_NOT_KEPT = (
    "This step was stored before the log of the page was kept: run the task again (Ctrl+R) to have it."
)
_NOT_YET = "The page has not been looked at in this step yet: its log is kept from the first look on (F10)."
_IMPORTED = "The run was imported: its file has no log of the page."


def make_service(session: "Session") -> "TimelineService":
    return TimelineService(session)


class TimelineService(Service[TimeView]):
    """Reads the times of a run (`changed`) and the page's log of a step (`logged`)."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session, TimeView())
        self.logged: Signal[PageLogView] = Signal()
        self._times, self._logs = LatestAnswer(session), LatestAnswer(session)

    @command
    async def read_times(self, run: int) -> None:
        """Read where the time of a run went."""
        await self._times.read(
            lambda store: time_view(store, run),
            lambda problem: TimeView(run=run, problem=problem),
            self.send,
        )

    @command
    async def read_log(self, run: int, step: int) -> None:
        """Read what the pages logged in a step."""
        await self._logs.read(
            lambda store: _log_view(store, run, step),
            lambda problem: PageLogView(run=run, step=step, message=problem),
            self.logged.send,
        )


def _log_view(store: TraceStore, run: int, step: int) -> PageLogView:
    parts: tuple[LogPart, ...] | None = store.page_log(run, step)
    if parts is not None:
        return PageLogView(run=run, step=step, parts=parts)
    if store.run(run).environment == "import":
        return PageLogView(run=run, step=step, message=_IMPORTED)
    begun = store.step(run, step).records
    return PageLogView(run=run, step=step, message=_NOT_KEPT if begun else _NOT_YET)
