"""Imports the run of a repro file into a trace database."""

import sqlite3
import sys
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from core.schema.errors import DataError, TraceError
from core.schema.formats import count
from core.schema.hosts import host_of, is_near
from core.schema.record import Record
from core.settings.file_kinds import DATABASE_MAGIC
from core.settings.user_file import open_regular
from core.system.program import COMMAND
from core.trace.database import APPLICATION_ID
from core.trace.records import RunRow
from core.trace.repro.untrusted import take_over
from core.trace.store import TraceStore

REPRO = "repro"
MOST_BYTES = 4 << 30
"""Bytes that a repro file may have."""
_AT = 68
"""Where SQLite's header has the application id."""
_WRITTEN_AT = 18
"""Where SQLite's header has how the database is written: 2 is with a log beside it."""


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
        branched = f", with {count(more, 'run')} that it branched from" if more else ""
        answers = f" and {count(self.answers, 'answer')} of servers" if self.answers else ""
        return (
            f"a repro file: {row.task}, seed {row.seed}, by {row.preset} and {row.llm} ({row.outcome}), "
            f"{count(self.steps, 'step')}{answers}{branched}"
        )


def begins_near(row: RunRow) -> bool:
    """Return whether a run begins with a file, or an address of its machine or its network: here that is another one.

    Sites of ours are served again.
    """
    return row.environment == "web" and (row.start_url.startswith("file:") or is_near(host_of(row.start_url)))


def import_summary(name: str, content: ReproContent, run: int | None, options: str = "") -> str:
    """Return the outcome of a file, and how its run is repeated: with these further `options`."""
    if run is None:
        return f"{name} would become one run of {count(content.steps, 'step')}; nothing was stored."
    live = " --live" if not content.answers and begins_near(content.run) else ""
    repeated = f"Repeat it with: {COMMAND} fork {run} --step 1 --llm replay:{run}{live}{options}"
    if content.known is not None:
        return f"{name} already exists as run {run}; nothing was stored. {repeated}"
    alone = "; its pages get the recorded answers of servers" if content.answers else ""
    if live:
        alone = f"; it opens {content.run.start_url} of this machine only with --live"
    return f"{name} was imported as run {run}{alone}. {repeated}"


def is_repro(path: Path, *, exported: bool = False) -> bool:
    """Whether the file is a trace database, by its header; with `exported` one that no run was recorded in."""
    try:
        with open_regular(path, most=sys.maxsize) as file:
            head = file.read(_AT + 4)
    except (OSError, DataError):
        return False
    is_trace = head.startswith(DATABASE_MAGIC) and int.from_bytes(head[_AT:], "big") == APPLICATION_ID
    return is_trace and not (exported and (head[_WRITTEN_AT] == 2 or _has_recorded(path)))


def _has_recorded(path: Path) -> bool:
    """Return whether a run of a trace database was recorded in it, or it cannot be read; copied runs have no owner."""
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        ) as database:
            return database.execute("SELECT 1 FROM runs WHERE owner IS NOT ''").fetchone() is not None
    except sqlite3.Error:
        return True


def import_repro(store: TraceStore, path: Path, *, dry_run: bool = False) -> tuple[ReproContent, int | None]:
    """Bring the newest run of the file into the database, with those that it branched from.

    Returns what is in the file and the number of the run there, None with
    `dry_run`; a run that is there already keeps its number and is not brought
    in again. The run that the file was made of is another one if it uses its
    servers: what is imported gets their recorded answers. Raises DataError if
    the file has no run, is damaged, too new or no trace through and through,
    and TraceError where the database fails: nothing is brought in then.
    """
    with _opened(path) as source:
        content = _content(source, path, store)
        if dry_run or content.known is not None:
            return content, content.known
        offline = content.answers > 0 or begins_near(content.run)
        return content, source.copy_to(store, content.run.run, own=_here, offline=offline)


@contextmanager
def _opened(path: Path) -> Generator[TraceStore, None, None]:
    """Open a database of ours with what the file has of its newest run, brought up to date.

    The file may come from anybody and change meanwhile: it is copied, and
    only the copy is looked at.
    """
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        copy, taken = Path(folder) / "given.db", Path(folder) / "taken.db"
        try:
            with open_regular(path, most=MOST_BYTES) as file, copy.open("wb") as target:
                _copy(file, target, path)
            take_over(copy, taken, path.name)
            source = TraceStore.open(taken)
        except OSError as error:
            raise DataError(
                f"{path} cannot be copied ({error.strerror}); check the disk and its free space."
            ) from error
        except TraceError as error:
            raise DataError(f"{path} cannot be read: {str(error).replace(str(copy), path.name)}") from error
        with closing(source):
            try:
                yield source
            except TraceError as error:
                if str(taken) not in str(error):
                    raise
                raise DataError(f"{path} is damaged, or not a trace; get a new export of the run.") from error


def _here(text: str) -> str:
    """Return a text with addresses below the own folder of whoever imports it, in place of those of the exporter."""
    return text.replace("file://~/", f"{Path.home().as_uri().removesuffix('/')}/")


def _copy(file: BinaryIO, target: BinaryIO, path: Path) -> None:
    copied = 0
    while data := file.read(1 << 20):
        copied += target.write(data)
        if copied > MOST_BYTES:
            raise DataError(f"{path} is still being written; wait until it is complete.")


def _content(source: TraceStore, path: Path, store: TraceStore) -> ReproContent:
    runs = source.runs(limit=1)
    if not runs:
        raise DataError(f"{path} contains no run, so there is nothing to import.")
    row = runs[0].replace(start_url=_here(runs[0].start_url))
    answers = len(source.pages.network(row.run))
    ancestors = tuple(source.run(number) for number in source.path_of(row.run)[:-1])
    known = next(
        (
            run.run
            for run in store.runs(limit=100_000, task=row.task)
            if (run.started, run.seed, run.llm) == (row.started, row.seed, row.llm)
            and (run.offline or not answers)
        ),
        None,
    )
    return ReproContent(
        run=row,
        ancestors=ancestors,
        steps=len(source.steps(row.run)),
        answers=answers,
        known=known,
    )
