"""Makes the view of a step from its records."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from core.agent.presets import ATTACHED
from core.debugger.steps.mechanisms import exemplars_view, plan_view, stack_view, state_view
from core.debugger.steps.views import (
    ActionView,
    CallView,
    MessageView,
    ObservationView,
    PageChanges,
    PermissibleView,
    ScreenshotView,
    Side,
    StateView,
    StepView,
)
from core.llm.costs import count_tokens
from core.llm.openai_format import shaped_message
from core.llm.replies import split_thinking
from core.schema.action import Action, RefTarget
from core.schema.errors import NotInTraceError, TraceError
from core.schema.messages import LLMReply, Message
from core.schema.observation import Element, Observation, Ref
from core.schema.step import (
    Abstracted,
    Acted,
    AgentStep,
    BlobHash,
    CallRecord,
    Decided,
    Observed,
    Recalled,
    Recognised,
    Reviewed,
    action_of,
    place_of,
    record_of,
)
from core.trace.calls import stored_prompt, stored_reply
from core.trace.records import StepDetail
from core.trace.store import TraceStore
from core.trace.under_way import StepSource

T = TypeVar("T")


class MadeParts:
    """Parts of a view; each is made again only if its inputs have changed.

    Only for use in one thread.
    """

    def __init__(self) -> None:
        self._made: dict[object, tuple[tuple[object, ...], Any]] = {}

    def of(self, name: object, made_of: tuple[object, ...], make: Callable[[], T]) -> T:
        """Return the part of that name, made of these frozen records."""
        before, part = self._made.get(name, ((), None))
        if len(before) != len(made_of) or any(a is not b for a, b in zip(before, made_of, strict=True)):
            part = make()
            self._made[name] = (made_of, part)
        return part  # type: ignore[no-any-return]


def recorded_step(store: TraceStore, run: int, number: int, side: Side = "before") -> StepView:
    """Return everything of a stored step, with the page before or after its action; raises TraceError."""
    detail = store.step(run, number)
    told = store.run(detail.row.run).preset == ATTACHED.name

    def made(one: StepDetail, unread: str) -> StepView:
        view = step_view(store, run, one, MadeParts(), live=False, told=told)
        return view if record_of(Observed, one.records) is not None else _without_page(view, unread)

    view = made(detail, not_read(detail))
    if side == "before" or detail.row.outcome == "pending":
        return view  # What was not carried out has nothing after it.
    following, why = step_after(store, detail)
    after = made(following, not_read(following)) if following is not None else _without_page(view, why)
    return view.replace(
        side=side,
        state=after.state,
        permissible=after.permissible.replace(chosen="", chosen_ref=None),
        observation=after.observation,
        screenshot=after.screenshot.replace(box=None, caption=f"After step {number}: {action_text(detail)}"),
    )


def step_after(store: TraceStore, detail: StepDetail) -> tuple[StepDetail | None, str]:
    """Return the step that observed the page after a step, or None and why no step did; raises TraceError."""
    row = detail.row
    try:
        following = store.step(row.run, row.number + 1)
    except NotInTraceError:
        if store.run(row.run).outcome == "running":
            return None, "The page has not been observed since this step."
        return None, "This is the last step of its run: the page was not observed after it."
    if following.row.trial != row.trial:
        return None, (
            f"The next step begins trial {following.row.trial} on a new page: the page was not observed "
            "after this step."
        )
    return following, ""


def not_read(detail: StepDetail) -> str:
    """Return the sentence for a step without an observation."""
    return f"Step {detail.row.number} was started, but its page was not read."


def action_text(detail: StepDetail) -> str:
    """Return the step's action as text."""
    chosen = action_of(detail.records)
    return str(chosen) if chosen is not None else "no action"


def _without_page(view: StepView, why: str) -> StepView:
    return view.replace(
        state=StateView(message=why),
        permissible=PermissibleView(message=why),
        observation=ObservationView(message=why),
        screenshot=ScreenshotView(missing=why),
    )


