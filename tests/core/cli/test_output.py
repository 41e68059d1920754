"""What reaches the terminal of what pages, LLMs and files say."""

import json
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cli.output import put_json, visible
from core.schema.action_text import parse_action
from core.schema.step import Acted
from core.schema.task import Verdict
from core.trace.store import TraceStore
from tests.core.cli.conftest import ROOT
from tests.core.trace.making import page, start, write_step

MARKUP = r"see [/rules], [b]bold[/b] and div\[@id=\"x\"\]"
HOSTILE = f"{MARKUP} \x1b[2J\x9b31m\u202egnp.exe\u2066 a\u200bb\rover\nrun 99: done, success"
SHOWN = rf"{MARKUP} \x1b[2J\x9b31m\u202egnp.exe\u2066 a\u200bb\rover"  # A new line may stay one where it is indented.
ACTION = r"stop [posted \[b\]hello\[/b\], see \[/rules\]]"
FORBIDDEN = "\x1b\x9b\r\u202e\u2066\u200b"


@pytest.fixture
def hostile(inside):
    """A database with two runs in which every text is hostile."""
    store = TraceStore.open(inside.db)
    for run in (1, 2):
        asked = start(HOSTILE, task=f"web/{HOSTILE}", seed=0)
        store.begin_run(asked.replace(preset=HOSTILE, llm=HOSTILE))
        action = parse_action(ACTION)
        write_step(store, run, 1, observation=page(HOSTILE), thought=HOSTILE, action=action)
        acted = Acted(effect="page action", outcome="failed", message=HOSTILE, target=HOSTILE)
        store.save_phase(run, 1, acted)
        store.end_run(
            run,
            outcome="done",
            verdict=Verdict(success=False, reward=0.0, judge="page", reason=HOSTILE),
            seconds=1.0,
            seconds_in_llm=0.5,
            answer=HOSTILE,
            error=HOSTILE,
        )
    store.close()
    lines = {
        "id": "one",
        "family": HOSTILE,
        "task": HOSTILE,
        "steps": [{"observation": HOSTILE, "thought": HOSTILE}],
    }
    lines["steps"][0]["actions"] = [ACTION]
    (inside.folder / "exemplars").mkdir()
    (inside.folder / "own.jsonl").write_text(json.dumps(lines) + "\n")
    return inside


COMMANDS = [
    ("runs",),
    ("show", "1"),
    ("show", "1", "--step", "1"),
    ("compare", "1", "2"),
    ("runs", "prune", "--task", "web*", "--branched"),
    ("show", HOSTILE),
    ("runs", "--outcome", HOSTILE),
    ("runs", "--db", HOSTILE),
    ("eval", "--report", "--name", HOSTILE),
    ("import", HOSTILE),
    ("exemplars", "import", "own.jsonl"),
    ("exemplars", "list", "--search", "rules"),
    ("exemplars", "show", "one"),
    ("exemplars", "show", HOSTILE),
    ("exemplars", "export", "-o", HOSTILE, "--family", HOSTILE),
    ("exemplars", "search", "rules"),
    ("exemplars", "check"),
    ("tasks", "--tasks-file", HOSTILE),
    ("run", "--task", HOSTILE),
    ("fork", "1", "--step", "1", "--amount", HOSTILE),
    ("draft", "1", "-o", HOSTILE),
    (HOSTILE,),
]


def test_no_command_reads_markup_from_data_or_lets_a_control_character_through(hostile):
    for command in COMMANDS:
        done = hostile(*command)
        for text in (done.out, done.err):
            assert not set(text) & set(FORBIDDEN), command
            assert not [line for line in text.splitlines() if line.startswith("run 99")], command
        assert "Traceback" not in done.err


def test_what_is_there_is_printed_and_an_action_with_brackets_as_it_is_stored(hostile):
    assert SHOWN in hostile("runs").out
    for command in (("show", 1), ("show", 1, "--step", 1)):
        shown = hostile(*command).out
        assert SHOWN in shown
        assert ACTION in shown
    assert ACTION in hostile("compare", 1, 2).out


def test_json_keeps_every_character_and_sends_none_of_them_to_the_terminal(hostile):
    done = hostile("show", 1, "--json")
    assert (done.json["answer"], done.json["instruction"]) == (HOSTILE, HOSTILE)
    assert not set(done.out) & set(FORBIDDEN)


@given(st.text())
def test_a_visible_text_is_one_line_without_control_characters_and_json_is_exact(text):
    shown = visible(text)
    assert not shown or len(shown.splitlines()) == 1
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)
    assert visible(shown) == shown
    with pytest.MonkeyPatch.context() as patch:
        read, write = os.pipe()
        with open(write, "w", encoding="ascii") as stream, open(read) as written:
            patch.setattr(sys, "stdout", stream)
            put_json(text[:1000])
            stream.close()
            assert json.loads(written.read()) == text[:1000]


@pytest.mark.parametrize("text", ["naïve 日本語", "👩\u200d💻", "می\u200cخواهم", "שלום", "e\u0301"])
def test_other_languages_are_printed_as_they_are(text):
    assert visible(text) == text


def on_terminal(cli, *words: object) -> str:
    """Return what a command writes to a narrow terminal."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *map(str, words)],
        cwd=cli.folder,
        env=cli.environment | {"COLUMNS": "30", "NO_COLOR": "1", "TERM": "dumb"},
        stdout=its,
        stderr=its,
    )
    os.close(its)
    found = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side has closed.
            break
        if not piece:
            break
        found += piece
    os.close(ours)
    assert process.wait() == 0
    return found.decode().replace("\r\n", "\n")


@pytest.mark.program
def test_numbers_stay_whole_on_a_narrow_terminal_and_the_rest_is_wrapped(hostile, cli):
    with closing(sqlite3.connect(cli.db)) as database, database:
        database.execute("UPDATE steps SET number = 1234 WHERE run = 1")
        database.execute("UPDATE steps SET run = 56789 WHERE run = 2")
        database.execute("UPDATE runs SET run = 56789 WHERE run = 2")
    shown = on_terminal(cli, "show", 1)
    assert [line for line in shown.splitlines() if line.startswith("1234 ")]
    listed = on_terminal(cli, "runs")
    assert [line for line in listed.splitlines() if line.startswith("56789 ")]
    for text in (shown, listed):
        assert "…" not in text
        assert not set(text) & set(FORBIDDEN)


@pytest.mark.program
@pytest.mark.parametrize("words", [("runs",), ("--help",)])
def test_output_that_cannot_be_written_is_one_sentence(hostile, cli, words):
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [sys.executable, str(ROOT / "main.py"), *words],
            cwd=cli.folder, env=cli.environment, stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert process.returncode == 3
    assert process.stderr.startswith("The output could not be written to stdout (No space left on device).")
    assert len(process.stderr.splitlines()) == 1


@pytest.mark.program
@pytest.mark.parametrize(("closed", "run", "code"), [("2>&-", 9, 2), (">&-", 1, 0)])
def test_what_goes_to_a_closed_stream_is_dropped(hostile, cli, closed, run, code):
    cli.program = ("sh", "-c", f'exec "$0" "$@" {closed}', *cli.program)
    done = cli("show", run)
    assert (done.code, done.out, done.err) == (code, "", "")


@pytest.mark.program
def test_a_terminal_without_unicode_gets_escape_sequences(hostile, cli):
    cli.environment |= {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    store = TraceStore.open(cli.db)
    store.begin_step(2, 2)
    store.close()
    done = cli("compare", 1, 2)
    assert (done.code, done.err) == (0, "")
    assert "\\u2260" in done.out or ">" in done.out
