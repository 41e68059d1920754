"""Recorded steps over the live page."""

import asyncio
import threading

import pytest

from core.trace.store import TraceStore
from tests.core.stage import on, page_file, stop
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser

GO = "<button onclick=\"document.title='touched'\">Go</button><input aria-label=Name>"


def test_an_old_step_is_shown_over_the_live_page_and_left_again(live, server, tmp_path):
    note = Reply(text="First.", calls=(call("note", text="x"),))
    server.script(note, on('button "Go"', thought="Second."))
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    run = live.view.run
    live.to_review()
    live.session.corrections.accept()
    live.wait_phase("observe")
    live.to_review()
    live.session.trace.show_step(run, 1)
    live.wait(lambda: not live.step.live)
    assert (live.step.number, live.step.action.thought) == (1, "First.")
    assert not live.step.action.editable
    live.session.trace.show_now()
    live.wait(lambda: live.step.live)
    assert (live.step.number, live.step.action.thought) == (2, "Second.")
    live.session.trace.show_step(run, 1)
    live.wait(lambda: not live.step.live)
    live.session.corrections.accept()
    live.wait(lambda: live.step.live and live.step.row.sealed)
    assert live.step.number == 2


def test_what_a_model_thought_and_what_was_cached_is_shown_of_a_call(live, server, tmp_path):
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 60,
        "prompt_tokens_details": {"cached_tokens": 80},
        "completion_tokens_details": {"reasoning_tokens": 55},
    }
    note = Reply(text="First.", calls=(call("note", text="x"),), reasoning="I look around.", usage=usage)
    server.script(note)
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.to_review()
    [shown] = live.step.calls
    assert (shown.reasoning, shown.reasoning_tokens, shown.record.usage.cached_tokens) == (
        "I look around.",
        55,
        80,
    )
    assert "I look around" not in shown.reply


def test_an_old_step_is_shown_as_it_was_shown_live(live, server, tmp_path):
    server.script(Reply(text="no"), Reply(text="no"), on('button "Go"', thought="Go."), stop("x"))
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    run = live.view.run
    live.step_views.clear()
    live.session.run_commands.set_pace(0.3)  # Each step is read before the next one takes its place.
    live.session.run_commands.run()
    live.wait_mode("ended")
    live.settle()
    shown = {}
    for view in live.step_views:
        if view.run == run and view.row.sealed:
            shown[view.number] = view
    assert sorted(shown) == [1, 2, 3]
    for number, view in shown.items():
        live.step = None
        live.session.trace.show_step(run, number)
        live.wait(lambda number=number: live.step is not None and live.step.number == number)
        assert live.step.replace(live=True) == view


def test_of_old_steps_asked_for_in_a_row_the_last_stays_and_none_comes_after_leaving_them(
    live, server, tmp_path
):
    server.script(Reply(calls=(call("note", text="x"),)), Reply(calls=(call("note", text="y"),)), stop())
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.session.run_commands.run()
    run = live.wait_mode("ended").run
    for number in (1, 2, 3, 1, 2):
        live.session.trace.show_step(run, number)
    live.settle()
    assert (live.step.number, live.step.live) == (2, False)
    for number in (3, 1):
        live.session.trace.show_step(run, number)
    live.session.trace.show_now()
    live.settle()
    assert (live.step.number, live.step.live) == (3, True)


def test_steps_of_other_runs_are_shown_while_one_is_open(live, server):
    server.script(on('button "ONE"'))
    live.open()
    first = live.view.run
    live.session.run_commands.run()
    live.wait_mode("ended")
    live.open("miniwob/click-button", seed=1)
    live.session.trace.open_run(first)
    live.wait(lambda: first in live.runs.steps)
    assert [step.number for step in live.runs.steps[first]] == [1]
    live.session.trace.show_step(first, 1)
    live.wait(lambda: live.step.run == first)
    assert not live.step.live
    assert live.view.run != first


def test_a_step_or_run_that_is_not_there_is_reported_and_nothing_else_changes(live, server):
    live.open()
    live.session.trace.show_step(live.view.run, 99)
    live.wait(lambda: "99" in live.view.message)
    assert live.view.mode == "waiting"
    live.session.trace.export_run(987654, "html", "/tmp/never.html")
    live.wait(lambda: "987654" in live.view.message)
    assert live.view.mode == "waiting"


class Unreadable:
    """A file that nothing may be asked of."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was asked of the file")


class UnreadableReader:
    async def ask(self, store, question):
        return await asyncio.to_thread(question, Unreadable())


def test_the_step_under_way_is_shown_without_asking_the_database(live, server, tmp_path, monkeypatch):
    monkeypatch.setattr(live.session._publisher.steps, "_reader", UnreadableReader())
    server.script(on('button "Go"', thought="Go."), on('button "Go"', thought="Again."), stop("x"))
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    step = live.to_review()
    assert (step.number, step.action.thought, len(step.calls)) == (1, "Go.", 1)
    assert "Go" in step.observation.html
    assert step.screenshot.data
    live.session.run_commands.run()
    live.wait_mode("ended")
    live.settle()
    assert (live.step.number, live.step.row.sealed) == (3, True)


def test_an_old_step_is_read_in_another_thread_than_the_loops(live, server, tmp_path, monkeypatch):
    threads = []
    read = TraceStore.step

    def noted(store, run, number):
        threads.append((number, threading.get_ident()))
        return read(store, run, number)

    server.script(on('button "Go"'), stop("x"))
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.session.run_commands.run()
    live.wait_mode("ended")
    monkeypatch.setattr(TraceStore, "step", noted)
    live.session.trace.show_step(live.view.run, 1)
    live.wait(lambda: live.step.number == 1 and not live.step.live)
    loops = []

    async def in_loop():
        loops.append(threading.get_ident())

    live.session.queue(in_loop())
    live.settle()
    assert [number for number, _ in threads] == [1]
    assert threads[0][1] != loops[0]
