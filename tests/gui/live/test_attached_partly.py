"""An agent whose LLM calls, or whose browser, are not the window's: it is said in the window while it runs."""

import pytest

from core.schema.events import LogLine
from tests.core.stage import need_chromium, page_file
from tests.gui.live.attached import AttachedWindow, desk
from tests.gui.live.test_attached_agent import BUTTONS

__all__ = ["desk"]
pytestmark = pytest.mark.browser

PARTLY = """
import os
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    own = playwright.chromium.launch(executable_path={path!r}, args=["--no-sandbox"])
    page = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"]).contexts[0].pages[0]
    for name in ("One", "Two"):
        page.get_by_role("button", name=name, exact=True).click()
"""


@pytest.fixture
def logged(desk: AttachedWindow) -> list[str]:
    """What the log says of the agent."""
    lines: list[str] = []

    def keep(entry: LogLine) -> None:
        if entry.source == "agent":
            lines.append(entry.text)

    desk.session.logged.connect(keep)
    return lines


def told(desk: AttachedWindow, logged: list[str], words: str) -> None:
    """Wait until it is said, and once in the log."""
    desk.wait_until(lambda: any(words in one for one in desk.view.notices))
    desk.wait_until(lambda: sum(words in line for line in logged) == 1)


def test_one_that_starts_its_own_browser_and_asks_another_llm_is_told_both(
    desk: AttachedWindow, logged: list[str], tmp_path
) -> None:
    desk.attach(PARTLY.format(path=need_chromium()), url=page_file(tmp_path, BUTTONS), instruction="Press.")
    told(desk, logged, "The agent has started a browser of its own (")
    desk.trigger("run")
    told(desk, logged, "set its base URL to OPENAI_BASE_URL (http://127.0.0.1:")
    desk.wait_for("ended")
    desk.wait_until(lambda: not desk.view.running)
    assert len(desk.view.notices) == 2
