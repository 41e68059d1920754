"""`main.py eval`, with a real Chromium and a real LLM server."""

import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core.debugger.evaluations.engine import planned
from core.exemplars.library.store import Library
from core.schema.step import Observed, record_of
from core.trace.evaluations import attempts_of, evaluation_named, process_doing
from core.trace.store import TraceStore
from tests.core.stage import need_chromium, on
from tests.llm_server import Reply

ONE = on('button "ONE"', thought="ONE.")
TWO = on('button "TWO"', thought="TWO.")


def words(*more: object, llm: str = "test-model", tasks: str = "miniwob/click-test-2") -> list[object]:
    chosen = ("--tasks", tasks, "--llm", llm, "--preset", "plain", "--browser", need_chromium())
    return ["eval", *chosen, "--name", "mine", "--json", *more]


def attempts(cli):
    store = TraceStore.open(cli.db, read_only=True)
    try:
        row = evaluation_named(store, "mine")
        return () if row is None else attempts_of(store, row.number)
    finally:
        store.close()


def doing(cli):
    """Return the process that does the evaluation."""
    store = TraceStore.open(cli.db, read_only=True)
    try:
        return process_doing(store, evaluation_named(store, "mine").number)
    finally:
        store.close()


def ended(cli):
    """Return the outcome of every attempt by task, seed and time."""
    return [
        ((one.attempt.case.variant, one.attempt.case.task, one.attempt.case.seed), one.run.outcome)
        for one in attempts(cli)
    ]


@pytest.mark.browser
def test_four_runs_at_once_come_to_the_same_as_one_after_the_other(cli, inside):
    tasks = "miniwob/click-link,miniwob/enter-text"
    found = []
    for name, count, kept in (("one", 1, "all"), ("four", 4, "failures")):
        flags = ("--seeds", "0-1", "--concurrency", count, "--name", name, "--pictures", kept)
        done = inside(*words(*flags, llm="rules", tasks=tasks))
        assert done.code == 0, done.err
        taken = {"seconds": 0.0, "seconds_in_llm": 0.0, "seconds_beside_llm": 0.0, "cost": None}
        found.append([{**one, **taken} for one in (*done.json["variants"], *done.json["tasks"])])
        assert done.json["done"] == done.json["total"] == 4
    assert found[0] == found[1]
    assert found[0][0]["cases"] == 4
    with closing(TraceStore.open(cli.db, read_only=True)) as store:
        of = {name: attempts_of(store, evaluation_named(store, name).number) for name in ("one", "four")}
        pictures = {
            name: {
                bool(record_of(Observed, store.step(one.run.run, 1).records).screenshot)
                for one in rows
                if one.run.verdict.success
            }
            for name, rows in of.items()
        }
    assert pictures == {"one": {True}, "four": {False}}


@pytest.mark.browser
def test_what_was_killed_is_free_and_resumed_and_nothing_is_done_twice(cli, inside, llm_server):
    # The third call is never answered: two runs are done and one is under way when the process is killed.
    llm_server.script(ONE, ONE, Reply(hold=True))
    process = cli.start(*words("--seeds", "0-3"), start_new_session=True)
    llm_server.wait_for_requests(3)
    assert doing(cli) == process.pid
    second = inside(*words("--seeds", "0-3"))
    assert second.code == 2
    assert f"The evaluation mine is running in another process ({process.pid})" in second.err
    os.killpg(process.pid, signal.SIGKILL)
    cli.finish(process)
    assert doing(cli) is None
    llm_server.otherwise = ONE
    done = inside("eval", "--name", "mine", "--resume", "--json", "--browser", need_chromium())
    assert done.code == 0, done.err
    assert doing(cli) is None
    assert (done.json["done"], done.json["variants"][0]["successes"]) == (4, 4)
    assert "2 of them already done" in done.err
    outcomes = ended(cli)
    assert len(outcomes) == 5
    assert max(Counter(case for case, outcome in outcomes if outcome == "done").values()) == 1
    assert [case[2] for case, outcome in outcomes if outcome == "interrupted"] == [2]
    again = inside(*words("--seeds", "0-3"))
    assert again.json == done.json
    assert len(attempts(cli)) == 5


def descendants(process: int) -> Iterator[int]:
    """Give the processes that a process has started, and those that they have."""
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield child
            yield from descendants(child)


def is_browser(process: int) -> bool:
    """Return whether it is the main process of a Chromium, or the shell that has begun it."""
    words = Path(f"/proc/{process}/cmdline").read_text().split("\0")
    return "--remote-debugging-pipe" in words and not any(word.startswith("--type=") for word in words)


