import asyncio
import re
import threading
from contextlib import closing

import pytest

from core.llm.openai_compatible import OpenAICompatibleLLM
from core.schema.step import PHASES
from core.trace.store import TraceStore
from tests.core.stage import on, page_file, stop
from tests.core.trace.making import start, write_run, write_step
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser

BUY = "<button onclick=\"document.title='bought'\">Place your order</button><button>Other</button>"
GO = "<button onclick=\"document.title='touched'\">Go</button><input aria-label=Name>"


def test_a_task_is_opened_without_the_llm_and_a_step_stops_at_review_and_the_next_carries_it_out(
    live, server
):
    live.open()
    assert (live.view.task, live.view.seed, live.view.judged) == ("miniwob/click-test-2", 0, True)
    assert "ONE" in live.view.instruction
    assert server.requests == []
    assert 'button "ONE"' in live.step.observation.raw
    assert live.step.screenshot.data
    assert len(live.page.outlines) == 2
    assert live.runs.current == live.view.run
    server.script(on('button "ONE"', thought="ONE."))
    step = live.to_review()
    assert (step.action.thought, step.action.editable, step.action.outcome) == ("ONE.", True, "pending")
    assert step.permissible.chosen == step.action.action
    assert [one.ref for one in live.page.outlines if one.chosen] == [step.permissible.chosen_ref]
    live.session.run_commands.step()
    view = live.wait_mode("ended")
    assert (view.success, view.reward, view.message) == (True, 1.0, "The run has ended: success, reward 1.")
    assert live.steps(view.run)[0].outcome == "done"


def test_phases_can_be_done_one_by_one(live, server):
    server.script(on('button "ONE"'))
    live.open()
    for phase in PHASES[4:-1]:
        live.wait_phase(phase)
        live.session.run_commands.phase()
    live.wait_phase("commit")
    live.session.run_commands.phase()
    assert live.wait_mode("ended").success is True


def test_a_run_goes_on_to_its_end(live, server, tmp_path):
    server.script(on('button "Go"'), on('textbox "Name"', "type", text="x"), stop("done it"))
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.session.run_commands.run()
    view = live.wait_mode("ended")
    assert (view.answer, view.success, view.judged) == ("done it", None, False)
    assert [step.outcome for step in live.steps(view.run)] == ["done"] * 3
    assert "say how it ended" in view.message
    live.session.run_commands.end(True)
    live.wait(lambda: live.view.success is True)
    assert live.row(view.run).verdict.judge == "person"
    assert live.interventions(view.run) == [("end", "not judged", "success", "tester")]
    live.session.run_commands.end(False)
    live.wait(lambda: live.view.success is False)
    assert live.row(view.run).verdict.success is False


def test_why_a_run_was_no_success_is_said_and_stays_said(live, server):
    server.script(stop("nothing"))
    live.open("shop/goal-000")
    live.session.run_commands.run()
    said = live.wait_mode("ended").message
    assert said.endswith(": no success, reward 0. Nothing was bought.")
    live.session._on_embedded(50, 50)  # Exemplars are indexed.
    live.settle()
    assert live.view.message == said
    live.session.run_commands.step()
    live.wait(lambda: "has ended" in live.told)
    assert live.view.message == said


def test_the_person_may_end_a_run_that_is_still_going(live, server, tmp_path):
    server.script(Reply(hold=True))
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.session.run_commands.run()
    server.wait_for_requests(1)
    live.session.run_commands.end(True)
    view = live.wait_mode("ended")
    assert (live.row(view.run).outcome, live.row(view.run).verdict.success) == ("stopped", True)


def test_pause_takes_hold_at_the_next_boundary(live, server):
    release = threading.Event()
    server.script(Reply(text="", calls=(call("wait", seconds=0),), before=release))
    live.open()
    live.session.run_commands.run()
    server.wait_for_requests(1)
    live.session.run_commands.pause()
    live.wait(lambda: "Pausing" in live.view.message)
    release.set()
    live.wait_phase("anticipate")
    assert live.view.mode == "waiting"


def test_a_second_pause_cancels_the_call_and_the_step_can_be_asked_again(live, server):
    server.script(Reply(hold=True), on('button "ONE"'))
    live.open()
    live.session.run_commands.run()
    server.wait_for_requests(1)
    live.session.run_commands.pause()
    live.session.run_commands.pause()
    live.wait_phase("decide")
    assert "cancelled" in live.view.message
    server.wait_for_disconnects(1)
    live.session.run_commands.run()
    assert live.wait_mode("ended").success is True


