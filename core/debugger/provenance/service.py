"""Finds where the words of a step come from: collects the texts it was made from, and what can be searched for."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from core.agent.policies.conditions import without_conditions
from core.debugger.commands import command
from core.debugger.provenance.text_match import TextMatch, find
from core.debugger.provenance.views import Lead, Offer, Source, SourcePlace, WhyQuestion, WhyView
from core.debugger.service import Service
from core.debugger.steps.view import said
from core.schema.action import Action, Named, RefTarget, RoleTarget
from core.schema.errors import DataError, TraceError
from core.schema.formats import count
from core.schema.messages import CHOOSING
from core.schema.observation import Element, Observation
from core.schema.step import (
    Abstracted,
    CallRecord,
    Decided,
    Observed,
    PhaseRecord,
    Recalled,
    Recognised,
    Reviewed,
    record_of,
)
from core.settings.user_file import read_bytes
from core.trace.calls import stored_prompt, stored_reply
from core.trace.records import StepDetail, StepRow
from core.trace.store import TraceStore

_LEAST_OWN = 8
"""Letters of a reply from which on it is known again in a later prompt."""
_FILE = 1_000_000


class ProvenanceService(Service[WhyView]):
    """Searches for a text in everything that a step was made from."""

    view = WhyView(run=0, step=0)

    @command
    async def explain(self, question: WhyQuestion) -> None:
        """Look for the words of the question; of several questions in a row only the last is answered."""
        empty = WhyView(**dict(question))
        await self.answer(
            "why",
            lambda store: why(store, question),
            self.send,
            lambda problem: empty.replace(problem=problem),
        )


P = TypeVar("P", bound=PhaseRecord)
_CHOOSING = (*CHOOSING, "choose")
"""Calls that lead to the action; those after them were shown it."""


def why(store: TraceStore, question: WhyQuestion) -> WhyView:
    """Return where the text of a question stands in what its step was made from; raises TraceError."""
    detail = store.step(question.run, question.step)
    run = question.run
    observed = _left(Observed, detail)
    seen = observed.observation if observed is not None else None
    view = WhyView(**dict(question), offers=offers(detail))
    element = seen.element(question.ref) if seen is not None and question.ref is not None else None
    wanted = question.text.strip()
    if not wanted and element is None:
        return view
    prompts = _prompts(store, run, detail)
    sources = [*prompts.sources, *_others(store, run, detail, seen)]
    found = find(wanted, sources) if wanted else TextMatch()
    meant = () if element is None else (_meant(element, Lead(run=run, step=question.step, ref=element.ref)),)
    return view.replace(
        places=_with_meant(meant, found.places),
        missing=found.missing,
        verdict=_verdict(detail, found, meant, prompts),
    )


def offers(detail: StepDetail) -> tuple[Offer, ...]:
    """Return what of a step can be looked for: arguments and targets of its action, and the thought."""
    observed, reviewed, decided = _left(Observed, detail), _left(Reviewed, detail), _left(Decided, detail)
    action = reviewed.action if reviewed is not None else None
    if action is None and decided is not None:
        action = decided.proposal.action
    found = list(_arguments(action, observed.observation if observed is not None else None))
    thought = detail.row.thought.strip()
    return (*found, *([Offer(label="the thought", text=thought)] if thought else []))


def _arguments(action: Action | None, seen: Observation | None) -> Iterator[Offer]:
    if action is None:
        return
    for target in action.targets:
        if isinstance(target, RefTarget):
            element = seen.element(target.ref) if seen is not None else None
            name = (element.name or element.value) if element is not None else ""
            line = element.line() if element is not None else f"[{target.ref}]"
            yield Offer(label=f"the element {line[:120]}", text=name, ref=target.ref)
        elif isinstance(target, RoleTarget) and target.name:
            yield Offer(label=f"the element {target}"[:120], text=target.name)
    if isinstance(action, Named):
        values = {f"argument {at}": value for at, value in enumerate(action.arguments, start=1)}
    else:
        values = action.model_dump(mode="json")
    for name, value in values.items():
        if name not in ("kind", "name", "target", "to") and isinstance(value, str) and value.strip():
            yield Offer(label=f"{name}: {value[:80]}", text=value)


# What is looked in


class _Prompts(NamedTuple):
    """What the LLM was shown."""

    sources: list[Source]
    pictures: int
    """How many different ones were with the texts; what is in them is not known."""
    unread: int
    """How many calls cannot be read."""
    asked: bool = True
    """Whether an LLM was asked for the action at all."""


def _prompts(store: TraceStore, run: int, detail: StepDetail) -> _Prompts:
    """Return the messages that led to the action."""
    calls = detail.calls
    last = max((call.number for call in calls if call.purpose in _CHOOSING), default=0)
    if last:
        return _messages(store, run, [call for call in calls if call.number <= last], detail.row, "")
    before = _asked_before(store, run, detail)
    if before is None:
        return _messages(store, run, calls, detail.row, "")._replace(asked=False)
    title = f"Step {before.row.number}, "
    return _messages(store, run, before.calls, before.row, title)


def _asked_before(store: TraceStore, run: int, detail: StepDetail) -> StepDetail | None:
    """Return the earlier step in which the LLM gave this step's action: from a queue, or as a remedy."""
    decided = _left(Decided, detail)
    if decided is None or detail.row.origin == "person":
        return None
    if decided.scheduled is not None and decided.scheduled.entry and decided.reflection is not None:
        entry = next(
            (remedy for remedy in decided.reflection.remedies if remedy.number == decided.scheduled.entry),
            None,
        )
        return None if entry is None else store.step(run, entry.step)
    if not decided.from_queue:
        return None
    for row in reversed(store.steps(run)):
        if row.number < detail.row.number:
            earlier = store.step(run, row.number)
            if any(call.purpose in _CHOOSING for call in earlier.calls):
                return earlier
    return None


