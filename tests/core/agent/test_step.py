"""The preset ``step`` on the shop, through the real loop: calls, returns, what was lacking, and loops."""

import re
from urllib.parse import urlencode

import pytest

from core.environments.shop.catalogue import bundled_catalogue
from core.environments.shop.goals import bundled_goals
from tests.core.agent.headless import headless
from tests.core.agent.traced import purposes, records, steps
from tests.core.stage import ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

TASK = "shop/goal-000"


def says(action, reason="So."):
    return Reply(text=f"REASON: {reason}\nACTION: {action}")


def searching(request):
    """Type into the search field that the prompt shows, and send it."""
    field = ref_in(request, 'searchbox "Keywords"')
    return says(f"type [{field}] [steel bottle] [enter=1]", "Words go here.")


def typing(request):
    """Type into the search field, and say nothing of Enter."""
    field = ref_in(request, 'searchbox "Keywords"')
    return says(f"type [{field}] [steel bottle]")


def prompts(llm_server):
    """Return the system and the user's message of each request."""
    return [(request.texts[0], request.texts[-1]) for request in llm_server.requests]


def test_a_called_policy_comes_back_with_its_answer_to_the_step_that_called_it(stage, llm_server):
    llm_server.script(
        says("search_shop [steel bottle]", "The kind makes the search."),
        searching,
        says("stop [205 results]"),
        says("stop []"),
    )
    run = stage.open(llm_server, TASK, preset="step")
    stage.to_the_end(run)
    assert run.outcome == "done"
    assert purposes(run) == ["decide"] * 4
    assert [step.effect for step in steps(run)] == ["push", "page action", "pop", "stop"]
    assert all(request.body["temperature"] == 0.3 for request in llm_server.requests)

    first, child, child_again, parent = prompts(llm_server)
    assert 'You are the policy "shop"' in first[0]
    assert run.state.episode.instruction in first[1]
    assert "search_shop [words]" in first[0]
    # The child knows its own assignment and nothing of its caller's.
    assert 'You are the policy "search_shop"' in child[0]
    assert child[1].startswith("Assignment: steel bottle\n")
    assert run.state.episode.instruction not in "\n".join(child)
    assert "So far:" not in child[1]
    assert "1. search_shop" not in child_again[1]
    assert "2. type [" in child_again[1]
    # The parent is told the answer, and nothing of how it came about.
    assert "1. search_shop [steel bottle]: came back with: 205 results" in parent[1]
    assert "2. type [" not in parent[1]
    assert "/search?q=steel+bottle" in parent[1]


def test_a_policy_that_presses_enter_sends_what_it_types_and_lacks_nothing_by_saying_none(stage, llm_server):
    (stage.config / "policies" / "shop").mkdir(parents=True, exist_ok=True)
    own = stage.config / "policies" / "shop" / "search_shop.md"
    own.write_text(
        '+++\ndescription = "Searches."\nenter = true\n\n[[parameters]]\nname = "words"\n\n'
        '[applies]\nenvironments = ["shop"]\n+++\n\n# Instruction\n\nSearch.\n'
    )
    llm_server.script(
        says("search_shop [steel bottle]"),
        typing,
        says("scroll down"),
        says("stop [found] [nothing]"),
        says("stop []"),
    )
    run = stage.open(llm_server, TASK, preset="step")
    stage.to_the_end(run)
    assert [step.outcome for step in steps(run)] == ["done"] * 5
    assert steps(run)[1].action.endswith("[steel bottle] [enter=1]")
    third, _, fifth = prompts(llm_server)[2:]
    assert "/search?q=steel+bottle" in third[1]
    assert "1. search_shop [steel bottle]: came back with: found\n" in fifth[1]


