import json
import re

import pytest

from core.schema.action_text import parse_action
from core.schema.step import Acted
from core.schema.task import Verdict
from core.trace import pruning
from core.trace.exports.registry import FORMATS
from core.trace.store import TraceStore
from tests.core.trace.exports.collector import Collector
from tests.core.trace.making import page, start, write_step


@pytest.fixture
def trace(inside):
    """Two runs: a whole one, and one that is only begun."""
    store = TraceStore.open(inside.db)
    for number in (1, 2):
        run = store.begin_run(start("Press [Go] now.", task=f"miniwob/task-{number}", seed=number))
    action = parse_action("click [1]")
    write_step(store, 1, 1, observation=page("Go"), thought="Go [is] it.", action=action)
    acted = Acted(effect="page action", outcome="failed", message="It is covered.", target='button "Go"')
    store.save_phase(1, 1, acted)
    store.end_run(
        1,
        outcome="done",
        verdict=Verdict(success=True, reward=1.0, judge="page"),
        answer="zebra",
        seconds=1.0,
        seconds_in_llm=0.5,
    )
    store.end_run(run, outcome="stopped", verdict=Verdict(), seconds=1.0, seconds_in_llm=0.0)
    store.close()
    return inside


def test_tasks_are_listed_with_instruction_and_tags(inside):
    done = inside("tasks", "--json")
    assert done.code == 0
    listed = {task["id"]: task for task in done.json}
    assert len(listed) > 100
    assert set(listed["miniwob/click-test-2"]) == {"id", "environment", "instruction", "tags"}
    assert listed["miniwob/click-test-2"]["environment"] == "miniwob"
    assert "web/open" in listed
    done = inside("tasks")
    assert done.code == 0
    assert "miniwob/book-flight" in done.out


def test_runs_are_listed_newest_first(trace):
    done = trace("runs", "--json")
    assert [row["run"] for row in done.json] == [2, 1]
    assert done.json[1]["verdict"]["success"] is True
    assert [row["run"] for row in trace("runs", "--json", "--search", "zebra").json] == [1]
    assert "done, success" in trace("runs").out


def test_runs_are_filtered_by_task_and_outcome(trace):
    def found(*words) -> list[int]:
        return [row["run"] for row in trace("runs", "--json", *words).json]

    assert found("--task", "miniwob/task-1") == [1]
    assert found("--outcome", "stopped") == [2]
    assert found("--outcome", "success") == found("--outcome", "done") == [1]
    assert found("--outcome", "running") == found("--outcome", "no success") == []
    assert found("--task", "\udcff") == []
    assert "success, no success" in trace("runs", "--outcome", "fine").err


def test_what_would_be_pruned_is_said_and_only_with_yes_it_goes(trace, monkeypatch):
    shown = trace("runs", "prune", "--task", "miniwob/*", "--db", trace.db)
    assert shown.code == 0
    assert "No run would be deleted" in shown.err  # Run 2 is the last one, run 1 has the last step.
    store = TraceStore.open(trace.db)
    store.begin_step(2, 1)
    store.close()
    shown = trace("runs", "prune", "--task", "miniwob/*")
    assert ("miniwob/task-1" in shown.out, "cannot be undone" in shown.err) == (True, True)
    assert "1 run kept: the last run," in shown.err
    assert len(trace("runs", "--json").json) == 2
    assert [one["run"] for one in trace("runs", "prune", "--outcome", "success", "--json").json["runs"]] == [
        1
    ]
    failed = "The file could not be made smaller: The disk is full."
    prune = pruning.prune
    monkeypatch.setattr(pruning, "prune", lambda *given: prune(*given).replace(failed="The disk is full."))
    done = trace("runs", "prune", "--outcome", "success", "--yes")
    assert (done.code, "1 run deleted" in done.err, failed in done.err) == (0, True, True)
    assert [row["run"] for row in trace("runs", "--json").json] == [2]


def test_pruning_asks_which_runs_are_meant(trace):
    done = trace("runs", "prune", "--yes")
    assert (done.code, "--older-than" in done.err) == (2, True)
    assert len(trace("runs", "--json").json) == 2


def test_a_run_is_shown_with_its_steps(trace):
    done = trace("show", 1)
    assert done.code == 0
    for words in ("Press [Go] now.", "answer: zebra", "click [1]", "failed: It is covered.", "Go [is] it."):
        assert words in done.out
    shown = trace("show", 1, "--json").json
    assert (shown["run"], shown["steps_list"][0]["action"]) == (1, "click [1]")


def test_a_step_is_shown_whole(trace):
    assert '[1] button "Go"' in trace("show", 1, "--step", 1).out
    shown = trace("show", 1, "--step", 1, "--json").json
    assert [record["phase"] for record in shown["records"]][:2] == ["observe", "recognise"]


