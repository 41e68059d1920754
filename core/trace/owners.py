"""Finds out which runs have a living process.

A process that starts runs holds an advisory lock on its own file next to the database. The file is named by a
token that each of its runs has. The system releases the lock however the process ends, so neither a reused
process id nor another container on the same disk causes errors.
"""

import contextlib
import fcntl
import json
import os
import re
import secrets
from pathlib import Path

from core.schema.errors import TraceError

_TOKEN = re.compile("[0-9a-f]{16}")


class Owner:
    """This process as the owner of runs in one database; the lock is taken when first asked for."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._token = ""
        self._descriptor = -1
        self._noted = False

    def token(self) -> str:
        """Return the name of the lock that this process holds; raises TraceError if it cannot get one."""
        while not self._token:
            token = secrets.token_hex(8)
            path = lock_path(self._database, token)
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            except OSError as error:
                raise TraceError(
                    f"No lock file can be created next to the trace database {self._database} ({error.strerror}); "
                    "make its folder writable, or choose another one."
                ) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # Somebody cleaning up took it in the moment it was new.
                os.close(descriptor)
                continue
            except OSError as error:
                os.close(descriptor)
                path.unlink(missing_ok=True)
                raise TraceError(
                    f"The folder of the trace database {self._database} does not support file locks "
                    f"({error.strerror}); choose a folder on a local disk."
                ) from error
            if not path.exists():
                os.close(descriptor)
                continue
            os.write(descriptor, f"{os.getpid()}\n".encode())
            self._token, self._descriptor = token, descriptor
        return self._token

    def note(self, run: int, error: str) -> None:
        """Leave in the file of the lock which error ended a run; the file then stays until `clear`."""
        if self._token:
            with contextlib.suppress(OSError):  # The disk can be full.
                os.write(self._descriptor, f"{json.dumps([run, error])}\n".encode())
            self._noted = True

    def is_alone(self) -> bool:
        """Return whether no other process is at work on runs of this database."""
        own = lock_path(self._database, self._token)
        return not any(_held(path, remove=False) for path in _lock_files(self._database) if path != own)

    def let_go(self) -> None:
        """Give up the lock; calling it again does nothing."""
        if self._token:
            os.close(self._descriptor)
            if not self._noted:
                lock_path(self._database, self._token).unlink(missing_ok=True)
            self._token, self._descriptor = "", -1


def lock_path(database: Path, token: str) -> Path:
    return database.with_name(f"{database.name}.live-{token}")


def lives(database: Path, token: str) -> bool:
    """Return whether a process holds the lock of that token."""
    return _TOKEN.fullmatch(token) is not None and _held(lock_path(database, token), remove=False)


def process_of(database: Path, token: str) -> int | None:
    """Return the id of the process that holds the lock of that token, or None if none does; 0 if it says none."""
    if not lives(database, token):
        return None
    try:
        return int(lock_path(database, token).read_text(encoding="ascii").partition("\n")[0])
    except (OSError, ValueError):
        return 0


def end_of(database: Path, token: str, run: int) -> tuple[str, str]:
    """Return how a run ended whose process has gone: its outcome and the reason, by what the process left of it."""
    if _TOKEN.fullmatch(token):
        # There is no file, or its process was killed while it wrote.
        with contextlib.suppress(OSError, ValueError, TypeError):
            _, *notes = lock_path(database, token).read_text(encoding="ascii").splitlines()
            for noted, error in map(json.loads, notes):
                if noted == run:
                    return "error", str(error)
    return "interrupted", "The program ended before the run did."


def clear(database: Path) -> None:
    """Remove the lock files that dead processes left."""
    for path in _lock_files(database):
        _held(path, remove=True)


def _lock_files(database: Path) -> list[Path]:
    prefix = lock_path(database, "").name
    return [path for path in database.parent.iterdir() if path.name.startswith(prefix)]


def _held(path: Path, *, remove: bool) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        # A shared lock to look: two that look at once do not take each other for the owner.
        fcntl.flock(descriptor, (fcntl.LOCK_EX if remove else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        if remove:
            # Under the lock, so that nobody can have begun to hold what goes away.
            path.unlink(missing_ok=True)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
