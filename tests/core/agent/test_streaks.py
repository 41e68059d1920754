"""Replies that cannot be used, one after the other."""

import pytest

from core.agent.presets import Presets
from tests.core.agent.test_decision import own_preset
from tests.core.agent.traced import purposes, records, steps
from tests.core.stage import page_file
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

PAGE = "<button onclick=\"document.title='kept'\">Keep</button>"
LOST = Reply(text="I am not sure what to do.")
KEEP = Reply(text='{"thought": "It is asked for.", "actions": [{"name": "click", "target": 1}]}')


@pytest.mark.parametrize("preset", Presets().names())
def test_every_preset_tells_the_llm_that_its_reply_could_not_be_used(stage, llm_server, tmp_path, preset):
    llm_server.otherwise = lambda request: LOST
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=preset)
    stage.step(run)
    problem = records(run, 1)["decide"].proposal.problem
    assert problem
    stage.until(run, "decide")
    before = len(llm_server.requests)
    stage.phase(run)
    first = llm_server.requests[before]
    assert problem in "\n".join(first.texts)


def test_three_equal_failures_change_the_form_of_replies_and_use_no_page_action(stage, llm_server, tmp_path):
    own_preset(stage, "lines", 'reply_format = "auto"', 'reply_format = "lines"', base="plain")
    llm_server.script(*[LOST] * 6, KEEP)
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset="lines")
    for _ in range(3):
        stage.step(run)
    assert run.state.totals.page_actions == 0
    stage.step(run)
    assert "response_format" not in llm_server.requests[5].body
    asked = llm_server.requests[6]
    assert "response_format" in asked.body
    told = "The last 3 replies could not be used. The reply has no ACTION line"
    assert told in "\n".join(asked.texts)
    assert records(run, 4)["decide"].cut.startswith(told)
    assert records(run, 4)["decide"].cut.endswith("Replies are in JSON from now on.")
    assert run.state.capture.observation.title == "kept"
    assert (run.state.totals.page_actions, run.state.unusable) == (1, [])
    # It stays so, also in the next step and when the run is taken up again.
    stage.until(run, "decide")
    assert run.state.preset.reply_format == "json"
    assert run._keeper.json_of(run.state).count(b'"reply_form":"json"') == 1


def test_where_the_other_form_does_not_help_the_run_ends_with_the_reason(stage, llm_server, tmp_path):
    own_preset(stage, "lines", 'reply_format = "auto"', 'reply_format = "lines"', base="plain")
    llm_server.otherwise = lambda request: LOST
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset="lines", steps=3)
    stage.to_the_end(run)
    assert run.outcome == "stuck"
    assert run.error.startswith("The last 3 replies could not be used. The reply holds no JSON")
    assert len(steps(run)) == 6
    assert run.state.totals.page_actions == 0


def test_six_replies_that_fail_for_different_reasons_are_a_streak_too(stage, llm_server, tmp_path):
    own_preset(stage, "lines", 'reply_format = "auto"', 'reply_format = "json"', base="plain")
    numbers = iter(range(100, 200))
    llm_server.otherwise = lambda request: Reply(text=KEEP.text.replace("1}", f"{next(numbers)}}}"))
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset="lines")
    stage.to_the_end(run)
    assert run.outcome == "stuck"
    assert run.error.startswith("The last 6 replies could not be used. click is not permissible on [")
    assert len(steps(run)) == 6


def test_a_plan_with_trials_left_begins_a_new_one(stage, llm_server, tmp_path):
    llm_server.otherwise = lambda request: LOST
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset="reflect")
    while run.state.trial == 1 and not run.ended:
        stage.step(run)
    assert run.state.trial == 2
    assert "could not be used" in records(run, len(steps(run)))["decide"].scheduled.why
    assert purposes(run).count("decide") == 6
