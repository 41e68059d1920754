"""The interface of a browser host: it opens the browser and its tabs, and does what only the embedder can do.

All other code controls pages through the Playwright browser that a host connects, and does not know which
host it is.
"""

import os
import random
import re
import signal
import socket
from pathlib import Path
from typing import Any, Literal, Protocol

from core.browser.floods import BrowserEvents
from core.schema.errors import BrowserError, UsageError
from core.schema.events import TabId

MOST_TABS = 30
"""New tabs that pages get in a while; they can ask for any number."""


def end_process(process: int) -> bool:
    """Kill a process; returns False if it has ended already, or is not ours to end."""
    try:
        os.kill(process, signal.SIGKILL)
    except OSError:
        return False
    return True


def runs_as_root() -> bool:
    """Return whether this program runs as root, where Chromium cannot keep pages in its sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def free_port() -> int:
    """Return a free port of 127.0.0.1 that stays free until a browser takes it; raises BrowserError.

    The system gives out ports from 32768 (Linux) or 49152 upwards by itself:
    one from below is taken only by who asks for just that one.
    """
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise BrowserError("There is no free port for the browser's protocol; close other programs.")


Engine = Literal["QtWebEngine", "Chromium"]


class BrowserHost(Protocol):
    """A browser with tabs, reached over CDP."""

    name: str
    """``embedded`` or the path of the executable."""
    engine: Engine
    """Whose protocol it speaks: `core.attach.emulated` has what each cannot do."""
    events: BrowserEvents
    """What happens in the pages besides what was asked."""
    viewport: tuple[int, int]
    """Width and height of the viewport of profiles that are opened from now on, in CSS pixels."""

    async def connect(self, playwright: Any) -> Any:
        """Return Playwright's `Browser`, given the `Playwright` object; raises BrowserError."""
        ...

    async def protocol_address(self) -> str:
        """Return where others can drive the browser now, as ``http://127.0.0.1:PORT``.

        Raises UsageError if none can, and BrowserError where the browser does not run.
        """
        ...

    async def open_profile(self, name: str | None) -> TabId:
        """Close all tabs and open one empty tab in a clean profile, or in the named one that keeps logins.

        Raises UsageError for a name that cannot be used, and for a profile that was not allowed where others on the
        machine could use its logins.
        """
        ...

    def profiles(self) -> tuple[str, ...]:
        """Return the names of the profiles that keep logins, sorted."""
        ...

    def allow_profile(self, name: str) -> None:
        """Open this profile from now on, even if others on the machine could use its logins meanwhile."""
        ...

    async def open_tab(self) -> TabId:
        """Open an empty tab in the current profile and make it current."""
        ...

    async def activate_tab(self, tab: TabId) -> None:
        """Make the tab current: only the current tab can be clicked and painted."""
        ...

    async def close_tab(self, tab: TabId) -> None:
        """Close the tab; the neighbour becomes current."""
        ...

    async def tabs(self) -> tuple[TabId, ...]:
        """Return the open tabs in the order the person sees them."""
        ...

    async def current_tab(self) -> TabId:
        """Return the current tab."""
        ...

    async def replace_tab(self, tab: TabId) -> TabId:
        """Put an empty tab in the place of one that is dead or does not answer, and make it current."""
        ...

    async def end_renderer(self, tab: TabId) -> bool:
        """Kill the process that runs the tab's page, without asking the page; False if the host does not know it."""
        ...

    async def awake(self) -> None:
        """Return as soon as whoever serves the browser on our side could serve it."""
        ...

    async def end_questions(self) -> None:
        """Answer by rule what pages are asking the person, who no longer has the page."""
        ...

    async def kill(self) -> None:
        """End the browser without asking it; one that is the window's stays."""
        ...

    async def close(self) -> None:
        """End the browser, or release it where it is the window's."""
        ...


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def name_problem(name: str) -> str:
    """Return why this cannot name a profile, in a sentence, or nothing."""
    if _NAME.fullmatch(name):
        return ""
    return f'"{name}" is not a valid profile name: use letters, digits, dots, dashes and underscores.'


def profile_names(profiles: str) -> tuple[str, ...]:
    """Return the names of the profiles kept in a folder, sorted; none if it cannot be read."""
    try:
        found = [entry.name for entry in Path(profiles).iterdir() if entry.is_dir()] if profiles else []
    except OSError:
        return ()
    return tuple(sorted(name for name in found if not name_problem(name)))


def profile_folder(profiles: str, name: str) -> Path:
    """Return the folder of a named profile, made where it is missing; raises UsageError for an unusable name."""
    if problem := name_problem(name):
        raise UsageError(problem)
    if not profiles:
        raise UsageError(f"There is no folder for the profile {name}; use a clean profile.")
    folder = Path(profiles) / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The profile {name} cannot be stored in {folder}: {error.strerror}.") from error
    return folder
