"""An agent whose LLM calls, or whose browser, are not the window's: it is said in the window while it runs."""

import pytest

from core.schema.events import LogLine
from tests.core.stage import need_chromium, page_file
from tests.gui.live.attached import AGENT, AttachedWindow, desk
from tests.gui.live.test_attached_agent import BUTTONS
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

WITHOUT_LLM = AGENT.replace("reply = ask(prompt)", 'reply = "One, Two"').replace(
    "while True", "for _ in (1, 2)"
)
OWN_BROWSER = """
from llm import ask
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path={path!r}, args=["--no-sandbox"])
    browser.new_page().set_content("<p>its own")
    while ask("What next?") != "done":
        pass
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


def test_one_that_asks_another_llm_is_told_so_at_its_second_act(
    desk: AttachedWindow, logged: list[str], tmp_path
) -> None:
    desk.attach(WITHOUT_LLM, url=page_file(tmp_path, BUTTONS), instruction="Press.")
    desk.trigger("run")
    told(desk, logged, "set its base URL to OPENAI_BASE_URL (http://127.0.0.1:")
    desk.wait_for("ended")
    desk.wait_until(lambda: not desk.view.running)
    assert len(desk.view.notices) == 1


def test_one_that_starts_its_own_browser_is_told_so_while_that_runs(
    desk: AttachedWindow, logged: list[str], llm_server: LLMServer, tmp_path
) -> None:
    for reply in ("a", "b", "c", "d"):
        llm_server.say(reply)
    desk.attach(OWN_BROWSER.format(path=need_chromium()), url=page_file(tmp_path, BUTTONS))
    told(desk, logged, "The agent has started a browser of its own (")
    llm_server.say("done")
    desk.trigger("run")
    desk.wait_for("ended")
    desk.wait_until(lambda: not desk.view.running)
    assert len(desk.view.notices) == 1
