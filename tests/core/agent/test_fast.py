"""Fast mode: the same records with fewer calls in a row."""

import threading
from dataclasses import replace

import pytest

from core.agent.edits.reflection import StartNewTrial
from core.agent.edits.run_edits import apply_edit
from core.schema.action import Goto
from tests.core.agent.traced import purposes, records
from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser


@pytest.fixture
def fast(stage):
    text = stage.services.resources.presets.get("reflect").text
    text = text.replace('mode = "paper"', 'mode = "fast"\nahead = "never"')
    (stage.config / "presets" / "fast.toml").write_text(text)
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


def test_a_reply_that_is_no_judgement_is_asked_for_once_more_and_then_counts_as_no(
    stage, llm_server, fast, page
):
    unsure = Reply(text="I am not sure what to say.")
    llm_server.script(
        *together(Reply(text="1. Open the orders"), clicks('link "Orders"')),
        clicks('link "Archive"'),
        unsure,
        unsure,
    )
    run = stage.open(llm_server, url=page, instruction="Find the order number.", preset=fast)
    stage.step(run)
    aligned = records(run, 1)["align"]
    assert (aligned.judged, aligned.aligned, aligned.task_done) == (True, None, None)
    assert aligned.unclear == ("aligned", "subtask", "task")
    assert run.state.reflection.scheduled.kind == "go back"


def after_a_yes(stage, llm_server, fast, page, go_on):
    """Return a run whose first step was judged right, with its remedies out until `go_on`."""
    llm_server.script(
        *together(Reply(text="1. Open the orders"), clicks('link "Archive"')),
        clicks('link "Orders"', before=go_on),
        judged(True),
    )
    run = stage.open(llm_server, url=page, instruction="Find the order number.", preset=fast)
    run.state.overlap = True
    stage.step(run)
    return run


def test_a_yes_does_not_wait_for_remedies_which_come_in_later_under_those_of_later_steps(
    stage, llm_server, fast, page
):
    go_on = threading.Event()
    run = after_a_yes(stage, llm_server, fast, page, go_on)
    assert run.state.number == 2
    assert records(run, 1)["anticipate"].remedies == ()
    go_on.set()
    llm_server.script(
        lambda request: Reply(text="REASON: So.\nACTION: go_back"), Reply(text="REASON: None."), judged(False)
    )
    stage.step(run)
    # The no of the second step needed them: they were waited for, and are what is tried next.
    assert len(records(run, 1)["anticipate"].remedies) == 1
    assert run.state.reflection.scheduled.kind == "go back"
    (waiting,) = [one for one in run.state.reflection.remedies.entries if one.state == "chosen"]
    assert (waiting.step, waiting.target) == (1, 'link "Orders"')
    tried = [one for one in run.state.reflection.remedies.entries if one.state == "tried"]
    assert [(one.step, one.why) for one in tried] == [(1, "At step 1.")]


def test_remedies_of_a_trial_that_has_ended_do_not_come_into_the_next_one(stage, llm_server, fast, page):
    go_on = threading.Event()
    run = after_a_yes(stage, llm_server, fast, page, go_on)
    apply_edit(run, StartNewTrial())
    go_on.set()
    llm_server.script(Reply(text="The archive is of no use."))
    stage.step(run)
    assert run.state.trial == 2
    assert run.state.reflection.remedies.waiting == ()


def next_links(folder, count):
    """Write a chain of pages, and return the URL of the first."""
    for number in range(count + 1):
        page_file(folder, f'<h1>Page {number}</h1><a href="{number + 1}.html">Next</a>', f"{number}.html")
    return (folder / "0.html").as_uri()


def any_question(held=(), judgement=None):
    """Answer whatever is asked; questions whose last message has one of the words of `held` wait for its event."""

    def answer(request):
        asked = "\n".join(request.texts)
        before = next((event for words, event in held if words in asked), None)
        if "response_format" in request.body:
            reply = judgement or judged(True)
        elif "Write a numbered list" in asked:
            reply = Reply(text="1. Go through the pages\n2. Read the last one")
        elif "turns out wrong" in asked:
            reply = Reply(text="REASON: None.")
        else:
            reply = clicks('link "Next"')(request)
        return replace(reply, before=before)

    return answer


@pytest.fixture
def ahead(stage):
    text = stage.services.resources.presets.get("reflect").text
    text = text.replace('mode = "paper"', 'mode = "fast"').replace("count = 2", "count = 0")
    (stage.config / "presets" / "ahead.toml").write_text(text)
    return "ahead"


