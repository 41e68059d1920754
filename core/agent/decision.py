"""decide: from the page to a thought and actions, in one LLM call or two, with one repair turn."""

from core.agent.prompt_builder import Prompter
from core.agent.spaces.choice import CHOOSE, best_candidate, candidates_of
from core.agent.state import RunState
from core.llm.repair import read_reply, repair_messages
from core.llm.replies import split_thinking
from core.schema.action import Named
from core.schema.messages import LLMRequest, Message
from core.schema.step import Decided, Proposal


class Decider:
    """Asks for the step's action as the preset has it, and reads the reply."""

    def __init__(self, prompter: Prompter) -> None:
        self._prompter = prompter

    async def decide(self, state: RunState) -> Decided:
        """Return the step's proposal; an unusable reply is repaired once, then reported as the problem.

        No call goes beyond the budget: without a call left the proposal's
        problem says so. Raises LLMError and DataError.
        """
        queued = self._from_queue(state)
        if queued is not None:
            return queued
        if state.recognised is not None and state.recognised.over:
            return Decided(proposal=Proposal(problem=state.recognised.over))
        if problem := self._prompter.out_of_calls(state, state.preset.calls):
            return Decided(proposal=Proposal(problem=problem))
        calls: list[int] = []
        if state.preset.calls == 2:
            request, thought = await self._rationale(state, calls)
        else:
            request, thought = self.request(state), ""
        reply, number = await self._prompter.ask(state, request)
        calls.append(number)
        proposal, queue = read_reply(reply, request, state.preset.reply_format)
        if proposal.problem and state.calls_left:
            repair = repair_messages(request, reply, proposal.problem)
            sampling = state.preset.sampling.get("repair", request.sampling)
            reply, number = await self._prompter.ask(state, repair.replace(sampling=sampling))
            calls.append(number)
            proposal, queue = read_reply(reply, request, state.preset.reply_format)
        if thought:
            proposal = proposal.replace(thought=thought)
        if proposal.problem and state.permissible.action(CHOOSE) is not None:
            proposal = _chosen_by_rule(state, proposal)
        if queue and not state.preset.several_actions:
            dropped = ", ".join(str(action) for action in queue)
            remark = f"One action is taken at a step; the reply also asked for {dropped}, which was not done."
            proposal, queue = proposal.replace(remark=remark), ()
        return Decided(proposal=proposal, queue=queue, calls=tuple(calls))

    @staticmethod
    def _from_queue(state: RunState) -> Decided | None:
        if not state.queue:
            return None
        action = state.queue[0]
        proposal = Proposal(action=action, thought=state.last_proposal.thought)
        return Decided(proposal=proposal, queue=tuple(state.queue[1:]), from_queue=True)

    def messages(self, state: RunState) -> tuple[Message, ...]:
        """Return what the LLM is shown of the task and the page when one call asks for the action."""
        files, render = state.preset.prompts, self._prompter.render
        trail = self._prompter.own_trail(state) if state.preset.trajectory else []
        variables = {"first": not trail, "results": tuple(trail[-1].results) if trail else ()}
        user = render(state, files.user, **variables)
        if state.preset.calls == 1 and files.one_call:
            user += "\n\n" + render(state, files.one_call)
        return self._prompter.conversation(state, render(state, files.system), user, "decide")

    async def _rationale(self, state: RunState, calls: list[int]) -> tuple[LLMRequest, str]:
        files, prompter = state.preset.prompts, self._prompter
        system = prompter.render(state, files.system)
        user = prompter.render(state, files.user) + "\n\n" + prompter.render(state, files.rationale)
        messages = prompter.conversation(state, system, user, "rationale")
        first = prompter.request(state, "rationale", messages).replace(permissible=state.permissible)
        reply, number = await prompter.ask(state, first)
        calls.append(number)
        thinking, said = split_thinking(reply.text)
        thought = said or thinking
        messages = (
            *prompter.conversation(state, system, user, "function"),
            Message(role="assistant", text=thought or "(an empty reply)"),
            Message(role="user", text=prompter.render(state, files.function)),
        )
        return prompter.with_actions(state, prompter.request(state, "function", messages)), thought

    def request(self, state: RunState) -> LLMRequest:
        """Return the request where one call asks for thought and action."""
        messages = self.messages(state)
        return self._prompter.with_actions(state, self._prompter.request(state, "decide", messages))


def _chosen_by_rule(state: RunState, proposal: Proposal) -> Proposal:
    """Return the choice at the budget by the agent's own earlier reasons, in place of a reply that is none."""
    assert state.space_state is not None
    _, here = state.space_state
    parameter = state.permissible.actions[0].parameters[0]
    offered = {choice.value for choice in parameter.choices or ()}
    candidates = [
        one for one in candidates_of(here, state.memory, state.observation) if one.candidate in offered
    ]
    in_vain = {
        one.candidate
        for one in candidates
        for turn in state.history
        if turn.action == str(Named(name=CHOOSE, arguments=(one.candidate,)))
    }
    candidate, how = best_candidate(
        state.episode.instruction, candidates, state.memory, thought=proposal.thought, but=in_vain
    )
    remark = f"Chosen by rule, not by the LLM: {how}. The LLM's replies could not be used: {proposal.problem}"
    thought = " ".join(part for part in (proposal.thought, f"(Chosen by rule: {how}.)") if part)
    return Proposal(action=Named(name=CHOOSE, arguments=(candidate,)), thought=thought, remark=remark)
