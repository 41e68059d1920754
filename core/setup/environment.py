"""The virtual environment beside main.py and its stamp.

The stamp is written last, in one move, and says what the environment was
made for; a fitting one is all that a start has to look at. What lies in
the environment is the matter of `core.setup.build`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from core.setup.project import Project

STAMP = "backstep.json"
LOG = "setup.log"


class Stamp(NamedTuple):
    """What an environment was made for."""

    asked: str
    """What the project asked for."""
    extras: tuple[str, ...]
    root: str
    """Where the project was: an environment that moved points to the old place."""
    interpreter: str
    libraries: bool = False
    """Whether all shared libraries were found the last time they were looked for."""


class VirtualEnvironment:
    """The folder `.venv` of a project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        windows = os.name == "nt"
        self.python = folder / ("Scripts/python.exe" if windows else "bin/python")
        self.log = folder / LOG

    @property
    def is_running(self) -> bool:
        """Whether the running interpreter is the one of this environment."""
        return os.path.realpath(sys.prefix) == os.path.realpath(self.folder)

    def stamp(self) -> Stamp | None:
        """Return the stamp, or None where there is none that can be read."""
        try:
            fields = json.loads((self.folder / STAMP).read_text(encoding="utf-8"))
            return Stamp(**{**fields, "extras": tuple(fields["extras"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def fitting_stamp(self, project: Project, extras: Iterable[str]) -> Stamp | None:
        """Return the stamp if the environment needs no work for `project` with `extras`, else None."""
        stamp = self.stamp()
        if (
            stamp is None
            or stamp.asked != project.asks
            or stamp.root != os.path.realpath(project.root)
            or not set(extras) <= set(stamp.extras)
            or stamp.interpreter != os.path.realpath(self.python)
            or not os.access(self.python, os.X_OK)
        ):
            return None
        return stamp

    def put_stamp(self, project: Project, extras: Iterable[str], *, libraries: bool) -> None:
        """Write the stamp: readers see the old one or the whole new one."""
        self._write(
            Stamp(
                asked=project.asks,
                extras=tuple(sorted(extras)),
                root=os.path.realpath(project.root),
                interpreter=os.path.realpath(self.python),
                libraries=libraries,
            )
        )

    def note_libraries(self, found: bool) -> None:
        """Keep in the stamp whether all shared libraries were found."""
        stamp = self.stamp()
        if stamp is not None and stamp.libraries != found:
            self._write(stamp._replace(libraries=found))

    def _write(self, stamp: Stamp) -> None:
        draft = self.folder / f"{STAMP}.{os.getpid()}"
        draft.write_text(json.dumps(stamp._asdict()), encoding="utf-8")
        os.replace(draft, self.folder / STAMP)

    def site_packages(self) -> list[Path]:
        if os.name == "nt":
            return [self.folder / "Lib" / "site-packages"]
        return sorted(self.folder.glob("lib/python3.*/site-packages"))
