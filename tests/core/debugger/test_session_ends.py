import random
import re
import sqlite3
import threading

import pytest

from core.agent.presets import Presets
from core.schema.step import PHASES
from core.trace.store import TraceStore
from tests.core.debugger.live import SECONDS, live_session, settings_in
from tests.core.stage import config_folder_in, page_file, ref_in
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser


@pytest.fixture
def make(tmp_path, llm_server):
    """Make sessions of a test's own, closed after it."""
    made = []
    config = config_folder_in(tmp_path / "config")

    def one(executable="", **settings):
        live = live_session(tmp_path, settings_in(tmp_path, llm_server, **settings), config, executable)
        made.append(live)
        return live

    yield one
    for live in made:
        live.session.close().result(30)
        live.session.stop_worker()


def test_a_browser_that_does_not_start_is_reported_and_can_be_tried_again(make, tmp_path):
    live = make("/nowhere/chromium")
    live.session.start()
    view = live.wait_mode("failed")
    assert "/nowhere/chromium" in view.message
    live.session.run_commands.step()
    live.session.agent.set_preset("laser")
    live.settle()
    assert "/nowhere/chromium" in [line.text for line in live.lines][-1]
    live.session.tasks.open("miniwob/click-test-2", 0)
    live.settle()
    live.wait(lambda: live.view.mode == "failed" and "/nowhere/chromium" in live.view.message)


def test_a_damaged_database_is_reported(make, tmp_path):
    (tmp_path / "traces.db").write_bytes(b"this is no database" * 100)
    live = make()
    live.session.start()
    assert "traces.db" in live.wait_mode("failed").message


def test_a_lock_of_another_program_is_shown_while_it_is_waited_for(make, tmp_path, monkeypatch):
    monkeypatch.setattr("core.storage.database._MOMENT", 0.05)
    live = make()
    live.session.start()
    live.wait_mode("empty")
    shown = threading.Event()
    live.session.session_changed.connect(
        lambda view: shown.set() if "Waiting for up to 30 s" in view.message else None
    )
    lock = sqlite3.connect(tmp_path / "traces.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    live.session.tasks.open("miniwob/click-test-2", 0)
    assert shown.wait(SECONDS)
    lock.execute("ROLLBACK")
    lock.close()
    live.wait_mode("waiting")


def test_commands_given_before_the_browser_is_ready_are_carried_out_then(make):
    live = make()
    live.session.run_commands.set_pace(0.5)
    live.session.tasks.open("miniwob/click-test-2", 0)
    live.session.start()
    live.wait(lambda: live.view.phase == "decide")
    assert live.wait_mode("waiting").task == "miniwob/click-test-2"


def test_closing_ends_the_run_and_later_commands_do_nothing(make, llm_server):
    live = make()
    live.session.start()
    live.open()
    llm_server.script(Reply(hold=True))
    live.session.run_commands.run()
    llm_server.wait_for_requests(1)
    live.session.close().result(30)
    live.session.run_commands.step()
    live.session.tasks.open("miniwob/click-test", 0)
    live.session.stop_worker()
    live.session.run_commands.run()
    live.session.tasks.open("miniwob/click-test", 0)
    store = TraceStore.open(live.database, read_only=True)
    assert [row.outcome for row in store.runs()] == ["stopped"]
    store.close()


PAGE = "<button>Go</button><a href='#x'>On</a><input aria-label=Name>"


def answer_anything(request):
    if not request.tool_names:
        return Reply(text="I press Go.")
    ref = ref_in(request, 'button "Go"')
    return Reply(text="Go.", calls=(call("click", target=ref),))


@pytest.mark.parametrize("seed", range(2))
def test_commands_in_any_order_leave_a_session_at_rest_and_steps_in_order(make, llm_server, tmp_path, seed):
    live = make()
    chance = random.Random(seed)
    url = page_file(tmp_path, PAGE)
    llm_server.otherwise = answer_anything
    session = live.session
    commands = [
        lambda: session.run_commands.step(),
        lambda: session.run_commands.step(),
        lambda: session.run_commands.run(),
        lambda: session.run_commands.phase(),
        lambda: session.run_commands.phase(),
        lambda: session.corrections.accept(),
        lambda: session.corrections.skip(),
        lambda: session.corrections.ask_again(),
        lambda: session.run_commands.pause(),
        lambda: session.edits.edit_action("wait [0]"),
        lambda: session.edits.edit_action("nonsense"),
        lambda: session.agent.set_preset(chance.choice(["plain", "laser"])),
        lambda: session.live_page.set_handover(chance.random() < 0.3),
        lambda: session.trace.show_step(1, 1),
        lambda: session.trace.show_now(),
        lambda: session.live_page.point(10, 10, final=True),
        lambda: session.trace.search_runs(""),
        lambda: live.settle(),
        lambda: live.settle(),
        lambda: live.settle(),
    ]
    rare = [
        lambda: session.run_commands.stop(),
        lambda: session.run_commands.end(True),
        lambda: session.tasks.open("web/open", 0, url=url, instruction="Go."),
    ]
    session.start()
    live.open("web/open", url=url, instruction="Go.")
    for _ in range(80):
        chance.choice(commands if chance.random() < 0.93 else rare)()
    session.live_page.set_handover(False)
    session.run_commands.pause()
    session.run_commands.pause()
    live.settle()
    live.wait(lambda: live.view.mode in ("waiting", "ended", "failed", "empty"), "rest")
    session.run_commands.stop()
    live.settle()
    live.wait(lambda: live.view.mode in ("ended", "failed", "empty"), "the end")
    assert not [view.message for view in live.views if "internal error" in view.message.lower()]
    assert not [view.message for view in live.views if re.search(r"\w+Error: ", view.message)]
    check_trace(live)


def check_trace(live):
    store = TraceStore.open(live.database, read_only=True)
    try:
        runs = store.runs()
        assert runs
        assert not [row for row in runs if row.outcome == "running"]
        for row in runs:
            steps = store.steps(row.run)
            assert [step.number for step in steps] == list(range(1, len(steps) + 1))
            assert all(step.sealed for step in steps[:-1])
            for step in steps:
                phases = [record.phase for record in store.step(row.run, step.number).records]
                assert phases == list(PHASES[: len(phases)])
                assert not step.sealed or len(phases) == len(PHASES)
    finally:
        store.close()


def test_a_session_is_empty_until_a_task_is_opened(make):
    live = make()
    live.session.start()
    live.wait(lambda: live.view.message == "Choose a task (Ctrl+N).")
    assert (live.view.mode, live.view.run, live.view.llm) == ("empty", None, "test")
    for command in ("step", "run", "phase", "pause", "stop"):
        getattr(live.session.run_commands, command)()
    for command in ("accept", "skip", "ask_again"):
        getattr(live.session.corrections, command)()
    live.session.trace.show_now()
    live.session.run_commands.end(True)
    live.session.edits.edit_action("stop")
    live.session.corrections.answer("x", "stop")
    live.session.live_page.point(1, 1, final=True)
    live.session.live_page.set_handover(True)
    live.session.live_page.set_handover(False)
    live.settle()
    live.wait(lambda: live.picked is not None and live.picked.ref is None)
    assert live.view.mode == "empty"
    assert live.catalogue.tasks
    assert tuple(preset.name for preset in live.catalogue.presets) == Presets().names()