def _messages(store: TraceStore, run: int, calls: Sequence[CallRecord], row: StepRow, title: str) -> _Prompts:
    found: list[Source] = []
    replies: list[str] = []
    pictures: set[bytes] = set()
    unread = 0
    for call in calls:
        try:
            prompt = stored_prompt(store, call)
            reply = stored_reply(store, call)
        except TraceError:
            unread += 1
            continue
        pictures |= {image.data for message in prompt.messages for image in message.images}
        lead = Lead(run=run, step=row.number, call=call.number)
        head = f"{title}{'c' if title else 'C'}all {call.number} ({call.purpose})"
        for at, message in enumerate(prompt.messages):
            text = said(message)
            found.append(
                Source(
                    kind="prompt",
                    title=f"{head}, {message.role} message",
                    text=text,
                    lead=lead.replace(part=f"{call.number}.{at}"),
                    own=_own(text, replies),
                )
            )
        if tools := [tool.model_dump() for tool in prompt.tools] or prompt.reply_schema:
            what = "tools" if prompt.tools else "JSON schema of the reply"
            text = json.dumps(tools, indent=2, ensure_ascii=False)
            at_tools = lead.replace(part=f"{call.number}.tools")
            found.append(Source(kind="prompt", title=f"{head}, {what}", text=text, lead=at_tools))
        if reply is not None and len(reply.text.strip()) >= _LEAST_OWN:
            replies.append(reply.text.strip())
    return _Prompts(found, len(pictures), unread)


def _own(text: str, replies: Sequence[str]) -> tuple[tuple[int, int], ...]:
    spans = []
    for reply in replies:
        at = text.find(reply)
        while at >= 0:
            spans.append((at, at + len(reply)))
            at = text.find(reply, at + len(reply))
    return tuple(spans)


