import json

import pytest

from core.schema.action import Backtrack, Click, Press, RefTarget
from core.schema.errors import TraceError
from core.schema.step import Acted, Decided, Observed, Proposal, Reviewed
from core.trace.exports.atif import export_atif
from tests.core.trace.exports.atif_schema import problems
from tests.core.trace.exports.replaying import run_by_rules
from tests.core.trace.exports.test_json_export import HOSTILE, write_talkative_run
from tests.core.trace.making import page, start, write_run


def atif(store, run):
    whole = json.loads(export_atif(store, run))
    assert problems(whole) == []
    return whole


def agent_steps(whole):
    return [step for step in whole["steps"] if step["source"] == "agent"]


@pytest.mark.browser
@pytest.mark.parametrize(("task", "preset"), [("miniwob/login-user", "plain"), ("shop/goal-001", "combined")])
def test_a_real_run_keeps_the_rules_its_actions_and_each_tool_once(stage, task, preset):
    done = run_by_rules(stage, task, preset=preset)
    store = stage.services.store
    whole = atif(store, done.run)
    steps = store.steps(done.run)
    assert [step["extra"]["step"] for step in agent_steps(whole)] == [step.number for step in steps]
    assert [step["message"] for step in agent_steps(whole)] == [
        f"{step.action} {step.target}".strip() for step in steps
    ]
    assert whole["final_metrics"]["total_prompt_tokens"] == done.prompt_tokens
    assert whole["extra"]["verdict"]["reward"] == done.reward
    names = [tool["function"]["name"] for tool in whole["agent"].get("tool_definitions", ())]
    assert {"click", "type"} <= set(names) or preset != "plain"
    assert len(names) == len(set(names))


def test_the_task_and_the_first_page_come_before_the_agent(store):
    run = write_run(store)
    first, second, *_ = atif(store, run)["steps"]
    assert (first["source"], first["message"]) == ("user", "Save the draft")
    assert second["source"] == "system"
    assert '[1] button "Save"' in second["observation"]["results"][0]["content"]


def test_a_step_has_its_thought_call_metrics_and_result(store):
    run = write_talkative_run(store, HOSTILE)
    whole = atif(store, run)
    (step,) = agent_steps(whole)
    assert step["reasoning_content"] == HOSTILE
    assert step["llm_call_count"] == 1
    assert step["metrics"] == {
        "prompt_tokens": 1200,
        "completion_tokens": 34,
        "cached_tokens": 56,
        "cost_usd": 0.0125,
        "extra": {"estimated": True},
    }
    (call,) = step["tool_calls"]
    assert (call["function_name"], call["arguments"]) == ("click", {"target": "2"})
    (result,) = step["observation"]["results"]
    assert result["source_call_id"] == call["tool_call_id"]
    assert result["content"].startswith("failed: ")
    assert (step["extra"]["origin"], step["extra"]["proposed"]) == ("person", "click [1]")
    assert whole["steps"][0] == {
        "step_id": 1,
        "timestamp": whole["steps"][0]["timestamp"],
        "source": "system",
        "message": HOSTILE,
    }


def test_a_step_without_a_call_says_why_beside_the_format_s_own_field(store):
    step = agent_steps(atif(store, write_run(store, steps=1)))[0]
    assert step["llm_call_count"] == 0
    assert step["extra"]["thought"] == "The draft is to be saved."
    assert "reasoning_content" not in step


def test_steps_taken_back_stay_and_name_the_step_that_did_it(store):
    run = store.begin_run(start())
    for number, (action, acted) in enumerate(
        (
            (Click(target=RefTarget(ref=1)), Acted(effect="page action", outcome="done")),
            (Backtrack(step=1), Acted(effect="go back", outcome="done")),
            (Press(keys="Enter"), Acted(effect="page action", outcome="done")),
        ),
        start=1,
    ):
        store.begin_step(run, number)
        for record in (
            Observed(observation=page("Save")),
            Decided(proposal=Proposal(action=action)),
            Reviewed(origin="agent", action=action),
            acted,
        ):
            store.save_phase(run, number, record)
    steps = agent_steps(atif(store, run))
    assert [step["extra"].get("undone_by_step") for step in steps] == [2, None, None]


def test_a_run_that_has_only_begun_is_a_trajectory_too(store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    store.save_phase(run, 1, Observed(observation=page("Save")))
    (step,) = agent_steps(atif(store, run))
    assert "tool_calls" not in step
    assert "observation" not in step


def test_the_same_run_is_the_same_file(store):
    run = write_run(store)
    assert export_atif(store, run) == export_atif(store, run)


def test_the_rules_find_what_is_wrong(store):
    whole = json.loads(export_atif(store, write_run(store, steps=1)))
    whole["steps"][0]["metrics"] = {"prompt_tokens": "3"}
    whole["steps"][2]["observation"]["results"][0]["source_call_id"] = "step-9"
    whole["steps"][2]["step_id"] = 9
    whole["more"] = 1
    assert len(problems(whole)) == 5


def test_a_run_that_is_not_there_is_refused(store):
    with pytest.raises(TraceError, match="no run 9"):
        export_atif(store, 9)
