"""Switching a mechanism does what it says, also where the preset knows nothing of it."""

import pytest

from tests.core.agent.traced import records
from tests.core.stage import stop
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser


@pytest.fixture
def at_decide(stage, llm_server):
    """A run with the preset plain on the shop that is about to decide."""
    run = stage.open(llm_server, "shop/goal-000")
    stage.until(run, "decide")
    return run


def test_states_switched_on_use_the_space_that_is_meant_for_the_page(stage, at_decide):
    assert records(at_decide, 1)["recognise"].space == "none"
    at_decide.switch("states", True)
    stage.until(at_decide, "decide")
    recognised = records(at_decide, 1)["recognise"]
    assert (recognised.space, recognised.state) == ("shop", "search")
    assert [action.name for action in recognised.permissible.actions] == ["search"]


def test_abstraction_switched_on_ranks_the_elements(stage, at_decide):
    assert records(at_decide, 1)["abstract"].how == ""
    at_decide.switch("abstraction", True)
    stage.until(at_decide, "decide")
    assert records(at_decide, 1)["abstract"].how.startswith("ranking by the words of the task")


def test_policies_switched_on_put_the_sites_policy_to_work_and_off_again_let_go_of_it(stage, at_decide):
    at_decide.switch("policies", True)
    stage.until(at_decide, "decide")
    recognised = records(at_decide, 1)["recognise"]
    assert [frame.policy for frame in recognised.stack.frames] == ["shop"]
    assert recognised.permissible.action("search_shop").origin == "policy"
    at_decide.switch("policies", False)
    stage.until(at_decide, "decide")
    recognised = records(at_decide, 1)["recognise"]
    assert recognised.stack is None
    assert recognised.permissible.action("search_shop") is None


def test_what_a_called_policy_is_to_do_is_what_the_prompt_asks(stage, llm_server, at_decide):
    llm_server.script(Reply(calls=(call("search_shop", words="steel bottle"),)), stop("none"))
    at_decide.switch("policies", True)
    stage.step(at_decide)
    stage.until(at_decide, "review")
    asked = llm_server.requests[-1].texts[-1]
    assert "steel bottle" in asked
    assert at_decide.state.episode.instruction not in asked


def test_stopping_with_policies_switched_off_ends_the_run_whatever_is_on_the_stack(
    stage, llm_server, at_decide
):
    llm_server.script(stop("it is done"))
    at_decide.switch("policies", True)
    stage.until(at_decide, "decide")
    at_decide.switch("policies", False)
    stage.to_the_end(at_decide)
    assert (at_decide.outcome, at_decide.state.answer) == ("done", "it is done")


def test_plan_remedies_and_judgement_switched_on_ask_their_questions(stage, llm_server, at_decide):
    run = at_decide
    for mechanism in ("plan", "remedies", "judgement"):
        run.switch(mechanism, True)
    field = next(one.ref for one in run.state.observation.elements if one.role == "searchbox")
    llm_server.script(
        Reply(text="1. Search for it\n2. Buy it"),
        Reply(calls=(call("type", target=field, text="bottle"),)),
        Reply(calls=(call("type", target=field, text="steel bottle"),)),
        Reply(text="The words are in the field.\nYES"),
        Reply(text="OPEN"),
        Reply(text="NO"),
    )
    stage.step(run)
    purposes = [one.purpose for one in run.store.calls.of(run.state.run)]
    assert purposes == ["plan", "decide", "remedies", "aligned", "subtask", "task"]
    # The preset's own prompt tells the plan, and the remedies come as tool calls as its actions do.
    assert "Search for it (current)" in llm_server.requests[1].texts[-1]
    assert llm_server.requests[2].tool_names
    assert [str(one) for one in records(run, 1)["anticipate"].remedies] == [f"type [{field}] [steel bottle]"]
    for mechanism in ("plan", "remedies", "judgement"):
        run.switch(mechanism, False)
    llm_server.script(stop("done"))
    stage.step(run)
    assert [one.purpose for one in run.store.calls.of(run.state.run)][6:] == ["decide"]
    assert "subtask" not in llm_server.requests[-1].texts[-1]


def test_memory_switched_on_begins_the_prompt_with_exemplars(stage, llm_server):
    llm_server.script(stop())
    run = stage.open(llm_server, "miniwob/login-user")
    stage.until(run, "decide")
    assert records(run, 1)["recall"].recalled_at is None
    run.switch("memory", True)
    stage.step(run)
    recalled = records(run, 1)["recall"]
    assert recalled.recall.family == "login-user"
    system = llm_server.requests[0].texts[0]
    assert "--- Task: Enter the username" in system
    assert "Actions: type [" in system
