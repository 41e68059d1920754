"""The folder of a process for temporary files. It is deleted with the process, or at the next start if the
process was killed.

Chromium, Playwright's driver and the sandbox of parsers put their files there, because they use TMPDIR. A
living process holds a lock in its folder.
"""

import atexit
import fcntl
import os
import shutil
import sys
import tempfile
from pathlib import Path

_PREFIX = "backstep-run-"
_LOCK = ".lock"
_NEAR = Path("/tmp")
_DEEPEST = 108 - len("/backstep-run-12345678/.org.chromium.Chromium.123456/SingletonSocket\0")
"""How long the path of the system's folder may be: Chromium puts a socket below, whose whole path Linux bounds."""


def begin_temp_folder() -> Path:
    """Have this process and those that it starts put temporary files into a folder of its own, and return it.

    It is in the folder that TMPDIR names, or in /tmp if that is too deep for
    a browser to start. Folders of processes that have ended without removing
    theirs are removed. Raises OSError if it cannot be written there.
    """
    base = Path(tempfile.gettempdir())
    while base.name.startswith(_PREFIX):
        base = base.parent  # Started by another one of ours: sockets must not come to lie too deep.
    if sys.platform == "linux" and len(os.fsencode(base)) > _DEEPEST:
        base = _NEAR
    _sweep(base)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    lock = os.open(
        folder / "locked", os.O_CREAT | os.O_RDWR, 0o600
    )  # Stays open as long as the process lives.
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(folder / "locked", folder / _LOCK)  # Nobody finds it before it is locked.
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _sweep(base: Path) -> None:
    """Remove the folders of processes that no longer exist."""
    for folder in base.glob(f"{_PREFIX}*"):
        try:
            mine = folder.stat(follow_symlinks=False).st_uid == os.geteuid() and not folder.is_symlink()
            if not mine:
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:
            continue  # It has just been made, or removed.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass  # Its process lives.
        finally:
            os.close(lock)