def test_what_a_policy_lacked_is_in_the_prompt_of_the_one_that_called_it(stage, llm_server):
    llm_server.script(
        says("choose_result [a whistling kettle]"),
        says("stop [] [a list of results: this is the search page]"),
        says("note [search first]"),
        says("stop []"),
    )
    run = stage.open(llm_server, TASK, preset="step")
    stage.to_the_end(run)
    assert [step.effect for step in steps(run)] == ["push", "pop", "note", "stop"]
    result = (
        "1. choose_result [a whistling kettle]: could not go on. "
        "It lacked: a list of results: this is the search page"
    )
    third, fourth = prompts(llm_server)[2:]
    assert result in third[1]
    assert result in fourth[1]
    assert "- search first" in fourth[1]
    assert [frame.state for frame in run.state.stack.finished] == ["lacked", "returned"]


def test_a_policy_calls_another_with_a_stack_of_three(stage, llm_server):
    (stage.config / "policies" / "shop").mkdir(parents=True, exist_ok=True)
    own = stage.config / "policies" / "shop" / "search_shop.md"
    own.write_text(
        '+++\ndescription = "Searches."\npolicies = ["search_shop"]\n\n[[parameters]]\nname = "words"\n\n'
        '[applies]\nenvironments = ["shop"]\n+++\n\n# Instruction\n\nSearch.\n'
    )
    llm_server.script(
        says("search_shop [a kettle, by parts]"),
        says("search_shop [kettle]"),
        searching,
        says("stop [found]"),
        says("stop [all found]"),
        says("stop [bought nothing]"),
    )
    run = stage.open(llm_server, TASK, preset="step")
    stage.to_the_end(run)
    effects = [step.effect for step in steps(run)]
    assert effects == ["push", "push", "page action", "pop", "pop", "stop"]
    assert [frame.answer for frame in run.state.stack.finished] == ["found", "all found", "bought nothing"]
    assert run.state.answer == "bought nothing"
    assert "came back with: found" in prompts(llm_server)[4][1]
    assert "came back with: all found" in prompts(llm_server)[5][1]


def test_a_policy_that_is_not_there_is_asked_about_once_and_takes_a_step_of_the_budget(stage, llm_server):
    llm_server.script(says("serch_shop [kettle]"), says("serch_shop [kettle]"), says("stop []"))
    run = stage.open(llm_server, TASK, preset="step")
    stage.to_the_end(run)
    assert purposes(run) == ["decide", "repair", "decide"]
    assert "did you mean search_shop?" in "\n".join(llm_server.requests[1].texts)
    assert [(step.effect, step.outcome) for step in steps(run)] == [("none", "failed"), ("stop", "done")]


AGAIN = (
    says("choose_result [a kettle]"),
    says("stop [] [a list of results]"),
    says("choose_result [A  kettle]"),
)
"""A call that comes back for lack of something, and is made again."""


def test_a_loop_without_a_window_is_told_once_and_ends_the_run_at_the_second_time(stage, llm_server):
    llm_server.script(*AGAIN, AGAIN[2])
    report = headless(stage, llm_server, TASK, "step")
    assert report.outcome == "loop"
    assert report.exit_code == 1
    assert "choose_result [A  kettle] is a loop" in report.error
    assert "came back for lack of: a list of results" in report.error
    assert len(llm_server.requests) == 4
    told = prompts(llm_server)[3][1]
    assert "choose_result [A  kettle]: skipped: Refused: choose_result [A  kettle] is a loop: " in told
    assert stage.services.store.run(report.run).outcome == "loop"


def test_an_llm_that_is_told_of_its_loop_may_find_another_way(stage, llm_server):
    llm_server.script(*AGAIN, says("stop [nothing found]"))
    report = headless(stage, llm_server, TASK, "step")
    assert (report.outcome, report.error) == ("done", "")
    rows = stage.services.store.steps(report.run)
    assert [(row.effect, row.outcome) for row in rows] == [
        ("push", "done"),
        ("pop", "done"),
        ("none", "skipped"),
        ("stop", "done"),
    ]


@pytest.mark.parametrize(("rule", "outcome", "asked"), [("end", "loop", 3), ("allow", "done", 5)])
def test_the_rule_of_gates_says_what_becomes_of_a_loop(stage, llm_server, rule, outcome, asked):
    llm_server.script(*AGAIN, says("stop [none]"), says("stop [nothing found]"))
    report = headless(stage, llm_server, TASK, "step", on_gate=rule)
    assert (report.outcome, len(llm_server.requests)) == (outcome, asked)


