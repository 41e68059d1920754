"""Ask again: repeats the question of a step, and lists the exemplars that can be added."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from core.agent.llm_calls import Answerer
from core.agent.prompt_builder import EXEMPLARS, exemplar_parts
from core.agent.resources import AgentResources
from core.debugger.ask_again.prompt_parts import content_of
from core.debugger.ask_again.repeat import (
    ask_again,
    attribute_step,
    deciding_call,
    kept_attributions,
    recorded_answer,
    reply_format,
    what_ifs_of,
)
from core.debugger.ask_again.views import (
    AskView,
    Attribution,
    ExemplarChoice,
    Question,
    WhatIf,
    WrittenExemplar,
)
from core.debugger.commands import command
from core.debugger.exemplars.prompt import Way, messages_of
from core.debugger.interventions.held_texts import reply_as_text, reply_with_text
from core.debugger.service import Service
from core.llm.repair import ReplyFormat
from core.schema.errors import BackstepError, UsageError
from core.schema.exemplar import Exemplar
from core.schema.messages import LLMReply, Message, Prompt, PromptPart, Usage
from core.trace.calls import stored_prompt, stored_reply
from core.trace.records import StepDetail

if TYPE_CHECKING:
    from core.debugger.session import Session

OnAnswer = Callable[[WhatIf], None]
CHANGED = (
    "The prompt's templates or exemplars were edited after this was sent. An exemplar that you add "
    "uses the current ones."
)
MOST = 5000
"""Exemplars that can be chosen from."""


class AskAgainService(Service[AskView]):
    """Asks the question of a step again; the answers arrive one by one in the view."""

    view = AskView(run=0, step=0)

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._asking: asyncio.Task[Any] | None = None

    def failed(self, problem: str) -> None:
        self.show(problem=problem, busy=False)

    @command
    async def open(self, run: int, step: int) -> None:
        """Show what can be asked again of this step."""
        self.send(self._opened(run, step))

    @command
    async def ask(self, question: Question) -> None:
        """Put a question."""
        store = self.services.store
        await self._put(question, lambda llm, on_answer: ask_again(store, llm, question, on_answer=on_answer))

    @command
    async def ask_credit(self, question: Question) -> None:
        """Ask with all of the step's exemplars, and without each; messages of the question are not looked at."""
        store = self.services.store

        async def ask(llm: Answerer, on_answers: OnAnswer) -> None:
            found = await attribute_step(
                store,
                llm,
                question.run,
                question.step,
                times=question.count,
                temperature=question.temperature,
                on_answers=on_answers,
            )
            library = self.memory.library()
            for one in found:
                library.proofs.save("credit", one.id, one.when, one.model_dump_json())

        await self._put(question, ask)

    @command
    async def write_exemplar(self, run: int, step: int, id: str) -> None:
        """Write an exemplar of the library as the step's prompt would show it; it is sent as `written`."""
        store = self.services.store
        detail = store.step(run, step)
        teller = self._teller(detail, stored_prompt(store, deciding_call(detail)))
        self.show(written=teller.written(id), problem="")

    @command
    async def go_on_with(self, run: int, step: int, text: str) -> None:
        """Go back to a step of an attached agent's run, and on from there with this reply to its question.

        Raises UsageError with the line where the text is not a reply.
        """
        from core.attach.replay import recorded_calls  # What serves an agent comes with it.

        store = self.services.store
        detail = store.step(run, step)
        number = deciding_call(detail).number
        calls = [call for call in recorded_calls(store, detail) if call.call.number <= number]
        last = calls[-1]
        recorded = last.reply or LLMReply()
        written = reply_with_text(recorded, text).replace(usage=Usage(), seconds=0.0, cost=0.0, retries=())
        self.session.branches.go_on_with(run, step, (*calls[:-1], last._replace(reply=written)))

    @command
    async def cancel(self) -> None:
        """Withdraw what is still out; the answers that came are kept."""
        if self._asking is not None:
            self._asking.cancel()

    async def _put(
        self, question: Question, ask: Callable[[Answerer, OnAnswer], Coroutine[Any, Any, object]]
    ) -> None:
        """Ask a question and send its answers as they arrive; raises UsageError if one is still running."""
        if self._asking is not None:
            raise UsageError("A question is still running. Wait for its answers, or cancel it.")
        view = self._opened(question.run, question.step)
        llm = self.services.llms.routed(question.llm or view.llm)

        def report(so_far: WhatIf) -> None:
            self.send(view.replace(asked=(*view.asked, so_far), busy=True))

        self.send(view.replace(busy=True))
        self._asking = asyncio.ensure_future(ask(llm, report))
        try:
            await asyncio.wait([self._asking])
            if not self._asking.cancelled():
                self._asking.result()
        finally:
            self._asking = None
        self.send(self._opened(question.run, question.step))

    def _teller(self, detail: StepDetail, prompt: Prompt) -> "Teller":
        """Return what tells exemplars as the run did; raises UsageError, DataError and TraceError."""
        store, run = self.services.store, detail.row.run
        resources = self.services.resources_for(store.changes(run))
        return Teller(resources, store.preset_text(run), reply_format(store, detail, prompt))

    def _parts(self, detail: StepDetail, prompt: Prompt) -> dict[str, Any]:
        """Return what the view says of the parts of a prompt."""
        # What an attached agent's prompt is made of, only the agent knows.
        known = prompt.view is not None or deciding_call(detail).purpose == "agent"
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
        trace, step = str(self.services.store.path.absolute()), (detail.row.run, detail.row.number)
        ids = [part.id for part in prompt.parts if part.kind == "exemplar"]
        known = kept_attributions(self.memory.library(), ids)
        return tuple(one for one in known if one.trace == trace and (one.run, one.step) == step)

    def _opened(self, run: int, step: int) -> AskView:
        store = self.services.store
        detail, row = store.step(run, step), store.run(run)
        view = AskView(run=run, step=step, recorded=detail.row.action, asked=what_ifs_of(store, run, step))
        try:
            call = deciding_call(detail)
        except UsageError as error:
            return view.replace(problem=str(error), llm=row.llm)
        prompt = stored_prompt(store, call)
        if call.purpose == "agent" and (reply := stored_reply(store, call)) is not None:
            view = view.replace(recorded=recorded_answer(store, detail, call), reply=reply_as_text(reply))
        return view.replace(
            llm=call.llm,
            messages=prompt.messages,
            temperature=prompt.sampling.temperature,
            **self._parts(detail, prompt),
        )


