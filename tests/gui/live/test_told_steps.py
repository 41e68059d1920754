"""An attached agent that tells its own steps: these are the borders, and its environment says how the run ended."""

import os
import subprocess
import sys

import pytest

from core.attach.addresses import SDK
from core.debugger.attach.views import AttachRequest
from core.schema.step import Decided, record_of
from tests.core.stage import page_file
from tests.gui.live.attached import LLM, AttachedWindow, desk
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


def attached(desk: AttachedWindow, server: LLMServer, folder, agent: str = AGENT) -> None:
    for answer in ANSWERS:
        server.say(answer)
    desk.attach(agent, url=page_file(folder, BUTTONS), instruction="Press.")


def kinds(decided: list[Decided]) -> list[str]:
    return [one.proposal.action.kind for one in decided if one.proposal.action is not None]


def run_to_its_end(desk: AttachedWindow) -> int:
    desk.trigger("run")
    desk.wait_for("ended")
    assert desk.window.view.run is not None
    return desk.window.view.run


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


def test_its_steps_are_the_borders_and_all_that_it_asks_before_an_act_is_one_step(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    attached(desk, llm_server, tmp_path)
    run = run_to_its_end(desk)
    decided = decisions(desk, run)
    assert numbers(decided) == [1, 1, 2, 3, 4]
    assert [one.calls for one in decided] == [(1, 2), (), (3,), (4,), (5,)]
    first, _, waits, third, _ = decided
    assert first.agent_step is not None
    assert (first.agent_step.goal, len(first.agent_step.actions)) == ("Press the first", 2)
    assert str(waits.proposal.action) == "agent_act [wait(1)]"
    assert str(third.proposal.action).startswith("click")
    shown = desk.recorded(run, 1)
    assert shown.action.told == (
        "Step 1, as the agent reports it: press('One'), press('Two')\nGoal: Press the first"
    )
    assert desk.window.action.told.toPlainText() == shown.action.told
    assert desk.recorded(run, 3).action.outcome == "done"


def test_the_run_ends_as_its_environment_says_where_nobody_else_judges(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    attached(desk, llm_server, tmp_path)
    run = run_to_its_end(desk)
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


def test_the_judge_of_a_task_is_heeded_whatever_the_agents_environment_says(
    desk: AttachedWindow, llm_server: LLMServer
) -> None:
    llm_server.say("ONE")
    agent = AGENT.partition('    backstep.step(1, goal="Press')[0]
    desk.attach(
        f"{agent}    name = ask('choose')\n    backstep.outcome(0, False)\n    press(name)\n",
        task="miniwob/click-test-2",
    )
    run_to_its_end(desk)
    assert desk.window.view.success is True
    assert "own environment" not in desk.window.view.message


@pytest.mark.parametrize(("step", "answered"), [(2, 2), (3, 2), (5, 4)])
def test_gone_back_to_any_step_it_goes_on_with_the_same_borders(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path, step: int, answered: int
) -> None:
    attached(desk, llm_server, tmp_path)
    run = run_to_its_end(desk)
    before = decisions(desk, run)
    desk.session.branches.go_back(run, step)
    desk.wait_until(lambda: desk.window.view.run not in (None, run))
    desk.wait_for("waiting")
    for answer in ANSWERS[answered:]:
        llm_server.say(answer)
    branch = run_to_its_end(desk)
    after = decisions(desk, branch)
    assert numbers(after) == numbers(before)
    assert kinds(after) == kinds(before) == ["click", "click", "agent_act", "click", "stop"]
    assert desk.window.view.reward == 1.5


def test_a_step_is_gone_through_by_its_acts_and_held_before_each(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    attached(desk, llm_server, tmp_path)
    desk.trigger("step")
    held = desk.at_review_of(1)
    assert len(llm_server.requests) == 2
    assert held.action.told.startswith("Step 1, as the agent reports it")
    desk.trigger("step")
    assert desk.at_review_of(2).action.told == held.action.told
    desk.trigger("step")
    third = desk.at_review_of(3)
    assert (third.action.action, third.action.told) == (
        "agent_act [wait(1)]",
        "Step 2, as the agent reports it: wait(1)",
    )
    assert len(llm_server.requests) == 3
    desk.trigger("run")
    desk.wait_for("ended")


def test_a_run_of_a_program_started_elsewhere_ends_with_the_episode(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    llm_server.say("One")
    begin = AGENT.partition("    backstep.step(1")[0]
    agent = f"{begin}    press(ask(''))\n    backstep.outcome(1.0, True)\n    input()\n"
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
        "PYTHONPATH": os.pathsep.join((str(SDK), str(tmp_path))),
    }
    with subprocess.Popen(
        [sys.executable, "-c", agent], env={**os.environ, **told}, stdin=subprocess.PIPE
    ) as program:
        desk.wait_for("waiting")
        desk.trigger("run")
        desk.wait_for("ended")
        assert program.poll() is None
        program.kill()
    assert (desk.window.view.success, desk.window.view.reward) == (True, 1.0)