@pytest.mark.browser
def test_a_dead_llm_server_is_waited_for_and_no_run_fails(cli, inside, llm_server):
    (cli.config / "settings.toml").write_text(
        f'[llms.slow]\nbase_url = "{llm_server.base_url}"\nmodel = "test-model"\nattempts = 1\n'
    )
    llm_server.script(ONE)
    for _ in range(3):
        llm_server.fail(503, "down")
    llm_server.otherwise = ONE
    done = inside(*words("--seeds", "0-1", "--base-url", llm_server.base_url, llm="slow"))
    assert done.code == 0, done.err
    (variant,) = done.json["variants"]
    assert (variant["successes"], variant["failed"], variant["tried_again"]) == (2, 0, 0)
    assert re.search(
        r"The LLM server at .* answered 503: down; another attempt follows\. The call waits", done.err
    )
    assert len(attempts(cli)) == 2


@pytest.mark.browser
def test_a_refused_key_ends_the_evaluation_and_what_it_broke_off_does_not_count(inside, llm_server):
    def refuse(request):
        refused = len(llm_server.requests) > 1
        return Reply(status=401, body='{"error": {"message": "wrong key"}}') if refused else ONE(request)

    llm_server.otherwise = refuse
    done = inside(*words("--seeds", "0-3", "--concurrency", 2))
    assert done.code == 3, done.err
    assert "answered 401: wrong key; check the key" in done.err
    assert re.search(
        "[01] of 4 runs are done. To continue, repeat the command that makes them, with --name mine.",
        done.err,
    )
    assert len(attempts(inside)) <= 3
    assert {outcome for _, outcome in ended(inside)} <= {"done", "interrupted"}
    llm_server.otherwise = ONE
    done = inside("eval", "--name", "mine", "--resume", "--json", "--browser", need_chromium())
    assert done.code == 0, done.err
    (variant,) = done.json["variants"]
    assert (variant["successes"], variant["tried_again"], variant["failed"]) == (4, 0, 0)


@pytest.mark.browser
def test_where_run_after_run_fails_the_evaluation_ends_with_the_reason(inside, tmp_path):
    (tmp_path / "own.toml").write_text(
        '[[tasks]]\nid = "gone"\ninstruction = "Look."\nurl = "http://127.0.0.1:9/"\n'
    )
    own = ("--tasks-file", tmp_path / "own.toml", "--seeds", "0-29")
    done = inside(*words(*own, llm="rules", tasks="own/gone"))
    assert done.code == 3, done.err
    assert "The last 5 runs all failed. The last one: " in done.err
    assert len(attempts(inside)) == 5
    done = inside("eval", "--name", "mine", "--resume", "--browser", need_chromium())
    assert done.code == 2, done.err
    assert 'There is no task "own/gone"' in done.err
    assert len(attempts(inside)) == 5


@pytest.mark.browser
def test_at_a_limit_what_is_under_way_is_broken_off_or_nothing_more_begun_and_a_higher_one_goes_on(
    inside, llm_server
):
    (inside.config / "prices.toml").write_text(
        '[[price]]\nmodels = ["test-model"]\ninput = 1000\noutput = 0\n'
    )
    llm_server.otherwise = Reply(hold=True)
    done = inside(*words("--seeds", "0-2", "--max-minutes", "0.05"))
    assert done.code == 1, done.err
    assert (done.json["done"], done.json["why"]) == (0, "The limit of 0.05 minutes was reached.")
    llm_server.otherwise = ONE
    # A call has 100 tokens.
    done = inside(*words("--seeds", "0-2", "--max-cost", "0.15"))
    assert done.code == 1, done.err
    assert (done.json["done"], done.json["why"]) == (2, "The limit of $0.15 was reached.")
    done = inside(*words("--seeds", "0-2", "--max-cost", "1"))
    assert (done.code, done.json["done"]) == (0, 3)


