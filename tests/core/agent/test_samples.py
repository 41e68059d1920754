"""Several samples for a decision: the action that most of them have is taken, and each is in the trace."""

import threading

import pytest

from core.debugger.steps.view import recorded_step
from core.schema.errors import LLMError
from tests.core.agent.traced import purposes, records, steps
from tests.core.stage import on, page_file, ref_in, stop
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser

PAGE = "<button>A</button><button>B</button><button>C</button>"


@pytest.fixture
def three(stage):
    return sampling(stage, "several_actions = false")


def sampling(stage, more, *, reply_format="tools", base="plain", samples=3):
    text = (stage.services.resources.presets._folders[0] / f"{base}.toml").read_text()
    assert "several_actions = false" in text
    text = text.replace("several_actions = false", f"samples = {samples}\n{more}")
    text = text.replace('reply_format = "auto"', f'reply_format = "{reply_format}"')
    (stage.config / "presets" / "three.toml").write_text(text)
    return "three"


def clicks(words, *more):
    """Click these buttons in one reply."""

    def answer(request):
        refs = [ref_in(request, f'button "{one}"') for one in (words, *more)]
        return Reply(text=f"{words} it is.", calls=tuple(call("click", target=ref) for ref in refs))

    return answer


def written(words, reply_format):
    def answer(request):
        ref = ref_in(request, f'button "{words}"')
        if reply_format == "json":
            return Reply(text=f'{{"thought": "So.", "actions": [{{"name": "click", "target": {ref}}}]}}')
        return Reply(text=f"REASON: So.\nACTION: click [{ref}]")

    return answer if reply_format != "tools" else clicks(words)


@pytest.mark.parametrize("reply_format", ["tools", "json", "lines"])
def test_the_action_that_most_samples_have_is_taken(stage, llm_server, tmp_path, reply_format):
    preset = sampling(stage, "several_actions = false", reply_format=reply_format)
    llm_server.script(*(written(one, reply_format) for one in "ABB"))
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=preset)
    stage.step(run)
    decided = records(run, 1)["decide"]
    assert steps(run)[0].target == 'button "B"'
    assert (decided.agreed, len(decided.votes)) == (2, 3)
    assert decided.calls == tuple(vote.call for vote in decided.votes) == (1, 2, 3)
    assert sorted(str(vote.action) == str(decided.proposal.action) for vote in decided.votes) == [
        False,
        True,
        True,
    ]


def test_each_sample_is_a_call_that_counts_with_its_tokens(stage, llm_server, three, tmp_path):
    llm_server.script(*(clicks(one) for one in "AAA"), stop(), stop(), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=three)
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    assert (row.llm_calls, row.prompt_tokens, row.completion_tokens) == (6, 600, 60)
    assert purposes(run) == ["decide"] * 6


def test_samples_are_asked_for_at_once(stage, llm_server, three, tmp_path):
    all_there = threading.Event()

    def answer(request):
        if len(llm_server.requests) == 3:
            all_there.set()
        said = clicks("A")(request)
        return Reply(text=said.text, calls=said.calls, before=all_there)

    llm_server.script(answer, answer, answer)
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=three)
    stage.step(run)
    assert records(run, 1)["decide"].agreed == 3


def test_of_actions_with_equally_many_votes_the_first_is_taken(stage, llm_server, three, tmp_path):
    llm_server.script(*(clicks(one) for one in "ABC"))
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=three)
    stage.step(run)
    decided = records(run, 1)["decide"]
    assert decided.agreed == 1
    assert decided.proposal.action == decided.votes[0].action


def test_a_sample_that_cannot_be_used_has_no_vote_and_no_repair_turn(stage, llm_server, three, tmp_path):
    llm_server.script(Reply(text="no"), Reply(text="no"), clicks("C"))
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=three)
    stage.step(run)
    decided = records(run, 1)["decide"]
    assert steps(run)[0].target == 'button "C"'
    assert purposes(run) == ["decide"] * 3
    assert sum("calls no tool" in vote.problem for vote in decided.votes) == 2


def test_where_no_sample_can_be_used_one_of_them_is_repaired(stage, llm_server, three, tmp_path):
    llm_server.script(*[Reply(text="no")] * 3, clicks("C"))
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=three)
    stage.step(run)
    decided = records(run, 1)["decide"]
    assert purposes(run) == ["decide"] * 3 + ["repair"]
    assert (decided.calls, decided.agreed) == ((1, 2, 3, 4), 0)
    assert steps(run)[0].target == 'button "C"'


def test_further_actions_are_queued_as_far_as_the_samples_that_agree_share_them(stage, llm_server, tmp_path):
    preset = sampling(stage, "several_actions = true")
    llm_server.script(clicks("A", "B", "C"), clicks("A", "B", "A"), clicks("B", "C"))
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=preset)
    stage.step(run)
    assert len(records(run, 1)["decide"].queue) == 1
    stage.step(run)
    assert records(run, 2)["decide"].from_queue
    assert records(run, 2)["decide"].votes == ()
    assert steps(run)[1].target == 'button "B"'


def test_no_more_samples_are_asked_for_than_calls_are_left(stage, llm_server, three, tmp_path):
    llm_server.script(clicks("A"), clicks("A"))
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=three, calls=2)
    stage.step(run)
    assert purposes(run) == ["decide"] * 2
    assert len(records(run, 1)["decide"].votes) == 2


def test_a_sample_that_fails_leaves_the_phase_to_be_tried_again(stage, llm_server, three, tmp_path):
    llm_server.otherwise = lambda request: (
        Reply(status=400, body="{}") if len(llm_server.requests) == 2 else clicks("A")(request)
    )
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=three)
    stage.until(run, "decide")
    with pytest.raises(LLMError):
        stage.phase(run)
    llm_server.otherwise = clicks("A")
    stage.phase(run)
    assert records(run, 1)["decide"].agreed == 3


def test_a_rationale_comes_before_each_sample_where_the_preset_asks_in_two_calls(stage, llm_server):
    sampling_laser = (stage.services.resources.presets._folders[0] / "laser.toml").read_text()
    text = sampling_laser.replace("several_actions = false", "samples = 2\nseveral_actions = false")
    (stage.config / "presets" / "two.toml").write_text(text)

    def answer(request):
        return on('button "ONE"')(request) if request.tool_names else Reply(text="ONE.")

    llm_server.otherwise = answer
    run = stage.open(llm_server, preset="two")
    stage.step(run)
    assert sorted(purposes(run)) == ["function"] * 2 + ["rationale"] * 2
    decided = records(run, 1)["decide"]
    assert (decided.agreed, sorted(decided.calls)) == (2, [1, 2, 3, 4])
    assert {vote.thought for vote in decided.votes} == {"ONE."}


def test_one_reply_a_step_is_no_vote(stage, llm_server):
    llm_server.script(on('button "ONE"'))
    run = stage.open(llm_server)
    stage.step(run)
    assert records(run, 1)["decide"].votes == ()


def test_the_view_of_a_step_tells_how_many_samples_agreed_and_what_each_said(
    stage, llm_server, three, tmp_path
):
    llm_server.script(clicks("A"), clicks("A"), Reply(text="no"))
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), preset=three)
    stage.step(run)
    store, row = run.store, run.store.run(run.state.run)
    votes = recorded_step(store, row.run, 1).action.votes
    action = str(records(run, 1)["decide"].proposal.action)
    assert votes[0] == "2 of 3 samples agreed"
    assert sorted(one.split(": ", 1)[1].split(":")[0] for one in votes[1:]) == [
        action,
        action,
        "not usable",
    ]
