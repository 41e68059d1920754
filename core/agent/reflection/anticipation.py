"""anticipate: asks for remedies, and puts them under the chosen action on the remedy stack."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from core.agent.decision import Decider
from core.agent.general_space import label_of
from core.agent.policies.stack import place_of_page
from core.agent.prompt_builder import Prompter, written_reply
from core.agent.reflection.consequences import reflection_record
from core.agent.reflection.remedies import RemedyEntry, in_words, sorted_out
from core.agent.state import RunState
from core.llm.repair import read_alternatives
from core.llm.replies import split_thinking, why_nothing
from core.schema.action import Action, Named
from core.schema.element_identity import marks_of
from core.schema.errors import LLMError, PromptTooLong
from core.schema.messages import LLMRequest, Message
from core.schema.observation import Observation
from core.schema.step import Anticipated


class Anticipator:
    """Asks for remedies. In fast mode, the calls continue while the action runs and after it, because only
    going back needs them.
    """

    def __init__(self, prompter: Prompter, decider: Decider) -> None:
        self._prompter = prompter
        self._decider = decider
        self._out: dict[int, asyncio.Task[_Found]] = {}
        """Questions that are out, by the step that put them."""

    async def anticipate(self, state: RunState) -> Anticipated:
        """Return the remedies for the pending action, which are on the stack below it.

        If phases may overlap, the question is only sent, and `late` has the answer. Raises LLMError and
        DataError; the stack is then unchanged.
        """
        action = state.pending.action
        if action is None or not _can_be_wrong(state, action) or not state.is_on("remedies"):
            return Anticipated(reflection=reflection_record(state))
        if (count := state.remedy_settings.count) == 0:
            return Anticipated(reflection=reflection_record(state))
        if problem := self._prompter.out_of_calls(state):
            return Anticipated(problem=problem, reflection=reflection_record(state))
        request = self._request(state, action, count)
        asking = self._ask(state, base_entry(state, action), state.observation, request, count)
        overlap = state.overlap and state.judgement_settings.mode == "fast" and state.is_on("judgement")
        if overlap and self._prompter.asker.at_once("remedies"):
            self._out[state.number] = asyncio.ensure_future(asking)
            return Anticipated(beside=True, reflection=reflection_record(state))
        return _taken_in(state, await asking)

    async def late(self, state: RunState, *, wait: bool) -> AsyncIterator[tuple[int, Anticipated]]:
        """Yield the steps whose remedies have come in meanwhile, with their records; `wait` for all that are out.

        A question that failed is reported as the problem, and its step continues without remedies.
        """
        for step in sorted(self._out):
            if not wait and not self._out[step].done():
                continue
            asking = self._out.pop(step)
            try:
                anticipated = _taken_in(state, await asking)
            except LLMError as error:
                anticipated = Anticipated(
                    problem=f"No remedies were made: {error}", reflection=reflection_record(state)
                )
            yield step, anticipated.replace(beside=True)

    def forget(self, step: int = 0) -> None:
        """Withdraw the question of a step, or all that are out; how they end is of no interest then."""
        for number in [step] if step else list(self._out):
            asking = self._out.pop(number, None)
            if asking is not None:
                asking.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
                asking.cancel()

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
    ) -> "_Found":
        """`base` is the entry of the chosen action; the page may be another one by the time of the answer."""
        tried = tuple(state.reflection.tried.get(base.page, ()))
        calls: list[int] = []
        kept: tuple[Action, ...] = ()
        dropped: list[tuple[str, str]] = []
        reason = problem = ""
        for attempt in range(2):
            try:
                reply, number = await self._prompter.ask(state, request)
            except PromptTooLong as error:
                problem = f"No remedies were asked for: {error}"
                break
            calls.append(number)
            in_page = await self._decider.found_in_page(state, reply, request)
            read = read_alternatives(reply, request, state.preset.reply_format, in_page)
            reason = read.thought or reason
            new, out = sorted_out(
                (*kept, *read.actions),
                chosen=base.action,
                tried=tried,
                words=lambda one: in_words(one, observation),
            )
            refused = [*read.refused, *((str(one), why) for one, why in out)]
            kept, dropped = new[:count], [*dropped, *refused]
            # A reply without any action says that there is no other; one that cannot be read, or is none, does not.
            said_no = not reply.tool_calls and not why_nothing(reply)
            problem = "" if kept or said_no else read.problem
            # What was dropped is asked for again, once.
            if attempt or not refused or len(kept) >= count or not state.calls_left:
                break
            request = _again(
                self._prompter.asker.sent(request, number), split_thinking(reply.text)[1], refused
            )
        entries = tuple(
            base.replace(
                action=one,
                target=label_of(observation, one),
                marks=marks_of(one, observation),
                reason=reason,
            )
            for one in reversed(kept)
        )
        chosen = base.replace(
            target=label_of(observation, base.action), reason="The first choice.", state="chosen"
        )
        anticipated = Anticipated(remedies=kept, dropped=tuple(dropped), problem=problem, calls=tuple(calls))
        return _Found(anticipated=anticipated, entries=(*entries, chosen) if entries else ())


class _Found(NamedTuple):
    """The answer to a question for remedies, and its entries; the chosen action's is the last."""

    anticipated: Anticipated
    entries: tuple[RemedyEntry, ...]


def _taken_in(state: RunState, found: _Found) -> Anticipated:
    """Put the remedies on the stack, and return their record."""
    entries = found.entries
    if entries and entries[-1].step < state.number:
        # They come late: the first choice has been carried out, and judged.
        tried = entries[-1].replace(state="tried", why=f"At step {entries[-1].step}.")
        entries = (*entries[:-1], tried)
    state.reflection.remedies = state.reflection.remedies.push(entries)
    return found.anticipated.replace(reflection=reflection_record(state))


def base_entry(state: RunState, action: Action) -> RemedyEntry:
    """Return an entry of the current step for an action, with all that is restored before it is tried."""
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
    if allowed is None:
        return False
    return allowed.origin == "state" or (allowed.origin == "policy" and state.remedy_settings.policies)


def _again(request: LLMRequest, said: str, dropped: Sequence[tuple[str, str]]) -> LLMRequest:
    reasons = "\n".join(f"- {action}: {why}" for action, why in dropped)
    text = f"These are no remedies:\n{reasons}\nName others in their place, in the same form."
    unwanted = tuple(action for action, _ in dropped)
    messages = (
        *request.messages,
        Message(role="assistant", text=said.strip() or "(only calls)"),
        Message(role="user", text=text),
    )
    view = request.view
    if view is not None:
        view = view.replace(unwanted=(*view.unwanted, *unwanted))
    return request.replace(messages=messages, view=view)
