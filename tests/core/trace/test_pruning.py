import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.browser.recorded.exchange import Exchange, Taken
from core.schema.errors import TraceError, UsageError
from core.schema.messages import Image, LLMRequest, Message
from core.schema.step import CallRecord
from core.schema.task import Verdict
from core.trace.blobs import hash_of
from core.trace.calls import stored_prompt
from core.trace.database import TraceDatabase
from core.trace.encoding import encode_prompt
from core.trace.evaluations import attempts_of, take_evaluation
from core.trace.exports.json_export import export_json
from core.trace.pruning import PruneRequest
from core.trace.records import Case, CaseAttempt
from core.trace.store import TraceStore
from tests.core.trace.making import HTML, PICTURE, records, start, write_run, write_step

ROOT = Path(__file__).resolve().parents[3]


def write(
    store: TraceStore,
    *,
    task: str = "miniwob/save",
    steps: int = 2,
    own: bytes = b"",
    attempt: CaseAttempt | None = None,
    **ended,
) -> int:
    """Write a run whose pages are its own, where `own` says so, with a call at each step."""
    run = store.begin_run(start(task=task, instruction=f"Save {own.decode()}").replace(attempt=attempt))
    for number in range(1, steps + 1):
        store.begin_step(run, number, agent=b'{"history": "%d of %s"}' % (number, own))
        html, picture = HTML + own, PICTURE + own
        for record in records():
            named = {"html": hash_of(html), "screenshot": hash_of(picture)}
            observed = record.phase == "observe"
            store.save_phase(
                run,
                number,
                record.replace(**named) if observed else record,
                blobs=((html, "text/html"), (picture, "image/webp")) if observed else (),
            )
        say(store, run, number, f"Step {number} of {own.decode()}")
    values = {"outcome": "done", "verdict": Verdict(success=True), "seconds": 1.0, "seconds_in_llm": 0.0}
    store.end_run(run, **{**values, **ended})
    return run


def say(store: TraceStore, run: int, step: int, text: str, *images: Image) -> None:
    message = Message(role="user", text=text * 40, images=images)
    prompt = encode_prompt(LLMRequest(purpose="decide", messages=(message,)))
    call = CallRecord(
        number=step, step=step, purpose="decide", llm="rules", messages=prompt.hash, started=1.0
    )
    store.calls.save(run, call, blobs=prompt.blobs)


def content(store: TraceStore) -> dict[int, str]:
    """Return everything that is stored of each run, word for word."""
    return {run: export_json(store, run) for run in store.find_runs()}


def prune(store: TraceStore, made_into=(), **wanted) -> list[int]:
    """Delete what is wanted, and return the runs that went; what stays reads as before."""
    before = content(store)
    plan = store.plan_prune(PruneRequest(**wanted), made_into)
    store.prune(plan)
    gone = [one.run for one in plan.runs]
    after = content(store)
    assert after == {run: text for run, text in before.items() if run not in gone}
    store.check()
    assert store._database.rows("PRAGMA foreign_key_check") == []
    return gone


def test_runs_go_by_age_outcome_and_task_and_the_newest_stay(store):
    first = write(store, own=b"one")
    failed = write(store, own=b"two", verdict=Verdict(success=False))
    other = write(store, own=b"three", task="shop/lamp")
    middle = time.time()
    late, last = write(store, own=b"four"), write(store, own=b"five")

    def found(**wanted) -> list[int]:
        return [one.run for one in store.plan_prune(PruneRequest(**wanted)).runs]

    assert found(before=middle) == [other, failed, first]
    assert found(outcome="no success") == [failed]
    assert found(task="shop/*") == [other]
    assert found(before=middle, outcome="success", task="miniwob/*") == [first]
    assert found(keep=3) == [failed, first]
    assert found(outcome="done", keep=1) == [late, other, failed, first]
    assert last not in found(outcome="done")
    assert store.plan_prune(PruneRequest(keep=3)).kept == {"newest": 3}
    assert prune(store, keep=3) == [failed, first]


def test_no_word_of_what_is_deleted_or_hidden_can_be_found_in_the_file(store):
    gone = write_run(store, instruction="Zebra crossings", outcome="error")
    stays = write_run(store, instruction="Hippopotamus pools", steps=20)
    assert prune(store, outcome="error") == [gone]
    store.hide(stays, "password", "Hippopotamus")
    assert [row.run for row in store.runs("removed")] == [stays]
    store.close()
    content = store.path.read_bytes().lower()
    assert [word for word in (b"zebra", b"hippopotamus") if word in content] == []


