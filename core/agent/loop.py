"""The loop: runs the phases in order, stores each record, checks the budgets, ends the run.

The loop does not know who controls it between phases (a person at the window, or a rule): `advance` does one
phase and returns.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import ClassVar, Literal

from core.agent.action_queue import drop_queue
from core.agent.edits.edit import EditContext, Undoable
from core.agent.llm_calls import Answerer, Asked, Asker, Failed, Hold
from core.agent.phases.choice import HeldGate, gate_of
from core.agent.phases.registry import ENTRIES, PhaseEntry, PhaseTools
from core.agent.presets import Mechanism, Preset, bounds
from core.agent.prompt_builder import Prompter
from core.agent.reflection.consequences import end_trial, reflection_record
from core.agent.resources import AgentResources
from core.agent.run_history import AgentKeeper
from core.agent.state import Budget, RunState, Shortened
from core.agent.streaks import end_streak
from core.agent.world import World
from core.browser.channel import PageGone
from core.browser.driver import TabDriver
from core.browser.log.records import Moment
from core.environments.protocol import Ask
from core.llm.replies import split_thinking
from core.schema.action import NewTrial
from core.schema.changes import Changes, Difference, memory_in_words
from core.schema.errors import BackstepError, BrowserError
from core.schema.events import BrowserEvent
from core.schema.messages import LLMRequest, Message
from core.schema.observation import Capture
from core.schema.restore import SentAt
from core.schema.step import (
    PHASES,
    Acted,
    Aligned,
    Anticipated,
    CallRecord,
    Committed,
    Decided,
    Phase,
    PhaseRecord,
)
from core.schema.task import Task, Verdict
from core.settings.settings import Pictures
from core.trace.records import CaseAttempt, RunOutcome, RunStart
from core.trace.store import TraceStore

_LOOKING: tuple[Phase, ...] = ("recognise", "recall", "abstract")
"""Phases that read the page, and do nothing that an edit before them could not take back."""


class AgentRun:
    """One run of an agent on a task; create it with `open_run`."""

    has_preset: ClassVar[bool] = True
    """Whether the agent uses a preset, which can be changed."""

    def __init__(
        self,
        store: TraceStore,
        world: World,
        prompter: Prompter,
        state: RunState,
        *,
        begun: int = 0,
        phases: Mapping[Phase, PhaseEntry] = ENTRIES,
    ) -> None:
        """`begun` is a step that was begun before and is to be done again; its records are replaced."""
        self.store = store
        self.world = world
        self.state = state
        self.outcome: RunOutcome = "running"
        self.verdict = Verdict()
        self.error = ""
        self._asker = prompter.asker
        self._resources = prompter.resources
        self._tools = PhaseTools(store, world, prompter, state)
        self._keeper = AgentKeeper(store)
        self._next_preset = state.preset
        self._take_preset()
        self._begun = begun
        self._phases = phases
        self._done: PhaseRecord | None = None
        """What the current phase left, where the trace has not taken it yet."""
        self._judged: Verdict | None = None
        self._advancing = False
        self._phase_begun = self._phase_clock = 0.0
        self.undoable: list[Undoable] = []
        """The edits since the run has last asked an LLM or done something."""
        self.redoable: list[Undoable] = []
        """Those of them that were undone since the last new one, the next to be redone last."""
        self._on_event: Callable[[BrowserEvent], object] = lambda event: None
        self.edited = 0
        """The last step in which something was edited."""

    @property
    def ended(self) -> bool:
        return self.outcome != "running"

    @property
    def begun(self) -> int:
        """The last step that was begun; 0 before the first."""
        return self._begun

    @property
    def next_phase(self) -> Phase:
        return self.state.next_phase

    @property
    def next_asks_llm(self) -> bool:
        """Whether the next phase asks an LLM."""
        return self._phases[self.state.next_phase].asks_llm(self.state)

    @property
    def resting(self) -> bool:
        """Whether no phase is in progress, so that the state may be changed."""
        return not self._advancing and self._done is None and not self.ended

    @property
    def edit_context(self) -> EditContext:
        """What edits of a person may look at."""
        edits = tuple(one.edit for one in self.undoable) if self.state.next_phase == "commit" else ()
        return EditContext(self.state, self._resources, self._tools.history, edits)

    @property
    def asking(self) -> CallRecord | None:
        """The LLM call that the current phase waits for; those that are out while an action runs are not."""
        return None if self.state.next_phase == "act" else self._asker.asking

    def keep_pictures(self, which: Pictures) -> None:
        """Say, before the first step, whose steps keep their pictures: all, none, or those of no success."""
        self._tools.pages.pictures = which

    def hold_calls(self, hold: Hold, replies: Callable[[], bool] = lambda: True) -> None:
        """Await `hold` with each LLM call before it is made, and with its reply.

        `replies` tells whether one may be held: then nothing of it is passed on before.
        """
        self._asker.hold, self._asker.may_hold_replies = hold, replies

    def tell(self, failed: Failed, event: Callable[[BrowserEvent], object]) -> None:
        """Call `failed` with each LLM call without a reply, and `event` with what happens between actions."""
        self._asker.failed, self._on_event = failed, event

    def use(self, *, preset: Preset | None = None, llm: Answerer | None = None) -> None:
        """Continue with another preset or another LLM.

        The LLM is asked from the next call on. The preset holds from the next
        step on; a step in which nothing has been decided yet is that step.
        """
        self._forget_edits()
        if preset is not None:
            self._next_preset = preset
            if self.state.undecided and not self._advancing:
                self._take_preset()
                if self.state.next_phase != "observe":
                    self._begin_again("recognise")
        if llm is not None:
            self._asker.llm = llm
            self.state.llm = llm.name
            self.state.shortened = Shortened()
            if self.state.undecided and not self._advancing:
                self._take_preset()

    def look_again(self) -> None:
        """Do the step again from observe, with the page read again; for a page that a person has changed."""
        self.world.touches.touch()
        self.state.stale = True
        drop_queue(self.state, "The person has changed the page.")
        if self.state.unacted and self._done is None:
            self._begin_again("observe")

    def decide_again(self) -> None:
        """Throw the proposal away: decide is the next phase again."""
        if self.state.unacted and not self.state.undecided and self._done is None:
            self.state.queue.clear()
            self._begin_again("decide")

    def withdraw_questions(self) -> None:
        """Withdraw what the current step has asked besides its phases."""
        self._tools.anticipator.forget(self.state.number)
        self._tools.ahead.forget()

    def _forget_edits(self) -> None:
        self.undoable.clear()
        self.redoable.clear()

    def _begin_again(self, phase: Phase) -> None:
        self._done = None
        self._forget_edits()
        self.withdraw_questions()
        self.state.begin_again(phase, "The step was decided again.")

    # What a person does in the page

    def take_over(self) -> None:
        """Make the step that is not done yet one of the person's: nothing of the agent's is left of it."""
        self._begin_again("observe")
        if self._begun != self.state.number:
            self._begin_step()

    def seal(self, before: Capture, records: Iterable[PhaseRecord]) -> None:
        """Store a complete step of the person, which began with `before`, and go to the next; raises TraceError."""
        state = self.state
        for record in (self._tools.pages.save(before), *records):
            self.store.save_phase(state.run, state.number, record)
        self._keep_page_log("in the action", also_empty=True)
        state.begin_next()

    def store_reflection(self) -> None:
        """Store plan and remedies as they are now with the step's last phase that holds them."""
        state = self.state
        if not self._begun:
            return
        kept = self.store.step(state.run, self._begun).records
        for record in reversed(kept):
            if isinstance(record, Decided | Anticipated | Aligned):
                self.store.save_phase(
                    state.run, self._begun, record.replace(reflection=reflection_record(state))
                )
                return

    def leave(self) -> None:
        """Leave the run as it is, to be taken up again; a step that was only about to begin is begun for that.

        One that has ended keeps only what pages have sent since. Raises TraceError.
        """
        if self.ended:
            self._keep_sent()
            return
        self._tools.anticipator.forget()
        self._tools.ahead.forget()
        state = self.state
        if self._begun != state.number:
            self._begin_step()
        elif self.edited == state.number and state.unacted:
            # What was edited in the step holds when it is started again.
            if state.from_queue and state.pending.proposed is not None:
                state.queue.insert(0, state.pending.proposed)
            self.store.save_agent(state.run, state.number, self._keeper.json_of(state))
        self._keep_sent()
        self._keep_page_log("after the last action")
        self.store.leave_run(state.run)
        self.outcome = "left"

    def _keep_sent(self) -> None:
        """Store what pages have sent since the last action, which no action of another run is to be taken for."""
        late = [SentAt(step=self._begun, sent=one) for one in self.world.tabs.browser.take_sent()]
        if late and self._begun:
            self.state.sent += late
            self._keeper.add_sent(self.state.run, self._begun, late)

    async def check_ended(self) -> bool:
        """End the run where the page has ended the episode meanwhile; return whether it has ended."""
        if not self.ended and await self.world.episode_ended():
            await self.finish("done")
        return self.ended

    async def advance(self) -> PhaseRecord:
        """Do the next phase, store its record and return it.

        Raises BrowserError, LLMError, TraceError and DataError, with the phase
        still to be done: it can be tried again. Cancelling leaves it undone too.
        Where only the storing failed, trying again stores and does nothing twice.
        """
        self._advancing = True
        try:
            await self.world.peek.put_back()
            return await self._advance()
        finally:
            self._advancing = False

    async def _advance(self) -> PhaseRecord:
        state = self.state
        phase = state.next_phase
        if self._begun != state.number:
            if self._begun:
                self._reread_preset()
            self._begin_step()
        if self._phases[phase].asks_llm(state) or phase not in _LOOKING:
            self._forget_edits()
        if self._done is None:
            if phase == "act":
                self._keep_events()
                self._keep_page_log("before the action")
            shown = state.abstracted
            self._phase_clock, began = time.perf_counter(), state.clock.now
            self._phase_begun = time.time()
            in_calls = state.in_calls.seconds
            try:
                done = self._phases[phase].run(self._tools)
                self._done = await done if isinstance(done, Awaitable) else done
            finally:
                called = state.in_calls.seconds - in_calls
                # One call may be held while another is out, which is work.
                state.clock.active += max(state.clock.now - began, called)
                state.clock.in_llm += called
            if phase == "decide" and state.abstracted is not None and state.abstracted is not shown:
                self.store.save_phase(state.run, state.number, state.abstracted)  # The page was shortened.
        record = self._done
        took = time.perf_counter() - self._phase_clock
        self.store.save_phase(state.run, state.number, record, begun=self._phase_begun, took=took)
        if phase == "observe":
            self._keep_page_log("before the action", also_empty=True)
        elif phase == "act":
            self._keep_page_log("in the action")
        await self._go_on(phase)
        self._done = None
        return record

    async def keep_network(self) -> None:
        """Store with the current step what servers have answered since this was last asked."""
        taken = await self.world.tabs.network.take()
        if taken:
            self.store.pages.save_network(self.state.run, self.state.number, taken)

    def _begin_step(self) -> None:
        state = self.state
        agent = self._keeper.json_of(state)
        self.store.begin_step(state.run, state.number, state.trial, agent=agent)
        self._begun = state.number

    def _reread_preset(self) -> None:
        """Take the preset as its file has it now; raises DataError if an edit went wrong."""
        self._next_preset = self._resources.presets.get(self._next_preset.name)
        self._take_preset()

    def _take_preset(self) -> None:
        """Go by the preset, with the form of replies that the LLM answers best where the file leaves it open."""
        self.state.preset = self._asker.settled(self._next_preset)
        if self.state.reply_form:
            self.state.preset = self.state.preset.replace(reply_format=self.state.reply_form)

    def _keep_events(self) -> None:
        """Store what happened in the browser since the last action: it belongs to none."""
        for event in self.world.tabs.browser.take_events():
            self.store.pages.save_event(self.state.run, self.state.number, event)
            self._on_event(event)

    def _keep_page_log(self, moment: Moment, *, also_empty: bool = False) -> None:
        """Store what pages reported since the last time; with `also_empty` that there was nothing, too."""
        listener = self.world.tabs.browser.log
        page_log = listener.collected()
        if also_empty or not page_log.empty:
            self.store.pages.save_log(self.state.run, self._begun, moment, page_log)
        listener.drop()

    async def _go_on(self, phase: Phase) -> None:
        state = self.state
        if phase != "commit":
            state.next_phase = PHASES[PHASES.index(phase) + 1]
            return
        acted = state.acted or Acted(effect="none", outcome="skipped")
        stops = isinstance(self._done, Committed) and self._done.stops
        await self.keep_network()
        stopped = acted.effect == "stop" and not (state.aligned is not None and state.aligned.stop_refused)
        if acted.episode_ended or stopped or stops:
            doing = state.reflection.doing
            await self.finish("budget" if stopped and doing is not None and doing.at_limit else "done")
            return
        if state.recognised is not None and state.recognised.over:
            await self.finish("budget", error=state.recognised.over)
            return
        end_streak(state, self._asker.other_format())
        if state.stuck:
            await self.finish("stuck", error=state.stuck)
            return
        self._end_trial_at_its_limit()
        out_of_calls = not state.queue and state.calls_left < state.preset.calls
        if (state.out_of_actions and not self._is_due("answer")) or out_of_calls:
            await self.finish("budget")
            return
        if isinstance(state.pending.action, NewTrial) and acted.outcome == "done":
            self._tools.anticipator.forget()
            self._tools.ahead.forget()
            state.trial += 1
        state.begin_next()

    def _end_trial_at_its_limit(self) -> None:
        """Where a plan is worked on: have it revised, or the answer asked for, once the page actions are used."""
        state = self.state
        if not state.is_on("plan") or self._is_due("answer"):
            return
        if state.out_of_actions:
            end_trial(state, "")
        elif state.trial_is_over and not self._is_due("new trial"):
            end_trial(state, f"The trial has used its {state.plan_settings.actions} actions.")

    def _is_due(self, kind: Literal["new trial", "answer"]) -> bool:
        scheduled = self.state.reflection.scheduled
        return scheduled is not None and scheduled.kind == kind

    def gate(self) -> HeldGate | None:
        """Return the gate that the pending action must stop at, or None."""
        return gate_of(self.state, self.world, self._resources)

    def switch(self, mechanism: Mechanism, on: bool) -> None:
        """Switch a mechanism on or off; it holds from the next step on, or in one that has decided nothing yet."""
        self._forget_edits()
        self.state.switched[mechanism] = on
        if self.state.undecided and not self._advancing and self.state.next_phase != "observe":
            self._begin_again("recognise")

    def set_amount(self, mechanism: Mechanism, value: int) -> tuple[int, int]:
        """Set the number of a mechanism and return the one before and the one that holds; the next phase has it."""
        least, most = bounds(mechanism)
        self._forget_edits()
        before = self.state.amount(mechanism)
        self.state.amounts[mechanism] = min(max(value, least), most)
        return before, self.state.amounts[mechanism]

    # The end

    async def finish(self, outcome: RunOutcome, error: str = "", verdict: Verdict | None = None) -> None:
        """End the run; the environment judges unless a verdict is given or the world has failed.

        A judge that fails leaves no verdict, and its reason as the run's
        error. Raises TraceError with the run not ended.
        """
        if self.ended:
            return
        self._tools.anticipator.forget()
        self._tools.ahead.forget()
        if verdict is None and outcome in ("done", "budget", "gate", "loop", "stuck"):
            if self._judged is None:
                with self.world.tabs.border.lifted():
                    self._judged, failure = await self._judge()
                self.error = error or failure
            verdict, error = self._judged, self.error
        verdict = verdict or Verdict()
        state = self.state
        self._keep_events()
        self._keep_sent()
        if self._begun:
            self._keep_page_log("after the last action")
        self._tools.pages.end(success=bool(verdict.success))
        self.store.end_run(
            state.run,
            outcome=outcome,
            verdict=verdict,
            answer=state.answer,
            error=error,
            seconds=time.perf_counter() - state.started,
            seconds_in_llm=state.totals.seconds_in_llm,
            own_files=self._resources.own_texts(),
        )
        self.verdict, self.outcome, self.error = verdict, outcome, error
        self.world.tabs.border.set(None)

    async def _judge(self) -> tuple[Verdict, str]:
        """Return the verdict, and why there is none where the judge failed."""
        try:
            verdict = await self.world.environment.judge(
                self.state.episode, TabDriver(self.world.tabs), self.state.answer, self._judge_ask()
            )
        except (BackstepError, PageGone) as error:
            reason = f"The judge failed: {str(error) or 'the page went away.'}"
            return Verdict(success=None, judge="none", reason=reason), reason
        return verdict, ""

    def _judge_ask(self) -> Ask | None:
        """Return how a judge asks the LLM; its calls are counted but not limited, not being the agent's."""
        if self._asker.answerer("judge").name in ("rules", "person"):
            return None

        async def ask(question: str) -> str:
            request = LLMRequest(purpose="judge", messages=(Message(role="user", text=question),))
            reply, _ = await self._asker.ask(self.state, request)
            return split_thinking(reply.text)[1]

        return ask


