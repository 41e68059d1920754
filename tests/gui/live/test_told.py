"""What an attached agent says of itself is shown, stepped by, stopped at and stored, and said once when led back."""

import pytest

from core.debugger.breakpoints.kinds.actions import PolicyPopped, PolicyPushed, StateEntered
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.kinds.problems import Condition
from core.debugger.breakpoints.service import BreakpointsService
from core.debugger.breakpoints.stored_events import last_hit
from core.debugger.steps.views import StepView
from core.schema.changes import Changes
from tests.core.stage import on, page_file
from tests.gui.live.attached import AttachedWindow, desk
from tests.gui.live.test_attached_agent import BUTTONS
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

AGENT = """
import os
import backstep_sdk as backstep
import llm
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"])
    page = browser.contexts[0].pages[0]

    def ask():
        return llm.ask(page.inner_text("body"))

    def press(name):
        page.get_by_role("button", name=name, exact=True).click()

    backstep.plan(["Press some", "Finish"])
    backstep.state("start", "Nothing was pressed.")
    backstep.exemplars([("press tea", "Task: press tea\\nAction: click [3]"), ("press tea", "again")])
    with backstep.policy("work", "all of it"):
        with backstep.policy("press", "the first"):
            backstep.note("about to ask")
            reply = ask()
            backstep.remedy("Press Three", for_action="click")
            press(reply)
            press(ask())
        backstep.state("pressed")
        backstep.plan(["Press some", "Finish"], at=1)
        reply = ask()
        with backstep.policy("finish"):
            press(reply)
"""
"""Its steps: two in ``press``, then one that is in ``finish`` once it acts."""


def attached(desk: AttachedWindow, llm_server: LLMServer, folder) -> None:
    for name in ("One", "Two", "Three"):
        llm_server.say(name)
    desk.attach(AGENT, url=page_file(folder, BUTTONS), instruction="Press.")


def policies(step: StepView) -> tuple[list[str], list[str]]:
    """Return the policies at work, the one that acts first, and those that have ended."""
    return [one.policy for one in step.stack.frames], [one.policy for one in step.stack.finished]


def state_shown(desk: AttachedWindow) -> str:
    """Return the state of the step in view; empty while a run that was just opened has none yet."""
    step = desk.window.step_in_view
    return step.state.state if step is not None else ""


def check_first(step: StepView) -> None:
    """Check all that the first step shows."""
    assert (step.state.space, step.state.state, step.state.why) == ("agent", "start", "Nothing was pressed.")
    assert policies(step) == (["press", "work"], [])
    assert [one.argument for one in step.stack.frames] == ["the first", "all of it"]
    assert step.stack.frames[0].notes == ("about to ask",)
    assert [(one.text, one.status) for one in step.plan.subtasks] == [
        ("Press some", "current"),
        ("Finish", "waiting"),
    ]
    (remedy,) = step.plan.remedies
    assert (remedy.action, remedy.reason, remedy.step) == ("Press Three", "instead of click", 1)
    shown, another = step.exemplars.rows
    assert (shown.task, shown.used) == (another.task, another.used) == ("press tea", True)
    assert "click [3]" in shown.trajectory
    assert shown.id != another.id


