"""An attached agent that tells its own steps: these are the borders, and its environment says how the run ended."""

import pytest

from core.schema.step import Decided, record_of
from tests.core.stage import page_file
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

    def ask(question):
        return llm.ask(question + page.inner_text("body"))

    def press(name):
        page.get_by_role("button", name=name, exact=True).click()

    backstep.step(1, goal="Press the first")
    ask("think")
    name = ask("choose")
    backstep.step(1, actions=[f"press('{name}')", "press('Two')"])
    press(name)
    press("Two")
    backstep.step(2)
    ask("look")
    backstep.step(2, actions=["wait(1)"])
    backstep.step(3)
    press(ask("choose"))
    backstep.outcome(0.5, ended=False)
    backstep.step(4)
    ask("done?")
    backstep.step(4, actions=["done()"])
    backstep.outcome(1.5, True, reason="All were pressed.", answer="pressed")
"""
"""Its first step asks twice and acts twice, the second does nothing in the page, the last ends the episode."""
ANSWERS = ("I press", "One", "nothing", "Three", "yes")


def decisions(desk: AttachedWindow, run: int) -> list[Decided]:
    """Return what was decided at each step of a run."""
    store = desk.stored()
    try:
        records = [store.step(run, one.number).records for one in store.steps(run)]
    finally:
        store.close()
    return [one for one in (record_of(Decided, each) for each in records) if one is not None]


def numbers(decided: list[Decided]) -> list[int | None]:
    """Return the agent's own number of each step."""
    return [one.agent_step.number if one.agent_step is not None else None for one in decided]


def kinds(decided: list[Decided]) -> list[str]:
    return [one.proposal.action.kind for one in decided if one.proposal.action is not None]


def stepped_to_the_third(desk: AttachedWindow, llm_server: LLMServer) -> None:
    """Step through the agent's first step, which is held before each act, and into its second."""
    desk.trigger("step")
    held = desk.at_review_of(1)
    assert len(llm_server.requests) == 2
    assert held.action.told == (
        "Step 1, as the agent reports it: press('One'), press('Two')\nGoal: Press the first"
    )
    desk.trigger("step")
    assert desk.at_review_of(2).action.told == held.action.told
    desk.trigger("step")
    third = desk.at_review_of(3)
    assert (third.action.action, third.action.told) == (
        "agent_act [wait(1)]",
        "Step 2, as the agent reports it: wait(1)",
    )
    assert len(llm_server.requests) == 3


def check_end(desk: AttachedWindow, run: int) -> None:
    """Check how its environment has said that the run ended, where nobody else judges."""
    view = desk.window.view
    assert (view.success, view.reward, view.answer) == (True, 1.5, "pressed")
    assert "by the agent's own environment" in view.message
    store = desk.stored()
    verdict = store.run(run).verdict
    notes = [line.text for line in store.log(run) if line.source == "agent"]
    store.close()
    assert (verdict.success, verdict.reward, verdict.judge) == (True, 1.5, "agent")
    assert "All were pressed." in verdict.reason
    assert any("reward 0.5" in note for note in notes)


def test_its_steps_are_the_borders_it_goes_on_with_when_gone_back_and_its_environment_says_how_it_ended(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    for answer in ANSWERS:
        llm_server.say(answer)
    desk.attach(AGENT, url=page_file(tmp_path, BUTTONS), instruction="Press.")
    stepped_to_the_third(desk, llm_server)
    run = desk.ran()
    check_end(desk, run)
    decided = decisions(desk, run)
    assert numbers(decided) == [1, 1, 2, 3, 4]
    assert kinds(decided) == ["click", "click", "agent_act", "click", "stop"]
    assert [one.calls for one in decided] == [(1, 2), (), (3,), (4,), (5,)]
    first, _, waits, third, _ = decided
    assert first.agent_step is not None
    assert (first.agent_step.goal, len(first.agent_step.actions)) == ("Press the first", 2)
    assert str(waits.proposal.action) == "agent_act [wait(1)]"
    assert str(third.proposal.action).startswith("click")
    shown = desk.recorded(run, 1)
    assert "Goal: Press the first" in shown.action.told
    assert desk.window.action.told.toPlainText() == shown.action.told
    assert desk.recorded(run, 3).action.outcome == "done"

    left = [run]
    for step, answered in ((2, 2), (5, 4)):
        desk.session.branches.go_back(run, step)
        left.append(desk.branched(*left))
        for answer in ANSWERS[answered:]:
            llm_server.say(answer)
        assert desk.ran() == left[-1]
        again = decisions(desk, left[-1])
        assert numbers(again) == numbers(decided)
        assert kinds(again) == kinds(decided)
        assert desk.window.view.reward == 1.5
