"""While the person has the page: what they do becomes steps of the run, one by one."""

import asyncio
import contextlib
from collections.abc import Callable

from core.agent.human_actions import HumanActions
from core.agent.loop import AgentRun
from core.browser.channel import PageGone
from core.browser.demonstration import Deed, Demonstration
from core.schema.errors import ActionError, BackstepError, BrowserError

_SECONDS = 10.0
"""How long what was done last may take to be recorded, when the page is given back."""


class HumanActionRecorder:
    """Records what a person does in the page of a run, until the page is given back."""

    def __init__(self, run: AgentRun, on_step: Callable[[], None], on_problem: Callable[[str], None]) -> None:
        self._run = run
        self.deeds = HumanActions(run)
        self._on_step = on_step
        self._on_problem = on_problem
        self._demonstration = Demonstration()
        self._recording: asyncio.Task[None] | None = None
        self._steps = 0
        self.over = False
        """Whether what they did has ended the episode: what comes after it is no part of the task."""

    async def begin(self) -> None:
        """Read the page and listen to it; raises BrowserError and ActionError."""
        await self.deeds.look()
        await self._demonstration.follow(self._run.world.tabs.current)
        self._recording = asyncio.ensure_future(self._record())

    async def end(self) -> int:
        """Listen no more, and return how many steps were recorded, the last ones among them."""
        await self._demonstration.stop()
        recording, self._recording = self._recording, None
        if recording is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SECONDS):
                    await self._demonstration.deeds.join()
            recording.cancel()
            await asyncio.wait([recording])
        return self._steps

    async def _record(self) -> None:
        deeds = self._demonstration.deeds
        while True:
            deed = await deeds.get()
            try:
                await self._take(deed)
            except (BackstepError, PageGone) as error:
                self._on_problem(f"What you did ({deed.kind} {deed.label}) was not recorded: {error}")
            finally:
                deeds.task_done()

    async def _take(self, deed: Deed) -> None:
        waiting = self._demonstration.deeds
        if self.over:
            return
        action = await self.deeds.take(deed, more=not waiting.empty(), waiting=lambda: not waiting.empty())
        tabs = self._run.world.tabs
        if action is not None:
            self._steps += 1
            with contextlib.suppress(PageGone, BrowserError, ActionError):
                await tabs.follow()
                await self._demonstration.follow(tabs.current)
        # A deed that waits is told before the page can say that it has ended the episode.
        self.over = bool(self._steps) and await self._run.world.episode_ended() and waiting.empty()
        if action is not None or self.over:
            self._on_step()
