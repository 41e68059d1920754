"""The bundled shop as an environment: tasks, sessions, and the reward of what was bought.

Its tasks are listed from a file, since making the products takes a fifth of a
second that a window which only lists tasks need not pay.
"""

import asyncio
import json
from typing import TYPE_CHECKING

from core.environments.protocol import Ask, PageDriver
from core.environments.sites.server import SiteServer
from core.environments.sites.visitor import put_session, session_of
from core.schema.errors import DataError
from core.schema.task import Episode, Task, Verdict
from core.storage.resources import RESOURCES

if TYPE_CHECKING:
    from core.environments.shop.application import ShopState

FOLDER = RESOURCES / "sites" / "shop"
TASKS = FOLDER / "tasks.json"
"""Written by ``python -m tests.core.environments.shop.task_list``."""


class Shop:
    """Goals to buy for, each opened in a session of its own. Buying ends the episode."""

    id = "shop"
    title = "Shop"
    hidden_selectors: tuple[str, ...] = ()
    session_cookies: tuple[str, ...] = ("shop_session",)
    """None: no page of the shop tells a goal or a reward."""

    def __init__(self) -> None:
        self._opened: SiteServer[ShopState] | None = None
        self._tasks: tuple[Task, ...] | None = None

    def tasks(self) -> tuple[Task, ...]:
        """Return a task for each goal, ``shop/goal-000`` first."""
        if self._tasks is None:
            listed = json.loads(TASKS.read_text(encoding="utf-8"))
            self._tasks = tuple(Task(environment=self.id, **one) for one in listed)
        return self._tasks

    async def open(self, task: Task, seed: int, page: PageDriver) -> Episode:
        """Begin with nothing looked at and nothing bought, on the search page; the seed changes nothing."""
        server = self._server
        start_url = f"{server.origin}/"
        session = server.sessions.begin()
        await put_session(self._server, page, session)
        await page.goto(start_url)
        return Episode(
            task=task, seed=seed, instruction=task.instruction, start_url=start_url, session=session
        )

    async def ended(self, page: PageDriver) -> bool:
        """Return whether something was bought in the session that the page belongs to."""
        sessions = self._server.sessions
        session = await session_of(self._server, page)
        return sessions.known(session) and bool(sessions.state(session).orders)

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        """Return the reward of the first order; success is a reward of 1. Page and answer are not looked at.

        Raises DataError where the session is gone or there is no such goal.
        """
        from core.environments.shop.catalogue import bundled_catalogue
        from core.environments.shop.goals import bundled_goals
        from core.environments.shop.reward import score

        orders = self._server.sessions.state(episode.session).orders
        if not orders:
            return Verdict(success=False, reward=0.0, judge="page", reason="Nothing was bought.")
        name = episode.task.id.rpartition("/")[2]
        goal = next((one.goal for one in bundled_goals() if one.name == name), None)
        if goal is None:
            raise DataError(f"The shop has no goal {name}: choose a task of `main.py tasks`.")
        bought = orders[0]
        product = bundled_catalogue().product(bought.product)
        parts = score(goal, product, bought.options, bought.price)
        return Verdict(
            success=parts.reward == 1.0,
            reward=parts.reward,
            judge="page",
            reason=f"Bought {product.id}: {parts.reason()}.",
        )

    def snapshot(self, episode: Episode) -> str:
        """Return what the session holds, as JSON; raises DataError where it is gone."""
        return self._server.sessions.snapshot(episode.session)

    async def restore(self, episode: Episode, page: PageDriver, snapshot: str) -> Episode:
        """Give the page a new session in that state; raises DataError for another text."""
        sessions = self._server.sessions
        session = sessions.begin()
        sessions.restore(session, snapshot)
        await put_session(self._server, page, session)
        return episode.replace(session=session)

    async def close(self) -> None:
        """Stop serving; sessions stay, for an episode that is judged later."""
        if self._opened is not None:
            await asyncio.to_thread(self._opened.close)

    @property
    def _server(self) -> "SiteServer[ShopState]":
        if self._opened is None:
            from core.environments.shop.application import ShopApplication
            from core.environments.shop.catalogue import bundled_catalogue

            self._opened = SiteServer(ShopApplication(bundled_catalogue()), FOLDER / "static")
        return self._opened