@pytest.mark.browser
def test_a_task_that_cannot_be_begun_is_tried_twice_and_counted_as_failed(inside, tmp_path):
    (tmp_path / "own.toml").write_text(
        '[[tasks]]\nid = "gone"\ninstruction = "Look."\nurl = "http://127.0.0.1:9/"\n'
    )
    done = inside(*words("--tasks-file", tmp_path / "own.toml", llm="rules", tasks="own/gone"))
    assert done.code == 0, done.err
    (variant,) = done.json["variants"]
    assert (variant["cases"], variant["failed"], variant["judged"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--tasks", "suite:nothing"), 'There is no suite "nothing"'),
        (("--tasks", "miniwob/click-link", "--seeds", "x"), "is not a list of seeds"),
        (("--tasks", "miniwob/click-link", "--preset", "lazer"), "did you mean laser"),
        (
            ("--tasks", "miniwob/click-link", "--exemplars", "some"),
            "\"exemplars[0]\" = 'some' cannot be used",
        ),
        (("--tasks", "miniwob/click-link", "--llm", "person"), "needs a window"),
        (("--name", "none", "--resume"), "There is no"),
        (("--tasks", "miniwob/click-link", "--csv", "/nowhere/x.csv"), "/nowhere/x.csv cannot be written"),
        (("--tasks", "miniwob/click-link", "--html", "."), ". cannot be written"),
        (("--tasks", "miniwob/click-link", "--csv", "a" * 300), "cannot be written"),
        (("--tasks", "miniwob/click-link", "--html", "a" * 250), "cannot be written"),
        (("--tasks", "miniwob/click-link", "--csv", "dangling.csv"), "dangling.csv cannot be written"),
        (("--tasks", "miniwob/click-link", "--csv", "exemplars.db"), "exemplars.db is a database"),
        (("--tasks", "miniwob/click-link", "--csv", "new.db", "--db", "new.db"), "new.db is the database"),
        ((), "No task is selected"),
    ],
)
def test_bad_usage_has_the_code_2_or_3_and_a_sentence(inside, more, said):
    (inside.folder / "dangling.csv").symlink_to("nowhere/x.csv")
    Library.open(inside.folder / "exemplars.db").close()
    done = inside("eval", "--llm", "rules", *more)
    assert done.code in (2, 3)
    assert said in done.err
    assert "Traceback" not in done.err
    assert not inside.db.exists()
    assert not (inside.folder / "new.db").exists()


@pytest.mark.browser
def test_a_file_asks_the_same_once_by_its_name_and_its_mistakes_have_file_line_and_key(inside):
    file = inside.folder / "suite.toml"
    need_chromium()
    file.write_text('tasks = ["miniwob/click-link"]\nseeds = "0"\npreset = ["plain"]\nllm = ["rules"]\n')
    done = inside("eval", file, "--json")
    assert done.code == 0, done.err
    assert (done.json["name"], done.json["total"]) == ("suite", 1)
    assert [one["browser"] for one in done.json["made"]] == ["chromium"]
    file.write_text(file.read_text().replace('"0"', '"1"'))
    done = inside("eval", file, "--browser", need_chromium(), "--json")
    assert done.code == 2
    assert "was started with other tasks, seeds or variants" in done.err
    file.write_text('tasks = ["miniwob/click-link"]\nseed = "0-1"\n')
    done = inside("eval", file)
    assert done.code == 2
    assert 'suite.toml, line 2: there is no key "seed"; did you mean seeds?' in done.err


@pytest.mark.browser
def test_only_what_failed_is_done_again_with_the_name_of_what_it_failed_in(inside, llm_server):
    llm_server.script(ONE, TWO)
    llm_server.otherwise = ONE
    assert inside(*words("--seeds", "0-1")).json["variants"][0]["successes"] == 1
    again = ("eval", "--failures-of", "mine", "--name", "again", "--json", "--browser", need_chromium())
    done = inside(*again)
    assert done.code == 0, done.err
    assert (done.json["total"], done.json["variants"][0]["successes"]) == (1, 1)
    assert len(llm_server.requests) == 3
    store = TraceStore.open(inside.db, read_only=True)
    row = evaluation_named(store, "again")
    assert [one.attempt.case.seed for one in attempts_of(store, row.number)] == [1]
    store.close()
    assert planned(row).failures_of == "mine"
    assert "The evaluation again has no failures yet" in inside(*again, "--failures-of", "again").err
    assert "not both" in inside(*again, "--tasks", "miniwob/click-link").err


@pytest.mark.skipif(sys.platform != "linux", reason="the processes are found in /proc")
@pytest.mark.browser
def test_with_the_browser_all_runs_at_once_end_and_each_is_tried_once_more(cli, llm_server):
    gate = threading.Event()

    def kill_under_all(request):
        reply = ONE(request)
        if len(llm_server.requests) == 3:
            for pid in [pid for pid in descendants(process.pid) if is_browser(pid)]:
                os.kill(pid, signal.SIGKILL)
            gate.set()
        return Reply(text=reply.text, calls=reply.calls, before=gate)

    llm_server.otherwise = kill_under_all
    process = cli.start(*words("--seeds", "0-3", "--concurrency", 3))
    done = cli.finish(process)
    assert done.code == 0, done.err
    (variant,) = done.json["variants"]
    assert (variant["successes"], variant["tried_again"], variant["failed"]) == (4, 3, 0)
    assert Counter(outcome for _, outcome in ended(cli)) == {"done": 4, "error": 3}
    assert Counter(one.attempt.number for one in attempts(cli)) == {1: 4, 2: 3}
