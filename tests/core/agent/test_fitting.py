"""Prompts that are longer than the LLM takes: what is left out, and how it is told."""

import json

import pytest

from core.schema.errors import LLMError
from tests.core.agent.test_decision import own_preset
from tests.core.agent.traced import purposes, records, steps, view
from tests.core.stage import page_file, stop
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser

TOO_LONG = Reply(
    status=400,
    body=json.dumps({"error": {"message": "This model's maximum context length is 900 tokens."}}),
)
BUTTONS = "".join(f"<button>Choice {number} of many that are alike</button>" for number in range(80))
WAIT = Reply(calls=(call("click", target=1, thought="Once more."),))


def short_of(most, reply):
    """Return what a server answers that takes so many characters of a prompt at most."""

    def answer(request):
        if sum(map(len, request.texts)) <= most:
            return reply
        return TOO_LONG

    return answer


def test_earlier_steps_go_before_elements_and_the_run_goes_on(stage, llm_server, tmp_path):
    run = stage.open(llm_server, url=page_file(tmp_path, BUTTONS))
    llm_server.otherwise = WAIT
    for _ in range(4):
        stage.step(run)
    whole = max(sum(map(len, request.texts)) for request in llm_server.requests)
    llm_server.otherwise = short_of(whole - 1500, WAIT)
    stage.step(run)
    assert run.state.shortened.steps == 0
    assert run.state.shortened.elements == 40
    step = steps(run)[4]
    assert step.outcome == "done"
    cut = view(run, 5).action.cut
    assert cut == (
        "The prompt was longer than the LLM takes: from now on it has at most no earlier steps, "
        "40 elements of the page."
    )
    shown = records(run, 5)["abstract"]
    assert len([one for one in shown.clean.elements if one.usable]) <= 40
    assert shown.clean.text in llm_server.requests[-1].texts[-1]
    assert "are not shown" in shown.clean.text
    # It holds in the next step: nothing too long is sent again.
    before = len(llm_server.requests)
    stage.step(run)
    assert len(llm_server.requests) == before + 1
    assert view(run, 6).action.cut == ""


def test_exemplars_go_first_and_the_nearest_last(stage, llm_server, tmp_path):
    own_preset(stage, "own", 'reply_format = "schema"', 'reply_format = "lines"', base="synapse")
    llm_server.otherwise = Reply(text="ACTION: scroll [down]")
    run = stage.open(llm_server, "miniwob/click-button", preset="own")
    run.switch("abstraction", on=False)
    stage.until(run, "decide")
    used = [one.id for one in run.state.recalled.recall.used]
    assert len(used) > 1
    stage.phase(run)
    whole = sum(map(len, llm_server.requests[-1].texts))
    run = stage.open(llm_server, "miniwob/click-button", preset="own")
    run.switch("abstraction", on=False)
    llm_server.otherwise = short_of(whole - 10, Reply(text="ACTION: scroll [down]"))
    stage.until(run, "anticipate")
    left = run.state.shortened.exemplars
    assert left == len(used) // 2
    request = run.store.calls.of(run.state.run)[-1]
    assert request.error == ""
    assert run.state.shortened.steps is None
    assert records(run, 1)["decide"].cut.startswith("The prompt was longer than the LLM takes")


def test_a_run_that_is_taken_up_again_sends_nothing_that_was_too_long(stage, llm_server, tmp_path):
    run = stage.open(llm_server, url=page_file(tmp_path, BUTTONS))
    llm_server.otherwise = short_of(2500, WAIT)
    stage.step(run)
    shortened = run.state.shortened
    assert shortened.elements is not None
    kept = json.loads(run._keeper.json_of(run.state))
    assert kept["shortened"]["elements"] == shortened.elements


def test_where_nothing_is_left_to_leave_out_the_server_s_words_are_told(stage, llm_server, tmp_path):
    run = stage.open(llm_server, url=page_file(tmp_path, BUTTONS))
    llm_server.otherwise = TOO_LONG
    with pytest.raises(LLMError, match="maximum context length is 900 tokens"):
        stage.step(run)
    assert run.state.shortened.elements == 10


@pytest.mark.parametrize("mode", ["paper", "fast"])
def test_plans_and_judgements_that_are_too_long_are_shortened_too(stage, llm_server, tmp_path, mode):
    own_preset(stage, "own", 'mode = "paper"', f'mode = "{mode}"', base="reflect")
    said = {
        "plan": "1. Press a choice.",
        "decide": "REASON: It is next.\nACTION: click [1]",
        "remedies": "none",
        "aligned": "It was pressed.\nYES",
        "subtask": "OPEN",
        "task": "NO",
        "judgement": '{"effect": "Pressed.", "aligned": true, "subtask": "open", "task_done": false}',
    }

    def answer(request):
        if sum(map(len, request.texts)) > 4500:
            return TOO_LONG
        return Reply(text=said[run.asking.purpose])

    llm_server.otherwise = answer
    run = stage.open(llm_server, url=page_file(tmp_path, BUTTONS), preset="own")
    stage.step(run)
    assert run.state.shortened.elements is not None
    assert records(run, 1)["align"].aligned is True
    assert {"plan", "decide"} <= set(purposes(run))


def test_a_repair_turn_that_is_too_long_leaves_the_reply_s_own_problem(stage, llm_server, tmp_path):
    answers = iter([Reply(text="I would rather not."), TOO_LONG, TOO_LONG, stop(), stop()])
    llm_server.otherwise = lambda request: next(answers)
    run = stage.open(llm_server, url=page_file(tmp_path, BUTTONS))
    stage.step(run)
    first = steps(run)[0]
    assert (first.outcome, first.effect) == ("failed", "none")
    assert records(run, 1)["decide"].calls == (1,)


def test_unusable_replies_which_every_prompt_tells_do_not_keep_elements_from_being_left_out(
    stage, llm_server, tmp_path
):
    run = stage.open(llm_server, url=page_file(tmp_path, BUTTONS), calls=40)
    llm_server.otherwise = WAIT
    stage.step(run)
    llm_server.otherwise = Reply(text="I would rather not.")
    stage.step(run)
    stage.step(run)
    llm_server.otherwise = short_of(3000, WAIT)
    stage.step(run)
    assert steps(run)[-1].outcome == "done"
    assert run.state.shortened.elements is not None


def test_another_llm_is_shown_all_again(stage, llm_server, tmp_path):
    run = stage.open(llm_server, url=page_file(tmp_path, BUTTONS))
    llm_server.otherwise = short_of(2500, WAIT)
    stage.step(run)
    assert run.state.shortened.llm == "test"
    run.use(llm=run._asker.llm)
    assert run.state.shortened.elements is None
    llm_server.otherwise = WAIT
    stage.step(run)
    assert view(run, 2).action.cut == ""
    assert records(run, 2)["abstract"].how == ""