def test_hiding_reads_no_table_again_for_each_text_that_changes(store):
    words = " ".join(map(str, range(200)))
    database = store._database

    def asked_to_hide(secret, steps):
        run, asked = store.begin_run(start()), []
        for step in range(1, steps + 1):
            write_step(store, run, step)
            url, body = f"https://a.test/{step}", f"{step} {words} {secret}".encode()
            answer = Exchange(method="GET", url=url, status=200, headers=(("content-type", "text/plain"),))
            store.pages.save_network(run, step, [Taken(answer, body)])
        database._database.set_trace_callback(asked.append)
        store.hide(run, "password", secret, "[gone]")
        database._database.set_trace_callback(None)
        bodies = [store.blob(one.body) for one in store.pages.network(run)]
        assert bodies == [f"{step} {words} [gone]".encode() for step in range(1, steps + 1)]
        assert database.rows("PRAGMA foreign_key_check") == []
        assert database.rows("PRAGMA foreign_keys") == [{"foreign_keys": 1}]
        return [one for one in asked if re.match(r"DELETE|UPDATE.* IN |SELECT.*dictionary (=|IN)", one)]

    assert len(asked_to_hide("Hippopotamus", 3)) == len(asked_to_hide("Rhinoceroses", 9)) > 0


def test_no_word_of_what_was_hidden_is_in_the_file_once_the_run_has_ended(store, monkeypatch):
    calls, forget = [], TraceDatabase.forget_words
    monkeypatch.setattr(TraceDatabase, "forget_words", lambda database: calls.append(1) or forget(database))
    run = store.begin_run(start().replace(instruction="Hippopotamus pools and Zebra crossings"))
    store.hide(run, "password", "Hippopotamus")
    store.hide(run, "password", "crossings")
    assert calls == []
    store.end_run(
        run,
        outcome="done",
        verdict=Verdict(success=True, reward=1.0, judge="page"),
        seconds=1.0,
        seconds_in_llm=0.0,
    )
    content = store.path.read_bytes().lower()
    assert [word for word in (b"hippopotamus", b"crossings") if word in content] == []
    assert calls == [1]


def test_a_store_can_be_closed_twice_where_another_program_keeps_it_from_cleaning_up(tmp_path):
    store = TraceStore.open(tmp_path / "t.db", busy_seconds=0.1)
    run = store.begin_run(start().replace(instruction="Hippopotamus pools"))
    store.hide(run, "password", "Hippopotamus")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store.close()
        store.close()


def test_the_last_run_stays_so_that_its_number_is_not_given_again(store):
    runs = [write(store, own=b"%d" % number) for number in range(3)]
    assert prune(store, outcome="done") == runs[1::-1]
    assert write(store) == runs[-1] + 1


def test_named_runs_and_those_of_exemplars_stay_unless_they_are_asked_for(store):
    named, kept, other, last = (write(store, own=b"%d" % number) for number in range(4))
    store.name_run(named, "the good one")
    plan = store.plan_prune(PruneRequest(outcome="done"), {kept})
    assert plan.kept == {"last": 1, "exemplar": 1, "named": 1}
    assert prune(store, {kept}, outcome="done") == [other]
    assert prune(store, {kept}, outcome="done", named=True, exemplars=True) == [kept, named]
    assert store.find_runs() == (last,)


def test_runs_that_an_evaluation_counts_stay_unless_they_are_asked_for(store):
    evaluation = take_evaluation(store, "mine", "{}").number
    case = Case(variant="plain", task="miniwob/save", seed=0)
    counted = write(store, own=b"1", attempt=CaseAttempt(evaluation=evaluation, case=case))
    write(store, own=b"2")
    assert store.plan_prune(PruneRequest(outcome="done")).kept == {"last": 1, "evaluated": 1}
    assert prune(store, outcome="done") == []
    assert prune(store, outcome="done", evaluated=True) == [counted]
    assert attempts_of(store, evaluation) == ()


def test_a_run_with_branches_goes_only_where_it_is_asked_for_and_they_go_too(store):
    stem = write(store, own=b"stem", outcome="left")
    branch = store.begin_run(start().replace(parent_run=stem, parent_step=2))
    write_step(store, branch, 2)
    store.end_run(branch, outcome="done", verdict=Verdict(), seconds=1, seconds_in_llm=0)
    write(store, own=b"last")
    assert prune(store, outcome="left") == []
    assert prune(store, outcome="left", branched=True) == []
    assert len(store.steps(branch)) == 2
    assert prune(store, keep=1, branched=True) == [branch, stem]


def test_what_only_the_deleted_runs_needed_is_freed_and_what_others_share_stays(store):
    shared = write(store, own=b"shared")
    alone = write(store, own=b"alone", task="shop/lamp")
    again = write(store, own=b"shared", task="shop/lamp")
    assert prune(store, task="shop/*") == [alone]
    with pytest.raises(Exception, match="no blob"):
        store.blob(hash_of(PICTURE + b"alone"))
    assert store.blob(hash_of(PICTURE + b"shared"))
    assert store.find_runs() == (again, shared)


def test_a_picture_stays_that_the_prompt_of_another_run_names(store):
    gone = write(store, own=b"seen", task="shop/lamp")
    kept = write(store, own=b"kept")
    say(store, kept, 1, "Look.", Image(data=PICTURE + b"seen", mime="image/webp"))
    assert prune(store, task="shop/*") == [gone]
    (call, *_) = store.calls.of(kept)
    assert stored_prompt(store, call).messages[0].images[0].data == PICTURE + b"seen"


