"""The interface of environments, which offer and judge tasks, and of the page that they need.

An environment lists its tasks, opens one in a page with a clean profile, says
whether the page has ended the episode, and judges how it ended. It knows
nothing of agents, steps or prompts.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from core.schema.task import Episode, Task, Verdict

if TYPE_CHECKING:
    # Importing Playwright takes half a second, which listing tasks need not pay.
    from playwright.async_api import Page

Ask = Callable[[str], Awaitable[str]]
"""Puts a question to the LLM that helps a judge, and returns its answer as text."""


class PageDriver(Protocol):
    """The live page, as far as an environment needs it."""

    @property
    def playwright_page(self) -> "Page":
        """The page itself, for judges that need more than this protocol."""
        ...

    async def goto(self, url: str) -> None:
        """Open `url` and wait until it has loaded and settled; raises ActionError or BrowserError."""
        ...

    async def url(self) -> str: ...

    async def evaluate(self, script: str, *, main_world: bool = False) -> Any:
        """Return the JSON value of one expression, in an isolated world unless `main_world`.

        Raises ActionError with the page's own message where the script throws or cannot be read.
        """
        ...

    async def add_init_script(self, script: str) -> None:
        """Run `script` before the page's own in every document of the tab, until the profile is reopened."""
        ...

    async def set_cookies(self, cookies: list[dict[str, Any]]) -> None:
        """Set cookies, each with the fields of the protocol's Network.setCookie."""
        ...

    async def set_local_storage(self, origin: str, items: dict[str, str]) -> None: ...

    async def html(self) -> str: ...

    async def settle(self) -> None: ...


@runtime_checkable
class TabOpener(Protocol):
    """What a page driver offers beyond `PageDriver` if a task may start in several tabs."""

    async def open_tab(self, url: str) -> None:
        """Open `url` in a further tab; the tab that was current stays so."""
        ...


@runtime_checkable
class KeepsState(Protocol):
    """What an environment offers beyond `Environment` if its server keeps a state that can be restored."""

    session_cookies: tuple[str, ...]
    """The names of the cookies by which the server knows the page's session."""

    def snapshot(self, episode: Episode) -> str:
        """Return the server's state of this episode as text."""
        ...

    async def restore(self, episode: Episode, page: PageDriver, snapshot: str) -> Episode:
        """Give `page` a session of its own in the state of `snapshot`, and return the episode on it.

        The page is not loaded again. The session it had stays as it was, for
        the branch that goes on with it. Raises DataError for a text that is no
        snapshot of this environment.
        """
        ...


@runtime_checkable
class Environment(Protocol):
    """A family of tasks with one way to open and to judge them.

    A class that extends it begins with pages that hide nothing and end no episode, and with nothing to release.
    """

    id: str
    title: str
    hidden_selectors: tuple[str, ...] = ()
    """CSS of what belongs to the judge: kept out of observations and of the HTML an agent gets."""

    def tasks(self) -> tuple[Task, ...]:
        """Return all tasks, always in the same order."""
        ...

    async def open(self, task: Task, seed: int, page: PageDriver) -> Episode:
        """Begin the task in `page`, whose profile is clean; on return the agent may act.

        Raises UsageError if something of the user's is missing, and
        WorldError or ActionError where the page does not come up.
        """
        ...

    async def ended(self, page: PageDriver) -> bool:
        """Return whether the page has ended the episode by itself."""
        return False

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        """Say how the episode ended, from the page as it is now and the agent's answer.

        Where a part of the judgement takes an LLM, `ask` puts the question
        and the verdict says so; without `ask` its `success` is None.
        """
        ...

    async def close(self) -> None:
        """Release servers and files; the environment may be opened again."""
        return
