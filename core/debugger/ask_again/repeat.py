"""Asks a recorded question again: with another text, LLM or temperature, or without an exemplar.

The credit of an exemplar is how much likelier the step's own action is with it than without it:
leave-one-out, as in context attribution (B. Cohen-Wang et al., ContextCite, NeurIPS 2024, compare leaving one
source out).
"""

import asyncio
import contextlib
import time
import tomllib
from collections.abc import Callable, Iterable

from pydantic import ValidationError

from core.agent.llm_calls import Answerer, answerer_of
from core.attach.answers import said_of, thought_of
from core.debugger.ask_again.prompt_parts import Item, dropped, found_again
from core.debugger.ask_again.views import Attribution, Question, ReplyAgain, WhatIf, changed_lines
from core.debugger.interventions.held_texts import reply_as_text
from core.exemplars.library.store import Library
from core.llm.repair import ReplyFormat, read_reply
from core.schema.errors import LLMError, UsageError
from core.schema.messages import LLMRequest, Message, Prompt, Purpose
from core.schema.step import CallRecord, Decided, Recognised, Reviewed, record_of
from core.trace.calls import stored_prompt, stored_reply
from core.trace.records import StepDetail
from core.trace.store import TraceStore

_DECIDING = ("decide", "function", "agent")
_AT_ONCE = 8
"""Calls that are out at the same time."""
_KEPT = 5000
"""Attributions that are read, the latest."""


def deciding_call(detail: StepDetail) -> CallRecord:
    """Return the call that chose the step's action; raises UsageError if there was none.

    Of several questions of an attached agent it is the last one that was answered.
    """
    found = next((call for call in detail.calls if call.purpose in _DECIDING), None)
    if found is not None and found.purpose == "agent":
        found = next((call for call in reversed(detail.calls) if not call.error), found)
    if found is None:
        raise UsageError(
            f"Step {detail.row.number} of run {detail.row.run} asked no LLM for its action; choose another step."
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

    `on_answer` is called after each answer. An answer that fails is one among
    the others. Cancelled, what has come in is stored. Raises UsageError if
    the step asked no LLM, and TraceError.
    """
    detail = store.step(question.run, question.step)
    call = deciding_call(detail)
    prompt = stored_prompt(store, call)
    request = _request(detail, call, prompt, question)
    if request.view is None and request.purpose != "agent" and goes_by_data(llm, request.purpose):
        raise UsageError(
            f"The built-in LLM needs the data behind a prompt, which run {detail.row.run} does not contain; "
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
        recorded=recorded_answer(store, detail, call),
        messages=_without_pictures(question.messages),
        changed=changed_lines(prompt.messages, question.messages) if question.messages else (),
    )
    form = reply_format(store, detail, prompt)
    room = asyncio.Semaphore(_AT_ONCE)
    answers: list[ReplyAgain] = []

    async def one() -> None:
        async with room:
            answer = _answer_agent(llm, request) if call.purpose == "agent" else _answer(llm, request, form)
            answers.append(await answer)
        on_answer(so_far.replace(answers=tuple(answers)))

    tasks = [asyncio.ensure_future(one()) for _ in range(question.count)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        whole = so_far.replace(answers=tuple(answers))
        store.secrets.add_keys(getattr(answerer_of(llm, request.purpose), "hidden", ()))
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
    return answerer_of(llm, purpose).name == "rules"


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


async def _answer_agent(llm: Answerer, request: LLMRequest) -> ReplyAgain:
    """Return what an attached agent would have been answered: it alone knows what it makes of that."""
    from core.attach.upstream import answer_agent  # What serves an agent comes with it.

    try:
        reply = await answer_agent(answerer_of(llm, "agent"), request)
    except LLMError as error:
        return ReplyAgain(problem=str(error))
    said = said_of(reply)
    thought = thought_of(reply)
    return ReplyAgain(
        action=said,
        thought="" if thought == said else thought,
        reply=reply_as_text(reply),
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
    # Without tools it was one of these, even if the preset was another one by then.
    return "json" if form == "json" or prompt.reply_schema is not None else "lines"


def recorded_answer(store: TraceStore, detail: StepDetail, call: CallRecord) -> str:
    """Return what the call had the run do, to be told from other answers to it."""
    if call.purpose == "agent":
        reply = stored_reply(store, call)
        return "" if reply is None else said_of(reply)
    for record in reversed(detail.records):
        if isinstance(record, Reviewed) and record.action is not None:
            return str(record.action)
        if isinstance(record, Decided) and record.proposal.action is not None:
            return str(record.proposal.action)
    return ""


def _without_pictures(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(message.replace(images=()) for message in messages)


async def attribute_step(
    store: TraceStore,
    llm: Answerer,
    run: int,
    step: int,
    *,
    times: int,
    temperature: float | None = None,
    on_answers: Callable[[WhatIf], None] = lambda so_far: None,
) -> tuple[Attribution, ...]:
    """Return the attributions of a step's exemplars.

    All answers are stored with the step, as any that is asked again. Raises
    UsageError where the step had no exemplars or they are not found in the prompt,
    and TraceError.
    """
    if goes_by_data(llm, "decide"):
        raise UsageError(
            "The built-in LLM follows contrasts, but reads no prompt that an exemplar could be left out of; choose "
            "another LLM."
        )
    detail = store.step(run, step)
    prompt = stored_prompt(store, deciding_call(detail))
    items = found_again(prompt.messages, prompt.parts, list(enumerate(prompt.messages)))
    chosen = [place for place, one in enumerate(items) if one.part.kind == "exemplar" and one.state != "lost"]
    if not chosen:
        raise UsageError(
            f"The prompt of step {step} of run {run} has no exemplars, so there is no credit to determine."
        )

    async def asked(messages: tuple[Message, ...]) -> WhatIf:
        question = Question(run=run, step=step, messages=messages, temperature=temperature, count=times)
        return await ask_again(store, llm, question, on_answer=on_answers)

    whole = await asked(())
    success = store.run(run).verdict.success
    found: list[Attribution] = []
    for place in chosen:
        without = await asked(dropped(prompt.messages, items, place).messages)
        found.append(_attribution(store, items[place], whole, without, success))
    return tuple(found)


def kept_attributions(library: Library, ids: Iterable[str] = ()) -> tuple[Attribution, ...]:
    """Return the attributions that are kept, of a step asked about more than once the last; raises LibraryError."""
    found: dict[tuple[object, ...], Attribution] = {}
    for _, content in library.proofs.of("credit", ids, limit=_KEPT):
        with contextlib.suppress(ValidationError):  # One that a later program has written.
            one = Attribution.model_validate_json(content)
            found[one.id, one.trace, one.run, one.step, one.llm, one.temperature] = one
    return tuple(found.values())


def _attribution(
    store: TraceStore, item: Item, whole: WhatIf, without: WhatIf, success: bool | None
) -> Attribution:
    with_same, with_all = _counted(whole)
    without_same, without_all = _counted(without)
    return Attribution(
        id=item.part.id,
        family=item.part.family,
        trace=str(store.path.absolute()),
        run=whole.run,
        step=whole.step,
        llm=whole.llm,
        temperature=whole.temperature,
        action=whole.recorded,
        with_same=with_same,
        with_all=with_all,
        without_same=without_same,
        without_all=without_all,
        when=time.time(),
        success=success,
    )


def _counted(asked: WhatIf) -> tuple[int, int]:
    """Return how many answers were the step's own action, and how many came at all, usable or not."""
    came = [answer for answer in asked.answers if answer.action or answer.thought or answer.tokens]
    return sum(one.action == asked.recorded for one in came), len(came)
