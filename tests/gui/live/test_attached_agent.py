"""An agent that somebody else wrote is stepped in the window, unmodified."""

import os
import signal
import subprocess
import sys

import pytest

from core.attach.addresses import SDK
from core.debugger.attach.views import AttachRequest
from core.debugger.breakpoints.kinds.problems import LLMCall
from core.debugger.breakpoints.service import BreakpointsService
from core.schema.changes import Changes
from core.schema.step import Acted, Decided, record_of
from core.trace.records import StepRow
from tests.core.stage import on, page_file
from tests.gui.live.attached import AGENT, LLM, AttachedWindow, desk
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

BUTTONS = "".join(
    f"<button onclick=\"document.title = this.textContent; this.after(' {name} was pressed')\">{name}</button>"
    for name in ("One", "Two", "Three")
)


def steps_of(desk: AttachedWindow) -> tuple[StepRow, ...]:
    store = desk.stored()
    steps = store.steps(store.runs()[0].run)
    store.close()
    return steps


def last_words(desk: AttachedWindow) -> str:
    """Return what is said at the last step of the newest run, with which its program has ended."""
    *_, last = steps_of(desk)
    store = desk.stored()
    decided = record_of(Decided, store.step(last.run, last.number).records)
    store.close()
    assert decided is not None
    return decided.proposal.remark


def test_it_is_stepped_from_its_question_to_its_click_to_success(
    desk: AttachedWindow, llm_server: LLMServer
) -> None:
    llm_server.say("ONE")
    desk.attach(task="miniwob/click-test-2")
    assert desk.window.view.phase == "decide"
    assert llm_server.requests == []
    bar = desk.window.tool_bar
    assert (desk.window.view.attached, bar.preset.value, bar.mechanisms.value) == (True, "none", "none")
    desk.step_to_review()
    step = desk.window.step_in_view
    assert str(step.action.action).startswith("click [")
    for message, call in (
        (step.state.message, "state"),
        (step.stack.message, "policy"),
        (step.plan.message, "plan"),
        (step.exemplars.message, "exemplars"),
    ):
        assert f"backstep_sdk.{call}(…)" in message
        assert "Your own agent" in message
    desk.trigger("step")
    desk.wait_for("ended")
    assert desk.window.view.success is True
    (stored,) = steps_of(desk)
    assert (stored.sealed, stored.origin, stored.outcome, stored.thought) == (True, "agent", "done", "ONE")
    assert stored.target == 'button "ONE"'
    desk.wait_until(lambda: not desk.view.running)
    assert any("attached to http" in line for line in desk.view.output)


