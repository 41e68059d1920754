"""A run of an attached agent: its phases wait for the agent's questions and acts instead of deciding and acting.

A step begins with the agent's question to its LLM, or with an act without a question, and has at most one
act. Further acts after the same reply are separate steps, like the queue of a built-in agent. The phases
observe, decide and commit are inferred from this. An agent can also report where its own steps begin.
Otherwise, all questions before an act belong to one step, and what follows is the next step, even if nothing
was done.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from core.agent.llm_calls import HeldCall, HeldReply, Hold, cancel_call, why_cancelled
from core.agent.loop import AgentRun
from core.agent.phases.act import act
from core.agent.phases.choice import decide
from core.agent.phases.page import observe
from core.agent.phases.recognise import recognise
from core.agent.phases.registry import ENTRIES, PhaseEntry, PhaseTools
from core.agent.prompt_builder import Prompter
from core.agent.state import RunState
from core.agent.world import World
from core.attach.acts_named import NamedAct, finished, named
from core.attach.answers import texts_of, thought_of
from core.attach.attachment import REFUSED, Attachment, HeldAct
from core.attach.gateway import AgentQuestion
from core.attach.heard import AgentReports, ToldAt
from core.attach.page_acts import PageAct
from core.attach.replay import HARMLESS, RecordedCall
from core.attach.requests_beside import sent_by
from core.attach.upstream import QuestionLLM, refuse
from core.attach.wire_formats import error_body
from core.browser.actor import Actor
from core.browser.channel import PageGone
from core.browser.locating import Located
from core.browser.settling import SettleMark
from core.llm.rules.llm import RulesLLM
from core.schema.action import Action, AgentAct, RefTarget, Stop, Type
from core.schema.errors import ActionError, BrowserError, LLMError
from core.schema.messages import LLMReply
from core.schema.observation import Capture
from core.schema.restore import SentAt
from core.schema.step import Acted, Decided, Observed, Phase, Proposal, Recalled, Recognised
from core.schema.task import Verdict
from core.trace.prompt_words import words_of
from core.trace.records import RunOutcome
from core.trace.store import TraceStore

NOTHING = AgentAct(words="nothing in the page")
"""What an agent does that asks its LLM again at once."""
_NO_ELEMENT = 0
"""No element has this ref."""
_CUT = "The answer was cancelled in Backstep before its end."
_NOTHING_DONE = "The agent continued without doing anything in the page."
_LET_THROUGH = "Scripts ran in the page that were not held: {}."
_CODE = "changed in its code alone"
_DOUBTFUL = "This script may act in the page, or only read it: a trial without side effects was stopped."
_FROM_ANSWER = "The text is from the LLM's answer: the agent types it letter by letter, and has only begun."


class AttachedRun(AgentRun):
    """A run of an attached agent; create it with `open_run` and `make`."""

    has_preset = False

    def __init__(
        self,
        store: TraceStore,
        world: World,
        prompter: Prompter,
        state: RunState,
        attachment: Attachment,
        told: Iterable[ToldAt] = (),
        given: Iterable[RecordedCall] = (),
    ) -> None:
        """`told` is what the agent has said of itself on its way back to the step that the run begins with.

        `given` answers the questions of that step as far as they are these, in place of the LLM.
        """
        self.attachment = attachment
        """The agent."""
        self.on_note: Callable[[str], object] = lambda text: None
        """Is called with each note of the agent."""
        self._heard = AgentReports(state, lambda text: self.on_note(text))
        self._heard.begin_again(told)
        self._found: Recognised | None = None
        """What the page is, without what the agent says."""
        self._recalled = Recalled()
        self.on_end: Callable[[], object] = lambda: None
        """Is called once the run has ended."""
        self._decider = _Decider(attachment, prompter, world, self._heard, given, self._on_other_question)
        self._nothing: Action = NOTHING
        """What stands for the act of a step that has none."""
        self._nothing_said = _NOTHING_DONE
        self._seen_at: SettleMark | None = None
        """The moment at which the page was observed."""
        world.actor = _AgentActor(world, self._decider, attachment)
        super().__init__(store, world, prompter, state, phases=self._entries())

    def _entries(self) -> Mapping[Phase, PhaseEntry]:
        return {
            **ENTRIES,
            "observe": PhaseEntry(self._observe),
            "recognise": PhaseEntry(self._recognise),
            "recall": PhaseEntry(self._recall),
            "decide": PhaseEntry(
                lambda tools: decide(tools.state, self._decide, tools.carrying_out, tools.prompter),
                asks_llm=lambda _: isinstance(self.attachment.next, AgentQuestion),
            ),
            "act": PhaseEntry(self._act),
        }

    async def _observe(self, tools: PhaseTools) -> Observed:
        """Read the page once the agent asks or does something."""
        arrival = await self.attachment.arrival()
        tabs = self.world.tabs
        if isinstance(arrival, HeldAct) and arrival.tab in await tabs.browser.host.tabs():
            if arrival.tab != tabs.current.tab:
                await tabs.browser.make_current(arrival.tab)
        else:
            await tabs.follow()
        self.attachment.let_through.clear()
        observed = await observe(tools.state, self.world, tools.pages)
        self._seen_at = tabs.mark()
        return observed

    async def _recognise(self, tools: PhaseTools) -> Recognised:
        """Find what may be done in the page; state, policies and plan are what the agent has said by now."""
        state = tools.state
        self._heard.hear(self.attachment.take_told())
        self._found = await recognise(state, self.world, tools.resources)
        state.recognised = self._heard.recognised(self._found)
        return state.recognised

    def _recall(self, _: PhaseTools) -> Recalled:
        self._recalled = self._heard.recalled()
        return self._recalled

    async def _decide(self, state: RunState) -> Decided:
        """Return what the agent does next; what it has said before an act belongs to the step of the act."""
        heard, attachment = self._heard, self.attachment
        decided = await self._decider.decide(state)
        has_act = decided.proposal.action != NOTHING
        own = heard.of_this_step(attachment.told)
        if has_act or own < len(attachment.told):
            heard.hear(attachment.take_told(own))
            self._store_said(state)
        heard.work_on_plan(state.number)
        self._nothing = NOTHING
        if heard.step is not None and (decided.calls or self._decider.held):
            decided = decided.replace(agent_step=heard.step)
            words = ", ".join(heard.step.actions)
            self._nothing = AgentAct(words=words) if words else NOTHING
        return decided.replace(proposal=await self._with_scripts(state, decided.proposal))

    async def _with_scripts(self, state: RunState, proposal: Proposal) -> Proposal:
        """Return what the agent does, with what scripts did in the page that were let through since it was observed."""
        ran = "; ".join(dict.fromkeys(str(one) for one in self.attachment.let_through))
        self._nothing_said = _LET_THROUGH.format(ran) if ran else _NOTHING_DONE
        has_act = proposal.action != NOTHING
        followed = await self._followed(state) if ran or (self.attachment.ran_scripts and not has_act) else ""
        if has_act:
            told = followed and followed != _CODE
            return (
                proposal.replace(remark=f"{proposal.remark} {self._nothing_said}".strip())
                if told
                else proposal
            )
        if followed:
            self._nothing = AgentAct(words=f"a script ran, and the page {followed}")
        return proposal.replace(action=self._nothing)

    async def _followed(self, state: RunState) -> str:
        """Return what the page has become since it was observed, as it is said of it; empty if it is the same."""
        world, seen = self.world, state.capture
        since, now = self._seen_at, world.tabs.mark()
        if since is None or seen is None:
            return ""
        if now.navigations != since.navigations or now.tab != since.tab:
            return "navigated"
        if now.windows != since.windows:
            return "opened a tab"
        if not await world.unchanged(seen):
            try:
                read = await world.read()
            except (BrowserError, PageGone):
                return "went away"
            if read.observation != seen.observation:
                return "changed"
            if read.html != seen.html:
                return _CODE
        return "sent requests" if now.requests != since.requests else ""

    def _store_said(self, state: RunState) -> None:
        """Store what the agent has said since the phases that leave it."""
        assert self._found is not None
        recognised, recalled = self._heard.recognised(self._found), self._heard.recalled()
        if recognised != state.recognised:
            self.store.save_phase(state.run, state.number, recognised)
            state.recognised = recognised
        if recalled != self._recalled:
            self.store.save_phase(state.run, state.number, recalled)
            self._recalled = recalled

    async def _act(self, tools: PhaseTools) -> Acted:
        state, decider = tools.state, self._decider
        if state.pending.action == self._nothing and decider.held is None and not state.pending.skip:
            state.acted = Acted(effect="none", outcome="done", message=self._nothing_said)
            return state.acted
        held = decider.held[0].act if decider.held is not None else None
        before, since = state.capture, self.world.tabs.mark()
        self.world.tabs.border.refused = ""
        try:
            acted = await act(state, self.world, tools.prompter, tools.history)
        finally:
            decider.refuse_held(self.world.tabs.border.refused or state.pending.note or REFUSED)
        if acted.inputs and (became := acted.inputs[0].action) != state.pending.action:
            state.pending.action = became
            acted = acted.replace(became=str(became))
        if held is not None and acted.outcome == "done" and (sent := sent_by(held)) is not None:
            state.sent.append(SentAt(step=state.number, sent=sent))
            acted = acted.replace(sent=(*acted.sent, sent))
        if held is not None and held.doubtful and acted.outcome == "done":
            same = not state.stale and self.world.tabs.mark() == since and _same(before, state.capture)
            if same and self.attachment.learn_harmless(held):
                acted = acted.replace(message=f"{acted.message} {HARMLESS}".strip())
        state.acted = acted
        return acted

    def hold_calls(self, hold: Hold, replies: Callable[[], bool] = lambda: True) -> None:
        async def held_with_clock(held: HeldCall | HeldReply) -> None:
            with self.attachment.clock.hold():
                await hold(held)

        super().hold_calls(held_with_clock, replies)

    def _reread_preset(self) -> None:
        """It uses no file."""

    async def finish(self, outcome: RunOutcome, error: str = "", verdict: Verdict | None = None) -> None:
        if not self.ended:
            self._heard.hear(self.attachment.take_told())  # Its last notes.
            if (told := self._heard.outcome) is not None:
                self.state.answer = self.state.answer or told.answer
        await super().finish(outcome, error, verdict)
        self._let_go()

    async def _judge(self) -> tuple[Verdict, str]:
        verdict, failure = await super()._judge()
        return self._heard.judged(verdict), failure

    def leave(self) -> None:
        had_ended = self.ended
        super().leave()
        if not had_ended:
            self._let_go()

    def _on_other_question(self) -> None:
        self.on_note("The request differs from the recorded one, so the LLM answers it.")

    def _let_go(self) -> None:
        self.attachment.close()
        self.on_end()


def _same(before: Capture | None, now: Capture | None) -> bool:
    return before is not None and now is not None and before.observation == now.observation


class _Decider:
    """Answers the agent's questions, and waits for what it does with the answer."""

    def __init__(
        self,
        attachment: Attachment,
        prompter: Prompter,
        world: World,
        heard: AgentReports,
        given: Iterable[RecordedCall],
        on_other_question: Callable[[], object],
    ) -> None:
        self._attachment = attachment
        self._heard = heard
        self._given = list(given)
        self._on_other_question = on_other_question
        self._prompter = prompter
        self._asker = prompter.asker
        self._world = world
        self._thought = ""
        self._answered: tuple[int, tuple[int, ...]] = (0, ())
        """A step whose questions were answered and that is not decided yet, and the numbers of their calls."""
        self._texts: list[str] = []
        """What the last answer has that can be typed, and was not yet."""
        self.held: tuple[HeldAct, NamedAct] | None = None
        """What the agent is about to do, until it is let happen or not."""

    def refuse_held(self, why: str) -> None:
        """Refuse what was held and not let happen, and what the agent tries instead."""
        held, self.held = self.held, None
        if held is not None and held[0].waits:
            self._attachment.refuse(held[0], why)

    async def decide(self, state: RunState) -> Decided:
        """Return what the agent does next."""
        step, calls = self._answered
        asked = step == state.number
        calls = calls if asked else ()
        while isinstance(arrival := await self._attachment.arrival(), AgentQuestion):
            if asked and (self._heard.step is None or self._step_has_ended):
                break
            calls += await self._answers(state)
            asked, self._answered = True, (state.number, calls)
        self._answered = (0, ())
        if isinstance(arrival, HeldAct) and not (asked and self._step_has_ended):
            proposal = await self._named(arrival)
        elif arrival is None:
            proposal = Proposal(action=Stop(answer=""), remark=self._attachment.ended)
        else:
            proposal = Proposal(action=NOTHING, thought=self._thought)
        return Decided(proposal=proposal, calls=calls, from_queue=not calls and arrival is not None)

    @property
    def _step_has_ended(self) -> bool:
        """Whether the agent has told that its own step is over."""
        said = self._attachment.told
        return self._heard.of_this_step(said) < len(said)

    async def _named(self, held: HeldAct) -> Proposal:
        try:
            one = await named(held.act, self._world.tabs.current, held.node)
        except (BrowserError, PageGone, ActionError):
            one = NamedAct(AgentAct(words=str(held.act)))
        remark = _DOUBTFUL if held.act.doubtful else ""
        if held.types_by_letters and one.located is not None and (text := self._text_of_answer(held)):
            typed = Type(target=RefTarget(ref=one.located.ref), text=text)
            one, remark = NamedAct(typed, one.located), _FROM_ANSWER
            held.expected = text
        self.held = held, one
        return Proposal(action=one.action, thought=self._thought, remark=remark)

    def _text_of_answer(self, held: HeldAct) -> str:
        """Return the text that the agent is about to type, by the answer it has got; empty if that says none."""
        begun = held.act.text if held.act.kind == "type" else ""
        text = next((one for one in self._texts if one.startswith(begun)), "")
        if text:
            del self._texts[: self._texts.index(text) + 1]
        return text

    async def _answers(self, state: RunState) -> tuple[int, ...]:
        """Answer the questions of the step, and return the numbers of their calls.

        These are the first, those that come while one is out, and those that
        follow one that failed. Cancelled, it gives back what nothing was answered of.
        """
        calls: list[int] = []
        out: dict[asyncio.Task[int], AgentQuestion] = {}
        try:
            while out or not calls:
                arrival = self._attachment.next
                if isinstance(arrival, AgentQuestion):
                    self._attachment.take(arrival)
                    out[asyncio.ensure_future(self._answer(state, arrival))] = arrival
                    continue
                if not out and (arrival is not None or self._attachment.ended):
                    break
                waited: set[asyncio.Future[Any]] = {*out, self._attachment.change()}
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                for task in [one for one in out if one.done()]:
                    del out[task]
                    with contextlib.suppress(LLMError):  # The agent has been told, as by its server.
                        calls.append(task.result())
        except BaseException as error:
            for task, question in reversed(out.items()):
                cancel_call(task, str(error) or "cancelled")
                await asyncio.wait([task])
                if question.begun:
                    question.refuse(503, error_body(_CUT, "withdrawn"))
                elif not question.over.is_set():
                    self._attachment.give_back(question)
            raise
        return tuple(filter(None, calls))

    def _given_to(self, words: str) -> LLMReply | None:
        """Return the reply that was given to a question beforehand; once another one is asked, none is any more."""
        if not self._given:
            return None
        same = next((one for one in self._given if one.asks_the_same(words)), None)
        if same is None:
            self._given.clear()
            self._on_other_question()
            return None
        self._given.remove(same)
        return same.reply

    async def _answer(self, state: RunState, question: AgentQuestion) -> int:
        """Answer one question, and return the number of its call; 0 if its client has gone away."""
        llm, request = self._asker.answerer("agent"), question.request
        if isinstance(llm, RulesLLM):
            # It reads the page itself, not the agent's words for it.
            view = self._prompter.request(state, "agent", request.messages).view
            request = request.replace(view=view, permissible=state.permissible)
        given = self._given_to(words_of(request.messages, request.tools))
        by = QuestionLLM(question, llm, holds_replies=self._asker.may_hold_replies(), given=given)
        asking = asyncio.ensure_future(self._asker.ask(state, request, by=by))
        left = asyncio.ensure_future(question.left.wait())
        try:
            await asyncio.wait([asking, left], return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                cancel_call(asking, "cancelled: the agent has cancelled it")
                await asyncio.wait([asking])
                return 0
            reply, number = asking.result()
        except LLMError as error:
            refuse(question, error)
            raise
        except asyncio.CancelledError:
            cancel_call(asking, why_cancelled("cancelled"))
            await asyncio.wait([asking])
            raise
        finally:
            left.cancel()
        self._thought, self._texts = thought_of(reply), list(texts_of(reply))
        by.complete(reply)
        return number


class _AgentActor(Actor):
    """Lets the agent carry out its act; if a person chose another action, carries that out instead."""

    def __init__(self, world: World, decider: _Decider, attachment: Attachment) -> None:
        super().__init__(world.tabs)
        self._decider = decider
        self._attachment = attachment

    async def act(self, action: Action) -> Located | None:
        if self._decider.held is None:
            return await super().act(action)
        held, one = self._decider.held
        if action != one.action:
            done = await super().act(action)
            # Only now: the agent reads the page as soon as it hears of it.
            self._decider.held = None
            self._attachment.swallow(held)
            return done
        if not held.waits:
            raise ActionError("The agent cancelled it meanwhile.")
        await self._check(held.act)
        self._decider.held = None
        self._attachment.release(held)
        await held.over()
        located = one.located or Located(ref=_NO_ELEMENT, label="")
        return located.replace(action=finished(one, held.act))

    async def _check(self, act: PageAct) -> None:
        """Raise ActionError for what the task does not allow; the agent is told of it as of a refusal."""
        boundary = self._tabs.border.boundary
        if boundary is None:
            return
        if act.kind == "upload":
            await boundary.give(act.files)
        if act.kind == "goto" and act.text and not await boundary.admits(act.text):
            raise ActionError(self._tabs.border.refused)
