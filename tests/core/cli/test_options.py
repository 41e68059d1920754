"""Options of all commands, and those that stand before a command."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core import setup
from core.agent.presets import PRESETS
from core.cli.app import make_app
from core.trace.store import TraceStore
from tests.core.environments.test_own_tasks import task_file
from tests.core.trace.making import start


@pytest.fixture
def other(inside):
    """A second database, with one run of the task web/other."""
    path = inside.folder / "other.db"
    store = TraceStore.open(path)
    store.begin_run(start(task="web/other"))
    store.close()
    TraceStore.open(inside.db).close()
    return path


def test_an_option_before_a_command_counts(inside, other):
    assert [one["task"] for one in inside("--db", other, "runs", "--json").json] == ["web/other"]
    assert inside("--db", other, "show", 1).code == 0
    assert inside("--task", "web/none", "--db", other, "runs", "--json").json == []
    assert inside("--db", inside.db, "runs", "--json", "--db", other).json  # The last one holds.
    assert "mine/lamp" in inside("--tasks-file", task_file(inside.folder), "tasks").out


def test_it_counts_for_a_command_of_a_group_too(inside, other):
    assert "kept: the last run" in inside("--db", other, "runs", "prune", "--task", "web/other").err
    assert "kept: the last run" in inside("runs", "--db", other, "prune", "--task", "web/other").err
    assert inside("--db", other, "exemplars", "list").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seed", 3, "runs"), "--seed is not an option of the command runs."),
        (("--run", 1, "show", 1), "--run is not an option of the command show."),
        (("--task", "web/open", "eval"), "--task is not an option of the command eval."),
        (("--tasks-file", "x.toml", "runs"), "--tasks-file is not an option of the command runs."),
        (("--seed", 3, "exemplars", "list"), "--seed is not an option of the command exemplars."),
        (
            ("runs", "--search", "x", "prune"),
            "not an option of the command runs prune. To list its options, use runs prune --help",
        ),
        (("--db", "x.db", "test"), "--db is not an option of the command test."),
    ],
)
def test_one_that_the_command_does_not_have_is_an_error(inside, other, words, said):
    done = inside(*words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def commands(group: Any, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command of the program."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *names, name)
        else:
            yield (*names, name)


COMMANDS = list(commands(make_app(open_window=lambda *_: 0, with_embedded=None)))


def test_the_installation_knows_of_each_command_what_it_needs():
    assert {words[0] for words in COMMANDS} == setup.COMMANDS - {"replay", "worth"}


def test_the_help_names_each_bundled_preset_and_what_the_command_test_leaves_out(inside):
    said = " ".join(inside("run", "--help").out.split())
    presets = {path.stem for path in PRESETS.glob("*.toml")}
    assert {name for name in presets if not re.search(rf"\b{name},", said)} == set()
    assert {"--quick", "--no-lint"} <= set(inside("test", "--help").out.split())


@cache
def texts_of_tests() -> list[str]:
    return [path.read_text("utf-8") for path in Path(__file__).parents[1].rglob("test_*.py")]


@pytest.mark.parametrize("command", [words for words in COMMANDS if words != ("test",)], ids=" ".join)
def test_each_command_is_run_by_a_test_and_refuses_an_option_that_it_does_not_know(inside, command):
    done = inside(*command, "--no-such-option")
    assert (done.code, done.out) == (2, "")
    assert "--no-such-option" in done.err
    asked = ", ".join(f'"{word}"' for word in command)
    assert any(asked in test for test in texts_of_tests()), "no test calls it"
