"""The preset ``combined`` on the shop: states limit policies, frames recall their own, remedies guard every action."""

import pytest

from core.agent.edits.next_action import EditQueue
from core.agent.edits.run_edits import apply_edit
from core.exemplars.files import write_exemplars
from core.schema.action import Stop
from core.schema.exemplar import Exemplar, ExemplarStep
from tests.core.agent.traced import purposes, records, steps
from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

TASK = "shop/goal-000"


def says(*actions, reason="So."):
    return Reply(text="\n".join([f"REASON: {reason}", *(f"ACTION: {action}" for action in actions)]))


def judged(aligned=True, subtask="open", task_done=False, effect="The page changed."):
    flags = {True: "true", False: "false"}
    return Reply(
        text=f'{{"effect": "{effect}", "aligned": {flags[aligned]}, "subtask": "{subtask}", '
        f'"task_done": {flags[task_done]}}}'
    )


PLAN = Reply(text="1. Search for it\n2. Choose a result")


@pytest.fixture
def memory(stage):
    folder = stage.settings.database.parent / "exemplars"

    def one(name, task):
        step = ExemplarStep(observation='[1] searchbox "Keywords"', actions=("search [steel bottle] []",))
        return Exemplar(id=name, family="shop-search", task=task, environment="shop", steps=(step,))

    write_exemplars(folder / "own.jsonl", [one("search-1", "steel bottle"), one("search-2", "glass bottle")])
    yield folder
    (folder / "own.jsonl").unlink()


def do_steps(stage, run, count):
    for _ in range(count):
        stage.step(run)


def test_a_called_policy_acts_within_the_state_and_its_action_is_judged(stage, llm_server, memory):
    llm_server.script(
        PLAN,
        says("search_shop [steel bottle]"),
        says("search [steel bottle] []"),
        says("search [bottle] []", "search [steel] []"),
        judged(True, "done"),
        says("stop [the list is there]"),
    )
    run = stage.open(llm_server, TASK, preset="combined")
    do_steps(stage, run, 3)
    stage.until(run, "decide")
    assert purposes(run) == ["plan", "decide", "decide", "remedies", "judgement", "decide"]
    assert [step.effect for step in steps(run)[:3]] == ["push", "page action", "pop"]
    recognised = records(run, 2)["recognise"]
    assert (recognised.space, recognised.state) == ("shop", "search")
    assert [frame.policy for frame in recognised.stack.frames] == ["shop", "search_shop"]
    # What the state does not offer is not permissible, whatever the policy's file allows.
    assert recognised.permissible.action("click") is None
    assert recognised.permissible.action("search").origin == "state"
    # The shop's states do not let a run stop before something is bought; a called policy may return.
    assert recognised.permissible.action("stop") is not None
    assert records(run, 1)["recognise"].permissible.action("stop") is None
    # A policy whose file has notes takes them in every state.
    assert records(run, 1)["recognise"].permissible.action("note") is not None
    assert recognised.permissible.action("note") is None
    assert "- Note what is needed" in llm_server.requests[1].texts[0]
    assert "- Note what is needed" not in llm_server.requests[2].texts[0]
    # What its file says of typing and clicking is not told in a state that has neither.
    searching = llm_server.requests[2].texts[0]
    assert 'You are the policy "search_shop"' in searching
    assert "ACTION: type [" not in searching
    assert "ACTION: search [" not in searching
    # Each frame recalls by its own assignment.
    first, own = records(run, 1)["recall"], records(run, 2)["recall"]
    assert (first.recalled_at, own.recalled_at) == (1, 2)
    assert own.recall.query.startswith("Task: steel bottle\n")
    assert records(run, 4)["recall"].recalled_at == 1
    reflection = records(run, 2)["align"].reflection
    assert [one.status for one in reflection.plan.subtasks] == ["done", "current"]
    assert [one.state for one in reflection.remedies] == ["waiting", "waiting", "tried"]


