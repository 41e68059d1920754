"""What commands need: the browser, the LLMs and a session's services."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, TypeVar

from core.agent.resources import AgentResources, agent_resources_of
from core.browser.chromium import ChromiumHost, chromium_at
from core.browser.host import BrowserHost
from core.browser.screen import Screen
from core.debugger.services import Services, open_services, user_llms
from core.environments.registry import Environments
from core.llm.embedding import Embedding
from core.llm.registry import LLMs, open_llms
from core.schema.errors import Interrupted, UsageError
from core.settings.settings import Settings, config_folder, data_folder, exemplars_folder

T = TypeVar("T")
WithEmbedded: TypeAlias = Callable[[Callable[[BrowserHost], Awaitable[Any]], Settings], Any]
"""Gives the embedded browser to a piece of work and returns what it returns."""


def in_browser(
    work: Callable[[BrowserHost], Awaitable[T]],
    settings: Settings,
    with_embedded: WithEmbedded,
    *,
    shared: bool = False,
) -> T:
    """Do the work in the browser that the settings name, and return what it returns.

    `shared` is one that agents of the user's own can drive.
    """
    if settings.browser == "embedded":
        result: T = with_embedded(work, settings)
        return result
    return in_loop(work(chromium_of(settings, settings.browser, shared=shared)))


def chromium_of(
    settings: Settings, name: str, screen: Screen | None = None, *, shared: bool = False
) -> ChromiumHost:
    """Return the installed Chromium that ``chromium`` or a path means; raises BrowserError if there is none.

    `shared` is one that agents of the user's own can drive.
    """
    return ChromiumHost(
        chromium_at(name),
        dialogs=settings.dialogs,
        profiles=str(data_folder() / "chromium-profiles"),
        screen=screen,
        shared=shared,
    )


def in_loop(work: Awaitable[T]) -> T:
    """Run `work` in a loop of its own; the first interruption cancels it and lets it end in order."""

    async def watched() -> T:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            raise Interrupted("Interrupted.") from None

    return asyncio.run(watched())


def open_unattended(settings: Settings, *names: str, patient: bool = False) -> LLMs:
    """Return the LLMs of the settings; raises UsageError if a name is none of them, or is the person.

    `patient` ones wait for a server that does not answer.
    """
    llms = user_llms(settings, patient=patient)
    for name in names:
        llms.routed(name)
        if name == "person":
            raise UsageError('The LLM "person" needs a window; choose another with --llm.')
    return llms


def embedding_of(settings: Settings) -> Embedding:
    return open_llms(settings).embedding(settings.embedding)


def resources_of(settings: Settings) -> AgentResources:
    """Return the files of the user's agents, with the same exemplars, index and embedding as a run's."""
    return agent_resources_of(
        config_folder(),
        data=settings.database.parent,
        exemplars=exemplars_folder(),
        embedding=lambda: embedding_of(settings),
    )


@asynccontextmanager
async def services_in(
    host: BrowserHost, settings: Settings, llms: LLMs, environments: Environments
) -> AsyncIterator[Services]:
    """Open what runs work with, in this browser, and close it in the end."""
    services = await open_services(
        settings, host, llms=llms, environments=environments, config=config_folder()
    )
    try:
        yield services
    finally:
        await services.close()
