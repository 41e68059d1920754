"""Two runs beside each other while the window is open: aligned as a whole, and read pair by pair."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from core.debugger.background_read import ask_file
from core.debugger.compare.alignment import compare_runs, compare_steps
from core.debugger.compare.views import ComparedView, PairView, StepKey
from core.debugger.runner import Driver
from core.schema.errors import BackstepError, TraceError
from core.schema.signal import Signal
from core.schema.step import Observed, record_of
from core.trace.store import TraceStore


class CompareDesk:
    """The `CompareDeskCommands` of the window; `post` queues work on the worker's loop."""

    def __init__(self, driver: Driver, post: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self.compared: Signal[ComparedView] = Signal()
        self.paired: Signal[PairView] = Signal()
        self._driver = driver
        self._post = post
        self._runs = ComparedView(left=0, right=0)
        self._pair = PairView()
        self._reading = asyncio.Lock()

    def compare(self, left: int, right: int) -> None:
        async def work() -> None:
            asked = self._runs = ComparedView(left=left, right=right)
            self.compared.send(asked)
            try:
                found = await ask_file(self._driver.store, lambda store: compare_runs(store, left, right))
                told = asked.model_copy(update={"compared": found})
            except BackstepError as error:
                told = asked.model_copy(update={"problem": str(error)})
            if self._runs is asked:
                self.compared.send(told)

        self._post(work())

    def pair(self, left: StepKey | None, right: StepKey | None) -> None:
        async def work() -> None:
            asked = self._pair = PairView(left=left, right=right)
            async with self._reading:
                if self._pair is not asked:
                    return  # another pair was asked for while the one before was read
                try:
                    told = await ask_file(self._driver.store, lambda store: _pair_view(store, asked))
                except BackstepError as error:
                    told = asked.model_copy(update={"problem": str(error)})
            if self._pair is asked:
                self.paired.send(told)

        self._post(work())


def _pair_view(store: TraceStore, asked: PairView) -> PairView:
    return asked.model_copy(
        update={
            "parts": compare_steps(store, asked.left, asked.right),
            "left_picture": _picture(store, asked.left),
            "right_picture": _picture(store, asked.right),
        }
    )


def _picture(store: TraceStore, step: StepKey | None) -> bytes:
    if step is None:
        return b""
    observed = record_of(Observed, store.step(*step).records)
    if observed is None or not observed.screenshot:
        return b""
    try:
        return store.blob(observed.screenshot)
    except TraceError:
        return b""
