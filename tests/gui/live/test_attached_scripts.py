"""What is recorded of scripts that an attached agent runs in the page."""

import pytest
from werkzeug import Request, Response

from core.attach.replay import HARMLESS
from core.schema.step import Acted, record_of
from tests.core.browser.site import Site
from tests.core.stage import page_file
from tests.gui.live.attached import AttachedWindow, desk
from tests.gui.live.test_attached_agent import BUTTONS, steps_of
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

START = """
import os
from llm import ask
from playwright.sync_api import sync_playwright

playwright = sync_playwright().start()
page = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"]).contexts[0].pages[0]
page.set_default_timeout(20_000)
ask("begin")
"""
END = "\nask('end')\nplaywright.stop()\n"
CLICK = "document.querySelector('button').click()"
MATCHES = "() => document.querySelector('button').matches('.wide')"
"""Reads, and is stopped when it is tried."""


def recorded(desk: AttachedWindow, llm_server: LLMServer, tmp_path, program: str) -> list[tuple[str, str]]:
    """Return the action and the message of each step but the last, with which the agent's program ends."""
    for _ in range(1 + program.count("ask(") + 1):
        llm_server.say("go on")
    desk.attach(START + program + END, url=page_file(tmp_path, BUTTONS), instruction="Press.")
    desk.trigger("run")
    desk.wait_for("ended")
    assert "has ended." in desk.view.output[-1] if desk.view.output else True
    return [(step.action, step.message) for step in steps_of(desk)][:-1]


def test_a_click_by_a_script_is_a_step_and_never_nothing_in_the_page(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    (step,) = recorded(desk, llm_server, tmp_path, f'page.evaluate("() => {CLICK}")')
    assert step[0] == f"agent_act [script () => {CLICK}]"
    assert "Nothing" not in step[1]


def test_a_script_that_only_reads_is_a_step_once_and_is_let_through_afterwards(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    read = f'page.evaluate("{MATCHES}")'
    first, second, third = recorded(desk, llm_server, tmp_path, f"{read}\nask('more')\n{read}\nask('more')\n")
    assert first[0].startswith("agent_act [script")
    assert HARMLESS in first[1]
    assert second[0] == third[0] == "agent_act [nothing in the page]"
    assert MATCHES in second[1]
    assert third[1] == "The agent continued without doing anything in the page."


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(f'page.evaluate("() => {CLICK} //" + "x" * 30_000)', id="a library"),
        pytest.param(
            f'page.evaluate("() => {{ setTimeout(() => {CLICK}, 2000) }}")\nask("more")\n'
            "page.wait_for_function(\"() => document.title === 'One'\")",
            id="a timer",
        ),
        pytest.param(
            "f = \"(e) => { window.n = (window.n || 0) + 1; e[n > 1 ? `cli${'ck'}` : `toString`]() }\"\n"
            "page.locator('button').first.evaluate(f)\nask('more')\npage.locator('button').first.evaluate(f)",
            id="a script that only read before",
        ),
    ],
)
def test_a_script_that_is_not_held_and_changes_the_page_is_told_by_its_effect(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path, program: str
) -> None:
    steps = recorded(desk, llm_server, tmp_path, program)
    assert steps[-1][0] == "agent_act [a script ran, and the page changed]"


def test_a_request_beside_the_page_is_a_step_that_can_be_refused(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path, site: Site
) -> None:
    asked: list[str] = []

    def order(request: Request) -> Response:
        asked.append(f"{request.method} {request.get_data(as_text=True)}")
        return Response("taken")

    url = site.serve(order)
    for _ in range(3):
        llm_server.say("go on")
    program = f"""
try:
    print(page.context.request.post({url!r}, data="tea").text(), flush=True)
except Exception as error:
    print("failed", str(error).splitlines()[0], flush=True)
ask("more")
print(page.context.request.post({url!r}, data="milk").text(), flush=True)
"""
    desk.attach(START + program + END, url=page_file(tmp_path, BUTTONS), instruction="Order.")
    desk.step_to_review()
    assert desk.window.step_in_view.action.action == f"agent_act [request POST {url}]"
    assert asked == []
    desk.trigger("skip")
    desk.wait_until(lambda: (desk.window.view.step, desk.window.view.phase) == (2, "observe"))
    desk.wait_for("waiting")
    desk.trigger("run")
    desk.wait_for("ended")
    assert any(line.startswith("failed") and "refused it" in line for line in desk.view.output)
    assert asked == ["POST milk"]
    steps = steps_of(desk)
    second = next(one for one in steps[1:] if "request POST" in one.action)
    store = desk.stored()
    acted = record_of(Acted, store.step(second.run, second.number).records)
    store.close()
    assert acted is not None
    assert [str(one) for one in acted.sent] == [f"POST {url}"]
