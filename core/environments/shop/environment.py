"""The bundled shop as an environment: its tasks, and the reward of what was bought."""

from typing import TYPE_CHECKING

from core.environments.protocol import Ask, PageDriver
from core.environments.sites import SiteEnvironment, SiteServer
from core.schema.errors import DataError
from core.schema.task import Episode, Task, Verdict
from core.storage.resources import RESOURCES
from core.system.program import COMMAND

if TYPE_CHECKING:
    from core.environments.shop.application import ShopState

FOLDER = RESOURCES / "sites" / "shop"
TASKS = FOLDER / "tasks.json"
"""Written by ``python -m tests.core.environments.shop.task_list``."""

# Making the products takes a fifth of a second that a window which only lists tasks need not pay.


class Shop(SiteEnvironment["ShopState"]):
    """Goals to buy for, each opened in a session of its own. Buying ends the episode."""

    id = "shop"
    title = "Shop"
    session_cookies = ("shop_session",)
    seeded = False
    tasks_file = TASKS

    def make_server(self) -> "SiteServer[ShopState]":
        from core.environments.shop.application import ShopApplication
        from core.environments.shop.catalogue import bundled_catalogue

        return SiteServer(ShopApplication(bundled_catalogue()), FOLDER / "static")

    async def open(self, task: Task, seed: int, page: PageDriver) -> Episode:
        """Begin with nothing looked at and nothing bought, on the search page; the seed changes nothing."""
        return await self.begin(task, seed, page, "/", task.instruction)

    async def ended(self, page: PageDriver) -> bool:
        """Return whether something was bought in the session that the page belongs to."""
        state = await self.state_of(page)
        return state is not None and bool(state.orders)

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        """Return the reward of the first order; success is a reward of 1. Page and answer are not looked at.

        Raises DataError if the session is gone or there is no such goal.
        """
        from core.environments.shop.catalogue import bundled_catalogue
        from core.environments.shop.goals import bundled_goals, score

        orders = self.server.sessions.state(episode.session).orders
        if not orders:
            return Verdict(success=False, reward=0.0, judge="page", reason="Nothing was bought.")
        name = episode.task.id.rpartition("/")[2]
        goal = next((one.goal for one in bundled_goals() if one.name == name), None)
        if goal is None:
            raise DataError(f"The shop has no goal {name}: choose a task of `{COMMAND} tasks`.")
        bought = orders[0]
        product = bundled_catalogue().product(bought.product)
        parts = score(goal, product, bought.options, bought.price)
        return Verdict(
            success=parts.reward == 1.0,
            reward=parts.reward,
            judge="page",
            reason=f"Bought {product.id}: {parts.reason()}.",
        )