def test_what_it_says_is_shown_and_stepped_over_and_said_once_when_it_is_gone_back_with(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    attached(desk, llm_server, tmp_path)
    desk.wait_until(lambda: state_shown(desk) == "start")
    held = desk.window.step_in_view
    assert policies(held)[0] == ["press", "work"]
    assert len(held.plan.subtasks) == 2  # Before the LLM is asked.
    desk.trigger("step")
    check_first(desk.at_review_of(1))
    desk.trigger("over")
    third = desk.at_review_of(3)
    assert policies(third) == (["finish", "work"], ["press"])
    assert third.stack.finished[0].steps == 2
    assert third.state.state == "pressed"
    assert [(one.source, one.target, one.taken) for one in third.state.edges] == [("start", "pressed", 1)]
    assert [(one.status, one.steps) for one in third.plan.subtasks] == [("done", (1, 2)), ("current", (3,))]
    run = desk.ran()
    check_first(desk.recorded(run, 1))
    assert policies(desk.recorded(run, 2)) == (["press", "work"], [])
    third = desk.recorded(run, 3)
    assert policies(third) == (["finish", "work"], ["press"])
    assert policies(desk.recorded(run, 4)) == ([], ["work", "finish", "press"])
    store = desk.stored()
    notes = [line.text for line in store.log(run) if line.source == "agent"]
    states = [one.state for one in store.steps(run)]
    store.close()
    assert "Step 1: about to ask" in notes
    assert states == ["start", "start", "pressed", "pressed"]

    desk.session.branches.go_back(run, 3)
    branch = desk.branched(run)
    llm_server.say("Three")
    desk.trigger("step")
    again = desk.at_review_of(3)
    assert (again.state, again.plan, again.exemplars) == (third.state, third.plan, third.exemplars)
    assert again.stack.frames == third.stack.frames
    assert again.stack.finished == third.stack.finished
    desk.ran()
    store = desk.stored()
    notes = [line.text for line in store.log(branch) if "about to ask" in line.text]
    store.close()
    assert notes == []

    async def fork() -> None:
        await desk.session.branches.fork(run, 2, Changes(preset="step"))

    llm_server.otherwise = on('button "Three"')
    desk.session.queue(fork())
    desk.branched(run, branch)
    desk.trigger("step")
    step = desk.at_review_of(2)  # A built-in agent knows nothing of what the other has said.
    assert "press" not in policies(step)[0]
    assert step.plan.remedies == ()


STOPS: dict[int, dict[str, Breakpoint]] = {
    1: {"Policy press was pushed": PolicyPushed(policy="press")},
    3: {
        "Policy finish was pushed": PolicyPushed(policy="finish"),
        "Policy press was popped": PolicyPopped(policy="press", argument="first"),
        "State pressed was entered from start": StateEntered(state="pressed"),
        "has become true": Condition(expression="policy.name == 'finish' and plan.done == 1"),
    },
}
"""Sentences of breakpoints, by the step that they stop at."""


def test_breakpoints_and_steps_into_and_out_stop_at_what_it_says_and_what_only_it_can_do_is_refused(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    breakpoints = BreakpointsService(desk.session)
    for stops in STOPS.values():
        for breakpoint in stops.values():
            breakpoints.add(breakpoint)
    attached(desk, llm_server, tmp_path)
    desk.trigger("run")
    for step, stops in STOPS.items():
        said = ""
        while not all(sentence in said for sentence in stops):
            desk.wait_until(lambda: bool(desk.window.view.stopped_at))
            assert (desk.window.view.step, desk.window.view.mode) == (step, "waiting")
            said += desk.window.view.stopped_at
            desk.trigger("run")
            desk.wait_until(lambda: not desk.window.view.stopped_at)
    desk.wait_for("ended")
    run = desk.window.view.run
    assert run is not None
    store = desk.stored()
    found = {
        step: [last_hit(store, [one], run, 5) for one in stops.values()] for step, stops in STOPS.items()
    }
    store.close()
    assert all(hit is not None and hit.step == step for step, hits in found.items() for hit in hits)
    for one in desk.session.breaking.breakpoints.all:
        breakpoints.remove(one.number)

    attached(desk, llm_server, tmp_path)
    desk.trigger("into")
    before = desk.at_review_of(1)
    # A panel behind another one follows a moment later.
    desk.wait_until(lambda: desk.window.plan.remedy is not None)
    desk.window.plan.fire()
    desk.wait_until(lambda: "only the agent can try it" in desk.window.view.message)
    desk.session.agent.set_mechanism("policies", True)
    desk.wait_until(
        lambda: "Mechanisms of an attached agent cannot be switched here" in desk.window.view.message
    )
    assert not any(one.on for one in desk.window.view.mechanisms)
    desk.window.plan.edit()
    assert not desk.window.plan.editing
    desk.session.edits.ask_for("ForceState", {"state": "start"})
    desk.wait_until(lambda: "You set this state" in desk.window.step_in_view.state.why)
    desk.trigger("step")
    assert desk.at_review_of(1).plan.remedies == before.plan.remedies
    desk.trigger("into")
    assert policies(desk.at_review_of(2))[0] == ["press", "work"]
    desk.trigger("out")
    assert policies(desk.at_review_of(3))[0] == ["finish", "work"]


ASKS_TWICE = (
    AGENT.partition("    backstep.plan")[0]
    + """
    backstep.state("asking")
    ask()
    backstep.state("asking again")
    with backstep.policy("press"):
        press(ask())
    backstep.note("it is pressed")
    backstep.plan(["Press"], at=1)
"""
)


def test_what_it_says_before_a_question_belongs_to_it_and_the_last_words_are_kept(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("wait")
    llm_server.say("One")
    desk.attach(ASKS_TWICE, url=page_file(tmp_path, BUTTONS))
    run = desk.ran()
    store = desk.stored()
    states = [one.state for one in store.steps(run)]
    notes = [line.text for line in store.log(run) if line.source == "agent"]
    store.close()
    assert states == ["asking", "asking again", "asking again"]
    assert "Step 3: it is pressed" in notes
    first = desk.recorded(run, 1)
    assert (first.stack.frames, "backstep_sdk.policy" in first.stack.message) == ((), True)
    assert [one.status for one in desk.recorded(run, 3).plan.subtasks] == ["done"]
    desk.session.branches.go_back(run, 2)
    desk.branched(run)
    desk.wait_until(lambda: state_shown(desk) == "asking again")
    assert [one.source for one in desk.window.step_in_view.state.edges] == ["asking"]