def _others(store: TraceStore, run: int, detail: StepDetail, seen: Observation | None) -> Iterator[Source]:
    number = detail.row.number
    here = Lead(run=run, step=number)
    row = store.run(run)
    yield Source(kind="task", title="The task's instruction", text=row.instruction, lead=here)
    yield Source(kind="task", title="The task's start page", text=row.start_url, lead=here)
    if seen is not None:
        yield from _page(seen, here)
    abstracted = _left(Abstracted, detail)
    if abstracted is not None:
        yield Source(
            kind="clean observation", title="Clean observation", text=abstracted.clean.text, lead=here
        )
    yield from _exemplars(store, run, detail, here)
    yield from _reflection(detail, here)
    yield from _space_and_policies(detail, here)
    for step in reversed(store.steps(run)):
        if step.number < number:
            lead = Lead(run=run, step=step.number)
            for what, text in (
                ("action", f"{step.action} {step.target}".strip()),
                ("result", step.message),
                ("thought", step.thought),
            ):
                if text:
                    yield Source(
                        kind="earlier step", title=f"Step {step.number}, {what}", text=text, lead=lead
                    )


def _page(seen: Observation, here: Lead) -> Iterator[Source]:
    yield Source(kind="page", title="The page's address", text=seen.url, lead=here)
    yield Source(kind="page", title="The page's title", text=seen.title, lead=here)
    for element in seen.elements:
        lead = here.replace(ref=element.ref)
        what = f"[{element.ref}] {element.role}"
        options = " | ".join(option.label for option in element.options)
        for part, text in (
            ("name", element.name),
            ("value", element.value if element.value != element.name else ""),
            ("options", options),
            ("detail", element.detail),
        ):
            if text:
                yield Source(kind="page", title=f"{what}, {part}", text=text, lead=lead)


def _exemplars(store: TraceStore, run: int, detail: StepDetail, here: Lead) -> Iterator[Source]:
    recalled = _left(Recalled, detail)
    if recalled is not None and recalled.recall is None and recalled.recalled_at is not None:
        try:
            recalled = _left(Recalled, store.step(run, recalled.recalled_at))
        except TraceError:
            return
    if recalled is None or recalled.recall is None:
        return
    for exemplar in recalled.recall.used:
        lead = here.replace(exemplar=exemplar.id)
        yield Source(kind="exemplar", title=f"{exemplar.id}, task", text=exemplar.task, lead=lead)
        for at, step in enumerate(exemplar.steps, start=1):
            for part, text in (
                ("observation", step.observation),
                ("thought", step.thought),
                ("actions", "\n".join(step.actions)),
            ):
                if text:
                    yield Source(
                        kind="exemplar", title=f"{exemplar.id}, step {at}, {part}", text=text, lead=lead
                    )


def _reflection(detail: StepDetail, here: Lead) -> Iterator[Source]:
    """Yield plan and remedies as they were when the action was decided."""
    decided = _left(Decided, detail)
    reflection = decided.reflection if decided is not None else None
    if reflection is None:
        return
    for at, subtask in enumerate(reflection.plan.subtasks if reflection.plan is not None else (), start=1):
        yield Source(kind="plan", title=f"Subtask {at}", text=subtask.text, lead=here)
    for at, text in enumerate(reflection.experience, start=1):
        yield Source(kind="plan", title=f"Lesson of trial {at}", text=text, lead=here)
    for remedy in reflection.remedies:
        text = "\n".join(filter(None, (f"{remedy.action} {remedy.target}".strip(), remedy.reason)))
        yield Source(
            kind="remedy", title=f"Remedy {remedy.number}, from step {remedy.step}", text=text, lead=here
        )