def test_a_policy_that_calls_itself_with_the_same_words_is_a_loop(stage, llm_server):
    llm_server.script(says("shop [a kettle]"), says("shop [a kettle]"))
    report = headless(stage, llm_server, TASK, "step", on_gate="end")
    assert report.outcome == "loop"
    assert "is still at work" in report.error


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("depth = 1\ncalls = 40", "policies are nested 1 deep, which is the limit."),
        ("depth = 8\ncalls = 0", "the run has made 0 calls, which is the limit."),
    ],
)
def test_at_a_limit_no_policy_is_offered_and_the_refusal_names_the_limit(stage, llm_server, limits, said):
    text = (stage.services.resources.presets._folders[0] / "step.toml").read_text()
    assert "depth = 8\ncalls = 40" in text
    (stage.config / "presets" / "shallow.toml").write_text(text.replace("depth = 8\ncalls = 40", limits))
    wrong = says("search_shop [a kettle]")
    llm_server.script(wrong, wrong)
    run = stage.open(llm_server, TASK, preset="shallow")
    stage.step(run)
    origins = {one.origin for one in records(run, 1)["recognise"].permissible.actions}
    assert "policy" not in origins
    asked, repair = (" ".join(request.texts) for request in llm_server.requests)
    assert "Policies you may call." not in asked
    assert f"No policy can be called now, whatever your way of working says: {said}" in asked
    refused = f"search_shop cannot be called: {said} Do it yourself, or stop with what is lacking."
    assert refused in repair
    assert steps(run)[0].message == refused


def test_a_policy_that_may_call_none_is_told_of_no_limit(stage, llm_server):
    text = (stage.services.resources.presets._folders[0] / "step.toml").read_text()
    (stage.config / "presets" / "shallow.toml").write_text(text.replace("depth = 8", "depth = 2"))
    wrong = says("choose_result [a kettle]")
    llm_server.script(says("search_shop [steel bottle]"), wrong, wrong)
    run = stage.open(llm_server, TASK, preset="shallow")
    stage.step(run)
    stage.step(run)
    _, called, repair = (" ".join(request.texts) for request in llm_server.requests)
    assert "No policy can be called now" not in called
    assert '"choose_result" is not an action; permissible are: click, type, press, wait, stop.' in repair


def test_a_refusal_lists_only_what_is_permissible(stage, llm_server):
    llm_server.script(says("drag [1]"), says("fly [1]"))
    run = stage.open(llm_server, TASK, preset="step")
    stage.step(run)
    refused = [llm_server.requests[1].texts[-1], steps(run)[0].message]
    offered = [one.name for one in records(run, 1)["recognise"].permissible.actions]
    assert not {"drag", "upload"} & set(offered)
    for text, name, what in zip(
        refused, ("drag", "fly"), ("is not permissible here", "is not an action"), strict=True
    ):
        assert f'"{name}" {what}; permissible are: {", ".join(offered)}.' in text


def test_a_policy_may_buy_at_a_bundled_site_without_a_person(stage, llm_server):
    """The gate of the open web, which a click on Buy now stops at, leaves the site that only plays alone."""
    goal = next(one.goal for one in bundled_goals() if TASK.endswith(one.name))
    groups = bundled_catalogue().product(goal.product).groups
    options = {group.name: goal.options.get(group.name, group.values[0]) for group in groups}

    def open_item(request):
        origin = re.search(r"Page: .*\((http://[^/]+)/", request.texts[-1])[1]
        return says(f"goto [{origin}/item/{goal.product}?{urlencode(options)}]")

    def buy(request):
        ref = ref_in(request, 'button "Buy now"')
        return says(f"click [{ref}]")

    llm_server.script(open_item, buy)
    report = headless(stage, llm_server, TASK, "step")
    assert (report.outcome, report.success, report.reward) == ("done", True, 1.0)
