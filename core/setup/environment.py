"""The virtual environment next to main.py: its stamp, its check file by file, and its creation.

The stamp is written last, atomically, and says what the environment was made for. A start only has to check
for a matching stamp. After an interruption, the environment is `broken` or incomplete, which the next start
finds.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from core.schema.errors import WorldError
from core.setup.console import Console, answer_of
from core.setup.project import Project, find_distribution, unmet

STAMP = "backstep.json"
LOG = "setup.log"
_MARK = "pyvenv.cfg"
"""The file that tells an environment from other folders."""

Condition = Literal["absent", "foreign", "broken", "usable"]
"""`foreign`: something else lies there; `broken`: begun and not ended, or its Python is gone."""

_PYTHON_OPTIONS = {
    "PYTHONUNBUFFERED": "1",
    "PYTHONIOENCODING": "utf-8",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_PROGRESS_BAR": "off",
    "PIP_ROOT_USER_ACTION": "ignore",
    "PIP_USER": "0",
    "PIP_NO_COLOR": "1",
}


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
        """Return the stamp, or None if there is none that can be read."""
        try:
            fields = json.loads((self.folder / STAMP).read_text(encoding="utf-8"))
            return Stamp(**{**fields, "extras": tuple(fields["extras"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def fitting_stamp(self, project: Project, extras: Iterable[str]) -> Stamp | None:
        """Return the stamp if the environment needs no work for `project` with `extras`, else None."""
        stamp = self.stamp()
        if stamp is None or not set(extras) <= set(stamp.extras) or not os.access(self.python, os.X_OK):
            return None
        wanted = self._stamp_for(project, stamp.extras, libraries=stamp.libraries)
        return stamp if stamp == wanted else None

    def put_stamp(self, project: Project, extras: Iterable[str], *, libraries: bool) -> None:
        """Note what the environment was made for."""
        self._write(self._stamp_for(project, extras, libraries=libraries))

    def forget_stamp(self) -> None:
        """Let the next start look at everything."""
        (self.folder / STAMP).unlink(missing_ok=True)

    def note_libraries(self, found: bool) -> None:
        """Keep in the stamp whether all shared libraries were found."""
        stamp = self.stamp()
        if stamp is not None and stamp.libraries != found:
            self._write(stamp._replace(libraries=found))

    def _stamp_for(self, project: Project, extras: Iterable[str], *, libraries: bool) -> Stamp:
        root, interpreter = os.path.realpath(project.root), os.path.realpath(self.python)
        return Stamp(project.asks, tuple(sorted(extras)), root, interpreter, libraries)

    def _write(self, stamp: Stamp) -> None:
        """Write the stamp: readers see the old one or the whole new one."""
        draft = self.folder / f"{STAMP}.{os.getpid()}"
        draft.write_text(json.dumps(stamp._asdict()), encoding="utf-8")
        os.replace(draft, self.folder / STAMP)

    def site_packages(self) -> list[Path]:
        if os.name == "nt":
            return [self.folder / "Lib" / "site-packages"]
        return sorted(self.folder.glob("lib/python3.*/site-packages"))

    def condition(self) -> Condition:
        """Look at the environment itself, not at its stamp."""
        if not os.path.lexists(self.folder):
            return "absent"
        if not self.folder.is_dir():
            return "foreign"
        if set(os.listdir(self.folder)) <= {LOG}:
            return "absent"
        if not (self.folder / _MARK).is_file():
            return "foreign"
        places = self.site_packages()
        works = len(places) == 1 and self._python_works() and not half_installed(places[0])
        return "usable" if works else "broken"

    def lacks(self, project: Project, extras: Iterable[str]) -> list[str]:
        """Return the requirements that are not installed; the project itself is the last of them."""
        path = [str(place) for place in self.site_packages()]
        missing = unmet(project.wanted(extras), path)
        if _editable_root(project.name, path) != project.root.as_uri():
            missing.append(project.name)
        return missing

    def clear(self) -> None:
        """Leave a broken environment with nothing in it but the log; raises WorldError."""
        try:
            self.folder.mkdir(exist_ok=True)
            (self.folder / _MARK).touch()
            for entry in self.folder.iterdir():
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                elif entry.name not in (LOG, _MARK):
                    entry.unlink()
        except OSError as error:
            raise WorldError(
                f"The virtual environment {self.folder} cannot be created ({error.strerror}); "
                f"make the folder {self.folder.parent} writable, or copy the project to a writable one."
            ) from error

    def create(self, console: Console, keep_open: Sequence[int]) -> None:
        """Make the environment in its cleared folder with the running interpreter; raises CommandError."""
        # A Python that runs from the environment that was cleared lives on in the one below it.
        interpreter = getattr(sys, "_base_executable", None) or sys.executable
        console.run(
            [interpreter, "-m", "venv", str(self.folder)],
            label="virtual environment",
            keep_open=keep_open,
            env=_PYTHON_OPTIONS,
        )

    def install(
        self,
        project: Project,
        extras: Sequence[str],
        console: Console,
        keep_open: Sequence[int],
    ) -> None:
        """Install the project, editable, with `extras`; raises CommandError."""
        names = ",".join(sorted(extras))
        console.run(
            [str(self.python), "-I", "-m", "pip", "install", "-e", f".[{names}]" if names else "."],
            label="Python packages",
            cwd=project.root,
            keep_open=keep_open,
            env=_PYTHON_OPTIONS,
        )

    def _python_works(self) -> bool:
        """Whether the interpreter starts, sees this environment and has pip."""
        program = "import sys, pip; print(sys.prefix); sys.exit(sys.version_info < (3, 11))"
        answer = answer_of([str(self.python), "-I", "-c", program])
        if answer is None or answer.returncode != 0:
            return False
        return os.path.realpath(answer.stdout.strip()) == os.path.realpath(self.folder)


def half_installed(site_packages: Path) -> list[str]:
    """Return the names of what an interrupted pip left unfinished.

    pip writes RECORD last, and sets aside what it replaces under names that
    begin with a tilde. A distribution with files of its RECORD gone counts too.
    """
    left: list[str] = []
    for entry in sorted(site_packages.iterdir()):
        if entry.name.startswith("~"):
            left.append(entry.name)
        elif entry.name.endswith(".dist-info") and not _is_whole(entry):
            left.append(entry.name.removesuffix(".dist-info"))
    return left


def _is_whole(dist_info: Path) -> bool:
    try:
        with (dist_info / "RECORD").open(encoding="utf-8", newline="") as record:
            rows = [row for row in csv.reader(record) if row]
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    base = str(dist_info.parent)
    # Compiled files come and go with the interpreter.
    return bool(rows) and all(
        os.path.exists(os.path.join(base, row[0])) for row in rows if not row[0].endswith(".pyc")
    )


def _editable_root(name: str, path: Sequence[str]) -> str | None:
    """Return the address of the folder that the editable installation of `name` points to."""
    distribution = find_distribution(name, path)
    try:
        text = distribution.read_text("direct_url.json") if distribution is not None else None
        return str(json.loads(text)["url"]) if text else None
    except (ValueError, KeyError, TypeError):
        return None
