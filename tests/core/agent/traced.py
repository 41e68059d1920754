"""What the trace has of a run, as tests of the loop ask for it."""

from core.agent.loop import AgentRun
from core.debugger.steps.view import recorded_step
from core.debugger.steps.views import StepView
from core.schema.step import Phase, PhaseRecord
from core.trace.records import StepRow


def steps(run: AgentRun) -> tuple[StepRow, ...]:
    return run.store.steps(run.state.run)


def purposes(run: AgentRun) -> list[str]:
    """Return what the LLM was asked for, in order."""
    return [one.purpose for one in run.store.calls.of(run.state.run)]


def records(run: AgentRun, number: int) -> dict[Phase, PhaseRecord]:
    """Return what the phases of a step left."""
    return {record.phase: record for record in run.store.step(run.state.run, number).records}


def view(run: AgentRun, number: int) -> StepView:
    """Return a step as the window draws it."""
    return recorded_step(run.store, run.state.run, number)


COVERED = "<button>Under</button><div style='position:fixed;inset:0;background:#fff'>The cover</div>"
"""A page whose button lies under something else: a click on it fails."""
