"""Clicks of an attached agent with keys held, with other buttons, and several times: recorded and exported."""

import pytest

from core.trace.exports.playwright_script import export_playwright
from tests.core.browser.site import Site
from tests.core.stage import page_file
from tests.core.trace.exports.test_playwright_script import replay
from tests.gui.live.attached import AttachedWindow, desk
from tests.gui.live.test_attached_agent import steps_of
from tests.gui.live.test_attached_scripts import END, START
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

PAGE = """<button onmousedown="t.value += [event.button, event.detail, event.ctrlKey] + ' '">Go</button>
<textarea id=t></textarea>"""
CLICKS = """
button = page.get_by_role("button")
button.click(modifiers=["Control"])
button.click(button="middle")
button.dblclick(button="right")
button.click(button="middle", modifiers=["Control", "Shift"])
button.dblclick()
print("counted", page.locator("textarea").input_value(), flush=True)
"""


def test_keys_buttons_and_counts_of_clicks_are_recorded_and_exported(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    for _ in range(2):
        llm_server.say("go on")
    desk.attach(START + CLICKS + END, url=page_file(tmp_path, PAGE), instruction="Press.")
    desk.trigger("run")
    desk.wait_for("ended")
    assert "counted 0,1,true 1,1,false 2,1,false 2,2,false 1,1,true 0,1,false 0,2,false " in desk.view.output
    steps = steps_of(desk)
    words = [step.action.split(" at ")[0].rstrip("]") for step in steps]
    assert words[0].startswith("click [")
    assert words[0].endswith("[keys=Control")
    assert words[1:4] == [
        "agent_act [middle click",
        "agent_act [right double click",
        "agent_act [Control+Shift+middle click",
    ]
    assert words[4].startswith("double_click [")
    assert {step.target for step in steps[:5]} == {'button "Go"'}
    store = desk.stored()
    script = export_playwright(store, steps[0].run)
    store.close()
    for given in (
        'click(modifiers=["Control"])',
        'click(button="middle")',
        'click(button="right", click_count=2)',
        'click(button="middle", modifiers=["Control", "Shift"])',
    ):
        assert given in script


LINKS = """
for how in ({"modifiers": ["Control"]}, {"button": "middle"}):
    with page.context.expect_page() as opened:
        page.click("#a", **how)
    opened.value.close()
"""


def test_a_script_of_clicks_that_open_tabs_runs_through(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path, site: Site
) -> None:
    url = site.page(f"<a id=a href={site.page('<p>two')}>Two</a>")
    for _ in range(2):
        llm_server.say("go on")
    desk.attach(START + LINKS + END, url=url, instruction="Open both.")
    desk.trigger("run")
    desk.wait_for("ended")
    steps = steps_of(desk)
    assert [step.action.split(" at ")[0].split("[")[0].strip() for step in steps] == [
        "click",
        "close_tab",
        "agent_act",
        "close_tab",
        "stop",
    ]
    store = desk.stored()
    script = export_playwright(store, steps[0].run)
    store.close()
    process = replay(script, tmp_path, url)
    assert process.returncode == 0, process.stderr