def test_each_act_is_a_step_that_it_is_brought_back_to_and_goes_on_live_or_another_agent_does(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("One, Two")
    llm_server.say("done")
    desk.attach(url=page_file(tmp_path, BUTTONS), instruction="Press.")
    run = desk.ran()
    one, two, end = steps_of(desk)
    assert [step.target for step in (one, two)] == ['button "One"', 'button "Two"']
    store = desk.stored()
    records = [store.step(step.run, step.number).records for step in (one, two, end)]
    calls = [(call.step, call.purpose) for call in store.calls.of(run)]
    store.close()
    first, second, last = (record_of(Decided, one) for one in records)
    assert (first.calls, second.calls, last.calls) == ((1,), (), (2,))
    assert second.from_queue
    assert "has ended" in last.proposal.remark
    acted = record_of(Acted, records[1])
    assert acted is not None
    assert acted.outcome == "done"
    assert calls == [(1, "agent"), (3, "agent")]

    asked = len(llm_server.requests)
    desk.session.branches.go_back(run, 2)
    branch = desk.branched(run)
    assert "Back at step 2 by the agent's program, answered from the record" in desk.window.view.message
    assert len(llm_server.requests) == asked
    desk.step_to_review()
    desk.edit_to("Three")
    llm_server.say("done")
    assert desk.ran() == branch
    said = llm_server.requests[-1].texts[-1]
    assert [f"{name} was pressed" in said for name in ("One", "Two", "Three")] == [True, False, True]
    store = desk.stored()
    row = store.run(branch)
    restored = store.pages.restored(branch)
    store.close()
    assert (row.parent_run, row.parent_step) == (run, 2)
    assert restored is not None
    assert restored.verified

    async def fork() -> None:
        await desk.session.branches.fork(run, 2, Changes(preset="plain"))

    desk.session.queue(fork())
    desk.branched(run, branch)
    assert "A built-in agent (plain) continues from here." in desk.window.view.message
    llm_server.otherwise = on('button "Three"')
    desk.step_to_review()
    assert desk.window.step_in_view.action.action.startswith("click")
    seen = "\n".join(llm_server.requests[-1].texts)
    assert "One was pressed" in seen
    assert "Two was pressed" not in seen


def test_its_act_is_replaced_the_reply_that_it_gets_is_edited_and_what_it_does_then_is_refused(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    for _ in range(2):
        llm_server.say("One")
    desk.attach(url=page_file(tmp_path, BUTTONS), instruction="Press.")
    desk.step_to_review()
    desk.edit_to("Three")
    BreakpointsService(desk.session).add(LLMCall(when="after"))
    desk.trigger("run")
    desk.wait_until(lambda: desk.window.view.held_reply == 2)
    said = llm_server.requests[1].texts[-1]
    assert [f"{name} was pressed" in said for name in ("One", "Three")] == [False, True]
    desk.session.edits.apply_text("prompt", "Two")
    desk.wait_until(lambda: bool(desk.window.view.held_edits))
    desk.trigger("step")
    step = desk.at_review_of(2)
    (row,) = [one for one in step.permissible.rows if one.text == step.action.action]
    assert "Two" in row.label
    desk.trigger("skip")
    desk.wait_until(lambda: (desk.window.view.step, desk.window.view.phase) == (3, "observe"))
    desk.wait_for("waiting")
    desk.ran()
    assert [one.outcome for one in steps_of(desk)[:2]] == ["done", "skipped"]
    assert any("refused it" in line for line in desk.view.output)
    assert desk.area.current_view().title() == "Three"


def test_it_is_said_how_its_program_has_ended_and_that_there_is_none(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    url = page_file(tmp_path, BUTTONS)
    llm_server.say("One")
    desk.attach(f"import os; print(os.getpid(), flush=True)\n{AGENT}", url=url)
    desk.step_to_review()
    desk.wait_until(lambda: bool(desk.view.output))
    os.kill(int(desk.view.output[0]), signal.SIGKILL)
    desk.wait_until(lambda: not desk.view.running)
    desk.ran()
    first, _ = steps_of(desk)
    assert first.outcome == "failed"
    assert "cancelled it" in first.message
    assert "was ended by signal 9" in last_words(desk)
    desk.attach("import sys; sys.exit('no more')", url=url, instruction="Press.")
    desk.ran()
    assert len(steps_of(desk)) == 1
    assert last_words(desk) == "The agent's program has ended with exit code 1. Its last output: no more"
    desk.service.attach(AttachRequest(command=("no-such-agent",)))
    desk.wait_until(lambda: "There is no program no-such-agent" in desk.view.problem)


SCROLLS_AND_TYPES = """
import os
from llm import ask
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"]).contexts[0].pages[0]
    for _ in range(2):
        ask("Where?")
        page.mouse.wheel(0, 100)
    ask("What?")
    page.get_by_label("City").focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Backspace")
    page.keyboard.type("Rome", delay=20)
"""


def test_the_same_act_after_another_question_is_an_act_of_its_own_and_what_is_typed_by_keys_is_one(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    for reply in ("Down", "Down", "Rome"):
        llm_server.say(reply)
    page = page_file(tmp_path, "<label>City <input value=Paris></label>")
    desk.attach(SCROLLS_AND_TYPES, url=page, instruction="Type.")
    desk.ran()
    *scrolled, typed, end = steps_of(desk)
    assert [step.action for step in (*scrolled, end)] == ["scroll [down]", "scroll [down]", "stop []"]
    assert typed.action.startswith("type [")
    assert typed.action.endswith("[Rome]")
    assert (typed.target, typed.outcome) == ('textbox "City"', "done")


ASKS_IN_VAIN_FIRST = """
import os, socket
import backstep_sdk
from llm import ask
from playwright.sync_api import sync_playwright

socket.setdefaulttimeout(1)
try:
    ask("What?")
except OSError:
    pass
socket.setdefaulttimeout(None)
with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"]).contexts[0].pages[0]
    page.get_by_role("button", name=ask("What?"), exact=True).click()
    backstep_sdk.outcome(1.0, True)
    input()
"""


def test_of_one_that_was_started_elsewhere_it_is_told_how_long_it_is_held_and_its_run_ends_with_the_episode(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("One")
    desk.service.attach(AttachRequest(url=page_file(tmp_path, BUTTONS), instruction="Press."))
    desk.wait_until(lambda: desk.view.addresses is not None)
    addresses = desk.view.addresses
    assert addresses is not None
    (tmp_path / "llm.py").write_text(LLM, encoding="utf-8")
    told = {
        "OPENAI_BASE_URL": addresses.llm,
        "OPENAI_API_KEY": addresses.key,
        "BACKSTEP_CDP_URL": addresses.browser,
        "BACKSTEP_SDK_URL": addresses.sdk,
        "NO_PROXY": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join((str(SDK), str(tmp_path))),
    }
    command = (sys.executable, "-c", ASKS_IN_VAIN_FIRST)
    with subprocess.Popen(command, env={**os.environ, **told}, stdin=subprocess.PIPE) as agent:
        desk.wait_until(lambda: desk.view.hold is not None)
        hold = desk.view.hold
        assert hold is not None
        assert (hold.what, hold.gave_up) == ("call", 0)
        desk.wait_until(lambda: desk.view.hold is not None and desk.view.hold.gave_up > 0)
        # It began to count a moment before its call came.
        assert desk.view.hold.gave_up > 0.5
        desk.wait_for("waiting")
        desk.ran()
        assert agent.poll() is None
        agent.kill()
    desk.wait_until(lambda: desk.view.hold is None)
    assert (desk.window.view.success, desk.window.view.reward) == (True, 1.0)
