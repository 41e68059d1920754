"""The doctor command: one line per check."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.cli.output import put
from core.doctor import Check, CheckNote, Finding, examine, exit_code, fail, ok, standard_checks
from core.settings.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
_MARKS = {"ok": "ok  ", "warn": "note", "fail": "FAIL"}


def check_all(load: Callable[[], Settings], with_embedded: Callable[..., Any]) -> int:
    """Make all checks, print each as it is made, and return 0, or 3 when one has failed."""
    checks: dict[str, Check] = standard_checks(ROOT, load)

    async def make() -> list[Finding]:
        found = []
        async for finding in examine(checks):
            _print(finding)
            found.append(finding)
        return found

    findings = asyncio.run(make())
    browser = _embedded_browser(load, with_embedded)
    _print(browser)
    return exit_code([*findings, browser])


def _embedded_browser(load: Callable[[], Settings], with_embedded: Callable[..., Any]) -> Finding:
    """Start the embedded browser for real and load a page in it; Qt wants this thread for itself."""

    async def work(host: BrowserHost) -> CheckNote:
        tabs = Tabs(host)
        try:
            await tabs.start()
            await tabs.open_profile()
            await tabs.goto("data:text/html,<title>ready</title><p>ready</p>")
            title = await tabs.current.evaluate("document.title")
        finally:
            await tabs.close()
        return (
            ok("starts and loads a page.") if title == "ready" else fail("started, but a page did not load.")
        )

    try:
        note = with_embedded(work, load())
    except Exception as error:
        note = fail(f"does not start: {error}")
    return Finding(name="embedded browser", level=note.level, text=note.text)


def _print(finding: Finding) -> None:
    put(f"{_MARKS[finding.level]} {finding.name}: {finding.text}")
