"""The plan and the remedies as a phase left them, for the trace and the window."""

from core.agent.state import RunState
from core.schema.step import ReflectionTold, RemedyTold


def told(state: RunState) -> ReflectionTold | None:
    """Return what is to be kept of the reflection, or None where none of it is at work."""
    reflection = state.reflection
    at_work = any(state.is_on(one) for one in ("plan", "remedies", "judgement"))
    if not at_work and reflection.plan is None and not reflection.remedies.entries:
        return None
    return ReflectionTold(
        plan=reflection.plan,
        remedies=tuple(
            RemedyTold(
                number=entry.number,
                step=entry.step,
                action=str(entry.action),
                target=entry.target,
                reason=entry.reason,
                subtask=entry.subtask,
                state=entry.state,
                why=entry.why,
            )
            for entry in reflection.remedies.entries
        ),
        trial=state.trial,
        trials=state.trials,
        experience=tuple(reflection.experience),
        scheduled=reflection.scheduled,
    )
