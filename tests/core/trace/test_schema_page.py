"""The page that explains the tables says what is there."""

import re
import shlex
import sqlite3
from typing import get_args

import pytest
from click.testing import CliRunner
from sqlite_utils.cli import cli

from core.schema.events import BrowserEventKind
from core.schema.messages import Purpose
from core.schema.step import Effect, Origin
from core.storage.resources import RESOURCES
from core.trace.database import APPLICATION_ID, MIGRATIONS
from core.trace.records import InterventionKind, RunOutcome
from tests.core.trace.making import HTML, write_run

PAGE = (RESOURCES / "trace-schema.md").read_text(encoding="utf-8")


@pytest.fixture
def database(store, path):
    write_run(store)
    write_run(store, instruction="Send the letter", answer="cheapest")
    connection = sqlite3.connect(path)
    yield connection
    connection.close()


def test_every_table_and_column_is_explained(database):
    tables = [
        name
        for (name,) in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%_fts%'"
        )
    ]
    for table in tables:
        (section,) = re.findall(rf"^### {table}\n(.*?)(?=^##)", PAGE, re.DOTALL | re.MULTILINE)
        for _, column, *_ in database.execute(f"PRAGMA table_info({table})"):
            assert re.search(rf"\b{column}\b", section), f"{table}.{column}"


@pytest.mark.parametrize(
    ("table", "column", "values"),
    [
        ("runs", "outcome", RunOutcome),
        ("steps", "origin", Origin),
        ("steps", "effect", Effect),
        ("calls", "purpose", Purpose),
        ("interventions", "kind", InterventionKind),
        ("events", "kind", BrowserEventKind),
    ],
)
def test_a_column_with_few_values_lists_each(table, column, values):
    section = PAGE.partition(f"### {table}\n")[2].partition("\n### ")[0]
    (words,) = re.findall(rf"\| {column} \| (.*) \||`{column}` \(([^)]*)\)", section)
    listed = " ".join(" ".join(words).split())
    assert [value for value in get_args(values) if not re.search(rf"\b{value}\b", listed)] == []


def test_the_header_is_as_the_page_says():
    assert f"`PRAGMA application_id` is {APPLICATION_ID} " in PAGE
    assert f"This page describes version {len(MIGRATIONS)}." in PAGE


def commands_and_columns():
    """Return the page's commands, each with the columns of the answer that stands below it."""
    for block in re.findall(r"```\n(sqlite-utils .*?)```", PAGE, re.DOTALL):
        command, _, answer = block.partition("\n\n")
        yield shlex.split(command)[1:], answer.split("\n")[0].split()


@pytest.mark.parametrize(("arguments", "columns"), list(commands_and_columns()))
def test_its_commands_give_what_the_page_shows(database, path, arguments, columns):
    assert arguments[0] == "traces.db"
    done = CliRunner().invoke(cli, [str(path), *arguments[1:]])
    assert (done.exit_code, done.stderr) == (0, "")
    assert not columns or done.stdout.split("\n")[0].split() == columns


def test_its_way_of_reading_blobs_works(store, database):
    store.put_blob(HTML + b"<p>and more</p>", "text/html")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)
    rows = database.execute("SELECT id, hash, dictionary FROM blobs").fetchall()
    assert any(dictionary for _, _, dictionary in rows)
    for id, name, _ in rows:
        assert names["content"](database, id) == store.blob(name)
