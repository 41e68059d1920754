import os
import signal
import sqlite3
import time
from contextlib import closing

import pytest

from core.schema.step import Observed, record_of
from core.trace.exports.html_page import export_html
from core.trace.store import TraceStore
from tests.core.cli.conftest import KEY
from tests.core.stage import on, page_file, stop
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser

FIELDS = """
run task seed success reward reason answer steps llm_calls prompt_tokens completion_tokens cost seconds
seconds_in_llm outcome error
""".split()
GO = "<button>Go</button>"
BUY = "<button onclick=\"document.title='bought'\">Place your order</button>"


def runs(cli):
    store = TraceStore.open(cli.db, read_only=True)
    try:
        return store.runs()
    finally:
        store.close()


@pytest.fixture
def impatient(monkeypatch):
    """Locks of other programs are not waited for."""
    monkeypatch.setitem(TraceStore.open.__func__.__kwdefaults__, "busy_seconds", 0.0)


def test_a_success_is_reported_in_one_json_object_and_the_code_0(cli, inside, llm_server):
    llm_server.script(on('button "ONE"', thought="ONE."))
    done = cli(*cli.run("--task", "miniwob/click-test-2", "--seed", 0))
    assert done.code == 0, done.err
    report = done.json
    assert list(report) == FIELDS
    wanted = {"task": "miniwob/click-test-2", "seed": 0, "success": True, "reward": 1.0, "steps": 1}
    assert {name: report[name] for name in wanted} == wanted
    assert (report["llm_calls"], report["prompt_tokens"], report["completion_tokens"]) == (1, 100, 10)
    assert (report["outcome"], report["error"], report["cost"]) == ("done", "", None)
    assert report["seconds"] >= report["seconds_in_llm"] > 0
    assert "step 1  click [" in done.err
    assert "step 1" not in done.out
    for kept in (
        done.out,
        done.err,
        *(path.read_bytes().decode("latin-1") for path in cli.db.parent.glob("traces.db*")),
    ):
        assert KEY not in kept
    shown = inside("show", report["run"], "--step", 1, "--json")
    assert KEY not in shown.out
    assert shown.json["thought"] == "ONE."


def test_why_it_was_no_success_is_printed(cli, inside, llm_server):
    llm_server.script(stop())
    done = inside(*[one for one in cli.run("--task", "shop/goal-000") if one != "--json"])
    assert "judge: Nothing was bought." in done.out


@pytest.mark.parametrize(
    ("kept", "button", "has_pictures"),
    [("failures", "ONE", False), ("failures", "TWO", True), ("none", "TWO", False)],
)
def test_the_pictures_of_steps_are_kept_as_is_said(cli, inside, llm_server, kept, button, has_pictures):
    llm_server.script(on(f'button "{button}"'))
    done = inside(*cli.run("--task", "miniwob/click-test-2", "--pictures", kept))
    ended = (0, True, 1.0) if button == "ONE" else (1, False, -1.0)
    assert (done.code, done.json["success"], done.json["reward"]) == ended, done.err
    with closing(sqlite3.connect(cli.db)) as database:
        (pictures,) = database.execute(
            "SELECT count(*) FROM blobs WHERE media_type LIKE 'image/%'"
        ).fetchone()
    with closing(TraceStore.open(cli.db, read_only=True)) as store:
        observed = record_of(Observed, store.step(1, 1).records)
        assert bool(observed.screenshot) is bool(pictures) is has_pictures
        if has_pictures:
            assert store.blob(observed.screenshot).startswith((b"\xff\xd8", b"RIFF"))
        said = export_html(store, 1)
    assert ("No picture was taken or kept." in said) is not has_pictures


def test_a_wrong_kind_of_pictures_is_said(cli, inside):
    done = inside(*cli.run("--task", "miniwob/click-test-2", "--pictures", "some"))
    assert (done.code, "--pictures" in done.err) == (2, True)


def test_a_page_of_the_web_needs_no_task_and_has_no_judge(cli, inside, llm_server, tmp_path):
    url = page_file(tmp_path, GO)
    llm_server.script(on('button "Go"'), stop("42"))
    done = inside(*cli.run("--url", url, "--instruction", "Press Go."))
    assert done.code == 0, done.err
    assert (done.json["task"], done.json["success"], done.json["answer"]) == ("web/open", None, "42")
    assert "Task: Press Go." in llm_server.requests[0].texts[-1]


