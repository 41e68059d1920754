"""The setup: checks what is missing, says it, installs it, checks again. Only one runs at a time per
project folder.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from core.schema.errors import WorldError
from core.setup.apt import has_apt, install_packages, lacking_packages
from core.setup.commands import say
from core.setup.environment import VirtualEnvironment
from core.setup.libraries import missing_libraries
from core.setup.project import Project

Libraries = Literal["require", "try", "ignore"]
"""Whether a command cannot do without the shared libraries, wants them if it can, or has no use for them."""


@contextmanager
def locked(folder: Path, on_wait: Callable[[], None]) -> Iterator[tuple[int, ...]]:
    """Hold the lock of `folder`; calls `on_wait` once if another process has it, then waits.

    Gives the descriptors that hold the lock: handed on to a command, they
    keep it until that command ends too, even if this process is killed
    before. The lock is on the folder itself, so it leaves no file behind.
    Where the file system knows no locks, continues without one and gives none.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            yield ()
            return
        yield (descriptor,)
    finally:
        os.close(descriptor)


def install(
    project: Project, environment: VirtualEnvironment, extras: Sequence[str], libraries: Libraries
) -> None:
    """Make the environment fit, after any other setup of the same project; raises WorldError."""
    waiting = "Another start of Backstep is installing here. Waiting for it to finish."
    with locked(project.root, lambda: say(waiting)) as descriptors:
        stamp = environment.stamp()
        if stamp is None or not stamp.covers(project, extras):
            _install_python_packages(project, environment, extras, descriptors)
            stamp = environment.stamp()
        if libraries == "ignore" or (stamp is not None and stamp.libraries):
            return
        try:
            _install_libraries(environment)
        except WorldError as error:
            if libraries == "require":
                raise
            say(str(error))
            return
        environment.note_libraries(True)


def _install_python_packages(
    project: Project, environment: VirtualEnvironment, extras: Sequence[str], descriptors: Sequence[int]
) -> None:
    if environment.is_usable:
        stamp = environment.stamp()
        extras = sorted({*extras, *(stamp.extras if stamp is not None else ())})
        say(f"Backstep will install what is missing: Python packages in {environment.folder}.")
    else:
        _install_venv()
        say(
            f"Backstep will install what is missing: a virtual environment in {environment.folder} with the "
            "Python packages of the program (PySide6, Playwright and others; about 350 MB to download, 1.8 GB "
            "on disk)."
        )
        environment.create(descriptors)
    environment.install(project, extras, descriptors)


def _install_venv() -> None:
    """Install the Debian package without which this interpreter makes no virtual environment."""
    if importlib.util.find_spec("venv") is not None and importlib.util.find_spec("ensurepip") is not None:
        return
    if not has_apt():
        raise WorldError(
            f"{sys.executable} has no module ensurepip, so no virtual environment can be created; "
            f"install it with your system's package manager and start again."
        )
    install_packages([f"python{sys.version_info.major}.{sys.version_info.minor}-venv"])


def _install_libraries(environment: VirtualEnvironment) -> None:
    """Look what the installed packages link, install what is missing, and look again; raises WorldError."""
    missing = missing_libraries(environment.site_packages())
    if not missing:
        return
    lacks = f"The system lacks {', '.join(missing)}"
    if not has_apt():
        raise WorldError(f"{lacks}; install them with its package manager and start again.")
    if packages := lacking_packages():
        say(f"{lacks}. Installing with apt-get: {' '.join(packages)}")
        install_packages(packages)
        missing = missing_libraries(environment.site_packages())
    if missing:
        raise WorldError(
            f"The system lacks {', '.join(missing)}, which none of the Debian packages known to Backstep "
            f"brings; find the package with: apt-file search {missing[0]}"
        )
