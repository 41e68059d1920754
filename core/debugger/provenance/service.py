"""What the window reads of a run beside the step in view: the page's log, where words come from, and the time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from core.browser.log.records import LogPart
from core.debugger.background_read import ask_file
from core.debugger.provenance.sources import why
from core.debugger.provenance.views import WhyQuestion, WhyView
from core.debugger.session import Session
from core.debugger.timeline.times import time_view
from core.debugger.timeline.views import PageLogView, TimeView
from core.schema.errors import BackstepError
from core.schema.signal import Signal
from core.trace.store import TraceStore

T = TypeVar("T")
_NOT_KEPT = (
    "This step was stored before the log of the page was kept: run the task again (Ctrl+R) to have it."
)
_NOT_YET = "The page has not been looked at in this step yet: its log is kept from the first look on (F10)."
_IMPORTED = "The run was imported: its file has no log of the page."


class ReadingDesk:
    """The `ReadingDeskCommands` of the window; `post` queues work on the worker's loop."""

    def __init__(self, driver: Session, post: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self.logged: Signal[PageLogView] = Signal()
        self.explained: Signal[WhyView] = Signal()
        self.timed: Signal[TimeView] = Signal()
        self._driver = driver
        self._post = post
        self._logs, self._whys, self._times = _Turn(), _Turn(), _Turn()

    def read_log(self, run: int, step: int) -> None:
        def read(store: TraceStore) -> PageLogView:
            return _log_view(store, run, step)

        def failed(error: BackstepError) -> PageLogView:
            return PageLogView(run=run, step=step, message=str(error))

        self._post(self._answer(self._logs, read, failed, self.logged))

    def explain(self, question: WhyQuestion) -> None:
        def failed(error: BackstepError) -> WhyView:
            return WhyView(
                run=question.run, step=question.step, text=question.text, ref=question.ref, problem=str(error)
            )

        self._post(self._answer(self._whys, lambda store: why(store, question), failed, self.explained))

    def read_times(self, run: int) -> None:
        def failed(error: BackstepError) -> TimeView:
            return TimeView(run=run, problem=str(error))

        self._post(self._answer(self._times, lambda store: time_view(store, run), failed, self.timed))

    async def _answer(
        self,
        turn: "_Turn",
        read: Callable[[TraceStore], T],
        failed: Callable[[BackstepError], T],
        signal: Signal[T],
    ) -> None:
        mine = turn.take()
        async with turn.lock:
            if turn.latest != mine:
                return  # something else was asked for while the one before was read
            try:
                told = await ask_file(self._driver.store, read)
            except BackstepError as error:
                told = failed(error)
        if turn.latest == mine:
            signal.send(told)


class _Turn:
    """Lets one question be read at a time, and the last one win."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.latest = 0

    def take(self) -> int:
        self.latest += 1
        return self.latest


def _log_view(store: TraceStore, run: int, step: int) -> PageLogView:
    parts: tuple[LogPart, ...] | None = store.page_log(run, step)
    if parts is not None:
        return PageLogView(run=run, step=step, parts=parts)
    if store.run(run).environment == "import":
        return PageLogView(run=run, step=step, message=_IMPORTED)
    begun = store.step(run, step).records
    return PageLogView(run=run, step=step, message=_NOT_KEPT if begun else _NOT_YET)


class ReadingDeskCommands(Protocol):
    """Reading beside the run, seen from the window; safe to call from any thread.

    Of what is asked for in a row only the last may come. Signals are sent
    from the worker's thread.
    """

    logged: Signal[PageLogView]
    explained: Signal[WhyView]
    timed: Signal[TimeView]

    def read_log(self, run: int, step: int) -> None:
        """Read the log of the page in a step."""

    def explain(self, question: WhyQuestion) -> None:
        """Look where a text of a step stands; a question without text tells what can be looked for."""

    def read_times(self, run: int) -> None:
        """Read where the time of a run went."""
