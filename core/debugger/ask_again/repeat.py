"""Asking a recorded question again: with other words, another LLM, another temperature, several times at once."""

import asyncio
import time
import tomllib
from collections.abc import Callable

from core.agent.llm_calls import Answerer
from core.debugger.ask_again.views import Question, ReplyAgain, WhatIf, changed_lines
from core.llm.repair import ReplyFormat, read_reply
from core.schema.errors import LLMError, UsageError
from core.schema.messages import LLMRequest, Message, Purpose
from core.schema.step import CallRecord, Decided, Recognised, Reviewed, record_of
from core.trace.encoding import Prompt
from core.trace.records import StepDetail
from core.trace.store import TraceStore

_DECIDING = ("decide", "function")
_AT_ONCE = 8
"""Calls that are out at the same time."""


def deciding_call(detail: StepDetail) -> CallRecord:
    """Return the call that chose the step's action; raises UsageError where there was none."""
    found = next((call for call in detail.calls if call.purpose in _DECIDING), None)
    if found is None:
        raise UsageError(
            f"Step {detail.row.number} of run {detail.row.run} asked no LLM for its action: choose a step that did."
        )
    return found


async def ask_again(
    store: TraceStore,
    llm: Answerer,
    question: Question,
    *,
    on_answer: Callable[[WhatIf], None] = lambda so_far: None,
) -> WhatIf:
    """Ask the question of a stored step and return all answers, which are stored with the step.

    `on_answer` is told after each answer. An answer that fails is one among
    the others. Cancelled, what has come in is stored. Raises UsageError where
    the step asked no LLM, and TraceError.
    """
    detail = store.step(question.run, question.step)
    call = deciding_call(detail)
    prompt = store.prompt(call)
    request = _request(detail, call, prompt, question)
    if request.view is None and goes_by_data(llm, request.purpose):
        raise UsageError(
            f"The built-in LLM goes by the data behind a prompt, which run {detail.row.run} was recorded without: "
            "choose another LLM."
        )
    so_far = WhatIf(
        run=detail.row.run,
        step=question.step,
        call=call.number,
        llm=llm.name,
        temperature=request.sampling.temperature,
        count=question.count,
        when=time.time(),
        recorded=_recorded(detail),
        messages=_without_pictures(question.messages),
        changed=changed_lines(prompt.messages, question.messages) if question.messages else (),
    )
    form = reply_format(store, detail, prompt)
    room = asyncio.Semaphore(_AT_ONCE)
    answers: list[ReplyAgain] = []

    async def one() -> None:
        async with room:
            answers.append(await _answer(llm, request, form))
        on_answer(so_far.replace(answers=tuple(answers)))

    tasks = [asyncio.ensure_future(one()) for _ in range(question.count)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        whole = so_far.replace(answers=tuple(answers))
        if answers:
            whole = whole.replace(number=store.save_what_if(whole.run, whole.step, whole.model_dump_json()))
    return whole


def what_ifs_of(store: TraceStore, run: int, step: int) -> tuple[WhatIf, ...]:
    """Return what was asked again of a step, in order; raises TraceError."""
    return tuple(
        WhatIf.model_validate_json(text).replace(number=number) for number, text in store.what_ifs(run, step)
    )


def _request(detail: StepDetail, call: CallRecord, prompt: Prompt, question: Question) -> LLMRequest:
    recognised = record_of(Recognised, detail.records)
    sampling = prompt.sampling
    if question.temperature is not None:
        sampling = sampling.replace(temperature=question.temperature)
    return LLMRequest(
        purpose=call.purpose,
        messages=question.messages or prompt.messages,
        tools=prompt.tools,
        tool_choice=prompt.tool_choice,
        reply_schema=prompt.reply_schema,
        permissible=recognised.permissible if recognised is not None else None,
        view=prompt.view,
        sampling=sampling,
    )


def goes_by_data(llm: Answerer, purpose: Purpose) -> bool:
    """Return whether the built-in rules answer, which read no prose."""
    route: Callable[[Purpose], Answerer] | None = getattr(llm, "llm_for", None)
    return (llm if route is None else route(purpose)).name == "rules"


async def _answer(llm: Answerer, request: LLMRequest, form: ReplyFormat) -> ReplyAgain:
    try:
        reply = await llm.reply(request)
    except LLMError as error:
        return ReplyAgain(problem=str(error))
    proposal, more = read_reply(reply, request, form)
    return ReplyAgain(
        action="" if proposal.action is None else str(proposal.action),
        thought=proposal.thought,
        problem=proposal.problem,
        more=tuple(map(str, more)),
        tokens=reply.usage.prompt_tokens + reply.usage.completion_tokens,
        cost=reply.cost,
        seconds=reply.seconds,
    )


def reply_format(store: TraceStore, detail: StepDetail, prompt: Prompt) -> ReplyFormat:
    """Return the form in which the step's replies were read."""
    if prompt.tools:
        return "tools"
    try:
        form = tomllib.loads(store.preset_text(detail.row.run)).get("reply_format", "lines")
    except tomllib.TOMLDecodeError:
        form = "lines"
    # Without tools it was one of these, also where the preset was another one by then.
    return "json" if form == "json" or prompt.reply_schema is not None else "lines"


def _recorded(detail: StepDetail) -> str:
    for record in reversed(detail.records):
        if isinstance(record, Reviewed) and record.action is not None:
            return str(record.action)
        if isinstance(record, Decided) and record.proposal.action is not None:
            return str(record.proposal.action)
    return ""


def _without_pictures(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(message.replace(images=()) for message in messages)
