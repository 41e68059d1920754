"""The live page in the person's hands: handed over to them, what they do there recorded, and pointed at."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

from core.agent.human_actions import HumanActions
from core.agent.loop import AgentRun
from core.agent.spaces.macros import action_at
from core.browser.channel import PageGone
from core.browser.demonstration import Demonstration, HumanAction
from core.browser.page import Page
from core.debugger.commands import SessionCommands, SessionParts, command
from core.debugger.live_page import Picked
from core.schema.action import Action
from core.schema.errors import ActionError, BackstepError, BrowserError
from core.schema.observation import Box, Ref
from core.system.patience import within

_CATCH_UP_SECONDS = 1.0
"""How long a person who leaves a page may have to wait until what they did there is recorded."""
_SECONDS = 10.0
"""How long what was done last may take to be recorded, when the page is given back."""


class HumanActionRecorder:
    """Records what a person does in the page of a run, until the page is given back."""

    def __init__(self, run: AgentRun, on_step: Callable[[], None], on_problem: Callable[[str], None]) -> None:
        self._run = run
        self.human_actions = HumanActions(run, on_problem)
        self._dialogs = run.world.tabs.browser.host.events.dialogs
        self._on_step = on_step
        self._on_problem = on_problem
        self._demonstration = Demonstration()
        self._recording: asyncio.Task[None] | None = None
        self._steps = 0
        self.over = False
        """Whether what they did has ended the episode: what comes after it is not a part of the task."""

    async def begin(self) -> None:
        """Read the page and listen to it; raises BrowserError and ActionError."""
        await self.human_actions.look()
        self._dialogs.take_given()
        await self._demonstration.follow(self._run.world.tabs.current)
        # Not only when the step that has opened a tab is stored: they act in the new one by then.
        self._run.world.tabs.browser.on_attached = self._follow
        self._recording = asyncio.ensure_future(self._record())

    async def _follow(self, page: Page) -> None:
        with contextlib.suppress(PageGone, BrowserError, ActionError):
            await self._demonstration.follow(page)

    async def _follow_tab(self) -> None:
        tabs = self._run.world.tabs
        with contextlib.suppress(PageGone, BrowserError, ActionError):
            await tabs.follow()
            await self._demonstration.follow(tabs.current)

    async def catch_up(self) -> None:
        """Record what the person has done in the page so far, as far as there is time."""
        with contextlib.suppress(TimeoutError, BrowserError):
            async with within(_CATCH_UP_SECONDS):
                await self._demonstration.flush(self._run.world.tabs.current)
                await self._demonstration.human_actions.join()

    async def browsed(self, actions: Sequence[Action]) -> None:
        """Record what the person did with the buttons of the browser, and not in the page."""
        with contextlib.suppress(BrowserError):
            await self._demonstration.browsed(self._run.world.tabs.current, actions)

    async def end(self) -> int:
        """Stop listening, and return how many steps were recorded, the last ones among them."""
        self._run.world.tabs.browser.on_attached = None
        recording, self._recording = self._recording, None
        with contextlib.suppress(TimeoutError):
            async with within(_SECONDS):
                await self._demonstration.stop()
                if recording is not None:
                    await self._demonstration.human_actions.join()
        if recording is not None:
            recording.cancel()
            await asyncio.wait([recording])
        if any(not given.by_rule for given in self._dialogs.take_given()):
            self._on_problem("Your last answer to the page was not recorded: it asked by itself.")
        return self._steps

    async def _record(self) -> None:
        while True:
            human_action = await self._demonstration.take()
            try:
                await self._take(human_action)
            except (BackstepError, PageGone) as error:
                kind = human_action.kind.replace("_", " ").removeprefix("lost")
                what = f"{kind} {human_action.label}".strip()
                self._on_problem(f"Not recorded{f' ({what})' if what else ''}: {error}")
            finally:
                self._demonstration.done()

    async def _take(self, human_action: HumanAction) -> None:
        demonstration = self._demonstration
        if self.over:
            return
        if human_action.browsed is not None:
            await self._follow_tab()  # It may have opened a tab, or gone to another one.
        steps = await self.human_actions.take(
            human_action, more=demonstration.waiting, waiting=lambda: demonstration.waiting
        )
        if steps:
            self._steps += steps
            await self._follow_tab()
        # A human action that waits is reported before the page can say that it has ended the episode.
        self.over = bool(self._steps) and await self._run.world.episode_ended() and not demonstration.waiting
        if steps or self.over:
            self._on_step()


class LivePage(SessionCommands):
    """Hands the page over and back, and tells which element lies where."""

    def __init__(self, parts: SessionParts) -> None:
        super().__init__(parts)
        self.demonstrating: HumanActionRecorder | None = None
        """Records what the person does, while they have the page."""
        self._runner.take_page_back_by(self._take_back)

    @command
    async def before_leaving(self, leave: Callable[[], None]) -> None:
        """Record what the person has done in the page, and then call `leave`, which may end its document.

        A document that ends may not be able to report it any more.
        """
        try:
            if self.demonstrating is not None:
                await self.demonstrating.catch_up()
        finally:
            leave()

    @command
    async def browsed(self, actions: tuple[Action, ...]) -> None:
        """Record what the person did with the buttons of the browser, while they have the page."""
        if self.demonstrating is not None:
            await self.demonstrating.browsed(actions)

    @command
    def inspected(self, on: bool) -> None:
        """Note that DevTools are open, by which the person can change the page at any time, or no more."""
        self._current.need_services().tabs.inspected = on
        self._touch()

    def _touch(self) -> None:
        if self._current.run is not None:
            self._current.run.world.touches.touch()

    @command
    async def set_handover(self, on: bool) -> None:
        """Let the person's mouse and keys reach the live page, or take it back and read the page again."""
        await self.hand_over(on)

    async def hand_over(self, on: bool) -> HumanActionRecorder | None:
        """Give the person the page, or take it back; return what records their doings, where something does."""
        async with self._openings.lock:
            await self._hand_over(on)
            return self.demonstrating

    async def _hand_over(self, on: bool) -> None:
        """Let the person's mouse and keys reach the page, or take it back and continue with it as they left it.

        What they do is recorded as steps of theirs. An episode that they ended
        in the page ends the run.
        """
        publisher = self._publisher
        if on == publisher.session.handed_over:
            return
        if on and self._runner.busy:
            publisher.tell("The agent is acting. Pause first (F5).", done=False)
            return
        self._touch()
        run = self._current.under_way
        if run is None:
            publisher.change(handed_over=on)
            return
        if on:
            await self._give(run)
            return
        await self._take_back()
        if await run.check_ended():
            publisher.ended(run)
            return
        run.look_again()
        self._runner.go("decide")

    async def _give(self, run: AgentRun) -> None:
        """Let the person act, and record what they do."""
        publisher = self._publisher
        url = await self._current_url(follow=False)
        self._current.store_intervention("handover", url, "")
        demonstrating = HumanActionRecorder(run, lambda: self._on_human_action(run), self._warn)
        try:
            await demonstrating.begin()
        except (PageGone, BrowserError, ActionError) as error:
            self._warn(f"What you do in the page is not recorded: {error}")
        else:
            self.demonstrating = demonstrating
        publisher.change(handed_over=True)

    def _warn(self, problem: str) -> None:
        self._publisher.tell(problem, done=False, title="⚠ Recording")

    def _on_human_action(self, run: AgentRun) -> None:
        """Show the step that the person has just done."""
        publisher = self._publisher
        publisher.change(**publisher.figures())
        publisher.publish_step(run)
        publisher.send_runs()

    async def _take_back(self) -> None:
        """Take the page of the current run back if the person has it, and stop recording."""
        if not self._publisher.session.handed_over or self._current.under_way is None:
            return
        self._touch()
        # A page that waits for an answer of theirs would answer nothing.
        await self._current.need_services().tabs.browser.host.end_questions()
        demonstrating, self.demonstrating = self.demonstrating, None
        steps = await demonstrating.end() if demonstrating is not None else 0
        url = await self._current_url(follow=True)
        self._current.store_intervention("handover", "", f"{steps} recorded, at {url}" if steps else url)
        self._publisher.change(handed_over=False)

    async def _current_url(self, *, follow: bool) -> str:
        """Return the address of the current tab, of the one the person went to with `follow`."""
        tabs = self._current.need_services().tabs
        try:
            if follow:
                await tabs.follow()
            return tabs.current.playwright_page.url
        except (PageGone, BrowserError, ActionError):
            return ""  # The page is gone: reading it restores it, or says why not.

    @command
    async def point(self, x: float, y: float, *, final: bool) -> None:
        """Ask which element lies at this point of the viewport (CSS pixels); answered by `picked`."""
        found = None
        if self._current.run is not None:
            try:
                found = await self._current.need_services().tabs.current.element_at(x, y)
            except (PageGone, ActionError, BrowserError):
                found = None
        if found is None:
            self._publisher.picked.send(Picked(ref=None, final=final))
            return
        ref, box = found["ref"], Box.model_validate(found["box"])
        action = await self._action_at(ref) if final else ""
        self._publisher.picked.send(
            Picked(ref=ref, label=found["label"], box=box, final=final, action=action)
        )

    @command
    async def show_target(self) -> None:
        """Scroll the page to what the next action acts on, or back to where the agent saw it."""
        run, target = self._peeking(), self._publisher.steps.live_page.next
        if run is None:
            return
        if run.world.peek.active:
            await run.world.peek.put_back()
            self._publisher.steps.send_live_page()
        elif target is None:
            self._publisher.tell("The next action does not act on an element of this page.", done=False)
        else:
            await self._peek(run, lambda page: run.world.peek.reveal(page, target.ref))

    @command
    async def scroll(self, x: float, y: float, right: float, down: float) -> None:
        """Scroll the agent's page for the person to look at, at a point of the viewport, by CSS pixels."""
        run = self._peeking()
        if run is not None:
            await self._peek(run, lambda page: run.world.peek.scroll(page, x, y, right, down))

    def _peeking(self) -> AgentRun | None:
        """Return the run whose page may be scrolled to look at: it rests, and the page is the agent's."""
        run = self._current.under_way
        return None if self._runner.busy or self._publisher.session.handed_over else run

    async def _peek(self, run: AgentRun, scroll: Callable[[Page], Awaitable[None]]) -> None:
        try:
            await scroll(run.world.tabs.current)
        except (PageGone, ActionError, BrowserError):
            await run.world.peek.put_back()
            self._publisher.tell("The page could not be scrolled. Step to see why (F10).", done=False)
            return
        await self._publisher.steps.follow_peek(run)

    async def _action_at(self, ref: Ref) -> str:
        """Return the action of the state at hand that acts on an element, as text; empty if there is none."""
        run = self._current.run
        state = run.state if run is not None else None
        if state is None or state.space_state is None or state.recognised is None:
            return ""
        page = self._current.need_services().tabs.current
        try:
            found = await action_at(
                state.space_state[1], state.recognised.permissible, state.observation, page, ref
            )
        except (PageGone, ActionError, BrowserError):
            return ""
        return "" if found is None else str(found)
