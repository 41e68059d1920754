"""Asking again at the window: questions of a step put once more, with their answers as they come."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from core.debugger.ask_views import AskView, Question, WhatIf
from core.debugger.driving import Driver
from core.debugger.what_if import ask_again, deciding_call, what_ifs_of
from core.errors import BackstepError, UsageError
from core.llm.registry import LLMs
from core.signal import Signal
from core.trace.store import TraceStore


class AskDesk:
    """The `AskDeskCommands` of the window; `post` queues work on the worker's loop."""

    def __init__(
        self,
        driver: Driver,
        llms: Callable[[], LLMs],
        post: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self.changed: Signal[AskView] = Signal()
        self._driver = driver
        self._llms = llms
        self._post = post
        self._view = AskView(run=0, step=0)
        self._asking: asyncio.Task[WhatIf] | None = None

    def open(self, run: int, step: int) -> None:
        async def work() -> None:
            self._send(self._opened(run, step))

        self._post(self._telling(work))

    def ask(self, question: Question) -> None:
        async def work() -> None:
            if self._asking is not None:
                raise UsageError("A question is still out: wait for its answers, or cancel it.")
            store = self._need_store()
            view = self._opened(question.run, question.step)
            llm = self._llms().routed(question.llm or view.llm)

            def told(so_far: WhatIf) -> None:
                self._send(view.model_copy(update={"asked": (*view.asked, so_far), "busy": True}))

            self._send(view.model_copy(update={"busy": True}))
            self._asking = asyncio.ensure_future(ask_again(store, llm, question, on_answer=told))
            try:
                await asyncio.wait([self._asking])
                if not self._asking.cancelled():
                    self._asking.result()
            finally:
                self._asking = None
            self._send(self._opened(question.run, question.step))

        self._post(self._telling(work))

    def cancel(self) -> None:
        async def work() -> None:
            if self._asking is not None:
                self._asking.cancel()

        self._post(work())

    def _opened(self, run: int, step: int) -> AskView:
        store = self._need_store()
        detail, row = store.step(run, step), store.run(run)
        view = AskView(run=run, step=step, recorded=detail.row.action, asked=what_ifs_of(store, run, step))
        try:
            call = deciding_call(detail)
        except UsageError as error:
            return view.model_copy(update={"problem": str(error), "llm": row.llm})
        prompt = store.prompt(call)
        return view.model_copy(
            update={
                "llm": call.llm,
                "messages": prompt.messages,
                "temperature": prompt.sampling.temperature,
            }
        )

    def _need_store(self) -> TraceStore:
        if self._driver.store is None:
            raise UsageError("The database is not open yet; wait a moment and try again.")
        return self._driver.store

    def _send(self, view: AskView) -> None:
        self._view = view
        self.changed.send(view)

    async def _telling(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await work()
        except BackstepError as error:
            self._send(self._view.model_copy(update={"problem": str(error), "busy": False}))