def test_a_blob_that_an_open_store_made_others_from_can_go(store, path):
    """The next blob is stored whole, not as the difference to what is not there any more."""
    text = b"<p>all the same but for the end</p>" * 50
    store.put_blob(text + b"first", "text/html")
    name = store.put_blob(text + b"second", "text/html")
    with store._database.write():
        store._database.execute("DELETE FROM blobs WHERE dictionary IS NOT NULL")
        store._database.execute("DELETE FROM blobs")
    name = store.put_blob(text + b"third", "text/html")
    assert store.blob(name) == text + b"third"


def test_nothing_is_deleted_while_another_process_is_at_work_on_a_run_that_would_go(store, path):
    write(store, own=b"one")
    going = store.begin_run(start())
    write_step(store, going, 1)
    last = write(store, own=b"two")
    with closing(TraceStore.open(path)) as other:
        plan = other.plan_prune(PruneRequest(task="miniwob/*"))
        assert plan.at_work == (going,)
        with pytest.raises(UsageError, match=f"working on run {going}"):
            other.prune(plan)
        assert other.find_runs() == (last, going, 1)


def test_a_file_that_cannot_be_made_smaller_is_told_beside_the_runs_that_went(store, monkeypatch):
    gone = write(store, own=os.urandom(400_000).hex().encode(), task="shop/lamp")
    last = write(store)

    def compact(database):
        raise TraceError("The disk is full.")

    monkeypatch.setattr(type(store._database), "compact", compact)
    pruned = store.prune(store.plan_prune(PruneRequest(task="shop/*")))
    assert (pruned.runs, pruned.smaller, pruned.failed) == (1, 0, "The disk is full.")
    assert store.find_runs() == (last,) != (gone,)


def test_blobs_wait_while_another_process_is_at_work_on_other_runs(store, path):
    gone = write(store, own=b"gone", task="shop/lamp")
    going = store.begin_run(start())
    write_step(store, going, 1)
    picture = store.put_blob(b"not named yet" * 9, "image/webp")
    with closing(TraceStore.open(path)) as other:
        pruned = other.prune(other.plan_prune(PruneRequest(task="shop/*")))
        assert (pruned.runs, pruned.waits) == (1, True)
    assert store.blob(hash_of(PICTURE + b"gone"))
    write_step(store, going, 2)
    assert store.blob(picture)
    assert gone not in store.find_runs()
    store.end_run(going, outcome="done", verdict=Verdict(), seconds=1, seconds_in_llm=0)
    assert prune(store, task="shop/*") == []
    with pytest.raises(Exception, match="no blob"):
        store.blob(hash_of(PICTURE + b"gone"))


Shapes = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["", "a", "b"]), st.integers(0, 4), st.booleans()),
    min_size=1,
    max_size=7,
)


@given(
    shapes=Shapes,
    wanted=st.sampled_from([{"outcome": "success"}, {"keep": 2}, {"task": "shop/*"}]),
    all=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
def test_whatever_is_deleted_what_stays_reads_word_for_word_as_before(tmp_path_factory, shapes, wanted, all):
    with closing(TraceStore.open(tmp_path_factory.mktemp("pruned") / "traces.db")) as store:
        for number, (success, name, parent, shop) in enumerate(shapes, start=1):
            run = write(
                store,
                own=b"%d" % (number % 3),
                task="shop/lamp" if shop else "miniwob/save",
                verdict=Verdict(success=success),
            )
            if name:
                store.name_run(run, name)
            if 0 < parent < run:
                store.move_branch(run, parent, 3)
        prune(store, named=all, branched=all, **wanted)


PRUNE = """
import sys
from pathlib import Path
from core.trace import pruning
from core.trace.pruning import PruneRequest
from core.trace.store import TraceStore
pruning._AT_ONCE = 2
store = TraceStore.open(Path(sys.argv[1]))
print("begun", flush=True)
store.prune(store.plan_prune(PruneRequest(task="shop/*")), lambda gone: print(gone, flush=True))
print("ended", flush=True)
"""


@pytest.mark.parametrize("lines", [1, 4])
def test_killed_in_the_middle_it_leaves_whole_runs_and_the_next_time_goes_on(store, path, lines):
    for number in range(12):
        write(store, own=b"%d" % number, task="shop/lamp")
    kept = [write(store, own=b"kept"), write(store, own=b"3")]
    before = content(store)
    store.close()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", PRUNE, str(path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    for _ in range(lines):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    process.stdout.close()
    with closing(TraceStore.open(path)) as after:
        after.check()
        assert after._database.rows("PRAGMA foreign_key_check") == []
        left = content(after)
        assert left == {run: text for run, text in before.items() if run in left}
        assert set(kept) <= set(left)
        prune(after, task="shop/*")
        assert set(after.find_runs()) == set(kept)
        assert len(after._database.rows("SELECT 1 FROM blobs WHERE media_type = 'image/webp'")) == 2
