"""The doctor command: one line per check."""

from collections.abc import Callable, Iterator
from typing import Any

from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.cli.output import put
from core.doctor import CheckNote, examine, fail, ok, standard_checks
from core.settings.settings import Settings
from core.system.program import ROOT

_MARKS = {"ok": "ok  ", "warn": "note", "fail": "FAIL"}


def check_all(load: Callable[[], Settings], with_embedded: Callable[..., Any]) -> int:
    """Make all checks, print each as it is made, and return 0, or 3 when one has failed."""
    levels = []
    for name, note in _notes(load, with_embedded):
        put(f"{_MARKS[note.level]} {name}: {note.text}")
        levels.append(note.level)
    return 3 if "fail" in levels else 0


def _notes(
    load: Callable[[], Settings], with_embedded: Callable[..., Any]
) -> Iterator[tuple[str, CheckNote]]:
    yield from examine(standard_checks(ROOT, load))
    yield "embedded browser", _embedded_browser(load, with_embedded)


def _embedded_browser(load: Callable[[], Settings], with_embedded: Callable[..., Any]) -> CheckNote:
    """Start the embedded browser for real and load a page in it; Qt wants this thread for itself."""

    async def work(host: BrowserHost) -> CheckNote:
        tabs = Tabs(host)
        try:
            await tabs.browser.start()
            await tabs.open_profile()
            await tabs.goto("data:text/html,<title>ready</title><p>ready</p>")
            title = await tabs.current.evaluate("document.title")
        finally:
            await tabs.browser.close()
        return (
            ok("starts and loads a page.") if title == "ready" else fail("started, but a page did not load.")
        )

    try:
        note: CheckNote = with_embedded(work, load())
    except Exception as error:
        return fail(f"does not start: {error}")
    return note