def test_a_pause_ends_the_wait_between_two_steps(live, server, tmp_path):
    server.otherwise = Reply(calls=(call("note", text="x"),))
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.session.run_commands.set_pace(600)
    live.session.run_commands.run()
    live.wait(lambda: live.view.phase == "observe" and live.view.step == 2)
    live.session.run_commands.pause()
    live.wait_mode("waiting")
    assert live.view.phase == "observe"


def test_stopping_in_the_middle_of_a_call_ends_the_run_as_stopped(live, server):
    server.script(Reply(hold=True))
    live.open()
    live.session.run_commands.run()
    server.wait_for_requests(1)
    live.session.run_commands.stop()
    view = live.wait_mode("ended")
    assert live.row(view.run).outcome == "stopped"
    assert view.success is None
    server.wait_for_disconnects(1)
    live.session.run_commands.run()
    live.wait(lambda: "has ended" in live.told and live.view.mode == "ended")


def test_opening_another_task_ends_the_run_under_way(live, server):
    server.script(Reply(hold=True))
    live.open()
    first = live.view.run
    live.session.run_commands.run()
    server.wait_for_requests(1)
    live.open("miniwob/click-button", seed=3)
    assert live.row(first).outcome == "stopped"
    assert live.view.task == "miniwob/click-button"
    assert live.view.phase == "decide"


def test_only_the_last_of_several_tasks_opened_in_haste_stays_open(live, server):
    for task in ("miniwob/click-test", "miniwob/click-button", "miniwob/enter-text"):
        live.session.tasks.open(task, 1)
    live.wait(lambda: live.view.task == "miniwob/enter-text" and live.view.phase == "decide")
    live.wait_mode("waiting")
    store = live.store()
    running = [one.task for one in store.runs() if one.outcome == "running"]
    store.close()
    assert running == ["miniwob/enter-text"]


def test_a_task_that_cannot_be_opened_says_why(live, server):
    for task, url, said in (
        ("miniwob/clik-test", "", "miniwob/click-test"),
        ("web/open", "", "needs"),
        ("web/open", "http://127.0.0.1:9/", "could not be opened"),
    ):
        live.session.tasks.open(task, 0, url=url, instruction="Go." if url else "")
        live.wait(lambda said=said: live.view.mode == "failed" and said in live.view.message, said)
    live.open()
    assert live.view.mode == "waiting"


def test_a_call_that_fails_in_any_way_leaves_the_phase_to_be_tried_again(live, server, monkeypatch):
    live.open()
    for reply, words in (
        (Reply(status=500, body='{"error": {"message": "overloaded"}}'), "overloaded"),
        (Reply(body="[" * 100_000), "sent something that is not JSON"),
        (Reply(body='{"error": {"message": "busy", "code": "²"}}'), "broke off with an error: busy"),
    ):
        server.otherwise = reply
        live.session.run_commands.run()
        live.wait(lambda words=words: live.view.mode == "failed" and words in live.view.message, words)
    live.wait(lambda: live.step.calls and live.step.calls[0].record.error)

    def broken(_, asked, *__) -> None:
        asked._api_request.close()  # Else Python complains that it was never awaited.
        raise RecursionError("too deep")

    with monkeypatch.context() as patched:
        patched.setattr(OpenAICompatibleLLM, "_read", broken)
        live.session.run_commands.run()
        live.wait(lambda: live.view.mode == "failed" and "RecursionError" in live.view.message)
    assert live.view.message == (
        "RecursionError: too deep. This is an internal error, and the log has the details; step again, "
        "or open the task again."
    )
    server.otherwise = on('button "ONE"')
    live.session.run_commands.run()
    assert live.wait_mode("ended").success is True


def test_the_llm_and_the_preset_can_be_changed_in_the_middle(live, server, tmp_path):
    note = Reply(calls=(call("note", text="x"),))
    server.script(note, Reply(text="I stop."), stop())
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.to_review()
    live.session.agent.set_preset("laser")
    live.session.agent.set_llm("other")
    live.session.corrections.accept()
    live.wait_phase("observe")
    live.session.run_commands.run()
    run = live.wait_mode("ended").run
    store = live.store()
    calls = store.calls.of(run)
    store.close()
    assert [one.purpose for one in calls] == ["decide", "rationale", "function"]
    assert [one.llm for one in calls] == ["test", "other", "other"]


