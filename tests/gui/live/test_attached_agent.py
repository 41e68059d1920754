"""An agent that somebody else wrote is stepped in the window, unmodified."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.debugger.attach.views import AttachRequest
from core.debugger.breakpoints.kinds.problems import LLMCall
from core.debugger.breakpoints.service import BreakpointsService
from core.schema.changes import Changes
from core.schema.step import Acted, Decided, record_of
from core.trace.records import StepRow
from tests.core.stage import on, page_file
from tests.gui.live.attached import AGENT, AttachedWindow, desk
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

BUTTONS = "".join(
    f"<button onclick=\"document.title = this.textContent; this.after(' {name} was pressed')\">{name}</button>"
    for name in ("One", "Two", "Three")
)


def steps_of(desk: AttachedWindow) -> tuple[StepRow, ...]:
    store = desk.stored()
    try:
        return store.steps(store.runs()[0].run)
    finally:
        store.close()


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
    assert str(desk.window.step_in_view.action.action).startswith("click [")
    desk.trigger("step")
    desk.wait_for("ended")
    assert desk.window.view.success is True
    (step,) = steps_of(desk)
    assert (step.sealed, step.origin, step.outcome, step.thought) == (True, "agent", "done", "ONE")
    assert step.target == 'button "ONE"'
    desk.wait_until(lambda: not desk.view.running)
    assert any("attached to http" in line for line in desk.view.output)


def test_each_act_of_a_reply_is_a_step_and_the_run_ends_with_the_program(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("One, Two")
    llm_server.say("done")
    desk.attach(url=page_file(tmp_path, BUTTONS), instruction="Press.")
    desk.trigger("run")
    desk.wait_for("ended")
    one, two, end = steps_of(desk)
    assert [step.target for step in (one, two)] == ['button "One"', 'button "Two"']
    store = desk.stored()
    records = [store.step(step.run, step.number).records for step in (one, two, end)]
    calls = [(call.step, call.purpose) for call in store.calls.of(one.run)]
    store.close()
    first, second, last = (record_of(Decided, one) for one in records)
    assert (first.calls, second.calls, last.calls) == ((1,), (), (2,))
    assert second.from_queue
    assert "has ended" in last.proposal.remark
    acted = record_of(Acted, records[1])
    assert acted is not None
    assert acted.outcome == "done"
    assert calls == [(1, "agent"), (3, "agent")]


def test_another_action_than_the_agents_is_done_in_its_place(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("One")
    llm_server.say("done")
    desk.attach(url=page_file(tmp_path, BUTTONS), instruction="Press.")
    desk.step_to_review()
    rows = desk.window.step_in_view.permissible.rows
    other = next(row.text for row in rows if row.name == "click" and "Two" in row.label)
    desk.session.edits.edit_action(other)
    desk.wait_until(lambda: desk.window.step_in_view.action.action == other)
    desk.trigger("run")
    desk.wait_for("ended")
    said = llm_server.requests[1].texts[-1]
    assert "Two was pressed" in said
    assert "One was pressed" not in said


def test_what_it_does_is_refused_until_it_asks_again(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("One")
    desk.attach(url=page_file(tmp_path, BUTTONS), instruction="Press.")
    desk.step_to_review()
    desk.trigger("skip")
    desk.wait_until(lambda: (desk.window.view.step, desk.window.view.phase) == (2, "observe"))
    desk.wait_for("waiting")
    desk.trigger("run")
    desk.wait_for("ended")
    first = steps_of(desk)[0]
    assert first.outcome == "skipped"
    print(desk.view.output)
    assert any("refused it" in line for line in desk.view.output)


def test_a_program_that_fails_says_how_it_ended(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    desk.attach("import sys; sys.exit('no more')", url=page_file(tmp_path, BUTTONS), instruction="Press.")
    desk.trigger("run")
    desk.wait_for("ended")
    (step,) = steps_of(desk)
    store = desk.stored()
    decided = record_of(Decided, store.step(step.run, step.number).records)
    store.close()
    assert decided is not None
    assert (
        decided.proposal.remark == "The agent's program has ended with exit code 1. Its last output: no more"
    )


def test_an_agent_that_is_killed_while_it_is_held_ends_its_run(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("One")
    desk.attach(f"import os; print(os.getpid(), flush=True)\n{AGENT}", url=page_file(tmp_path, BUTTONS))
    desk.step_to_review()
    desk.wait_until(lambda: bool(desk.view.output))
    os.kill(int(desk.view.output[0]), signal.SIGKILL)
    desk.wait_until(lambda: not desk.view.running)
    desk.trigger("run")
    desk.wait_for("ended")
    first, last = steps_of(desk)
    assert first.outcome == "failed"
    assert "cancelled it" in first.message
    store = desk.stored()
    decided = record_of(Decided, store.step(last.run, last.number).records)
    store.close()
    assert decided is not None
    assert "was ended by signal 9" in decided.proposal.remark


def test_a_program_that_is_not_there_is_told(desk: AttachedWindow, tmp_path) -> None:
    desk.service.attach(AttachRequest(command=("no-such-agent",)))
    desk.wait_until(lambda: "There is no program no-such-agent" in desk.view.problem)


def done_with(desk: AttachedWindow, llm_server: LLMServer, folder: Path) -> int:
    """Have the agent press the first two buttons, and return the run that has ended with it."""
    llm_server.say("One, Two")
    llm_server.say("done")
    desk.attach(url=page_file(folder, BUTTONS), instruction="Press.")
    desk.trigger("run")
    desk.wait_for("ended")
    assert desk.window.view.run is not None
    return desk.window.view.run


async def forked(desk: AttachedWindow, run: int, step: int, changes: Changes) -> None:
    await desk.session.branches.fork(run, step, changes)


def test_it_is_brought_back_to_a_step_by_its_recorded_answers_and_goes_on_live(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    run = done_with(desk, llm_server, tmp_path)
    asked = len(llm_server.requests)
    desk.session.branches.go_back(run, 2)
    desk.wait_until(lambda: desk.window.view.run not in (None, run))
    desk.wait_for("waiting")
    assert "Back at step 2 by the agent's program, answered from the record" in desk.window.view.message
    assert len(llm_server.requests) == asked
    desk.step_to_review()
    other = next(
        row.text
        for row in desk.window.step_in_view.permissible.rows
        if row.name == "click" and "Three" in row.label
    )
    desk.session.edits.edit_action(other)
    desk.wait_until(lambda: desk.window.step_in_view.action.action == other)
    llm_server.say("done")
    desk.trigger("run")
    desk.wait_for("ended")
    said = llm_server.requests[-1].texts[-1]
    assert "One was pressed" in said
    assert "Three was pressed" in said
    assert "Two was pressed" not in said
    store = desk.stored()
    branch = store.run(desk.window.view.run)
    restored = store.pages.restored(branch.run)
    store.close()
    assert (branch.parent_run, branch.parent_step) == (run, 2)
    assert restored is not None
    assert restored.verified


def test_a_built_in_agent_goes_on_where_it_was_gone_back_to(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    run = done_with(desk, llm_server, tmp_path)
    desk.session.queue(forked(desk, run, 2, Changes(preset="plain")))
    desk.wait_until(lambda: desk.window.view.run not in (None, run))
    desk.wait_for("waiting")
    assert "A built-in agent (plain) continues from here." in desk.window.view.message
    llm_server.otherwise = on('button "Three"')
    desk.step_to_review()
    assert desk.window.step_in_view.action.action.startswith("click")
    seen = "\n".join(llm_server.requests[-1].texts)
    assert "One was pressed" in seen
    assert "Two was pressed" not in seen


def test_with_a_breakpoint_after_calls_its_reply_is_edited_before_it_gets_it(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("One")
    llm_server.say("done")
    desk.attach(url=page_file(tmp_path, BUTTONS), instruction="Press.")
    BreakpointsService(desk.session).add(LLMCall(when="after"))
    desk.trigger("run")
    desk.wait_until(lambda: desk.window.view.held_reply == 1)
    desk.session.edits.apply_text("prompt", "Three")
    desk.wait_until(lambda: bool(desk.window.view.held_edits))
    desk.trigger("step")
    desk.wait_until(lambda: desk.window.view.phase == "review" and desk.window.action.editable)
    step = desk.window.step_in_view
    (row,) = [one for one in step.permissible.rows if one.text == step.action.action]
    assert "Three" in row.label


SCROLLS = """
import os
from openai import OpenAI
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"]).contexts[0].pages[0]
    for _ in range(2):
        OpenAI().chat.completions.create(model="m", messages=[{"role": "user", "content": "Where?"}])
        page.mouse.wheel(0, 100)
