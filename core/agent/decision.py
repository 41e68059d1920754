"""decide: from the page to a thought and actions, in one LLM call or two, with one repair turn.

Where the preset samples several replies, the action that most of them have
wins (self-consistency, Wang et al., ICLR 2023; SteP samples three).
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from core.agent.action_queue import stands_alone
from core.agent.llm_calls import together
from core.agent.prompt_builder import Prompter
from core.agent.spaces.choice import CHOOSE, best_candidate, candidates_of
from core.agent.state import RunState
from core.llm.named_elements import InPage, Locate
from core.llm.repair import read_reply, repair_messages, sought_in_page
from core.llm.replies import split_thinking
from core.schema.action import Action, Named
from core.schema.action_space import Permissible
from core.schema.errors import PromptTooLong
from core.schema.messages import LLMReply, LLMRequest, Message
from core.schema.step import Decided, Proposal, SampledReply


class Decider:
    """Asks for the step's action as the preset has it, and reads the reply."""

    def __init__(self, prompter: Prompter, locate: Locate | None = None) -> None:
        """`locate` finds what a reply names by an XPath or as what has the focus; without it, these are refused."""
        self._prompter = prompter
        self._locate = locate

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
        samples = await together(*(self._sample(state) for _ in range(self._samples(state))))
        chosen, queue = _majority(samples)
        proposal = chosen.proposal
        calls = [number for sample in samples for number in sample.calls]
        if proposal.problem and state.calls_left:
            proposal, queue, numbers = await self._repaired(state, chosen)
            calls += numbers
        if proposal.problem and state.permissible.action(CHOOSE) is not None:
            proposal = _chosen_by_rule(state, proposal)
        if queue and not state.preset.several_actions:
            dropped = ", ".join(str(action) for action in queue)
            remark = (
                f"Only one action is carried out per step; the reply also asked for {dropped}, which "
                "was not done."
            )
            proposal, queue = proposal.replace(remark=f"{remark} {proposal.remark}".strip()), ()
        proposal, queue = _alone(proposal, queue, state.permissible)
        votes = tuple(_vote(sample) for sample in samples) if len(samples) > 1 else ()
        return Decided(proposal=proposal, queue=queue, calls=tuple(calls), votes=votes)

    def _samples(self, state: RunState) -> int:
        """Return how many replies are asked for: as the preset has it, as far as calls are left; one of a person."""
        if not self._prompter.asker.at_once("decide"):
            return 1
        return max(1, min(state.preset.samples, state.calls_left // state.preset.calls))

    async def _sample(self, state: RunState) -> "_Sample":
        calls: list[int] = []
        if state.preset.calls == 2:
            make, thought = await self._rationale(state, calls)
        else:
            make, thought = functools.partial(self.request, state), ""
        request, reply, number = await self._prompter.ask_shortened(state, make)
        proposal, queue = read_reply(
            reply, request, state.preset.reply_format, await self.found_in_page(state, reply, request)
        )
        return _Sample(request, reply, thought, _with(proposal, thought), queue, (*calls, number))

    async def _repaired(
        self, state: RunState, one: "_Sample"
    ) -> tuple[Proposal, tuple[Action, ...], tuple[int, ...]]:
        """Return what an unusable reply became in its repair turn, with the number of that call; none if too long."""
        sent = self._prompter.asker.sent(one.request, one.calls[-1])
        repair = repair_messages(sent, one.reply, one.proposal.problem)
        sampling = state.preset.sampling.get("repair", one.request.sampling)
        try:
            reply, number = await self._prompter.ask(state, repair.replace(sampling=sampling))
        except PromptTooLong:
            return one.proposal, one.queue, ()
        in_page = await self.found_in_page(state, reply, one.request)
        proposal, queue = read_reply(reply, one.request, state.preset.reply_format, in_page)
        return _with(proposal, one.thought), queue, (number,)

    async def found_in_page(self, state: RunState, reply: LLMReply, request: LLMRequest) -> InPage:
        """Return the numbers of the elements that a reply names by an XPath or as what has the focus."""
        targets = sought_in_page(reply, request, state.preset.reply_format)
        return await self._locate(targets) if targets and self._locate is not None else {}

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
        results = [
            *(trail[-1].results if trail else ()),
            *(turn.result for turn in self._prompter.unusable(state)),
        ]
        variables = {"first": not trail, "results": tuple(results)}
        user = render(state, files.user, **variables)
        if state.preset.calls == 1 and files.one_call:
            user += "\n\n" + render(state, files.one_call)
        return self._prompter.conversation(state, render(state, files.system), user, "decide")

    async def _rationale(self, state: RunState, calls: list[int]) -> tuple[Callable[[], LLMRequest], str]:
        """Ask for the rationale; return what makes the request for the action after it, and the rationale."""
        files, prompter = state.preset.prompts, self._prompter

        def asked(purpose: Literal["rationale", "function"], *more: Message) -> LLMRequest:
            system = prompter.render(state, files.system)
            user = prompter.render(state, files.user) + "\n\n" + prompter.render(state, files.rationale)
            messages = (*prompter.conversation(state, system, user, purpose), *more)
            return prompter.request(state, purpose, messages).replace(permissible=state.permissible)

        _, reply, number = await prompter.ask_shortened(state, lambda: asked("rationale"), spare=1)
        calls.append(number)
        thinking, said = split_thinking(reply.text)
        thought = said or thinking

        def function() -> LLMRequest:
            told = thought or "(an empty reply)"
            then = prompter.render(state, files.function, thought=told)
            if not files.function_system:
                said = Message(role="assistant", text=told)
                return prompter.with_actions(state, asked("function", said, Message(role="user", text=then)))
            system = prompter.render(state, files.function_system)
            messages = prompter.conversation(state, system, then, "function")
            return prompter.with_actions(state, prompter.request(state, "function", messages))

        return function, thought

    def request(self, state: RunState) -> LLMRequest:
        """Return the request where one call asks for thought and action."""
        messages = self.messages(state)
        return self._prompter.with_actions(state, self._prompter.request(state, "decide", messages))


class _Sample(NamedTuple):
    """One reply to the question for an action, as it was read."""

    request: LLMRequest
    reply: LLMReply
    thought: str
    """The rationale that came before it."""
    proposal: Proposal
    queue: tuple[Action, ...]
    calls: tuple[int, ...]


def _majority(samples: Sequence[_Sample]) -> tuple[_Sample, tuple[Action, ...]]:
    """Return the first sample of the action that most of them have, and the further actions they all share.

    Of actions that equally many have, the one that was said first wins. What
    cannot be used has no vote; if none can, the first is returned.
    """
    usable = [sample for sample in samples if sample.proposal.action is not None]
    if not usable:
        return samples[0], ()
    votes = [one.proposal.action for one in usable]
    wanted = max(votes, key=votes.count)  # Of several the first.
    agreed = [one for one in usable if one.proposal.action == wanted]
    shared = itertools.takewhile(
        lambda actions: all(action == actions[0] for action in actions),
        zip(*(one.queue for one in agreed), strict=False),
    )
    return agreed[0], tuple(actions[0] for actions in shared)


def _vote(sample: _Sample) -> SampledReply:
    return SampledReply(
        call=sample.calls[-1],
        action=sample.proposal.action,
        further=sample.queue,
        thought=sample.proposal.thought,
        problem=sample.proposal.problem,
    )


def _alone(
    proposal: Proposal, queue: tuple[Action, ...], permissible: Permissible
) -> tuple[Proposal, tuple[Action, ...]]:
    """Return a proposal and its queue without what may not be in one reply, which the proposal's remark tells."""
    if proposal.action is None or not queue:
        return proposal, queue
    kept = (
        ()
        if stands_alone(proposal.action, permissible)
        else tuple(itertools.takewhile(lambda action: not stands_alone(action, permissible), queue))
    )
    if dropped := "; ".join(map(str, queue[len(kept) :])):
        remark = f"Not done: {dropped}. A stop or the call of a policy has to be the only action of a reply."
        proposal = proposal.replace(remark=f"{remark} {proposal.remark}".strip())
    return proposal, kept


def _with(proposal: Proposal, thought: str) -> Proposal:
    """Return the proposal with the rationale that came before it, if there was one."""
    return proposal.replace(thought=thought) if thought else proposal


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
