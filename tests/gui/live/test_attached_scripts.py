"""What is recorded of scripts that an attached agent runs in the page."""

import pytest
from werkzeug import Request, Response

from core.attach.replay import HARMLESS
from core.schema.step import Acted, record_of
from tests.core.browser.site import Site
from tests.core.stage import page_file
from tests.gui.live.attached import AttachedWindow, desk
from tests.gui.live.test_attached_agent import BUTTONS, steps_of
from tests.llm_server import LLMServer, Reply

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


SCRIPTS = f"""
page.evaluate("() => {CLICK}")
ask("more")
page.evaluate("{MATCHES}")
ask("more")
page.evaluate("{MATCHES}")
ask("more")
ask("more")
page.evaluate("() => {CLICK} //" + "x" * 30_000)
ask("more")
page.evaluate("() => {{ setTimeout(() => document.querySelectorAll('button')[1].click(), 2000) }}")
ask("more")
page.wait_for_function("() => document.title === 'Two'")
ask("more")
f = "(e) => {{ window.n = (window.n || 0) + 1; e[n > 1 ? `cli${{'ck'}}` : `toString`]() }}"
page.locator("button").first.evaluate(f)
ask("more")
page.locator("button").first.evaluate(f)
"""
"""A click; one that only reads, twice; then three that are not held: a library, a timer, and one that only read."""


def test_a_script_is_a_step_unless_it_only_reads_and_one_that_is_not_held_is_told_by_its_effect(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.otherwise = Reply("go on")
    desk.attach(START + SCRIPTS + END, url=page_file(tmp_path, BUTTONS), instruction="Press.")
    desk.ran()
    assert desk.view.output == ()  # It has not failed.
    *steps, _ = steps_of(desk)  # The program ends with the last.
    clicks, reads, reads_again, nothing, *others = steps
    assert clicks.action == f"agent_act [script () => {CLICK}]"
    assert "Nothing" not in clicks.message
    assert reads.action.startswith("agent_act [script")
    assert HARMLESS in reads.message
    assert reads_again.action == nothing.action == "agent_act [nothing in the page]"
    assert MATCHES in reads_again.message
    assert nothing.message == "The agent continued without doing anything in the page."
    library, _, timer, _, no_longer_reads = [step.action for step in others]
    assert {library, timer, no_longer_reads} == {"agent_act [a script ran, and the page changed]"}


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