def test_a_preset_chosen_before_anything_is_decided_holds_at_once(live, server):
    server.script(Reply(text="ONE."), on('button "ONE"'))
    live.open()
    live.session.agent.set_preset("laser")
    live.session.run_commands.run()
    assert live.wait_mode("ended").success is True
    assert live.step.state.space == "general"


def test_an_unknown_choice_is_refused_and_the_run_goes_on(live, server):
    server.script(on('button "ONE"'))
    live.open()
    for command, name, said in (
        (live.session.agent.set_preset, "lazer", "did you mean laser"),
        (live.session.agent.set_llm, "tset", "did you mean test"),
    ):
        command(name)
        live.wait(lambda said=said: said in live.view.message, said)
    assert live.view.mode == "waiting"
    live.session.run_commands.run()
    assert live.wait_mode("ended").success is True


def test_runs_are_searched_and_exported(live, server, tmp_path):
    server.script(stop("zebra"))
    live.open()
    run = live.view.run
    live.session.run_commands.run()
    live.wait_mode("ended")
    live.session.trace.search_runs("zebra")
    live.wait(lambda: live.runs.query == "zebra")
    assert [one.run for one in live.runs.runs] == [run]
    # What is announced once more leaves the search and the step that is looked at.
    live.session.trace.show_step(run, 1)
    live.wait(lambda: live.step.number == 1 and not live.step.live)
    live.session.announce()
    live.settle()
    assert (live.runs.query, live.step.number, live.step.live) == ("zebra", 1, False)
    live.session.trace.search_runs("no such word")
    live.wait(lambda: live.runs.query == "no such word")
    assert live.runs.runs == ()
    for form in ("json", "html"):
        path = tmp_path / f"run.{form}"
        live.session.trace.export_run(run, form, str(path))
        live.wait(lambda path=path: str(path) in live.told)
        assert "zebra" in path.read_text()
    live.session.trace.export_run(run, "html", str(tmp_path / "no" / "folder.html"))
    live.wait(lambda: "cannot be written" in live.told)
    # A run that is imported leaves the search, too.
    path = tmp_path / "recording.json"
    path.write_text('{"title": "lamp", "steps": [{"type": "click", "selectors": [["#go"]]}]}')
    live.session.trace.import_run(str(path))
    live.wait(lambda: live.step.run not in (0, run), "the imported run")
    live.settle()
    assert live.runs.query == "no such word"


def test_the_budget_of_steps_can_be_changed_while_it_runs(live, server, tmp_path):
    server.otherwise = on('button "Go"')
    live.session.run_commands.set_max_steps(2)
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.session.run_commands.step()
    live.wait_phase("review")
    assert (live.view.page_actions, live.view.most_page_actions) == (0, 2)
    live.session.run_commands.set_max_steps(1)
    live.wait(lambda: live.view.most_page_actions == 1)
    live.session.run_commands.run()
    view = live.wait_mode("ended")
    assert (view.step, view.page_actions, live.row(view.run).outcome) == (1, 1, "budget")


def test_an_action_that_cannot_be_undone_waits_until_it_is_taken_knowingly(live, server, tmp_path):
    server.script(on('button "Place your order"'), stop())
    live.open("web/open", url=page_file(tmp_path, BUY), instruction="Buy.")
    live.session.run_commands.run()
    live.wait(lambda: live.view.mode == "waiting" and "cannot be undone" in live.view.message)
    live.session.run_commands.run()
    live.settle()
    live.wait(lambda: live.view.mode == "waiting" and "cannot be undone" in live.view.message)
    assert live.steps(live.view.run)[0].outcome == "pending"
    live.session.corrections.accept()
    live.wait_phase("observe")
    assert live.steps(live.view.run)[0].outcome == "done"
    live.session.run_commands.run()
    view = live.wait_mode("ended")
    store = live.store()
    reviewed = next(one for one in store.step(view.run, 1).records if one.phase == "review")
    store.close()
    assert "the person accepted it" in reviewed.note