class Teller:
    """Writes exemplars as the preset of a run does, with the current templates."""

    def __init__(self, resources: AgentResources, preset_text: str, form: ReplyFormat) -> None:
        self._resources = resources
        self._way = Way(form=form, turn=Way.of_text(preset_text).turn)
        self._memory = resources.memory

    def choices(self) -> tuple[ExemplarChoice, ...]:
        """Return what the memory has, by family and id, at most `MOST`; raises LibraryError and DataError."""
        rows = self._memory.library().page(order="family", limit=MOST).rows
        return tuple(ExemplarChoice(id=row.id, family=row.family, task=row.task) for row in rows)

    def written(self, id: str) -> WrittenExemplar:
        """Return an exemplar as the prompt tells it.

        Raises UsageError if there is none of that id, and DataError where
        the template wants to know more than an exemplar says.
        """
        exemplar = self._memory.exemplar(id)
        if exemplar is None:
            raise UsageError(f"The exemplar {id} is no longer in the library; choose another one.")
        if self._way.form == "tools":
            text, parts = "", self._in_text(exemplar)
            if parts:
                text = parts[0][1]
            else:
                raise UsageError(
                    f"The template {EXEMPLARS} does not list exemplars one after the other, so they "
                    "cannot be switched."
                )
            return WrittenExemplar(id=id, family=exemplar.family, task=exemplar.task, text=text)
        messages = self._messages(exemplar)
        return WrittenExemplar(id=id, family=exemplar.family, task=exemplar.task, messages=messages)

    def note(self, prompt: Prompt) -> str:
        """Return what is to be known before an exemplar is switched in, or nothing."""
        for part in prompt.parts:
            if part.kind != "exemplar":
                continue
            exemplar = self._memory.exemplar(part.id)
            if exemplar is None or self._said(exemplar) != content_of(prompt.messages, part):
                return CHANGED
        return ""

    def _said(self, exemplar: Exemplar) -> object:
        if self._way.form != "tools":
            return self._messages(exemplar)
        found = self._in_text(exemplar)
        return found[0][1] if found else None

    def _messages(self, exemplar: Exemplar) -> tuple[Message, ...]:
        return messages_of(exemplar, self._resources, self._way)

    def _in_text(self, exemplar: Exemplar) -> list[tuple[PromptPart, str]]:
        texts = [self._resources.prompts.render(EXEMPLARS, exemplars=some) for some in ((), (exemplar,))]
        parts = [part for part in exemplar_parts(texts[-1], texts, [exemplar]) if part.kind == "exemplar"]
        return [(part, texts[-1][part.start : part.end]) for part in parts]


make_service = AskAgainService
