"""decide: ask for a thought and an action, or take what is scheduled, and put it up for review."""

from core.agent.deciding import Decider
from core.agent.prompting import Prompter
from core.agent.records import Decided, Origin
from core.agent.reflection.carrying_out import CarryingOut
from core.agent.reflection.planning import make_plan
from core.agent.reflection.told import told
from core.agent.state import Pending, RunState


async def decide(state: RunState, decider: Decider, carrying_out: CarryingOut, prompter: Prompter) -> Decided:
    """Return the proposal, which is pending from now on; raises LLMError and DataError."""
    origin: Origin = "agent"
    if (scheduled := state.reflection.scheduled) is not None:
        decided = await carrying_out.decide(state, scheduled)
        origin = "agent" if scheduled.kind == "answer" else "remedy"
    else:
        problem = ""
        if state.is_on("plan") and state.reflection.plan is None:
            problem = await make_plan(state, prompter)
        decided = await decider.decide(state)
        decided = decided.model_copy(update={"problem": problem, "reflection": told(state)})
    proposal = decided.proposal
    state.last_proposal = proposal
    state.from_queue = decided.from_queue
    state.queue = list(decided.queue)
    state.queue_url = state.observation.document
    state.pending = Pending(
        action=proposal.action,
        thought=proposal.thought,
        proposed=proposal.action,
        problem=proposal.problem,
        origin=origin,
    )
    return decided
