"""Asking again at the window: questions of a step put once more, with their answers as they come."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from core.agent.llm_calls import Answerer
from core.agent.resources import Knowledge
from core.debugger.ask_again.attribution import attribute_step, kept_attributions
from core.debugger.ask_again.exemplars import Teller
from core.debugger.ask_again.repeat import ask_again, deciding_call, reply_format, what_ifs_of
from core.debugger.ask_again.views import AskView, Attribution, Question, WhatIf
from core.debugger.runner import Driver
from core.llm.registry import LLMs
from core.memory.memory import Memory
from core.schema.changes import Changes
from core.schema.errors import BackstepError, UsageError
from core.schema.signal import Signal
from core.trace.prompts import Prompt
from core.trace.records import StepDetail
from core.trace.store import TraceStore

OnAnswer = Callable[[WhatIf], None]


class AskDesk:
    """The `AskDeskCommands` of the window; `post` queues work on the worker's loop."""

    def __init__(
        self,
        driver: Driver,
        llms: Callable[[], LLMs],
        post: Callable[[Coroutine[Any, Any, None]], None],
        knowledge: Callable[[Changes], Knowledge] | None = None,
    ) -> None:
        """`knowledge` gives the files that a run with such changes goes by; without it nothing can be switched."""
        self.changed: Signal[AskView] = Signal()
        self._driver = driver
        self._llms = llms
        self._post = post
        self._knowledge = knowledge
        self._view = AskView(run=0, step=0)
        self._asking: asyncio.Task[Any] | None = None

    def open(self, run: int, step: int) -> None:
        async def work() -> None:
            self._send(self._opened(run, step))

        self._post(self._telling(work))

    def ask(self, question: Question) -> None:
        async def work() -> None:
            store = self._need_store()
            await self._put(question, lambda llm, told: ask_again(store, llm, question, on_answer=told))

        self._post(self._telling(work))

    def ask_credit(self, question: Question) -> None:
        async def work() -> None:
            store = self._need_store()

            async def ask(llm: Answerer, told: OnAnswer) -> None:
                found = await attribute_step(
                    store,
                    llm,
                    question.run,
                    question.step,
                    times=question.count,
                    temperature=question.temperature,
                    on_answers=told,
                )
                library = self._own_memory().library()
                for one in found:
                    library.save_proof("credit", one.id, one.when, one.model_dump_json())

            await self._put(question, ask)

        self._post(self._telling(work))

    async def _put(
        self, question: Question, ask: Callable[[Answerer, OnAnswer], Coroutine[Any, Any, object]]
    ) -> None:
        """Put a question and tell its answers as they come; raises UsageError where one is still out."""
        if self._asking is not None:
            raise UsageError("A question is still out: wait for its answers, or cancel it.")
        view = self._opened(question.run, question.step)
        llm = self._llms().routed(question.llm or view.llm)

        def told(so_far: WhatIf) -> None:
            self._send(view.model_copy(update={"asked": (*view.asked, so_far), "busy": True}))

        self._send(view.model_copy(update={"busy": True}))
        self._asking = asyncio.ensure_future(ask(llm, told))
        try:
            await asyncio.wait([self._asking])
            if not self._asking.cancelled():
                self._asking.result()
        finally:
            self._asking = None
        self._send(self._opened(question.run, question.step))

    def _own_memory(self) -> Memory:
        """Return the memory that no run has changed, which keeps credits; raises UsageError."""
        if self._knowledge is None:
            raise UsageError("The exemplars are not at hand yet; wait a moment and try again.")
        return self._knowledge(Changes()).memory

    def write_exemplar(self, run: int, step: int, id: str) -> None:
        async def work() -> None:
            store = self._need_store()
            detail = store.step(run, step)
            teller = self._teller(detail, store.prompt(deciding_call(detail)))
            self._send(self._view.model_copy(update={"written": teller.written(id), "problem": ""}))

        self._post(self._telling(work))

    def _teller(self, detail: StepDetail, prompt: Prompt) -> Teller:
        """Return what tells exemplars as the run did; raises UsageError, DataError and TraceError."""
        store, run = self._need_store(), detail.row.run
        if self._knowledge is None:
            raise UsageError("The exemplars are not at hand yet; wait a moment and try again.")
        knowledge = self._knowledge(store.changes(run))
        return Teller(knowledge, store.preset_text(run), reply_format(store, detail, prompt))

    def _parts(self, detail: StepDetail, prompt: Prompt) -> dict[str, Any]:
        """Return what the view says of the parts of a prompt."""
        known = prompt.view is not None
        found: dict[str, Any] = {"parts": prompt.parts if known else (), "parts_known": known}
        if not any(one.kind == "exemplar" for one in found["parts"]):
            return found
        try:
            teller = self._teller(detail, prompt)
            return {
                **found,
                "memory": teller.choices(),
                "memory_note": teller.note(prompt),
                "credits": self._credits(detail, prompt),
            }
        except BackstepError as error:
            return {**found, "memory_note": str(error)}

    def _credits(self, detail: StepDetail, prompt: Prompt) -> tuple[Attribution, ...]:
        """Return what is known of the step's own exemplars; raises LibraryError."""
        library = self._own_memory().open_library()
        if library is None:
            return ()
        trace, step = str(self._need_store().path.absolute()), (detail.row.run, detail.row.number)
        ids = [part.id for part in prompt.parts if part.kind == "exemplar"]
        known = kept_attributions(library, ids)
        return tuple(one for one in known if one.trace == trace and (one.run, one.step) == step)

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
                **self._parts(detail, prompt),
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