"""


def test_the_same_act_after_another_question_is_an_act_of_its_own(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("Down")
    llm_server.say("Down")
    desk.attach(SCROLLS, url=page_file(tmp_path, BUTTONS), instruction="Scroll.")
    desk.trigger("run")
    desk.wait_for("ended")
    assert [step.action for step in steps_of(desk)] == ["scroll [down]", "scroll [down]", "stop []"]


TYPES = """
import os
from openai import OpenAI
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"]).contexts[0].pages[0]
    OpenAI().chat.completions.create(model="m", messages=[{"role": "user", "content": "What?"}])
    page.get_by_label("City").focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Backspace")
    page.keyboard.type("Rome", delay=20)
"""


def test_what_is_typed_by_keys_is_one_step_that_says_the_text(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("Rome")
    page = page_file(tmp_path, "<label>City <input value=Paris></label>")
    desk.attach(TYPES, url=page, instruction="Type.")
    desk.trigger("run")
    desk.wait_for("ended")
    typed, end = steps_of(desk)
    assert typed.action.startswith("type [")
    assert typed.action.endswith("[Rome]")
    assert (typed.target, typed.outcome) == ('textbox "City"', "done")
    assert end.action == "stop []"


ASKS_IN_VAIN = """
import os
from openai import APITimeoutError, OpenAI
client = OpenAI(timeout=1, max_retries=0)
for _ in range(2):
    try:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "What?"}])
    except APITimeoutError:
        pass
input()
"""


def test_of_an_agent_that_was_started_elsewhere_it_is_told_how_long_it_is_held_and_when_it_gave_up(
    desk: AttachedWindow, tmp_path
) -> None:
    desk.service.attach(AttachRequest(url=page_file(tmp_path, BUTTONS)))
    desk.wait_until(lambda: desk.view.addresses is not None)
    addresses = desk.view.addresses
    assert addresses is not None
    told = {"OPENAI_BASE_URL": addresses.llm, "OPENAI_API_KEY": addresses.key, "NO_PROXY": "127.0.0.1"}
    command = (sys.executable, "-c", ASKS_IN_VAIN)
    with subprocess.Popen(command, env={**os.environ, **told}, stdin=subprocess.PIPE) as agent:
        desk.wait_until(lambda: desk.view.hold is not None)
        hold = desk.view.hold
        assert hold is not None
        assert (hold.what, hold.gave_up) == ("call", 0)
        desk.wait_until(lambda: desk.view.hold is not None and desk.view.hold.gave_up > 0)
        # It began to count a moment before its call came.
        assert desk.view.hold.gave_up > 0.5
        agent.kill()
    desk.wait_until(lambda: desk.view.hold is None)
