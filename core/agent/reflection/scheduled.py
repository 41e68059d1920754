"""decide, for a step that is scheduled: going back, a remedy, a new trial, or the answer."""

from core.agent.prompt_builder import Prompter
from core.agent.reflection.questions import final_answer, review_trial
from core.agent.reflection.remedies import RemedyEntry
from core.agent.reflection.snapshot import told
from core.agent.state import RunState
from core.browser.checkpoints.checkpoint import RestoreError
from core.browser.checkpoints.strategies import retarget
from core.llm.reply_parser import split_thinking
from core.schema.action import Action, Backtrack, NewTrial, Stop
from core.schema.element_identity import FoundAgain
from core.schema.messages import Message
from core.schema.observation import Element, Observation
from core.schema.step import Decided, Proposal, Scheduled


class ScheduledSteps:
    """Turns what is scheduled into the step's proposal."""

    def __init__(self, prompter: Prompter) -> None:
        self._prompter = prompter

    async def decide(self, state: RunState, scheduled: Scheduled) -> Decided:
        """Return the proposal of a scheduled step; raises LLMError and DataError."""
        proposal, calls = await self._proposal(state, scheduled)
        state.reflection.scheduled = None
        state.reflection.doing = scheduled
        return Decided(proposal=proposal, calls=calls, scheduled=scheduled, reflection=told(state))

    @staticmethod
    def withdrawn(state: RunState, why: str) -> None:
        """Take note that a scheduled remedy is not carried out after all."""
        doing, state.reflection.doing = state.reflection.doing, None
        if doing is not None and doing.entry:
            state.reflection.remedies = state.reflection.remedies.dropped(doing.entry, why)

    async def _proposal(self, state: RunState, scheduled: Scheduled) -> tuple[Proposal, tuple[int, ...]]:
        if scheduled.kind == "new trial":
            lesson, calls = await review_trial(state, self._prompter)
            state.reflection.experience.append(lesson)
            return Proposal(action=NewTrial(), thought=f"{scheduled.why} {lesson}"), calls
        if scheduled.kind == "answer":
            answer, calls = await final_answer(state, self._prompter)
            return Proposal(action=Stop(answer=answer), thought=scheduled.why), calls
        entry = entry_of(state, scheduled)
        if scheduled.kind == "go back":
            return Proposal(action=Backtrack(step=entry.step), thought=scheduled.why), ()
        return await self._remedy(state, entry)

    async def _remedy(self, state: RunState, entry: RemedyEntry) -> tuple[Proposal, tuple[int, ...]]:
        calls: list[int] = []

        async def choose(element: Element, found: FoundAgain, now: Observation) -> Element | None:
            return await choose_element(state, self._prompter, element, found, calls)

        action: Action | None = None
        problem, thought = "", entry.reason
        try:
            action, remark = await retarget(entry.action, entry.marks, state.observation, choose)
            thought = " ".join(part for part in (thought, remark) if part)
            problem = state.permissible.problem(action) or ""
        except RestoreError as error:
            problem = str(error)
        if problem:
            return Proposal(thought=thought, problem=f"The remedy cannot be tried: {problem}"), tuple(calls)
        return Proposal(action=action, thought=thought), tuple(calls)


def entry_of(state: RunState, scheduled: Scheduled) -> RemedyEntry:
    return next(one for one in state.reflection.remedies.entries if one.number == scheduled.entry)


async def choose_element(
    state: RunState, prompter: Prompter, element: Element, found: FoundAgain, calls: list[int]
) -> Element | None:
    """Ask which of the candidates the element is; None for none of them, or where no call is left."""
    if prompter.out_of_calls(state):
        return None
    candidates = tuple(one.line() for one in found.candidates)
    text = prompter.render(
        state, state.preset.prompts.choose, wanted=element.line(), candidates=candidates, result=found.why
    )
    request = prompter.request(
        state,
        "choose",
        (Message(role="user", text=text),),
        wanted=element.line(),
        candidates=candidates,
        result=found.why,
    )
    reply, number = await prompter.ask(state, request)
    calls.append(number)
    said = split_thinking(reply.text)[1].split()
    digits = "".join(sign for sign in said[0] if sign.isdecimal()) if said else ""
    place = int(digits) if digits else 0
    return found.candidates[place - 1] if 1 <= place <= len(found.candidates) else None
