"""decide: ask for a thought and an action, and put it up for review."""

from core.agent.deciding import Decider
from core.agent.records import Decided
from core.agent.state import Pending, RunState


async def decide(state: RunState, decider: Decider) -> Decided:
    """Return the proposal, which is pending from now on; raises LLMError and DataError."""
    decided = await decider.decide(state)
    proposal = decided.proposal
    state.last_proposal = proposal
    state.queue = list(decided.queue)
    state.queue_url = state.observation.document
    state.pending = Pending(
        action=proposal.action, thought=proposal.thought, proposed=proposal.action, problem=proposal.problem
    )
    return decided