def step_view(
    source: StepSource, run: int, detail: StepDetail, made: MadeParts, *, live: bool, told: bool
) -> StepView:
    """Return everything of one step; `told`: of an attached agent, which tells its mechanisms itself."""
    records, number = detail.records, detail.row.number
    observed, recognised = record_of(Observed, records), record_of(Recognised, records)
    abstracted, decided = record_of(Abstracted, records), record_of(Decided, records)
    reviewed, acted = record_of(Reviewed, records), record_of(Acted, records)
    action = _action(observed, recognised, decided, reviewed, acted)
    chosen = action_of(records)
    recalled = record_of(Recalled, records)
    asked = detail.calls if decided is not None else ()  # Without it, those before are of another prompt.
    return StepView(
        run=run,
        number=number,
        row=detail.row,
        live=live,
        state=made.of("state", (observed, recognised), lambda: state_view(observed, recognised, told=told)),
        permissible=made.of("permissible", (recognised, chosen), lambda: _permissible(recognised, chosen)),
        action=action,
        stack=stack_view(recognised, detail, source, run, told=told),
        plan=plan_view(source, run, number, records, told=told),
        exemplars=made.of(
            "exemplars",
            (recalled, *asked),
            lambda: exemplars_view(source, run, recalled, asked, told=told),
        ),
        observation=made.of(
            "observation",
            (observed, abstracted),
            lambda: _observation(source, observed, abstracted, _observed_before(source, run, number)),
        ),
        calls=tuple(
            made.of(call.number, (call,), lambda call=call: _call(source, call))  # type: ignore[misc]
            for call in detail.calls
        ),
        screenshot=screenshot_view(source, detail),
        interventions=tuple(
            f"{datetime.fromtimestamp(i.when):%H:%M:%S} {i.in_words}" for i in detail.interventions
        ),
        events=tuple(event.text for event in acted.events) if acted else (),
    )


def ref_of(action: Action | None) -> Ref | None:
    """Return the element that an action is on, where it names one by its ref."""
    first = action.targets[0] if action is not None and action.targets else None
    return first.ref if isinstance(first, RefTarget) else None


def _permissible(recognised: Recognised | None, chosen: Action | None) -> PermissibleView:
    if recognised is None:
        return PermissibleView()
    return PermissibleView(
        rows=recognised.permissible.rows(),
        left_out=recognised.permissible.left_out,
        chosen=str(chosen) if chosen is not None else "",
        chosen_ref=ref_of(chosen),
    )


def _action(
    observed: Observed | None,
    recognised: Recognised | None,
    decided: Decided | None,
    reviewed: Reviewed | None,
    acted: Acted | None,
) -> ActionView:
    form = recognised.permissible.actions if recognised else ()
    elements = observed.observation.elements if observed else ()
    remark = decided.proposal.remark if decided is not None else ""
    votes = _votes(decided) if decided is not None else ()
    cut = decided.cut if decided is not None else ""
    told = _told(decided.agent_step) if decided is not None else ""
    if reviewed is not None:
        remark = remark if reviewed.origin == "agent" else ""
        return ActionView(
            told=told,
            thought=reviewed.thought,
            action=str(reviewed.action) if reviewed.action is not None else "",
            proposed=str(reviewed.proposed) if reviewed.proposed is not None else "",
            origin=reviewed.origin,
            outcome=acted.outcome if acted else "pending",
            message=_in_words((acted.message if acted else "") or reviewed.note, remark),
            votes=votes,
            cut=cut,
            form=form,
            elements=elements,
        )
    if decided is not None:
        proposal = decided.proposal
        return ActionView(
            told=told,
            thought=proposal.thought,
            action=str(proposal.action) if proposal.action is not None else "",
            outcome="pending",
            message=_in_words(proposal.problem, remark),
            queue=tuple(str(one) for one in decided.queue),
            votes=votes,
            cut=cut,
            form=form,
            elements=elements,
        )
    return ActionView(form=form, elements=elements)


def _told(step: AgentStep | None) -> str:
    if step is None:
        return ""
    words = f"Step {step.number}, as the agent reports it"
    words = f"{words}: {', '.join(step.actions)}" if step.actions else f"{words}."
    return f"{words}\nGoal: {step.goal}" if step.goal else words


def _votes(decided: Decided) -> tuple[str, ...]:
    """Return how many of several samples agreed on the action, and what each said."""
    if not decided.votes:
        return ()
    texts = [
        ", ".join(str(one) for one in (vote.action, *vote.further) if one is not None)
        for vote in decided.votes
    ]
    said = [
        f"call {vote.call}: {text or 'not usable: ' + vote.problem}"
        for vote, text in zip(decided.votes, texts, strict=True)
    ]
    return (f"{decided.agreed} of {len(decided.votes)} samples agreed", *said)


