"""Bringing the run of a repro file into a trace database."""

import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from sqlite_utils import Database

from core.schema.errors import DataError, TraceError
from core.schema.record import Record
from core.trace.database import APPLICATION_ID, MIGRATIONS
from core.trace.records import RunRow
from core.trace.repro.rows import Unchanged
from core.trace.store import TraceStore

REPRO = "repro"
_MAGIC = b"SQLite format 3\x00"
_AT = 68
"""Where SQLite's header has the application id."""


class ReproContent(Record):
    """What is in a repro file."""

    run: RunRow
    ancestors: tuple[RunRow, ...] = ()
    """The runs that it branched from, the oldest first."""
    steps: int = 0
    answers: int = 0
    """How many requests were recorded with what servers answered."""
    known: int | None = None
    """The run of the database that it is already."""

    @property
    def sentence(self) -> str:
        """Return what is in it, in words."""
        row = self.run
        more = len(self.ancestors)
        branched = f", with {_count(more, 'run')} that it branched from" if more else ""
        answers = f" and {_count(self.answers, 'answer')} of servers" if self.answers else ""
        return (
            f"a repro file: {row.task}, seed {row.seed}, by {row.preset} and {row.llm} ({row.outcome}), "
            f"{_count(self.steps, 'step')}{answers}{branched}"
        )


def import_summary(name: str, content: ReproContent, run: int | None) -> str:
    """Return what became of a file, and how its run is repeated."""
    if run is None:
        return f"{name} would become one run of {_count(content.steps, 'step')}; nothing was stored."
    if content.known is not None:
        return f"{name} is here already, as run {run}; nothing was stored."
    alone = "; its pages get what servers answered then, and reach none" if content.answers else ""
    return f"{name} was imported as run {run}{alone}. Repeat it with: fork {run} --step 1 --llm replay:{run}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def is_repro(path: Path) -> bool:
    """Whether the file is a trace database, by its header."""
    try:
        with path.open("rb") as file:
            head = file.read(_AT + 4)
    except OSError:
        return False
    return head.startswith(_MAGIC) and int.from_bytes(head[_AT : _AT + 4], "big") == APPLICATION_ID


def import_repro(store: TraceStore, path: Path, *, dry_run: bool = False) -> tuple[ReproContent, int | None]:
    """Bring the newest run of the file into the database, with those that it branched from.

    Returns what is in the file and the number of the run there, None with
    `dry_run`; a run that is there already keeps its number and is not brought
    in again. Raises DataError where the file has no run, and TraceError where
    it is damaged or too new, or the database fails: nothing is brought in then.
    """
    with _opened(path) as source:
        content = _content(source, path, store)
        if dry_run or content.known is not None:
            return content, content.known
        return content, source.copy_to(store, content.run.run, Unchanged(), offline=content.answers > 0)


@contextmanager
def _opened(path: Path) -> Generator[TraceStore, None, None]:
    """Open a copy of the file, which an older version is brought up to date in."""
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        copy = Path(folder) / path.name
        try:
            shutil.copyfile(path, copy)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}.") from error
        try:
            _check_schema(copy)
            source = TraceStore.open(copy)
        except (TraceError, sqlite3.Error) as error:
            raise DataError(f"{path} cannot be read: {str(error).replace(str(copy), path.name)}") from error
        with closing(source):
            yield source


def _check_schema(path: Path) -> None:
    """Raise DataError for views, triggers and virtual tables that are not ours: they would run what they say."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        foreign = _active(connection) - _own_active()
    if foreign:
        raise DataError(f"{path.name} is no repro file: its tables are not those of a trace.")


@cache
def _own_active() -> frozenset[str]:
    """Return what of the schema of a trace database does something by itself, in any of its versions."""
    found: set[str] = set()
    with closing(Database(memory=True)) as database:
        for migrate in MIGRATIONS:
            migrate(database)
            found |= _active(database.conn)
    return frozenset(found)


def _active(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL%'"
    )
    return {sql for (sql,) in rows}


def _content(source: TraceStore, path: Path, store: TraceStore) -> ReproContent:
    runs = source.runs(limit=1)
    if not runs:
        raise DataError(f"{path} holds no run: there is nothing to import.")
    row = runs[0]
    ancestors = tuple(source.run(number) for number in source.path_of(row.run)[:-1])
    known = next(
        (
            one.run
            for one in store.runs(limit=100_000, task=row.task)
            if (one.started, one.seed, one.llm) == (row.started, row.seed, row.llm)
        ),
        None,
    )
    return ReproContent(
        run=row,
        ancestors=ancestors,
        steps=len(source.steps(row.run)),
        answers=len(source.network(row.run)),
        known=known,
    )