MakeRun = Callable[[TraceStore, World, Prompter, RunState], AgentRun]


async def open_run(
    store: TraceStore,
    world: World,
    task: Task,
    seed: int,
    *,
    preset: Preset,
    llm: Answerer,
    resources: AgentResources,
    budget: Budget,
    browser: str,
    profile: str | None = None,
    changes: Changes = Changes(),  # noqa: B008 - it is frozen
    attempt: CaseAttempt | None = None,
    on_asked: Callable[[Asked], None] = lambda asked: None,
    make: MakeRun | None = None,
) -> AgentRun:
    """Open the task in a clean profile (or the named one) and begin its run.

    Raises UsageError, DataError, ActionError or WorldError if the task
    cannot be opened; nothing is stored then. The preset's file is read again at
    each step. `changes` are those that `resources` has already: they are kept
    with the run, for its branches. `attempt` says which run of an evaluation it
    is. `make` makes the run, an `AgentRun` without it.
    """
    world.capturer.hidden = world.environment.hidden_selectors
    world.follow_network(task)
    task = await world.declare_secrets(task, store.secrets)
    viewport = task.viewport or preset.viewport or world.viewport
    await world.tabs.open_up()
    world.begin(task)
    try:
        await world.tabs.open_profile(profile, viewport)
        world.tabs.browser.take_events()
        episode = await world.environment.open(task, seed, TabDriver(world.tabs))
        world.note_told(episode)
    except PageGone as error:
        raise BrowserError(
            f"The page of {task.id} went away while it was being opened; try again."
        ) from error
    run = store.begin_run(
        RunStart(
            task=task.id,
            environment=task.environment,
            seed=seed,
            instruction=episode.instruction,
            start_url=episode.start_url,
            preset=preset.name,
            preset_text=preset.text,
            own_files=resources.own_texts(),
            llm=llm.name,
            browser=browser,
            profile=profile,
            viewport=viewport,
            changes=changes,
            attempt=attempt,
            differences=tuple(
                Difference(what="exemplars", after=words) for words in memory_in_words(changes)
            ),
        )
    )
    store.pages.save_network(run, 0, await world.tabs.network.take())
    state = RunState(
        run=run,
        episode=episode,
        preset=preset,
        llm=llm.name,
        budget=budget,
        profile=profile,
        viewport=viewport,
    )
    world.bound(episode, state.allowed)
    asker = Asker(store, llm, on_asked)
    return (make or AgentRun)(store, world, Prompter(resources, asker), state)
