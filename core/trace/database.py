"""The database file of traces, as `core.storage.database` opens it."""

from pathlib import Path

from core.schema.errors import TraceError
from core.storage import database
from core.storage.database import DatabaseFile
from core.storage.migration import FileKind, Migration
from core.trace.migrations import APPLICATION_ID, MIGRATIONS

KIND = FileKind(
    noun="trace database",
    application_id=APPLICATION_ID,
    error=TraceError,
    migrations=MIGRATIONS,
    made_by="the first run makes it",
    updated_by="begin a run with it, or open it in the window, to bring it up to date",
)


class TraceDatabase(DatabaseFile):
    """One connection to one database of traces."""

    @classmethod
    def open_traces(
        cls,
        path: Path,
        *,
        read_only: bool = False,
        busy_seconds: float = 5.0,
        migrations: tuple[Migration, ...] = MIGRATIONS,
    ) -> "TraceDatabase":
        """Open the file as `DatabaseFile.open` does; raises TraceError."""
        kind = KIND._replace(migrations=migrations)
        return cls.open(path, kind, read_only=read_only, busy_seconds=busy_seconds)


def damaged(path: Path) -> str:
    """Return the sentence for a file whose content cannot be right."""
    return database.damaged(path, KIND)