def _in_words(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _observation(
    source: StepSource,
    observed: Observed | None,
    abstracted: Abstracted | None,
    before: Observation | None,
) -> ObservationView:
    if observed is None:
        return ObservationView()
    observation = observed.observation
    raw = observation.lines()
    return ObservationView(
        url=observation.url,
        title=observation.title,
        raw=raw,
        raw_elements=len(observation.elements),
        raw_tokens=count_tokens(raw),
        clean=abstracted.clean.text if abstracted else "",
        clean_elements=len(abstracted.clean.elements) if abstracted else 0,
        clean_tokens=abstracted.tokens if abstracted else 0,
        html=_text(source, observed.html),
        reused=observed.reused,
        abstraction=abstracted.how if abstracted else "",
        problem=abstracted.problem if abstracted else "",
        code=abstracted.code if abstracted else "",
        kept=_kept(observation, abstracted),
        changes=page_changes(before, observation),
        elements=observation.elements,
    )


def _observed_before(source: StepSource, run: int, number: int) -> Observation | None:
    try:
        return source.observed(run, number - 1)
    except TraceError:
        return None  # A damaged step is told where it is shown itself.


def _kept(observation: Observation, abstracted: Abstracted | None) -> tuple[Ref, ...]:
    """Return the elements that were kept, where some were not."""
    if abstracted is None or not abstracted.how:
        return ()
    kept = tuple(element.ref for element in abstracted.clean.elements)
    return kept if len(kept) < len(observation.elements) else ()


def _text(source: StepSource, blob: str) -> str:
    if not blob:
        return ""
    try:
        return source.blob(blob).decode("utf-8", "replace")
    except TraceError as error:
        return str(error)


def _call(source: StepSource, call: CallRecord) -> CallView:
    sent = stored_prompt(source, call)
    messages = tuple(
        MessageView(
            role=message.role,
            text=said(message),
            tokens=count_tokens(said(message)),
            images=len(message.images),
        )
        for message in sent.messages
    )
    tools = [tool.model_dump() for tool in sent.tools] or sent.reply_schema
    reply = stored_reply(source, call) or LLMReply()
    thinking, text = split_thinking(reply.text)
    sampling = {k: v for k, v in sent.sampling.model_dump().items() if v is not None}
    return CallView(
        record=call,
        messages=messages,
        sent=tuple(shaped_message(message, images=False) for message in sent.messages),
        tools=json.dumps(tools, indent=2, ensure_ascii=False) if tools else "",
        sampling=", ".join(f"{key} {value}" for key, value in sampling.items()),
        reply=said(reply.replace(text=text) if thinking else reply),
        reasoning="\n\n".join(filter(None, (reply.reasoning, thinking))),
        note=reply.note,
        reasoning_tokens=reply.reasoning_tokens,
        cached_cost=reply.cached_cost,
    )


def said(message: Message | LLMReply) -> str:
    """Return the text of a message or a reply, with its tool calls below it."""
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    return "\n".join([*([message.text] if message.text else []), *calls])


def screenshot_view(source: StepSource, detail: StepDetail) -> ScreenshotView:
    """Return the picture that a step observed, with the element that its action acts on."""
    observed, acted = record_of(Observed, detail.records), record_of(Acted, detail.records)
    chosen = action_of(detail.records)
    if observed is None:
        return ScreenshotView(missing=not_read(detail))
    return ScreenshotView(
        data=picture(source, observed.screenshot) if observed.screenshot else b"",
        viewport=observed.observation.viewport,
        box=place_of(chosen, observed, acted),
        caption=f"Step {detail.row.number}: {action_text(detail)}",
    )


def picture(source: StepSource, name: BlobHash) -> bytes:
    """Return a picture; one that is missing or damaged has no bytes."""
    try:
        return source.blob(name)
    except TraceError:
        return b""


def page_changes(before: Observation | None, now: Observation) -> PageChanges:
    """Compare two observations element by element.

    Elements with the same ref are the same. If a page creates its elements again, they get other refs: then
    an element with the same text counts as the removed one, so that only visible differences are reported.
    """
    if before is None:
        return PageChanges()
    old = {element.ref: _words_without_ref(element) for element in before.elements}
    there = {element.ref for element in now.elements}
    gone: Counter[str] = Counter(words for ref, words in old.items() if ref not in there)
    new, changed = [], {}
    for element in now.elements:
        words = _words_without_ref(element)
        if element.ref in old:
            if old[element.ref] != words:
                changed[element.ref] = old[element.ref]
        elif gone[words]:
            gone[words] -= 1
        else:
            new.append(element.ref)
    return PageChanges(compared=True, new=tuple(new), changed=changed, gone=gone.total())


def _words_without_ref(element: Element) -> str:
    """Return an element's line without its ref."""
    return element.line().partition("] ")[2]