def test_a_remedy_brings_back_page_policy_stack_and_buffer(stage, llm_server):
    llm_server.script(
        PLAN,
        says("search_shop [steel bottle]"),
        says("search [nothing like it at all zzz] []"),
        says("search [steel bottle] []"),
        judged(False, effect="Nothing was found."),
        judged(True, "done"),
        says("stop [the list is there]"),
    )
    run = stage.open(llm_server, TASK, preset="combined")
    do_steps(stage, run, 5)
    assert [(step.effect, step.origin) for step in steps(run)] == [
        ("push", "agent"),
        ("page action", "agent"),
        ("go back", "remedy"),
        ("page action", "remedy"),
        ("pop", "agent"),
    ]
    restored = records(run, 3)["act"].restored
    assert (restored.step, restored.grade) == (2, "equivalent")
    back = records(run, 4)["recognise"]
    assert (back.state, back.memory.remembered) == ("search", {})
    assert [frame.policy for frame in back.stack.frames] == ["shop", "search_shop"]
    assert "steel" in steps(run)[3].action
    after = records(run, 5)["recognise"]
    assert after.memory.remembered["keywords"] == "steel bottle"
    # The frame knows what it tried.
    assert "nothing like it" in "\n".join(llm_server.requests[-1].texts)


def own_preset(stage, *changes):
    """Write the preset combined with these replacements, and return its name."""
    text = stage.services.resources.presets.get("combined").text
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (stage.config / "presets" / "own.toml").write_text(text)
    return "own"


def test_inside_a_called_policy_the_task_is_judged_by_the_task_and_the_step_by_its_assignment(
    stage, llm_server
):
    preset = own_preset(stage, ("count = 2", "count = 0"), ('"fast"', '"paper"'))
    llm_server.script(
        PLAN,
        says("search_shop [steel bottle]"),
        says("search [steel bottle] []"),
        Reply(text="The results came up.\nYES"),
        Reply(text="DONE"),
        Reply(text="NO"),
    )
    run = stage.open(llm_server, TASK, preset=preset)
    do_steps(stage, run, 2)
    task = f"Task: {run.state.episode.instruction}"
    assignment = "The policy search_shop is at work for it. Its assignment: steel bottle"
    aligned, subtask, whole = ("\n".join(one.texts) for one in llm_server.requests[3:6])
    for asked in (aligned, subtask, whole):
        assert task in asked
        assert assignment in asked
    assert "moved towards the assignment" in aligned
    # What the task has come to is told from its beginning, not from the policy's.
    assert "1. search_shop [steel bottle]" in whole
    assert "Is all of the task done?" in whole


def test_the_review_of_a_trial_that_fails_inside_a_policy_is_about_the_task(stage, llm_server):
    preset = own_preset(stage, ("count = 2", "count = 0"))
    llm_server.script(
        PLAN,
        says("search_shop [steel bottle]"),
        says("search [steel bottle] []"),
        judged(False, effect="Nothing was found."),
        Reply(text="Other words find it."),
    )
    run = stage.open(llm_server, TASK, preset=preset)
    do_steps(stage, run, 2)
    stage.until(run, "review")
    assert purposes(run)[-1] == "review"
    review = "\n".join(llm_server.requests[-1].texts)
    assert f"Task: {run.state.episode.instruction}" in review
    assert "1. search_shop [steel bottle]" in review
    assert "2. search [steel bottle]" in review


def test_a_policy_call_can_be_guarded_as_an_action_is(stage, llm_server):
    preset = own_preset(stage, ("count = 2", "count = 1\npolicies = true"))
    llm_server.script(
        PLAN,
        says("search_shop [steel bottle]"),
        says("search_shop [bottle]"),
        says("stop [] [no such bottle]"),
        judged(False, effect="It came back with nothing."),
    )
    run = stage.open(llm_server, TASK, preset=preset)
    do_steps(stage, run, 2)
    assert purposes(run) == ["plan", "decide", "remedies", "decide", "judgement"]
    judgement = "\n".join(llm_server.requests[-1].texts)
    assert "Action: search_shop [steel bottle]" in judgement
    assert "no such bottle" in judgement
    stage.step(run)
    llm_server.script(says("stop [found]"), judged(True))
    stage.step(run)
    assert [(one.effect, one.action) for one in steps(run)] == [
        ("push", "search_shop [steel bottle]"),
        ("pop", "stop [] [no such bottle]"),
        ("go back", "backtrack [1]"),
        ("push", "search_shop [bottle]"),
    ]
    assert [one.name for one in run.state.stack.frames] == ["shop", "search_shop"]


