"""Repeating a stored run: the same replies without a network, and what is said where a prompt differs."""

import pytest

from core.agent.loop import open_run
from core.agent.state import Budget
from core.schema.errors import LLMError, TraceError, UsageError
from core.trace.replay_llm import read_name
from tests.core.agent.traced import records, steps
from tests.core.stage import llms_for, on, stop
from tests.llm_server import Reply

pytestmark = pytest.mark.browser


def repeat(stage, name, *, task="miniwob/click-test-2", preset="plain", url="", instruction="Do it."):
    """Open the task with the LLM of that name."""
    llms = llms_for(stage.settings)
    environments = stage.services.environments
    found = (
        environments.find("web/open", url=url, instruction=instruction) if url else environments.find(task)
    )
    return stage.thread.run(
        open_run(
            stage.services.store,
            stage.services.world(found),
            found,
            0,
            preset=stage.services.resources.presets.get(preset),
            llm=llms.routed(name),
            resources=stage.services.resources,
            budget=Budget(),
            browser="chromium",
        )
    )


@pytest.fixture
def solved(stage, llm_server):
    llm_server.script(on('button "ONE"', thought="This one."))
    run = stage.open(llm_server)
    stage.to_the_end(run)
    assert run.verdict.success
    return run


def test_a_run_is_repeated_without_the_server_and_without_cost(stage, llm_server, solved):
    asked = len(llm_server.requests)
    again = repeat(stage, f"replay:{solved.state.run}")
    stage.to_the_end(again)
    assert again.verdict.success
    assert len(llm_server.requests) == asked
    assert [step.thought for step in steps(again)] == ["This one."]
    assert (again.state.totals.cost, again.state.totals.llm_calls) == (0.0, 1)


def test_samples_that_were_asked_for_at_once_are_repeated_each_in_its_place(stage, llm_server):
    text = stage.services.resources.presets.get("plain").text
    several = text.replace("several_actions = false", "several_actions = false\nsamples = 4")
    (stage.config / "presets" / "four.toml").write_text(several)
    said = [on('button "ONE"', thought=f"Reason {number}.") for number in (1, 2)]
    llm_server.script(*said, on('button "TWO"', thought="Reason 3."), Reply(text="no"))
    run = stage.open(llm_server, preset="four")
    stage.to_the_end(run)
    again = repeat(stage, f"replay:{run.state.run}", preset="four")
    stage.to_the_end(again)
    assert again.verdict.success

    def votes(of):
        return [(one.thought, one.problem) for one in records(of, 1)["decide"].votes]

    assert votes(again) == votes(run)
    assert len(votes(again)) == 4


def test_a_site_served_on_another_port_is_repeated_all_the_same(stage, llm_server, tmp_path):
    llm_server.script(on('searchbox "Keywords"', "type", text="steel bottle", enter=True), stop("205"))
    run = stage.open(llm_server, "shop/goal-000")
    stage.to_the_end(run)
    stage.thread.run(stage.services.environments.environment_of(run.state.episode.task).close())
    again = repeat(stage, f"replay:{run.state.run}", task="shop/goal-000")
    assert again.state.episode.start_url != run.state.episode.start_url
    stage.to_the_end(again)
    assert (again.outcome, again.state.answer) == ("done", "205")


def test_a_prompt_that_differs_stops_with_the_difference(stage, solved, tmp_path):
    again = repeat(stage, f"replay:{solved.state.run}", task="miniwob/click-test")
    with pytest.raises(LLMError) as refused:
        stage.to_the_end(again)
    said = str(refused.value)
    assert f"differs from call 1 of run {solved.state.run}" in said
    assert any(line.startswith("-") and "ONE" in line for line in said.splitlines())


def test_it_goes_on_with_another_llm_where_that_was_chosen(stage, solved):
    again = repeat(stage, f"replay:{solved.state.run}:rules", task="miniwob/click-test")
    stage.to_the_end(again)
    assert again.verdict.success


def test_a_call_that_came_to_nothing_is_passed_over(stage, llm_server):
    llm_server.script(Reply(text="?"), Reply(text="??"), on('button "ONE"'))
    run = stage.open(llm_server)
    stage.to_the_end(run)
    again = repeat(stage, f"replay:{run.state.run}")
    stage.to_the_end(again)
    assert again.verdict.success is run.verdict.success


@pytest.mark.parametrize(
    ("name", "read"), [("replay:12", (12, "")), ("replay:12:openai/gpt-4o", (12, "openai/gpt-4o"))]
)
def test_the_name_says_which_run_and_who_goes_on(name, read):
    assert read_name(name) == read


def test_what_names_no_run_is_refused_at_once(stage):
    with pytest.raises(UsageError, match="replay:12"):
        llms_for(stage.settings).routed("replay:last")
    with pytest.raises(TraceError, match="There is no run 987654"):
        llms_for(stage.settings).routed("replay:987654")
