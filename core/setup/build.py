"""A virtual environment looked at file by file, and its making.

An interruption at any moment leaves an environment that is `broken` here,
or that lacks something: either is found by the next start.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from core.schema.errors import WorldError
from core.setup.console import Console
from core.setup.environment import LOG, STAMP, VirtualEnvironment
from core.setup.project import Project, find_distribution, unmet

Condition = Literal["absent", "foreign", "broken", "usable"]
"""`foreign`: something else lies there; `broken`: begun and not ended, or its Python is gone."""

_LAYOUT = {STAMP, LOG, "bin", "lib", "lib64", "include", "Scripts", "Lib", "Include"}
_QUIET_PYTHON = {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}


def condition(environment: VirtualEnvironment) -> Condition:
    """Look at the environment itself, not at its stamp."""
    if not os.path.lexists(environment.folder):
        return "absent"
    if not environment.folder.is_dir():
        return "foreign"
    if set(os.listdir(environment.folder)) <= {LOG}:
        return "absent"
    if not (environment.folder / "pyvenv.cfg").is_file():
        names = {name for name in os.listdir(environment.folder) if name.partition(".json.")[0] != "backstep"}
        begun = names <= _LAYOUT
        return "broken" if begun else "foreign"
    places = environment.site_packages()
    if len(places) != 1 or not _python_works(environment):
        return "broken"
    return "broken" if half_installed(places[0]) else "usable"


def lacks(environment: VirtualEnvironment, project: Project, extras: Iterable[str]) -> list[str]:
    """Return the requirements that are not installed; the project itself is the last of them."""
    path = [str(place) for place in environment.site_packages()]
    missing = unmet(project.wanted(extras), path)
    if _editable_root(project.name, path) != project.root.as_uri():
        missing.append(project.name)
    return missing


def clear(environment: VirtualEnvironment) -> None:
    """Leave an empty folder, but for the log; raises WorldError."""
    try:
        _empty(environment)
        environment.folder.mkdir(exist_ok=True)
    except OSError as error:
        raise WorldError(
            f"The virtual environment {environment.folder} cannot be made ({error.strerror}); "
            f"make the folder {environment.folder.parent} writable, or copy the project to one that is."
        ) from error


def create(environment: VirtualEnvironment, console: Console, keep_open: Sequence[int]) -> None:
    """Make the environment in its empty folder with the running interpreter; raises CommandError."""
    # A Python that runs from the environment that was cleared lives on in the one below it.
    interpreter = getattr(sys, "_base_executable", None) or sys.executable
    console.run(
        [interpreter, "-m", "venv", str(environment.folder)],
        label="virtual environment",
        keep_open=keep_open,
        env=_QUIET_PYTHON,
    )


def install(
    environment: VirtualEnvironment,
    project: Project,
    extras: Sequence[str],
    console: Console,
    keep_open: Sequence[int],
) -> None:
    """Install the project, editable, with `extras`; raises CommandError."""
    names = ",".join(sorted(extras))
    console.run(
        [str(environment.python), "-I", "-m", "pip", "install", "-e", f".[{names}]" if names else "."],
        label="Python packages",
        cwd=project.root,
        keep_open=keep_open,
        env={
            **_QUIET_PYTHON,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "PIP_PROGRESS_BAR": "off",
            "PIP_ROOT_USER_ACTION": "ignore",
            "PIP_USER": "0",
            "PIP_NO_COLOR": "1",
        },
    )


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


def _empty(environment: VirtualEnvironment) -> None:
    """Remove what is in the folder, but for the log; what tells that it was an environment goes last."""
    if not environment.folder.is_dir():
        return
    for entry in sorted(environment.folder.iterdir(), key=lambda entry: entry.name == "pyvenv.cfg"):
        if entry.name == LOG:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _python_works(environment: VirtualEnvironment) -> bool:
    """Whether the interpreter starts, sees this environment and has pip."""
    program = "import sys, pip; print(sys.prefix); sys.exit(sys.version_info < (3, 11))"
    try:
        answer = subprocess.run(
            [str(environment.python), "-I", "-c", program],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and os.path.realpath(answer.stdout.strip()) == os.path.realpath(
        environment.folder
    )


def _editable_root(name: str, path: Sequence[str]) -> str | None:
    """Return the address of the folder that the editable installation of `name` points to."""
    distribution = find_distribution(name, path)
    try:
        text = distribution.read_text("direct_url.json") if distribution is not None else None
        return str(json.loads(text)["url"]) if text else None
    except (ValueError, KeyError, TypeError):
        return None
