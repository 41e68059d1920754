"""Aligns two runs: which steps belong together, where the runs first differ, and in what, pair by pair."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from core.agent.policies.stack import place_of_page
from core.agent.reflection.remedies import in_words
from core.debugger.compare.views import (
    AlignedPair,
    Compared,
    Part,
    PartName,
    comparable,
)
from core.schema.messages import CHOOSING
from core.schema.step import (
    Abstracted,
    Acted,
    Aligned,
    Observed,
    PhaseRecord,
    Recalled,
    Recognised,
    action_of,
    last_reflection,
    record_of,
)
from core.trace.calls import stored_prompt, stored_reply
from core.trace.records import StepDetail, StepRow
from core.trace.store import TraceStore


class _Done(NamedTuple):
    """What steps are matched by."""

    row: StepRow
    page: str
    action: str
    outcome: str


def compare_runs(store: TraceStore, left: int, right: int) -> Compared:
    """Return two runs aligned by page and action, with the first that differs; raises TraceError.

    Steps with the same page and action belong together; steps between two such pairs are paired in order, so
    that a step is shown next to what the other run did instead.
    """
    lefts, rights = store.steps(left), store.steps(right)
    shared = 0
    for mine, its in zip(lefts, rights, strict=False):
        if (mine.run, mine.number) != (its.run, its.number):
            break
        shared += 1
    pairs = [AlignedPair(left=row, right=row, shared=True) for row in lefts[:shared]]
    old, new = _done(store, lefts[shared:]), _done(store, rights[shared:])
    matcher = SequenceMatcher(None, _keys(old), _keys(new), autojunk=False)
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        for place in range(max(i2 - i1, j2 - j1)):
            one = old[i1 + place] if i1 + place < i2 else None
            other = new[j1 + place] if j1 + place < j2 else None
            pairs.append(
                AlignedPair(
                    left=one.row if one else None,
                    right=other.row if other else None,
                    differs=_differs(one, other),
                )
            )
    return Compared(left=store.run(left), right=store.run(right), pairs=tuple(pairs))


def compare_steps(
    store: TraceStore, left: tuple[int, int] | None, right: tuple[int, int] | None
) -> tuple[Part, ...]:
    """Return all parts of two steps, each named by run and number, side by side; raises TraceError.

    A step that is None has nothing to show.
    """
    one, other = parts_of(store, left), parts_of(store, right)
    names = [*one, *(name for name in other if name not in one)]
    return tuple(Part(name=name, left=one.get(name, ""), right=other.get(name, "")) for name in names)


def _done(store: TraceStore, rows: Sequence[StepRow]) -> list[_Done]:
    found = []
    for row in rows:
        records = store.step(row.run, row.number).records
        observed = record_of(Observed, records)
        page = place_of_page(observed.observation) if observed is not None else None
        found.append(
            _Done(
                row,
                f"{comparable(page.url)} {page.fingerprint}" if page is not None else "",
                _action(records, observed),
                f"{row.effect} {row.outcome}",
            )
        )
    return found


def _keys(steps: Sequence[_Done]) -> list[tuple[str, str]]:
    return [(step.page, step.action) for step in steps]


def _differs(one: _Done | None, other: _Done | None) -> tuple[PartName, ...]:
    if one is None or other is None:
        return ()
    parts: tuple[tuple[PartName, bool], ...] = (
        ("page", one.page != other.page),
        ("action", one.action != other.action),
        ("outcome", one.outcome != other.outcome),
    )
    return tuple(name for name, differs in parts if differs)


def _action(records: Sequence[PhaseRecord], observed: Observed | None) -> str:
    action = action_of(records)
    if action is None:
        return ""
    return comparable(in_words(action, observed.observation) if observed is not None else str(action))


def parts_of(store: TraceStore, step: tuple[int, int] | None) -> dict[PartName, str]:
    """Return the parts of a step, named by run and number, as text; raises TraceError."""
    if step is None:
        return {}
    detail = store.step(*step)
    records = detail.records
    observed, recognised = record_of(Observed, records), record_of(Recognised, records)
    recalled, abstracted = record_of(Recalled, records), record_of(Abstracted, records)
    acted, aligned = record_of(Acted, records), record_of(Aligned, records)
    found: dict[PartName, str] = {}
    if recognised is not None:
        found["state"] = f"{recognised.space}: {recognised.state}"
    found["thought"] = detail.row.thought
    found["action"] = f"{detail.row.action}\n{detail.row.target}".strip()
    if acted is not None:
        judged = f"\n{aligned.sentence}" if aligned is not None and aligned.sentence else ""
        found["outcome"] = f"{acted.effect}, {acted.outcome}. {acted.message}{judged}".strip()
    reflection = last_reflection(records)
    if reflection is not None and reflection.plan is not None:
        found["plan"] = "\n".join(
            f"{subtask.text} ({subtask.status})" for subtask in reflection.plan.subtasks
        )
    if recalled is not None and (recalled.exemplars or recalled.recall is not None):
        found["retrieval"] = "\n".join(recalled.exemplars) or "none"
    if observed is not None:
        observation = observed.observation
        found["page"] = f"{observation.url}\n{observation.title}\n{observation.lines()}"
    if abstracted is not None:
        found["clean observation"] = abstracted.clean.text
    found |= _call(store, detail)
    return found


def _call(store: TraceStore, detail: StepDetail) -> dict[PartName, str]:
    """Return prompt and reply of the call that chose the action."""
    call = next((one for one in reversed(detail.calls) if one.purpose in CHOOSING), None)
    if call is None:
        return {}
    prompt = "\n\n".join(
        f"[{message.role}]\n{message.text}" for message in stored_prompt(store, call).messages
    )
    reply = stored_reply(store, call)
    if reply is None:
        return {"prompt": prompt, "reply": call.error}
    called = [f"{one.name} {one.arguments}" for one in reply.tool_calls]
    return {"prompt": prompt, "reply": "\n".join([*filter(None, [reply.text]), *called])}
