"""Fast mode: the same records with fewer calls in a row."""

import threading

import pytest

from tests.core.agent.traced import purposes, records
from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser


@pytest.fixture
def fast(stage):
    text = stage.services.resources.presets.get("reflect").text
    (stage.config / "presets" / "fast.toml").write_text(text.replace('mode = "paper"', 'mode = "fast"'))
    return "fast"


@pytest.fixture
def page(tmp_path):
    page_file(tmp_path, "<h1>Orders</h1><p>Order number 4711</p>", "orders.html")
    page_file(tmp_path, "<h1>Archive</h1>", "archive.html")
    return page_file(
        tmp_path, '<a href="archive.html">Archive</a> <a href="orders.html">Orders</a>', "start.html"
    )


def clicks(words, **more):
    def answer(request):
        return Reply(text=f"REASON: So.\nACTION: click [{ref_in(request, words)}]", **more)

    return answer


def together(plan, decided):
    """Return the answers to the questions for a plan and an action, which are sent at once: either may come first."""

    def answer(request):
        return decided(request) if any("ACTION:" in text for text in request.texts) else plan

    return answer, answer


def judged(aligned, subtask="open", task_done=False):
    said = f'{{"effect": "A page came up.", "aligned": {aligned}, "subtask": "{subtask}", "task_done": {task_done}}}'
    return Reply(text=said.replace("True", "true").replace("False", "false"))


def test_four_judgements_are_one_structured_reply(stage, llm_server, fast, page):
    llm_server.script(
        *together(Reply(text="1. Open the orders\n2. Read the number"), clicks('link "Archive"')),
        clicks('link "Orders"'),
        judged(False),
        judged(True, "done", True),
        Reply(text="4711"),
    )
    run = stage.open(llm_server, url=page, instruction="Find the order number.", preset=fast)
    stage.to_the_end(run)
    assert (run.outcome, run.state.answer) == ("done", "4711")
    assert purposes(run) == ["plan", "decide", "remedies", "judgement", "judgement", "answer"]
    schema = llm_server.requests[3].body["response_format"]["json_schema"]["schema"]
    assert sorted(schema["properties"]) == ["aligned", "effect", "subtask", "task_done"]
    first, second = records(run, 1)["align"], records(run, 3)["align"]
    assert (first.sentence, first.aligned, first.subtask_done, first.task_done) == (
        "A page came up.",
        False,
        False,
        False,
    )
    assert (second.aligned, second.subtask_done, second.task_done) == (True, True, True)


def test_remedies_are_asked_for_while_the_action_runs_and_their_record_is_completed(
    stage, llm_server, fast, page
):
    go_on = threading.Event()
    llm_server.script(
        *together(Reply(text="1. Open the orders"), clicks('link "Archive"')),
        clicks('link "Orders"', before=go_on),
        judged(False),
    )
    run = stage.open(llm_server, url=page, instruction="Find the order number.", preset=fast)
    run.state.overlap = True
    stage.until(run, "align")
    # The action is done, and the remedies are still being thought of.
    anticipated = records(run, 1)["anticipate"]
    assert (anticipated.beside, anticipated.remedies) == (True, ())
    assert records(run, 1)["act"].outcome == "done"
    assert "archive.html" in run.state.observation.url
    go_on.set()
    stage.step(run)
    anticipated = records(run, 1)["anticipate"]
    assert anticipated.beside
    assert len(anticipated.remedies) == 1
    assert [record.phase for record in run.store.step(run.state.run, 1).records][5:9] == [
        "anticipate",
        "review",
        "act",
        "align",
    ]
    assert run.state.reflection.scheduled.kind == "go back"
    committed = records(run, 1)["commit"]
    assert committed.seconds_in_llm <= committed.seconds


def test_by_hand_nothing_overlaps(stage, llm_server, fast, page):
    llm_server.script(
        *together(Reply(text="1. Open the orders"), clicks('link "Archive"')), clicks('link "Orders"')
    )
    run = stage.open(llm_server, url=page, instruction="Find the order number.", preset=fast)
    stage.until(run, "review")
    assert len(records(run, 1)["anticipate"].remedies) == 1


def test_an_overlapped_question_that_fails_leaves_the_step_to_be_judged(stage, llm_server, fast, page):
    llm_server.script(
        *together(Reply(text="1. Open the orders"), clicks('link "Orders"')),
        Reply(status=400, body='{"error": {"message": "too many tokens"}}'),
        judged(True, "done", True),
    )
    run = stage.open(llm_server, url=page, instruction="Find the order number.", preset=fast)
    run.state.overlap = True
    stage.step(run)
    anticipated = records(run, 1)["anticipate"]
    assert "too many tokens" in anticipated.problem
    assert records(run, 1)["align"].task_done is True


def test_a_reply_that_is_no_judgement_is_reported_as_not_known_and_schedules_nothing(
    stage, llm_server, fast, page
):
    llm_server.script(
        *together(Reply(text="1. Open the orders"), clicks('link "Orders"')),
        clicks('link "Archive"'),
        Reply(text="I am not sure what to say."),
    )
    run = stage.open(llm_server, url=page, instruction="Find the order number.", preset=fast)
    stage.step(run)
    aligned = records(run, 1)["align"]
    assert (aligned.judged, aligned.aligned, aligned.task_done) == (True, None, None)
    assert run.state.reflection.scheduled is None


def test_a_long_page_is_shortened_before_it_is_judged_and_the_record_says_by_what(
    stage, llm_server, tmp_path
):
    rows = "".join(f"<p>Row {number} with some words in it</p>" for number in range(300))
    page_file(tmp_path, f"<h1>Orders</h1>{rows}", "orders.html")
    start = page_file(tmp_path, f'<a href="orders.html">Orders</a>{rows}', "start.html")
    preset = stage.services.resources.presets.get("reflect").text.replace("count = 2", "count = 0")
    preset = preset.replace("summarise_above = 3000", "summarise_above = 500")
    (stage.config / "presets" / "short.toml").write_text(preset)
    (stage.config / "presets" / "shortfast.toml").write_text(
        preset.replace('"paper"', '"fast"', 1).replace('mode = "paper"', 'mode = "fast"')
    )
    llm_server.script(
        *together(Reply(text="1. Open the orders"), clicks('link "Orders"')),
        Reply(text="There is one link, Orders."),
        Reply(text="The list of orders."),
        Reply(text="The orders came up.\nYES"),
        Reply(text="DONE"),
        Reply(text="NO"),
    )
    run = stage.open(llm_server, url=start, instruction="Open the orders.", preset="short")
    stage.step(run)
    assert purposes(run) == ["plan", "decide", "summarise", "summarise", "aligned", "subtask", "task"]
    assert records(run, 1)["align"].summarised == "a summary by the LLM"
    aligned = llm_server.requests[4].texts[-1]
    assert "There is one link, Orders." in aligned
    assert "Row 250" not in aligned

    llm_server.reset()
    llm_server.script(Reply(text="1. Open the orders"), clicks('link "Orders"'), judged(True))
    run = stage.open(llm_server, url=start, instruction="Open the orders.", preset="shortfast")
    stage.step(run)
    assert purposes(run) == ["plan", "decide", "judgement"]
    assert records(run, 1)["align"].summarised == "ranking by the task's words"
