"""anticipate: asking for remedies, and putting them under the chosen action on the remedy stack."""

import asyncio

from core.agent.decision import Decider
from core.agent.general_space import label_of
from core.agent.policies.stack import place_of_page
from core.agent.prompt_builder import Prompter, written_reply
from core.agent.reflection.consequences import reflection_record
from core.agent.reflection.remedies import RemedyEntry, in_words, sorted_out
from core.agent.state import RunState
from core.llm.repair import read_reply
from core.schema.action import Action, Named
from core.schema.element_identity import marks_of
from core.schema.errors import LLMError
from core.schema.messages import LLMRequest, Message
from core.schema.observation import Observation
from core.schema.step import Anticipated


class Anticipator:
    """Asks for remedies, in fast mode while the action runs."""

    def __init__(self, prompter: Prompter, decider: Decider) -> None:
        self._prompter = prompter
        self._decider = decider
        self._beside: asyncio.Task[Anticipated] | None = None

    async def anticipate(self, state: RunState) -> Anticipated:
        """Return the remedies for the pending action, which lie on the stack under it.

        Where phases may overlap, the question is only put, and `late` has the
        answer. Raises LLMError and DataError with the stack as it was.
        """
        action = state.pending.action
        if action is None or not _can_be_wrong(state, action) or not state.is_on("remedies"):
            return Anticipated(reflection=reflection_record(state))
        if (count := state.remedy_settings.count) == 0:
            return Anticipated(reflection=reflection_record(state))
        if problem := self._prompter.out_of_calls(state):
            return Anticipated(problem=problem, reflection=reflection_record(state))
        request = self._request(state, action, count)
        asking = self._ask(state, _base(state, action), state.observation, request, count)
        overlap = state.overlap and state.judgement_settings.mode == "fast" and state.is_on("judgement")
        if overlap and self._prompter.asker.at_once("remedies"):
            self._beside = asyncio.ensure_future(asking)
            return Anticipated(beside=True, reflection=reflection_record(state))
        return await asking

    async def late(self, state: RunState) -> Anticipated | None:
        """Return the remedies that were asked for while the action ran, once they are in; None where none were.

        A question that failed is reported as the problem, and the step goes on without remedies.
        """
        if self._beside is None:
            return None
        beside, self._beside = self._beside, None
        try:
            anticipated = await beside
        except LLMError as error:
            anticipated = Anticipated(
                problem=f"There are no remedies: {error}", reflection=reflection_record(state)
            )
        return anticipated.replace(beside=True)

    def forget(self) -> None:
        """Withdraw the question that is out; how it ends is of no interest then."""
        beside, self._beside = self._beside, None
        if beside is not None:
            beside.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            beside.cancel()

    def _request(self, state: RunState, action: Action, count: int) -> LLMRequest:
        thought = state.pending.thought
        target = label_of(state.observation, action)
        # A call of a tool cannot be shown without its result, so the choice is put in words.
        said = (
            f"{thought}\nChosen action: {action}".strip()
            if state.preset.reply_format == "tools"
            else written_reply(thought, (str(action),), state.preset.reply_format)
        )
        unwanted = self._unwanted(state)
        text = self._prompter.render(
            state,
            state.preset.prompts.remedies,
            action=str(action),
            target=target,
            count=count,
            unwanted=unwanted,
            several=count > 1,
        )
        messages = (
            *self._decider.messages(state),
            Message(role="assistant", text=said),
            Message(role="user", text=text),
        )
        request = self._prompter.request(
            state,
            "remedies",
            messages,
            action=str(action),
            target=target,
            thought=thought,
            count=count,
            unwanted=unwanted,
        )
        return self._prompter.with_actions(state, request)

    @staticmethod
    def _unwanted(state: RunState) -> tuple[str, ...]:
        page = place_of_page(state.observation).fingerprint
        return tuple(state.reflection.tried.get(page, ()))

    async def _ask(
        self, state: RunState, base: RemedyEntry, observation: Observation, request: LLMRequest, count: int
    ) -> Anticipated:
        """`base` is the entry of the chosen action; the page may be another one by the time of the answer."""
        action = base.action
        tried = tuple(state.reflection.tried.get(base.page, ()))
        calls: list[int] = []
        kept: tuple[Action, ...] = ()
        dropped: list[tuple[Action, str]] = []
        reason = problem = ""
        for attempt in range(2):
            reply, number = await self._prompter.ask(state, request)
            calls.append(number)
            proposal, more = read_reply(reply, request, state.preset.reply_format)
            reason = proposal.thought or reason
            proposed = () if proposal.action is None else (proposal.action, *more)
            if proposal.action is None and not kept and reply.tool_calls:
                problem = proposal.problem
            new, out = sorted_out(
                (*kept, *proposed), chosen=action, tried=tried, words=lambda one: in_words(one, observation)
            )
            kept, dropped = new[:count], [*dropped, *out]
            # What was dropped is asked for again, once.
            if attempt or not out or len(kept) >= count or not state.calls_left:
                break
            request = _again(request, reply.text, out)
        entries = [
            base.replace(
                action=one,
                target=label_of(observation, one),
                marks=marks_of(one, observation),
                reason=reason,
            )
            for one in reversed(kept)
        ]
        if entries:
            chosen = base.replace(target=label_of(observation, action), reason="The first choice.")
            _, state.reflection.remedies = state.reflection.remedies.push([*entries, chosen]).pop()
        return Anticipated(
            remedies=kept,
            dropped=tuple((str(one), why) for one, why in dropped),
            problem=problem,
            calls=tuple(calls),
            reflection=reflection_record(state),
        )


def _base(state: RunState, action: Action) -> RemedyEntry:
    plan = state.reflection.plan
    return RemedyEntry(
        number=0,
        step=state.number,
        trial=state.trial,
        action=action,
        subtask=plan.index if plan is not None else None,
        stack=state.stack if state.stack.top is not None else None,
        memory=state.memory,
        page=place_of_page(state.observation).fingerprint,
    )


def _can_be_wrong(state: RunState, action: Action) -> bool:
    """Return whether the action is one of the page, chosen and not scheduled."""
    if state.reflection.doing is not None or not action.in_page:
        return False
    if not isinstance(action, Named):
        return True
    allowed = state.permissible.action(action.name)
    return allowed is not None and allowed.origin == "state"


def _again(request: LLMRequest, said: str, dropped: tuple[tuple[Action, str], ...]) -> LLMRequest:
    reasons = "\n".join(f"- {action}: {why}" for action, why in dropped)
    text = f"These are no remedies:\n{reasons}\nName others in their place, in the same form."
    unwanted = tuple(str(action) for action, _ in dropped)
    messages = (
        *request.messages,
        Message(role="assistant", text=said.strip() or "(only calls)"),
        Message(role="user", text=text),
    )
    view = request.view
    if view is not None:
        view = view.replace(unwanted=(*view.unwanted, *unwanted))
    return request.replace(messages=messages, view=view)