@pytest.mark.parametrize(
    ("rule", "outcome", "bought", "code"),
    [("refuse", "done", False, 0), ("allow", "done", True, 0), ("end", "gate", False, 1)],
)
def test_what_cannot_be_undone_follows_the_rule(
    cli, inside, llm_server, tmp_path, rule, outcome, bought, code
):
    llm_server.script(on('button "Place your order"'), stop())
    url = page_file(tmp_path, BUY)
    done = inside(*cli.run("--url", url, "--instruction", "Buy.", "--on-gate", rule))
    assert (done.code, done.json["outcome"]) == (code, outcome), done.err
    prompt = llm_server.requests[-1].texts[-1]
    assert ("Page: bought" in prompt) is bought
    assert ("Refused: this action cannot be undone" in prompt) is (rule == "refuse")


def test_a_wrong_key_is_reported_without_the_key_and_leaves_a_readable_run(cli, inside, llm_server):
    llm_server.key = "another"
    done = inside(*cli.run("--task", "miniwob/click-test-2"))
    assert (done.code, done.json["outcome"]) == (3, "error")
    assert KEY not in done.out + done.err
    assert runs(cli)[0].outcome == "error"
    assert KEY.encode() not in b"".join(path.read_bytes() for path in cli.db.parent.glob("traces.db*"))


def test_an_interruption_of_all_processes_during_a_call_leaves_a_readable_run(
    cli, inside, llm_server, tmp_path
):
    note = Reply(calls=(call("note", text="x"),))
    llm_server.script(note, Reply(hold=True))
    words = cli.run("--url", page_file(tmp_path, GO), "--instruction", "x")
    process = cli.start(*words, start_new_session=True)
    llm_server.wait_for_requests(2)
    os.killpg(process.pid, signal.SIGINT)
    done = cli.finish(process)
    assert done.code == 130, done.err
    assert "Traceback" not in done.err
    assert done.json["outcome"] == "interrupted"
    (row,) = runs(cli)
    assert (row.outcome, row.steps) == ("interrupted", 2)
    assert inside("show", row.run).code == 0


def test_an_interruption_of_the_program_during_an_action_leaves_a_readable_run(cli, llm_server, tmp_path):
    llm_server.script(Reply(calls=(call("wait", seconds=30),)))
    words = cli.run("--url", page_file(tmp_path, GO), "--instruction", "x")
    process = cli.start(*words, start_new_session=True)
    llm_server.wait_for_requests(1)
    wait_for_phase(cli, "review")
    process.send_signal(signal.SIGINT)
    done = cli.finish(process)
    assert (done.code, "Traceback" in done.err) == (130, False), done.err
    assert runs(cli)[0].outcome == "interrupted"


