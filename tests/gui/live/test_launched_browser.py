"""An agent that launches a browser of its own gets the window's, and is stepped there."""

from pathlib import Path

import pytest

from tests.core.stage import page_file
from tests.gui.live.attached import AGENT, AttachedWindow, desk
from tests.gui.live.test_attached_agent import BUTTONS, steps_of
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

CONNECTS = """    browser = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"])
    page = browser.contexts[0].pages[0]
"""
LAUNCHES = """    browser = playwright.chromium.launch()
    page = browser.new_context(viewport={"width": 900, "height": 600}).new_page()
"""
LAUNCHED = AGENT.replace(CONNECTS, LAUNCHES)


ENDS = LAUNCHED.split("    print(", maxsplit=1)[0]
"""Begins as that agent does, and goes on with what a test adds."""


def ran(desk: AttachedWindow, folder: Path, script: str) -> tuple[str, ...]:
    """Let an agent do what the script says in a page with buttons, and return what it has written."""
    desk.attach(ENDS + script, url=page_file(folder, BUTTONS), instruction="Press.")
    desk.ran()
    desk.wait_until(lambda: not desk.view.running)
    return desk.view.output


def test_it_is_stepped_in_the_page_of_the_task_and_brought_back_to_a_step(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path: Path
) -> None:
    llm_server.say("One, Two")
    llm_server.say("done")
    desk.attach(LAUNCHED, url=page_file(tmp_path, BUTTONS), instruction="Press.")
    assert desk.window.view.phase == "decide"
    desk.step_to_review()
    assert str(desk.window.step_in_view.action.action).startswith("click [")
    run = desk.ran()
    assert [step.target for step in steps_of(desk)] == ['button "One"', 'button "Two"', ""]
    desk.session.branches.go_back(run, 2)
    branch = desk.branched(run)
    assert "Back at step 2 by the agent's program, answered from the record" in desk.window.view.message
    store = desk.stored()
    restored = store.pages.restored(branch)
    store.close()
    assert restored is not None
    assert restored.verified


CONTEXTS = """
    print(page.url.rsplit("/", 1)[1], len(page.context.pages), flush=True)
    page.context.add_cookies([{"name": "a", "value": "b", "url": "http://example.org/"}])
    page.context.close()
    context = browser.new_context()
    page = context.new_page()
    print(page.url, context.cookies(), len(context.pages), flush=True)
    page.goto(os.environ["BACKSTEP_START_URL"])
    with page.expect_popup() as popup:
        page.evaluate("window.open('about:blank')")
    print(popup.value in context.pages, len(page.screenshot()) > 1000, flush=True)
    context.close()
    print(page.is_closed(), popup.value.is_closed(), flush=True)
"""
"""Contexts one after another, each of which begins clean."""
TWO_BROWSERS = """
    page = browser.new_context().new_page()
    page.goto(os.environ["BACKSTEP_START_URL"])
    another = playwright.chromium.launch()
    beside = another.new_page()
    beside.set_content("<button>Beside</button>")
    print(len(page.context.pages), page.url == os.environ["BACKSTEP_START_URL"], flush=True)
    page.get_by_role("button", name="One").click()
    print(page.title(), beside.inner_text("button"), flush=True)
"""
"""Two browsers at once, with tabs of their own."""
CLOSES = """
    second = page.context.new_page()
    browser.close()
    print(browser.is_connected(), flush=True)
    print(len(playwright.chromium.launch().contexts), flush=True)
    try:
        playwright.chromium.launch(executable_path="/bin/false")
    except Exception:
        print("its own", flush=True)
"""
"""The first of them is closed, one more is launched, and a program of the agent's own."""
LAUNCHES_MANY = CONTEXTS + TWO_BROWSERS + CLOSES
SAID = (
    *("page.html 1", "about:blank [] 1", "True True", "True True"),
    *("1 True", "One Beside"),
    *("False", "0", "its own"),
)


def test_contexts_begin_clean_browsers_have_tabs_of_their_own_and_leave_the_windows(
    desk: AttachedWindow, tmp_path: Path
) -> None:
    assert ran(desk, tmp_path, LAUNCHES_MANY) == SAID
    desk.wait_until(lambda: len(desk.area.tabs()) == 1)
    view = desk.area.view_of(desk.area.current_tab())
    assert view is not None
    assert view.url().toString() == page_file(tmp_path, BUTTONS)


AT_A_PORT = """
import os, subprocess
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    program = playwright.chromium.executable_path
    process = subprocess.Popen([program, "--remote-debugging-port=0"], stderr=subprocess.PIPE, text=True)
    process.stderr.readline()
    port = process.stderr.readline().rpartition(":")[2].partition("/")[0]
    browser = playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
    context = browser.contexts[0]
    print(browser.version.split(".")[0].isdecimal(), len(context.pages), flush=True)
    first = context.new_page()
    first.goto(os.environ["BACKSTEP_START_URL"])
    second = context.new_page()
    print(len(context.pages), first is context.pages[0], flush=True)
    second.close()
    first.close()
    print(len(context.pages), flush=True)
    browser.new_browser_cdp_session().send("Browser.close")
    print(process.wait(60), flush=True)
    process.stderr.close()
"""


def test_at_a_port_it_begins_with_the_page_of_the_task(desk: AttachedWindow, tmp_path: Path) -> None:
    desk.attach(AT_A_PORT, url=page_file(tmp_path, BUTTONS), instruction="Press.")
    desk.ran()
    desk.wait_until(lambda: not desk.view.running)
    assert desk.view.output == ("True 1", "2 True", "0", "0")
    desk.wait_until(lambda: len(desk.area.tabs()) == 1)
