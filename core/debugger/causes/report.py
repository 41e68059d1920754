"""A failed run and its causes as Markdown, for whoever mends the agent: an LLM, a coding agent, or a person."""

import re
from collections.abc import Iterator, Sequence

from core.debugger.causes.records import Cause
from core.schema.errors import BackstepError
from core.trace.calls import stored_prompt, stored_reply
from core.trace.evaluated import ways
from core.trace.records import ATTACHED_NAME, RunRow
from core.trace.store import TraceStore

_SHOWN_CAUSES = 5
_SHOWN_STEPS = 30
_LONGEST_EVIDENCE = 400
_LONGEST_PROMPT = 12_000
_ATTACHED = (
    "The agent's own files are not known here. Change what makes the prompt or reads the reply of the step that is "
    "named first, then run the task again at this seed and at others."
)


def report_of(store: TraceStore, row: RunRow, causes: Sequence[Cause]) -> str:
    """Return task, end, steps and causes of a run, and the prompt and reply of the step of the first cause."""
    return "\n".join(_lines(store, row, causes))


def _lines(store: TraceStore, row: RunRow, causes: Sequence[Cause]) -> Iterator[str]:
    yield f"# Run {row.run}: {row.task}, seed {row.seed}\n"
    yield f"The task: {row.instruction}"
    yield f"How the run ended: {_in_one_line(row.error or row.verdict.reason or row.outcome)}"
    yield "\n## Steps\n"
    for step in ways(store, [row.run]).get(row.run, ())[-_SHOWN_STEPS:]:
        words = (f"{step.number}.", step.state, step.action, step.target, step.outcome, step.message)
        yield _in_one_line(" ".join(filter(None, words)))
    if causes:
        yield "\n## What may have caused it, the likeliest first\n"
    for cause in causes[:_SHOWN_CAUSES]:
        what = f"{cause.place}, step {cause.step}: {cause.what} ({cause.certainty}: {cause.why})"
        yield f"- {_in_one_line(what)}"
        for one in cause.evidence:
            yield f"  - {one.where}: {_in_one_line(one.text)[:_LONGEST_EVIDENCE]}"
        if cause.patch is not None:
            yield f"  - A change that may mend it, in {cause.patch.file}: replace"
            yield f"{_fenced(cause.patch.find.rstrip())}\nby\n{_fenced(cause.patch.put.rstrip())}"
    if row.preset == ATTACHED_NAME:
        yield f"\n{_ATTACHED}"
    if causes:
        yield from _call(store, row.run, causes[0].step)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _fenced(text: str) -> str:
    """Return a text between fences that are longer than any in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def _call(store: TraceStore, run: int, step: int) -> Iterator[str]:
    """Yield the last prompt of a step and its reply, as far as they were kept."""
    calls = [call for call in store.calls.of(run) if call.step == step]
    if not calls:
        return
    try:
        prompt = "\n\n".join(one.text for one in stored_prompt(store, calls[-1]).messages)
        reply = stored_reply(store, calls[-1])
    except BackstepError:
        return  # They were not kept.
    yield f"\n## The prompt of step {step}\n\n{_fenced(prompt[-_LONGEST_PROMPT:])}"
    if reply is not None:
        yield f"\n## The reply\n\n{_fenced(reply.text)}"