@pytest.mark.parametrize("form", ["json", "html"])
def test_a_run_is_exported_to_one_file(trace, form):
    path = trace.folder / f"run.{form}"
    done = trace("export", 1, "--format", form, "-o", path)
    assert (done.code, done.out) == (0, "")
    text = path.read_text()
    assert "zebra" in text
    if form == "json":
        json.loads(text)
    else:
        assert "http://" not in text.replace("http://127.0.0.1:1/save.html", "").replace(
            "http://www.w3.org", ""
        )


@pytest.mark.parametrize("form", [one.name for one in FORMATS])
def test_every_format_is_written_by_its_name(trace, form):
    path = trace.folder / "run"
    assert trace("export", 1, "--format", form, "--to", path).code == 0
    assert path.read_bytes()


def test_a_run_is_sent_to_a_collector(trace):
    collector = Collector()
    try:
        done = trace("export", 1, "--format", "otel", "--endpoint", collector.server.origin)
    finally:
        collector.server.close()
    assert (done.code, done.out) == (0, "")
    assert f"as {len(collector.spans)} spans" in done.err
    assert "step 1" in [span.name for span in collector.spans]


def test_help_names_every_format_and_what_content_is(inside):
    help_text = re.sub(r"[\s│]+", " ", inside("export", "--help").out)
    assert all(one.name in help_text for one in FORMATS)
    assert "Default: leave it out" in help_text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "3"), "3"),
        (("show", "9" * 20), "A number is too large"),
        (("runs", "--limit", "9" * 20), "A number is too large"),
        (("run", "--llm", "replay:99", "--task", "web/open"), "There is no run 99"),
        (("causes", "1", "--json", "--report"), "Leave out --report or --json"),
        (("tasks", "--tasks-file", "none.toml"), "correct the flag"),
        (("files", "zzz"), "more."),
        (("show", "1", "--step", "9"), "no step 9; its only step is 1"),
        (("show", "2", "--step", "1"), "it has no steps"),
        (("show", "x"), "integer"),
        (("export", "3", "-o", "x.html"), "3"),
        (("export", "1", "--format", "htlm", "-o", "x.html"), "did you mean html?"),
        (("export", "1", "-o", "no/such/folder/x.html"), "cannot be written"),
        (("export", "1", "-o", "~nobody-of-this-name/x.html"), "cannot be written"),
        (("runs", "--db", "~nobody-of-this-name/x.db"), "there is no folder"),
        (("fork", "1", "--step", "1", "--policies", "~nobody-of-this-name/x"), "~nobody-of-this-name/x"),
        (("export", "1"), "--output"),
        (("export", "1", "--format", "atif", "--endpoint", "http://127.0.0.1:4318"), "--format otel"),
        (("export", "1", "--format", "otel", "--endpoint", "there"), "not the address of a collector"),
        (("export", "1", "--format", "json", "--content", "-o", "x.json"), "--content is only for otel"),
        (("frobnicate",), "frobnicate"),
    ],
)
def test_what_is_not_there_has_the_code_2(trace, words, said):
    done = trace(*words)
    assert (done.code, "Traceback" in done.err) == (2, False), done.err
    assert said in done.err


@pytest.mark.parametrize(
    "words", [("runs",), ("show", "1"), ("export", "1", "-o", "x.html"), ("exemplars", "credit", "1")]
)
def test_without_a_trace_there_is_a_sentence_and_no_file_is_made(inside, words):
    done = inside(*words)
    assert done.code == 2
    assert "There is no database at" in done.err
    assert not inside.db.exists()


def test_a_damaged_trace_has_the_code_3(inside):
    inside.db.write_bytes(b"this is no database" * 100)
    assert inside("runs").code == 3


@pytest.mark.program
@pytest.mark.parametrize("words", [("tasks", "--json"), ("--help",), ("show", "--help")])
def test_a_reader_that_goes_away_is_no_error(cli, words):
    process = cli.start(*words)
    process.stdout.close()
    assert process.wait(30) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


def test_a_wrong_settings_file_has_the_code_2(inside):
    (inside.folder / "config" / "settings.toml").write_text("presset = 'plain'\n")
    done = inside("runs")
    assert done.code == 2
    assert "line 1" in done.err
    assert "did you mean preset?" in done.err


def test_two_runs_are_compared_side_by_side_up_to_where_they_first_differ(trace):
    store = TraceStore.open(trace.db)
    other = store.copy_to(store, 1)
    store.save_phase(other, 1, Acted(effect="page action", outcome="done", message="", target='button "Go"'))
    store.close()
    done = trace("compare", 1, other)
    assert done.code == 0, done.err
    step = 'click button "Go"'
    assert " ".join(done.out.splitlines()[1].split()) == f"≠ 1. {step} 1. {step} outcome"
    assert "They first differ at line 1: outcome" in done.out
    compared = trace("compare", 1, other, "--json").json
    assert (compared["first_difference"], compared["pairs"][0]["differs"]) == (0, ["outcome"])
    assert "do not differ" in trace("compare", 1, 1).out
    missing = trace("compare", 1, 99)
    assert (missing.code, "There is no run 99" in missing.err) == (2, True)