def test_a_crash_of_the_page_is_an_event_and_the_run_goes_on(live, server, tmp_path):
    server.script(on('button "Go"'), stop("survived"))
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.to_review()
    loop, page = live.session._worker.loop, live.session.services().tabs.current

    async def crash():
        try:
            await page.playwright_page.goto("chrome://crash", timeout=3000)
        except Exception as error:
            return str(error)

    asyncio.run_coroutine_threadsafe(crash(), loop).result(30)
    live.session.corrections.accept()
    live.wait(lambda: live.view.mode in ("waiting", "failed") and live.view.phase == "observe")
    assert live.steps(live.view.run)[0].outcome == "failed"
    live.session.run_commands.run()
    view = live.wait_mode("ended", "failed")
    assert (view.mode, view.answer) == ("ended", "survived"), view.message


def test_an_error_in_an_edited_prompt_is_reported_and_can_be_mended(live, server):
    path = live.config / "prompts" / "plain" / "system.j2"
    server.script(on('button "ONE"'))
    live.open()
    path.write_text("{{ objektive }}")
    live.session.run_commands.run()
    view = live.wait_mode("failed")
    assert re.search(r"system.j2, line 1: .*did you mean objective", view.message)
    path.unlink()
    live.session.run_commands.run()
    assert live.wait_mode("ended").success is True


def test_the_figures_of_the_session_are_those_of_the_trace(live, server, tmp_path):
    server.script(Reply(calls=(call("note", text="x"),)), stop())
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.session.run_commands.run()
    view = live.wait_mode("ended")
    stored = live.row(view.run)
    assert (view.calls, view.tokens) == (stored.llm_calls, stored.prompt_tokens + stored.completion_tokens)
    assert view.step == stored.steps == 2
    assert view.beside_llm_ms > 0


def test_what_a_failed_attempt_has_said_is_gone_once_the_llm_is_asked_again(live, server, monkeypatch):
    monkeypatch.setattr(
        OpenAICompatibleLLM, "attempts", property(lambda _: 2, lambda *_: None), raising=False
    )
    server.say("words that come to nothing", break_after=2)
    server.script(Reply(text="the whole answer", hold_after=2))
    live.open()
    live.session.run_commands.step()
    live.wait(lambda: live.step is not None and "who" in live.step.action.streaming, "the second attempt")
    assert live.step.action.message.startswith("Attempt 2.")
    assert "half-way" in live.step.action.message
    said = [view.action.streaming for view in live.step_views if view.action.streaming]
    assert not any("words" in text and "whol" in text for text in said)
    live.session.run_commands.stop()


def test_run_asked_for_while_a_task_is_being_opened_goes_on_once_it_is_open(live, server):
    server.script(on('button "ONE"'), on('button "ONE"'))
    live.session.tasks.open("miniwob/click-test-2", 0)
    live.session.run_commands.run()
    first = live.wait_mode("ended").run
    live.session.tasks.open("miniwob/click-test-2", 0)
    live.session.run_commands.run()
    live.wait(lambda: live.view.run not in (None, first) and live.view.mode == "ended", "the second run")
    assert live.view.success is True


def test_while_the_first_page_is_read_a_run_counts_as_being_opened_and_run_is_not_lost(live, server):
    server.script(on('button "ONE"'))
    before = len(live.views)
    live.open()
    assert {view.mode for view in live.views[before:]} == {"opening", "waiting"}
    asked = []

    def press(view):
        if view.mode == "opening" and view.run is not None and view.run != first and not asked:
            asked.append(view.phase)
            live.session.run_commands.run()

    first = live.view.run
    live.session.session_changed.connect(press)
    server.script(on('button "ONE"'))
    live.session.tasks.open("miniwob/click-test-2", 0)
    assert live.wait_mode("ended").success is True
    assert asked


def test_a_run_that_another_program_writes_appears_by_itself(live):
    live.settle()
    with closing(TraceStore.open(live.database)) as elsewhere:
        run = write_run(elsewhere, steps=1)
        live.wait(lambda: any(row.run == run for row in live.runs.runs), "the run of another program")
        live.session.trace.show_step(run, 1)
        live.wait(lambda: len(live.runs.steps.get(run, ())) == 1, "its steps")


def test_steps_of_a_run_that_was_opened_in_the_tree_still_come_after_another_task_was_opened(live):
    live.settle()
    with closing(TraceStore.open(live.database)) as elsewhere:
        run = elsewhere.begin_run(start())
        write_step(elsewhere, run, 1)
        live.session.trace.open_run(run)
        live.wait(lambda: len(live.runs.steps.get(run, ())) == 1, "its first step")
        live.open()
        write_step(elsewhere, run, 2)
        live.wait(lambda: len(live.runs.steps.get(run, ())) == 2, "its second step")
