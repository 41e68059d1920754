"""The live page in the person's hands: handed over to them, and pointed at."""

from core.agent.loop import AgentRun
from core.agent.spaces.macros import action_at
from core.browser.channel import PageGone
from core.debugger.command_queue import CommandQueue
from core.debugger.current import Current
from core.debugger.human_actions import HumanActionRecorder
from core.debugger.publisher import Publisher
from core.debugger.runner import Runner
from core.debugger.snapshots import Picked
from core.debugger.task_opening import Openings
from core.schema.errors import ActionError, BrowserError
from core.schema.observation import Box, Ref


class LivePage:
    """Hands the page over and back, and tells which element lies where."""

    def __init__(
        self,
        current: Current,
        publisher: Publisher,
        runner: Runner,
        openings: Openings,
        commands: CommandQueue,
    ) -> None:
        self._current = current
        self._publisher = publisher
        self._runner = runner
        self._openings = openings
        self._commands = commands
        self.demonstrating: HumanActionRecorder | None = None
        """Records what the person does, while they have the page."""

    # Commands, from any thread

    def set_handover(self, on: bool) -> None:
        """Let the person's mouse and keys reach the live page, or take it back and read the page anew."""

        async def work() -> None:
            await self.hand_over(on)

        self._commands.post(work)

    def point(self, x: float, y: float, *, final: bool) -> None:
        """Ask which element lies at this point of the viewport (CSS pixels); answered by `picked`."""
        self._commands.post(lambda: self._point(x, y, final=final))

    # In the worker's loop

    async def hand_over(self, on: bool) -> HumanActionRecorder | None:
        """Give the person the page, or take it back; return what records their doings, where something does."""
        async with self._openings.lock:
            await self._hand_over(on)
            return self.demonstrating

    async def _hand_over(self, on: bool) -> None:
        """Let the person's mouse and keys reach the page, or take it back and go on with it as they left it.

        What they do is recorded as steps of theirs. An episode that they ended
        in the page ends the run.
        """
        publisher = self._publisher
        if on == publisher.session.handed_over:
            return
        if on and self._runner.busy:
            publisher.change(message="Pause first: the agent is acting.")
            return
        run = self._current.under_way
        if run is None:
            publisher.change(handed_over=on)
            return
        if on:
            await self._give(run)
            return
        steps = await self._taken_back()
        url = await self._current_url(follow=True)
        self._current.store_intervention("handover", "", f"{steps} recorded, at {url}" if steps else url)
        publisher.change(handed_over=False)
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
        demonstrating = HumanActionRecorder(
            run, lambda: self._on_deed(run), lambda problem: publisher.log("warning", "handover", problem)
        )
        try:
            await demonstrating.begin()
        except (PageGone, BrowserError, ActionError) as error:
            publisher.log("warning", "handover", f"What you do in the page is not recorded: {error}")
        else:
            self.demonstrating = demonstrating
        publisher.change(handed_over=True)

    def _on_deed(self, run: AgentRun) -> None:
        """Show the step that the person has just done."""
        publisher = self._publisher
        publisher.change(**publisher.figures())
        publisher.publish_step(run)
        publisher.send_runs(publisher.query)

    async def _taken_back(self) -> int:
        """Record no more, and return how many steps of the person's there are."""
        demonstrating, self.demonstrating = self.demonstrating, None
        return await demonstrating.end() if demonstrating is not None else 0

    async def _current_url(self, *, follow: bool) -> str:
        """Return the address of the current tab, of the one the person went to with `follow`."""
        tabs = self._current.need_services().tabs
        try:
            if follow:
                await tabs.follow()
            return tabs.current.playwright_page.url
        except (PageGone, BrowserError, ActionError):
            return ""  # The page is gone: reading it brings it back, or says why not.

    async def _point(self, x: float, y: float, *, final: bool) -> None:
        """Announce which element lies at this point of the viewport."""
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

    async def _action_at(self, ref: Ref) -> str:
        """Return the action of the state at hand that acts on an element, as text; empty where there is none."""
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
