"""The time of a run as text: for tooltips and screen readers."""

from core.debugger.timeline.views import HeldSpan, MarkKind, PhaseSpan, StepSpan, TimeMark, TimeView
from core.schema.formats import count, cut, dollars, seconds, thousands
from core.schema.step import CallRecord

_OUTCOMES = {"failed": "failed", "skipped": "skipped", "pending": "not done yet"}
MARKS: dict[MarkKind, tuple[str, str, str]] = {
    "breakpoint": ("●", "bad", "Breakpoint"),
    "person": ("◆", "person", "Person"),
    "went back": ("↶", "remedy", "Going back"),
    "error": ("✗", "bad", "Error"),
    "remedy": ("▲", "remedy", "Remedy"),
    "trial": ("⟳", "text", "Trial"),
    "branch": ("├", "text", "Branch"),
    "right": ("✓", "good", "Judgement"),
    "wrong": ("≠", "bad", "Judgement"),
}
"""The sign, the colour token and the name of each kind of mark; each kind has a different sign."""


_NONE = "No run is in view. F10 takes the first step; its steps, calls and waits appear here over time."
_BEGINNING = "The run has no steps yet. F10 takes the first one."


def no_steps(view: TimeView) -> str:
    """Return why a view has no steps, and what to do."""
    return view.problem or (_BEGINNING if view.run else _NONE)


def summary(view: TimeView) -> str:
    """Return a one-line summary of the run."""
    if not view.steps:
        return ""
    if view.untimed:
        return f"Run {view.run} · {count(len(view.steps), 'step')} · {view.untimed}"
    parts = [f"Run {view.run}", count(len(view.steps), "step"), seconds(view.seconds)]
    if view.seconds_in_llm:
        parts.append(f"LLM {seconds(view.seconds_in_llm)}")
    if view.held:
        parts.append(f"held {seconds(view.seconds_held)}")
    if view.costs:
        parts.append(dollars(view.costs[-1][1]))
    if not view.phases_known:
        parts.append("when phases began was not stored: waits may be part of them")
    return " · ".join(parts)


def step_words(step: StepSpan, *, timed: bool = True) -> str:
    outcome = _OUTCOMES.get(step.outcome, "")
    by = "" if step.origin == "agent" else f", by {step.origin}"
    spent = f", {seconds(step.ended - step.begun)}" if timed else ""
    lines = [
        f"Step {step.number}{spent}{by}{f', {outcome}' if outcome else ''}",
        _short(step.in_words),
    ]
    if step.calls:
        lines.append(f"{count(len(step.calls), 'LLM call')}, {seconds(step.seconds_asked)}")
    if step.message and step.outcome == "failed":
        lines.append(_short(step.message))
    return "\n".join(lines)


def phase_words(step: StepSpan, phase: PhaseSpan) -> str:
    known = "" if phase.begun_known else "\nWhen it began was not stored: waiting may be part of it"
    return f"Step {step.number}, {phase.phase}: {seconds(phase.ended - phase.begun)}{known}"


def call_words(step: StepSpan, call: CallRecord) -> str:
    usage = call.usage
    about = "~" if usage.estimated else ""
    cached = f" ({thousands(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    lines = [
        f"Call {call.number} for {call.purpose}, {call.llm}: {seconds(call.seconds)}",
        f"{about}{thousands(usage.prompt_tokens)} tokens in{cached}, {about}{thousands(usage.completion_tokens)} out, "
        + (dollars(call.cost) if call.cost is not None else "no price known"),
    ]
    return "\n".join([*lines, f"Failed: {_short(call.error)}"] if call.error else lines)


def held_words(held: HeldSpan, *, folded: bool) -> str:
    drawn = "\nDrawn shorter than it was" if folded else ""
    return f"{held.why or 'Nothing ran'}: {seconds(held.seconds)}{drawn}"


def mark_words(mark: TimeMark) -> str:
    return f"{MARKS[mark.kind][2]}, step {mark.step}: {mark.text}"


def description(view: TimeView) -> str:
    """Return a description of the bar as sentences, short enough to listen to."""
    if not view.steps:
        return no_steps(view)
    longest = sorted(view.steps, key=lambda step: step.begun - step.ended)[:3]
    lines = [summary(view)]
    if not view.untimed:
        entries = ", ".join(f"step {one.number} with {seconds(one.ended - one.begun)}" for one in longest)
        lines.append(f"The longest: {entries}.")
    kinds = {kind: sum(mark.kind == kind for mark in view.marks) for kind in MARKS}
    named = {"right": "judged right", "wrong": "judged wrong"}
    marked = ", ".join(
        f"{named.get(kind, MARKS[kind][2].lower())} {number}" for kind, number in kinds.items() if number
    )
    lines += [f"Marks: {marked}."] if marked else []
    lines += [mark_words(mark) for mark in view.marks[:20]]
    if len(view.marks) > 20:
        lines.append(f"and {len(view.marks) - 20} more marks")
    return "\n".join(lines)


def _short(text: str) -> str:
    return cut(" ".join(text.split()), 160)
