"""Which browser a command works in: the embedded one, or an installed Chromium."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias, TypeVar

from core.browser.chromium import ChromiumHost
from core.browser.host import BrowserHost
from core.settings.settings import Settings, data_folder

T = TypeVar("T")
Work: TypeAlias = Callable[[BrowserHost], Awaitable[T]]
WithEmbedded: TypeAlias = Callable[[Work[T], Settings], T]
"""Gives the embedded browser to a piece of work and returns what it returns."""
WithLoop: TypeAlias = Callable[[Awaitable[T]], T]
"""Runs a piece of work in a loop of its own; an interruption cancels it."""


def in_browser(
    work: Work[T], settings: Settings, *, with_embedded: WithEmbedded[T], with_loop: WithLoop[T]
) -> T:
    """Do the work in the browser that the settings name, and return what it returns."""
    if settings.browser == "embedded":
        return with_embedded(work, settings)
    host = ChromiumHost(
        str(Path(settings.browser).expanduser()),
        dialogs=settings.dialogs,
        profiles=str(data_folder() / "chromium-profiles"),
    )
    return with_loop(work(host))
