"""Clicks of an attached agent with keys held, with other buttons, and several times: recorded and exported."""

import pytest

from core.trace.exports.playwright_script import export_playwright
from tests.core.browser.site import Site
from tests.core.trace.exports.test_playwright_script import replay
from tests.gui.live.attached import AttachedWindow, desk
from tests.gui.live.test_attached_agent import steps_of
from tests.gui.live.test_attached_scripts import END, START
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

PAGE = """<button onmousedown="t.value += [event.button, event.detail, event.ctrlKey] + ' '">Go</button>
<textarea id=t></textarea><a id=a href={}>Two</a>"""
CLICKS = """
button = page.get_by_role("button")
button.click(modifiers=["Control"])
button.click(button="middle")
button.dblclick(button="right")
button.click(button="middle", modifiers=["Control", "Shift"])
button.dblclick()
print("counted", page.locator("textarea").input_value(), flush=True)
for how in ({"modifiers": ["Control"]}, {"button": "middle"}):
    with page.context.expect_page() as opened:
        page.click("#a", **how)
    opened.value.close()
"""


def test_keys_buttons_and_counts_of_clicks_are_recorded_exported_and_open_tabs_again(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path, site: Site
) -> None:
    for _ in range(2):
        llm_server.say("go on")
    url = site.page(PAGE.format(site.page("<p>two")))
    desk.attach(START + CLICKS + END, url=url, instruction="Press.")
    desk.ran()
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
    assert [one.split("[")[0].strip() for one in words[5:]] == [
        "click",
        "close_tab",
        "agent_act",
        "close_tab",
        "stop",
    ]
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
    process = replay(script, tmp_path, url)
    assert process.returncode == 0, process.stderr
