"""The browser and the environment that a run acts in."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import uuid4

from core.agent.gates import Gates
from core.browser.actor import Actor
from core.browser.capturer import Capturer, titled
from core.browser.channel import PageGone
from core.browser.checkpoints.page_state import PageState, origin_of, read_page_state
from core.browser.driver import TabDriver
from core.browser.tabs import Tabs
from core.environments.protocol import Environment, KeepsState
from core.schema.errors import ActionError, BrowserError
from core.schema.observation import Capture
from core.schema.restore import SentAt
from core.schema.task import Episode, Task


class Touches:
    """Counts what is done to the browser, so that a page that nobody touched since can be recognised."""

    def __init__(self) -> None:
        self._session = uuid4().hex[:12]
        self._count = 0

    @property
    def last(self) -> str:
        """Name the last touch; no other process gives the same name."""
        return f"{self._session}:{self._count}"

    def touch(self) -> None:
        self._count += 1


@dataclass
class World:
    """What of the world outside a phase may use."""

    tabs: Tabs
    actor: Actor
    capturer: Capturer
    environment: Environment
    gates: Gates
    touches: Touches = field(default_factory=Touches)
    record_network: bool = True
    """Whether what servers answer is to be recorded, where they are not ours."""

    def follow_network(self, task: Task) -> None:
        """Have the answers recorded from the next opening on, unless pages come from here and can be had again."""
        self.tabs.network.wanted = self.record_network and self.keeper is None and not task.seeded

    @property
    def keeper(self) -> KeepsState | None:
        """The environment, where its server keeps a state that can be put back."""
        return self.environment if isinstance(self.environment, KeepsState) else None

    def irreversible(self, sent: Iterable[SentAt], step: int, episode: Episode) -> tuple[SentAt, ...]:
        """Return what was sent since a step and stays done when the run goes back to it.

        A site of ours is put back with its server's state.
        """
        own = origin_of(episode.start_url) if self.keeper is not None else ""
        return tuple(
            one for one in sent if one.step >= step and not (own and one.sent.url.startswith(f"{own}/"))
        )

    async def page_state(self, episode: Episode) -> PageState:
        """Return what the browser and the environment's server keep for the current page now."""
        server = self.keeper.snapshot(episode) if self.keeper is not None else ""
        return await read_page_state(self.tabs.current, touched=self.touches.last, server=server)

    async def read(self) -> Capture:
        """Read the current page; a crashed one is brought back first."""
        if self.tabs.current.crashed:
            await self.tabs.revive()
            await self.tabs.settle(self.tabs.mark())
        return await self.capturer.capture(self.tabs.current, await self.tabs.list())

    async def marked_html(self) -> str:
        """Return the current page's HTML with refs as ``data-ref``, or nothing where the page is gone."""
        try:
            return await self.capturer.marked_html(self.tabs.current)
        except (PageGone, BrowserError, ActionError):
            return ""

    async def unchanged(self, capture: Capture) -> bool:
        """Return whether the current page and the tabs are still as `capture` has them; in doubt they are not."""
        seen = capture.observation
        try:
            same, tabs = await asyncio.gather(
                self.capturer.unchanged(self.tabs.current, capture), self.tabs.list()
            )
        except (PageGone, BrowserError):
            return False  # Reading it will say why.
        return same and titled(tabs, seen.title, seen.url) == seen.tabs

    async def episode_ended(self) -> bool:
        """Return whether the page has ended the episode; a page that is gone has not."""
        try:
            return await self.environment.ended(TabDriver(self.tabs))
        except (PageGone, ActionError, BrowserError):
            return False

    async def history(self) -> tuple[int, int]:
        """Return how many pages lie behind and before the current one in the tab's history."""
        try:
            history = await self.tabs.current.send("Page.getNavigationHistory", {})
        except (PageGone, BrowserError):
            return 0, 0
        entries, here = history["entries"], int(history["currentIndex"])
        behind = sum(1 for entry in entries[:here] if entry["url"] != "about:blank")
        return behind, len(entries) - here - 1