def test_several_actions_of_one_reply_are_each_guarded_and_the_rest_falls_with_a_no(
    stage, llm_server, tmp_path
):
    url = page_file(tmp_path, "<label>Name <input></label><label>City <input></label><button>Save</button>")

    def both(request):
        name, city = ref_in(request, 'textbox "Name"'), ref_in(request, 'textbox "City"')
        return says(f"type [{name}] [Oslo]", f"type [{city}] [Ada]")

    def other(request):
        name = ref_in(request, 'textbox "Name"')
        return says(f"type [{name}] [Ada]")

    llm_server.script(PLAN, both, other, judged(False), judged(True), says("stop []"))
    run = stage.open(llm_server, url=url, instruction="Fill in Ada and Oslo.", preset="combined")
    stage.to_the_end(run)
    assert [step.action.partition("[")[0].strip() for step in steps(run)] == [
        "type",
        "backtrack",
        "type",
        "stop",
    ]
    assert purposes(run) == ["plan", "decide", "remedies", "judgement", "judgement", "decide"]
    # The field was empty at the step that was gone back to.
    restored = records(run, 2)["act"].restored
    assert restored.grade == "equivalent"
    assert run.state.observation.elements


def test_an_action_of_the_state_goes_before_a_policy_of_the_same_name(stage, llm_server):
    llm_server.script(PLAN, says("go_to_find_booking"), says("find_booking [ABC]"), judged(True))
    run = stage.open(llm_server, "airline/cancel-booking", preset="combined")
    stage.until(run, "decide")
    assert run.state.permissible.action("find_booking").origin == "policy"
    stage.step(run)
    stage.until(run, "decide")
    there = run.state.permissible
    assert [one.name for one in there.actions].count("find_booking") == 1
    assert there.action("find_booking").origin == "state"
    llm_server.script(says("go_to_find_flights"))
    stage.until(run, "anticipate")
    system = llm_server.requests[-1].texts[0]
    assert "- find_booking" not in system
    assert "- cancel_booking" in system


@pytest.mark.parametrize("first", ["search_shop [steel bottle]", "search [steel bottle]"])
def test_what_a_reply_asks_for_beside_the_call_of_a_policy_is_not_done_and_its_caller_is_told(
    stage, llm_server, memory, first
):
    second = "search [cup]" if first.startswith("search_shop") else "search_shop [cup]"
    answers = [PLAN, says(first, second)]
    if first.startswith("search_shop"):
        answers += [says("stop [the list is there]", "search [bowl]")]
    else:
        answers += [says("search [bottle]"), judged()]
    llm_server.script(*answers, says("note [so far]"))
    run = stage.open(llm_server, TASK, preset="combined")
    do_steps(stage, run, 3 if first.startswith("search_shop") else 2)
    done = [step.action for step in steps(run)]
    assert done[0] == first
    assert second not in done
    assert "search [bowl]" not in done
    last = "\n".join(llm_server.requests[-1].texts)
    why = "A stop or the call of a policy has to be the only action of a reply."
    assert f"Not done: {second}. {why}" in last
    assert ("Not done: search [bowl]" in last) == first.startswith("search_shop")
    assert second in records(run, 1)["decide"].proposal.remark


def test_actions_of_a_person_that_wait_for_another_policy_or_trial_are_dropped_with_the_reason(
    stage, llm_server, memory
):
    llm_server.script(PLAN, says("search_shop [steel bottle]"), says("stop [nothing]"))
    run = stage.open(llm_server, TASK, preset="combined")
    stage.until(run, "review")
    apply_edit(run, EditQueue(actions=("search [max_price=5] [keywords: cup]",)))
    stage.step(run)
    stage.until(run, "anticipate")
    decided = records(run, 2)["decide"]
    assert decided.proposal.action == Stop(answer="nothing")
    assert decided.cut == (
        "An action that was to follow was not done: search [cup] [5]. They were meant by another policy."
    )
