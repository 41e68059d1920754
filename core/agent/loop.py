"""The loop: runs the phases in their order, stores each record, keeps the budgets, ends the run.

Who stands between the phases (a person at the window, or a rule) is not told
here: `advance` does one phase and returns.
"""

import time
from collections.abc import Callable

from core.action import Stop
from core.agent import phases
from core.agent.asking import Asked, Asker
from core.agent.deciding import Decider
from core.agent.phases import World
from core.agent.presets import Preset
from core.agent.prompts import Prompts
from core.agent.records import PHASES, Acted, Observed, Phase, PhaseRecord
from core.agent.state import Budget, Pending, RunState, StepClock
from core.browser.driver import TabDriver
from core.browser.page import PageGone
from core.environments.protocol import Ask
from core.errors import ActionError, BrowserError
from core.llm.protocol import LLM, LLMRequest, Message
from core.observation import Capture
from core.task import Task, Verdict
from core.trace.records import RunOutcome, RunStart
from core.trace.store import TraceStore


class AgentRun:
    """One run of an agent on a task; made by `open_run`."""

    def __init__(self, store: TraceStore, world: World, decider: Decider, asker: Asker, state: RunState) -> None:
        self.store = store
        self.world = world
        self.state = state
        self.outcome: RunOutcome = "running"
        self.verdict = Verdict()
        self.error = ""
        self._decider = decider
        self._asker = asker
        self._begun = 0
        self._pictured: tuple[Capture, str, str] | None = None

    @property
    def ended(self) -> bool:
        return self.outcome != "running"

    @property
    def next_phase(self) -> Phase:
        return self.state.next_phase

    def use(self, *, preset: Preset | None = None, llm: LLM | None = None) -> None:
        """Go on with another preset from the next phase on, or another LLM from the next call on."""
        if preset is not None:
            self.state.preset = preset
        if llm is not None:
            self._asker.llm = llm
            self.state.llm = llm.name

    def look_again(self) -> None:
        """Do the step's phases anew from observe, with the page read anew; for a page a person has changed."""
        self.state.stale = True
        self.state.queue.clear()
        if PHASES.index(self.state.next_phase) <= PHASES.index("act"):
            self.state.next_phase = "observe"
            self.state.pending = Pending()

    def decide_again(self) -> None:
        """Throw the proposal away: decide is the next phase again."""
        if self.state.next_phase in ("anticipate", "review", "act"):
            self.state.next_phase = "decide"
            self.state.queue.clear()
            self.state.pending = Pending()

    async def advance(self) -> PhaseRecord:
        """Do the next phase, store its record and return it.

        Raises BrowserError, LLMError, TraceError and DataError, with the phase
        still to be done: it can be tried again. Cancelling leaves it undone too.
        """
        state = self.state
        phase = state.next_phase
        began = time.perf_counter()
        if self._begun != state.number:
            self.store.begin_step(state.run, state.number, state.trial)
            self._begun = state.number
        record = await self._do(phase)
        state.clock.active += time.perf_counter() - began
        self.store.save_phase(state.run, state.number, record)
        await self._go_on(phase)
        return record

    async def _do(self, phase: Phase) -> PhaseRecord:
        state = self.state
        match phase:
            case "observe":
                observed, capture = await phases.observe(state, self.world)
                return self._with_blobs(observed, capture)
            case "recognise":
                return phases.recognise(state, await self._history_length())
            case "recall":
                return phases.recall(state)
            case "abstract":
                return phases.abstract(state)
            case "decide":
                return await phases.decide(state, self._decider)
            case "anticipate":
                return phases.anticipate(state)
            case "review":
                return phases.review(state)
            case "act":
                state.acted = await phases.act(state, self.world)
                return state.acted
            case "align":
                return phases.align(state)
            case "commit":
                return phases.commit(state)

    def _with_blobs(self, observed: Observed, capture: Capture) -> Observed:
        if self._pictured is None or self._pictured[0] is not capture:
            html = self.store.put_blob(capture.html.encode(), "text/html") if capture.html else ""
            picture = self.store.put_blob(capture.screenshot, "image/webp") if capture.screenshot else ""
            self._pictured = (capture, html, picture)
        _, html, picture = self._pictured
        return observed.model_copy(update={"html": html, "screenshot": picture})

    async def _history_length(self) -> int:
        try:
            history = await self.world.tabs.current.send("Page.getNavigationHistory", {})
            entries = [entry["url"] for entry in history["entries"][: history["currentIndex"]]]
            return sum(1 for url in entries if url != "about:blank")
        except (PageGone, BrowserError):
            return 0

    async def _go_on(self, phase: Phase) -> None:
        state = self.state
        if phase != "commit":
            state.next_phase = PHASES[PHASES.index(phase) + 1]
            return
        acted = state.acted or Acted(effect="none", outcome="skipped")
        failed_decision = acted.effect == "none" and acted.outcome == "failed"
        if failed_decision:
            state.totals.page_actions += 1  # A reply that cannot be used takes a place in the budget.
        if acted.episode_ended or isinstance(state.pending.action, Stop) and acted.effect == "stop":
            await self.finish("done")
            return
        if state.totals.page_actions >= state.budget.page_actions:
            await self.finish("budget")
            return
        state.number += 1
        state.next_phase = "observe"
        state.pending = Pending()
        state.acted = None
        state.clock = StepClock()

    # The end

    async def finish(self, outcome: RunOutcome, error: str = "", verdict: Verdict | None = None) -> None:
        """End the run; the environment judges unless a verdict is given or the world has failed."""
        if self.ended:
            return
        if verdict is None:
            verdict = await self._judge() if outcome in ("done", "budget", "gate") else Verdict()
        self.verdict = verdict
        self.outcome = outcome
        self.error = error
        state = self.state
        self.store.end_run(
            state.run,
            outcome=outcome,
            verdict=verdict,
            answer=state.answer,
            error=error,
            seconds=time.time() - state.started,
            seconds_in_llm=state.totals.seconds_in_llm,
        )

    async def _judge(self) -> Verdict:
        try:
            return await self.world.environment.judge(
                self.state.episode, TabDriver(self.world.tabs), self.state.answer, self._judge_ask()
            )
        except (ActionError, BrowserError, PageGone) as error:
            return Verdict(success=None, judge="none", reason=f"The judge could not read the page: {error}")

    def _judge_ask(self) -> Ask | None:
        if self._asker.llm.name in ("rules", "person"):
            return None

        async def ask(question: str) -> str:
            request = LLMRequest(purpose="judge", messages=(Message(role="user", text=question),))
            reply, _ = await self._asker.ask(self.state, request)
            return reply.text

        return ask


async def open_run(
    store: TraceStore,
    world: World,
    task: Task,
    seed: int,
    *,
    preset: Preset,
    llm: LLM,
    prompts: Prompts,
    budget: Budget,
    browser: str,
    profile: str | None = None,
    on_asked: Callable[[Asked], None] = lambda asked: None,
) -> AgentRun:
    """Open the task in a clean profile (or the named one) and begin its run.

    Raises UsageError, ActionError or BrowserError where the task cannot be
    opened; nothing is stored then.
    """
    world.capturer.hidden = world.environment.hidden_selectors
    await world.tabs.open_profile(profile)
    world.tabs.take_events()
    episode = await world.environment.open(task, seed, TabDriver(world.tabs))
    run = store.begin_run(
        RunStart(
            task=task.id,
            environment=task.environment,
            seed=seed,
            instruction=episode.instruction,
            start_url=episode.start_url,
            preset=preset.name,
            preset_text=preset.text,
            llm=llm.name,
            browser=browser,
        )
    )
    state = RunState(run=run, episode=episode, preset=preset, llm=llm.name, budget=budget)
    asker = Asker(store, llm, on_asked)
    return AgentRun(store, world, Decider(prompts, asker), asker, state)
