"""Work on the session's loop that takes a while: one at a time for each desk, cancelled when the session is closed."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from core.debugger.exemplars.analyses.views import Working
from core.debugger.services import Workshop
from core.memory.memory import Memory
from core.schema.errors import BackstepError, WorldError
from core.schema.signal import Signal
from core.trace.store import TraceStore

if TYPE_CHECKING:
    # FAISS takes long to load, which only the first analysis has to wait for, not the window.
    from core.memory.index import ExemplarIndex

View = TypeVar("View", bound=Working)
_PARTS = 100
"""How often work tells how far it is, at the most."""


class Host(Protocol):
    """What an analysis needs of a session."""

    closers: list[Callable[[], Awaitable[None]]]

    @property
    def store(self) -> TraceStore | None: ...

    def queue(self, work: Coroutine[Any, Any, None]) -> None: ...

    def workshop(self) -> Workshop: ...


class Background(Generic[View]):
    """Holds the view and the work that goes on; subclasses post what they are asked for."""

    def __init__(self, host: Host, view: View) -> None:
        self.changed: Signal[View] = Signal()
        self._host = host
        self._view = view
        self._going: asyncio.Task[None] | None = None
        host.closers.append(self.stop)

    def cancel(self) -> None:
        self._post(self.stop)

    async def stop(self) -> None:
        """End the work that goes on; what it has found stays in view."""
        going, self._going = self._going, None
        if going is not None and not going.done():
            going.cancel()
            await asyncio.wait([going])
            self._show(busy=False, words="")

    def _memory(self) -> Memory:
        return self._host.workshop().knowledge.memory

    async def _looked_up(self, look: "Callable[[ExemplarIndex], Awaitable[None]]") -> None:
        """Do something with the fresh index; how far the embedding is shows as this desk's progress."""
        await self._memory().looked_up(look, self._progress("Texts are being embedded"))

    def _begin(self, words: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Begin work in place of what goes on."""

        async def begin() -> None:
            await self.stop()
            self._show(busy=True, words=words, done=0, of=0, problem="", notice="")
            self._going = asyncio.ensure_future(self._telling(work, ends=True))

        self._post(begin)

    def _post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._host.queue(self._telling(work))

    async def _telling(self, work: Callable[[], Coroutine[Any, Any, None]], *, ends: bool = False) -> None:
        try:
            await work()
        except (BackstepError, WorldError) as error:
            self._show(problem=str(error))
        except Exception:
            self._show(
                busy=False, words="", problem="The analysis failed: this is a mistake of the program's own."
            )
            raise
        if ends:
            self._show(busy=False, words="")

    def _show(self, **changes: Any) -> None:
        self._view = self._view.replace(**changes)
        self.changed.send(self._view)

    def _progress(self, words: str) -> Callable[[int, int], None]:
        """Return what is told how far a part of the work is."""
        last = -1

        def told(done: int, of: int) -> None:
            nonlocal last
            part = done * _PARTS // max(1, of)
            if part != last:
                last = part
                self._show(words=words, done=done, of=of)

        return told