def wait_for_phase(cli, phase):
    """Block until the first step's record of `phase` is in the database."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            with sqlite3.connect(f"file:{cli.db}?mode=ro", uri=True) as database:
                if database.execute("SELECT 1 FROM steps WHERE phase = ?", (phase,)).fetchone():
                    return
        except sqlite3.Error:
            continue
        finally:
            database.close()
    raise AssertionError(f"{phase} was never stored")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--task"),
        (("--task", "miniwob/clik-test"), "miniwob/click-test"),
        (("--task", "miniwob/click-test", "--url", "http://127.0.0.1/"), "has its own URL"),
        (("--url", "http://127.0.0.1/"), "instruction"),
        (("--task", "miniwob/click-test", "--preset", "lazer"), "did you mean laser?"),
        (("--task", "miniwob/click-test", "--on-gate", "perhaps"), "--on-gate"),
        (("--task", "miniwob/click-test", "--max-steps", "0"), "max-steps"),
        (("--task", "miniwob/click-test", "--seed", "x"), "seed"),
        (("--task", "miniwob/click-test", "--sead", "1"), "--seed"),
        (("--task", "miniwob/click-test", "--base-url", "nonsense"), "nonsense"),
        (("--task", "miniwob/click-test", "--llm", "person"), "needs a window"),
    ],
)
def test_bad_usage_has_the_code_2_and_a_sentence(cli, inside, words, said):
    done = inside(*cli.run(*words))
    assert (done.code, done.out) == (2, ""), done.err
    assert said in done.err
    assert "Traceback" not in done.err


def test_an_unknown_llm_names_the_nearest(cli, inside, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL")
    done = inside(*cli.run("--task", "miniwob/click-test", "--llm", "rulse"))
    assert (done.code, "did you mean rules?" in done.err) == (2, True)


def test_a_browser_that_is_not_there_has_the_code_3(cli, inside):
    done = inside(*cli.run("--task", "miniwob/click-test-2", browser="/nowhere/chromium"))
    assert (done.code, done.out) == (3, "")
    assert "/nowhere/chromium" in done.err


def test_a_window_is_not_opened_for_a_browser_that_is_not_there(inside, monkeypatch):
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    done = inside("attach", "--browser", "/nowhere/chromium", "--", "true")
    assert (done.code, done.out) == (3, "")
    assert "give the path of an installed Chromium" in done.err


def test_a_damaged_database_has_the_code_3_and_stays_as_it_is(cli, inside):
    cli.db.write_bytes(b"this is no database" * 100)
    done = inside(*cli.run("--task", "miniwob/click-test-2"))
    assert (done.code, "Traceback" in done.err) == (3, False)
    assert str(cli.db) in done.err
    assert cli.db.read_bytes() == b"this is no database" * 100


def test_a_locked_database_has_the_code_3(cli, inside, impatient):
    TraceStore.open(cli.db).close()
    lock = sqlite3.connect(cli.db, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    try:
        done = inside(*cli.run("--task", "miniwob/click-test-2"))
    finally:
        lock.rollback()
        lock.close()
    assert (done.code, "Traceback" in done.err) == (3, False), done.err
    assert "traces.db" in done.err


def test_the_reason_of_a_run_that_ended_for_a_lock_is_shown_and_stored_when_the_lock_goes(
    cli, inside, llm_server, impatient
):
    TraceStore.open(cli.db).close()
    lock = sqlite3.connect(cli.db, isolation_level=None, check_same_thread=False)

    def hold(request):
        lock.execute("BEGIN IMMEDIATE")
        return on('button "ONE"')(request)

    llm_server.script(hold)
    done = inside(*cli.run("--task", "miniwob/click-test-2"))
    assert (done.code, done.json["outcome"]) == (3, "error"), done.err
    assert "is locked by another program" in done.json["error"]
    for _ in range(2):
        shown = inside("show", 1, "--json").json
        assert (shown["outcome"], shown["error"]) == ("error", done.json["error"])
        if lock.in_transaction:
            lock.execute("ROLLBACK")
            TraceStore.open(cli.db).recover()
    lock.close()


def test_a_run_in_the_embedded_browser_opens_a_profile_with_logins_only_if_that_is_allowed(cli, llm_server):
    words = cli.run("--task", "miniwob/click-test-2", "--preset", "plain", browser="embedded")
    refused = cli(*words, "--profile", "work")
    assert (refused.code, "Traceback" in refused.err) == (2, False), refused.err
    assert "The profile work was not opened: another user of this machine can drive" in refused.err
    llm_server.script(on('button "ONE"'))
    done = cli(*words, "--profile", "work", "--embedded-profiles", "work")
    assert done.code == 0, done.err
    assert done.json["success"] is True


def test_a_killed_process_loses_nothing_that_was_sealed(cli, inside, llm_server, tmp_path):
    llm_server.script(on('button "Go"'), on('button "Go"'), Reply(hold=True))
    words = cli.run("--url", page_file(tmp_path, GO), "--instruction", "x")
    process = cli.start(*words, start_new_session=True)
    llm_server.wait_for_requests(3)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    assert [row["outcome"] for row in inside("runs", "--json").json] == ["interrupted"]
    store = TraceStore.open(cli.db)
    assert store.recover() == (1,)
    assert [step.sealed for step in store.steps(1)] == [True, True, False]
    assert store.run(1).outcome == "interrupted"
    store.close()


def test_a_trace_that_takes_no_more_has_the_code_3_and_the_reason_is_kept(cli, inside, llm_server):
    TraceStore.open(cli.db).close()
    database = sqlite3.connect(cli.db)
    full = "BEGIN SELECT RAISE(ABORT, 'no more'); END"
    database.execute(f"CREATE TRIGGER one BEFORE INSERT ON phases WHEN new.phase = 'decide' {full}")
    database.execute(f"CREATE TRIGGER two BEFORE UPDATE OF outcome ON runs {full}")
    llm_server.script(on('button "ONE"'))
    done = inside(*cli.run("--task", "miniwob/click-test-2"))
    assert (done.code, done.json["outcome"], done.json["steps"]) == (3, "error", 1), done.err
    assert "traces.db" in done.json["error"]
    assert "Traceback" not in done.err
    database.execute("DROP TRIGGER one")
    database.execute("DROP TRIGGER two")
    database.close()
    assert [row["error"] for row in inside("runs", "--json").json] == [done.json["error"]]
    assert inside("show", 1).code == 0
