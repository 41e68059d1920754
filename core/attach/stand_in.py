"""The stand-in for Chromium: an agent that launches a browser gets the window's browser.

PLAYWRIGHT_BROWSERS_PATH points to its folder. There, ``chromium.js`` creates the paths that the agent's
version of Playwright looks for. Other browsers are the agent's own.
"""

import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.attach.clock import HOOKS

_SCRIPT = HOOKS / "chromium.py"
_NODE_HOOK = HOOKS / "chromium.js"
_SEARCHED = "chromium-0/chrome-linux/chrome"
"""Where programs find it that search the folder instead of asking Playwright, as browser-use does."""


class StandIn:
    """The stand-in for one agent, in its own folder."""

    def __init__(self, folder: Path, address: str, given: Mapping[str, str]) -> None:
        """Make `folder`; `address` is the agent's browser address, `given` its environment. Raises OSError."""
        self._folder = folder
        self.program = folder / "backstep-chromium"
        """What is started in place of Chromium."""
        folder.mkdir()
        # Agents start browsers with an environment of their own; arguments can be read by all users of the machine.
        told = f"export BACKSTEP_CDP_URL={shlex.quote(address)}"
        started = shlex.join((sys.executable, "-I", str(_SCRIPT)))
        self.program.write_text(f'#!/bin/sh\n{told}\nexec {started} "$@"\n', encoding="utf-8")
        self.program.chmod(0o700)
        searched = folder / _SEARCHED
        searched.parent.mkdir(parents=True)
        searched.symlink_to(self.program)
        for browser in _others(given):
            (folder / browser.name).symlink_to(browser)

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that a program is started with besides `given`, so that it launches the stand-in."""
        node = (given.get("NODE_OPTIONS", ""), f'--require "{_NODE_HOOK}"')
        return {
            "PLAYWRIGHT_BROWSERS_PATH": str(self._folder),
            # Installing would remove what no installation of Playwright is known to use.
            "PLAYWRIGHT_SKIP_BROWSER_GC": "1",
            "PUPPETEER_EXECUTABLE_PATH": str(self.program),
            "NODE_OPTIONS": " ".join(filter(None, node)),
        }


def _others(given: Mapping[str, str]) -> Iterator[Path]:
    """Yield the folders of what Playwright has installed besides Chromium: other browsers, and what records videos."""
    cache = given.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    installed = Path(given.get("PLAYWRIGHT_BROWSERS_PATH") or Path(cache, "ms-playwright"))
    if not installed.is_dir():
        return
    for one in installed.resolve().iterdir():
        if one.is_dir() and not one.name.startswith(("chromium", ".")):
            yield one