def open_ahead(stage, llm_server, folder, preset, steps=3):
    run = stage.open(
        llm_server,
        url=next_links(folder, steps),
        instruction="Read the last page.",
        preset=preset,
        steps=steps,
    )
    run.state.overlap = True
    return run


def calls_of(run):
    return [(one.step, one.purpose, one.error.partition(":")[0]) for one in run.store.calls.of(run.state.run)]


def test_the_next_action_is_asked_for_while_the_step_is_judged_once_for_each_way_it_may_end(
    stage, llm_server, ahead, tmp_path
):
    judging = threading.Event()
    llm_server.otherwise = any_question([("Judge it by the page", judging)])
    run = open_ahead(stage, llm_server, tmp_path, ahead)
    stage.until(run, "align")
    begun = stage.thread.start(run.advance())
    # The judgement is out, and both questions for the next action have come.
    llm_server.wait_for_requests(5)
    assert sorted(one for _, one, _ in calls_of(run)[2:]) == ["decide", "decide", "judgement"]
    open_, done = (
        "\n".join(one.texts) for one in llm_server.requests[2:] if "response_format" not in one.body
    )
    assert "Go through the pages (current)" in open_
    assert "Read the last one (current)" in done
    judging.set()
    begun.result(30)
    stage.until(run, "review")
    early = [one for one in run.store.calls.of(run.state.run) if one.step == 2]
    assert len(early) == 2
    (used,) = records(run, 2)["decide"].calls
    assert used in [one.number for one in early]
    assert len(llm_server.requests) == 5  # Nothing was asked again.


def test_a_judgement_of_no_withdraws_what_was_asked_ahead(stage, llm_server, ahead, tmp_path):
    never = threading.Event()
    held, judging = any_question([('heading "Page 1"', never)]), any_question(judgement=judged(False))

    def answer(request):
        return (judging if "response_format" in request.body else held)(request)

    llm_server.otherwise = answer
    run = open_ahead(stage, llm_server, tmp_path, ahead)
    stage.step(run)
    early = [one for one in run.store.calls.of(run.state.run) if (one.step, one.purpose) == (2, "decide")]
    assert [one.error.partition(":")[0] for one in early] == ["cancelled", "cancelled"]
    assert all(one.usage.estimated and one.usage.prompt_tokens > 100 for one in early)
    assert run.state.reflection.scheduled.kind == "new trial"
    never.set()


def test_nothing_is_asked_ahead_where_a_decision_takes_several_samples(stage, llm_server, ahead, tmp_path):
    path = stage.config / "presets" / "ahead.toml"
    path.write_text(path.read_text().replace("several_actions", "samples = 2\nseveral_actions", 1))
    llm_server.otherwise = any_question()
    run = open_ahead(stage, llm_server, tmp_path, ahead)
    stage.step(run)
    assert [one for one in run.store.calls.of(run.state.run) if one.step == 2] == []
    assert records(run, 1)["decide"].agreed == 2


def test_a_page_that_has_changed_meanwhile_is_asked_about_anew(stage, llm_server, ahead, tmp_path):
    llm_server.otherwise = any_question()
    run = open_ahead(stage, llm_server, tmp_path, ahead)
    stage.step(run)
    run.look_again()
    page_file(tmp_path, '<h1>Page 1</h1><p>New</p><a href="2.html">Next</a>', "1.html")
    stage.thread.run(run.world.actor.act(Goto(url=(tmp_path / "1.html").as_uri())))
    stage.until(run, "review")
    decided = records(run, 2)["decide"]
    asked = [one for one in run.store.calls.of(run.state.run) if one.step == 2]
    assert decided.calls == (asked[-1].number,)
    assert "New" in "\n".join(llm_server.requests[-1].texts)


@pytest.mark.parametrize(
    ("ahead_is", "cost", "early"), [("free", 0.5, 0), ("always", 0.5, 2), ("never", None, 0)]
)
def test_a_priced_llm_is_asked_ahead_only_where_that_is_switched_on(
    stage, llm_server, ahead, tmp_path, ahead_is, cost, early
):
    path = stage.config / "presets" / "ahead.toml"
    path.write_text(path.read_text().replace("[judgement]", f'[judgement]\nahead = "{ahead_is}"'))
    llm_server.otherwise = any_question()
    run = open_ahead(stage, llm_server, tmp_path, ahead)
    stage.until(run, "align")
    run.state.totals.cost = cost
    stage.phase(run)
    assert sum(1 for step, purpose, _ in calls_of(run) if (step, purpose) == (2, "decide")) == early


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