def _space_and_policies(detail: StepDetail, here: Lead) -> Iterator[Source]:
    recognised = _left(Recognised, detail)
    if recognised is None:
        return
    for name, value in recognised.memory.remembered.items():
        yield Source(kind="buffer", title=f"Remembered: {name}", text=value, lead=here)
    for one in recognised.memory.buffer:
        text = "\n".join(filter(None, (one.candidate, one.title, one.reason)))
        yield Source(kind="buffer", title=f"Set aside at step {one.step}", text=text, lead=here)
    for kept in recognised.memory.kept:
        title = f"Read from {kept.candidate} at step {kept.step}: {kept.name}"
        yield Source(kind="buffer", title=title, text=kept.text, lead=here)
    if recognised.diagram is not None and recognised.diagram.instruction:
        yield Source(
            kind="policy",
            title=f"Instruction of the state {recognised.state}",
            text=recognised.diagram.instruction,
            lead=here,
        )
    stack = recognised.stack
    for frame in (*stack.frames, *stack.finished) if stack is not None else ():
        yield Source(kind="policy", title=f"The call of {frame.policy}", text=frame.written, lead=here)
        if frame.outcome:
            yield Source(kind="policy", title=f"Result of {frame.policy}", text=frame.outcome, lead=here)
        for at, note in enumerate(frame.notes, start=1):
            yield Source(kind="buffer", title=f"Note {at} of {frame.policy}", text=note, lead=here)
    files = {frame.file: frame.policy for frame in stack.frames if frame.file} if stack is not None else {}
    for file, policy in files.items():
        if text := _text_of(file):
            shown = without_conditions(text)
            yield Source(kind="policy", title=f"The file of {policy}, as it is now", text=shown, lead=here)


def _text_of(file: str) -> str:
    try:
        # A run from elsewhere may name any path.
        return read_bytes(Path(file), most=_FILE).decode(errors="replace")
    except DataError:
        return ""


# What it comes to


def _meant(element: Element, lead: Lead) -> SourcePlace:
    line = element.line()[:400]
    return SourcePlace(
        kind="page",
        title=f"[{element.ref}] {element.role}",
        how="element",
        excerpt=line,
        spans=((0, len(line)),),
        found=element.line(),
        lead=lead,
    )


def _with_meant(meant: tuple[SourcePlace, ...], places: tuple[SourcePlace, ...]) -> tuple[SourcePlace, ...]:
    at = next((at for at, place in enumerate(places) if place.kind != "prompt"), len(places))
    return (*places[:at], *meant, *places[at:])


def _verdict(detail: StepDetail, found: TextMatch, meant: tuple[SourcePlace, ...], prompts: _Prompts) -> str:
    """Return what the places come to; it is the LLM's own only if all that it was shown is text that was read."""
    asked, unread = prompts.asked, prompts.unread
    person = detail.row.origin == "person"
    whole = [place for place in found.places if place.how != "words"]
    shown = [place for place in whole if place.kind == "prompt" and not place.own]
    own = [place for place in whole if place.own]
    elsewhere = list(dict.fromkeys(place.kind for place in whole if place.kind != "prompt"))
    by = "The action is a person's. " if person else "" if asked else "No LLM was asked for this action. "
    if shown:
        exact = (
            "exactly" if any(place.how == "exact" for place in shown) else "except for case and white space"
        )
        return f"{by}The LLM was shown it, {exact}."
    also = f" The LLM was also shown {count(prompts.pictures, 'picture')}." if prompts.pictures else ""
    also += f" {count(unread, 'LLM call')} cannot be read." if unread else ""
    readable = "readable " if unread else ""
    nothing = f"It is in no {readable}text that the LLM was shown" if also else "The LLM was not shown it"
    if own:
        return f"{by}{nothing}, except in its own earlier reply.{also}"
    if elsewhere or meant:
        kinds = [f"the {kind}" if kind != "earlier step" else "an earlier step" for kind in elsewhere]
        if meant and "page" not in elsewhere:
            kinds.append("the page, as the target element")
        in_prompts = nothing if asked else f"It is in no {readable}prompt"
        return f"{by}{in_prompts}; it is in {', '.join(kinds)}.{also}"
    if found.places:
        most = max(place.words[0] for place in found.places)
        return (
            f"{by}{nothing}, and nothing else in the step contains it completely. At most {most} of its "
            f"{found.places[0].words[1]} words are in one line.{also}"
        )
    stored = f"No {readable}text" if also else "Nothing stored"
    if person:
        return f"{by}{stored} of the step contains it: it is their own."
    if not asked:
        return f"{by}{stored} of the step contains it.{also}"
    end = f".{also}" if also else ": it is the LLM's own."
    return f"{nothing}, and nothing else in the step contains it{end}"


def _left(cls: type[P], detail: StepDetail) -> P | None:
    return record_of(cls, detail.records)


make_service = ProvenanceService
