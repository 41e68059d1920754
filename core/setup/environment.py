"""The virtual environment next to main.py, made by venv and pip, and its stamp.

The stamp says what the environment was made for: a start only has to check for a matching stamp. It asks for
nothing while pip is at work. An environment that was left so is made anew.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from core.schema.errors import WorldError
from core.setup.commands import CommandError, answer_of, run
from core.setup.project import Project

STAMP = "backstep.json"
_PIP_OPTIONS = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
    "PIP_USER": "0",
}


class Stamp(NamedTuple):
    """What an environment was made for."""

    asked: str
    """What the project asked for; empty until it is installed."""
    extras: tuple[str, ...]
    root: str
    """Where the project was: an environment that moved points to the old place."""
    interpreter: str
    libraries: bool = False
    """Whether all shared libraries were found the last time they were looked for."""

    def covers(self, project: Project, extras: Iterable[str]) -> bool:
        """Return whether the environment needs no work for `project` with `extras`."""
        return self.asked == project.asks and set(extras) <= set(self.extras)


class VirtualEnvironment:
    """The folder `.venv` of a project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin/python"

    @property
    def is_running(self) -> bool:
        """Whether the running interpreter is the one of this environment."""
        return os.path.realpath(sys.prefix) == os.path.realpath(self.folder)

    def stamp(self) -> Stamp | None:
        """Return the stamp; None if there is none that can be read, the project moved, or the interpreter is gone."""
        try:
            fields = json.loads((self.folder / STAMP).read_text(encoding="utf-8"))
            stamp = Stamp(**{**fields, "extras": tuple(fields["extras"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None
        is_here = (stamp.root, stamp.interpreter) == self._place() and os.access(self.python, os.X_OK)
        return stamp if is_here else None

    def put_stamp(self, asked: str, extras: Iterable[str]) -> None:
        """Note what the environment was made for."""
        self._write(Stamp(asked, tuple(sorted(extras)), *self._place()))

    def note_libraries(self, found: bool) -> None:
        """Keep in the stamp whether all shared libraries were found."""
        if (stamp := self.stamp()) is not None:
            self._write(stamp._replace(libraries=found))

    def _place(self) -> tuple[str, str]:
        return os.path.realpath(self.folder.parent), os.path.realpath(self.python)

    def _write(self, stamp: Stamp) -> None:
        """Write the stamp: readers see the old one or the whole new one."""
        draft = self.folder / f"{STAMP}.{os.getpid()}"
        draft.write_text(json.dumps(stamp._asdict()), encoding="utf-8")
        os.replace(draft, self.folder / STAMP)

    @property
    def is_usable(self) -> bool:
        """Whether pip can work in it, and was not interrupted before."""
        stamp, answer = self.stamp(), answer_of([str(self.python), "-I", "-m", "pip", "--version"])
        return answer is not None and answer.returncode == 0 and (stamp is None or stamp.asked != "")

    def site_packages(self) -> Path:
        """Return where the packages are; raises WorldError."""
        for place in sorted(self.folder.glob("lib/python3.*/site-packages")):
            return place
        raise WorldError(f"{self.folder} is damaged; delete it and start again.")

    def create(self, keep_open: Sequence[int]) -> None:
        """Make the environment, in place of one that is incomplete, by the running interpreter; raises WorldError."""
        folder = self.folder
        is_ours = folder.is_dir() and ((folder / "pyvenv.cfg").is_file() or not os.listdir(folder))
        if os.path.lexists(folder) and not is_ours:
            raise WorldError(
                f"{folder} exists and is not a virtual environment; move it away and start again."
            )
        # A Python that runs from the environment that is cleared lives on in the one below it.
        interpreter = getattr(sys, "_base_executable", None) or sys.executable
        try:
            run([interpreter, "-m", "venv", "--clear", str(folder)], keep_open=keep_open)
        except CommandError as error:
            raise WorldError(
                f"The virtual environment {folder} cannot be created. Check the message above and that "
                f"{folder.parent} is writable, then start again."
            ) from error

    def install(self, project: Project, extras: Iterable[str], keep_open: Sequence[int]) -> None:
        """Install the project, editable, with `extras`; raises WorldError."""
        self.put_stamp("", extras)
        names = ",".join(sorted(extras))
        command = [str(self.python), "-I", "-m", "pip", "install", "-e", f".[{names}]" if names else "."]
        try:
            run(command, cwd=project.root, keep_open=keep_open, env=_PIP_OPTIONS)
        except CommandError as error:
            raise WorldError(
                "The Python packages could not be installed. Check the messages above, the network and the "
                "free disk space, then start again."
            ) from error
        self.put_stamp(project.asks, extras)
