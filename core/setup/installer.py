"""The setup: checks what is missing, reports it, installs it, checks again. Only one runs at a time per
project folder.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from core.schema.errors import WorldError
from core.setup.apt import Apt
from core.setup.console import CommandError, Console
from core.setup.environment import Condition, VirtualEnvironment
from core.setup.libraries import missing_libraries
from core.setup.project import Project


@contextmanager
def locked(folder: Path, on_wait: Callable[[], None]) -> Iterator[tuple[int, ...]]:
    """Hold the lock of `folder`; calls `on_wait` once if another process has it, then waits.

    Gives the descriptors that hold the lock: handed on to a command, they
    keep it until that command ends too, even if this process is killed
    before. The lock is on the folder itself, so it leaves no file behind.
    Where the file system knows no locks, continues without one and gives none.
    """
    try:
        import fcntl
    except ImportError:
        yield ()
        return
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


_FRESH_BYTES = 1_800_000_000
"""What a fresh environment takes on disk, with what pip unpacks on the way."""
_DOWNLOAD = "about 350 MB"

Libraries = Literal["require", "try", "ignore"]
"""Whether a command cannot do without the shared libraries, wants them if it can, or has no use for them."""


class Installer:
    """Brings the environment of a project to what a command needs."""

    def __init__(
        self,
        project: Project,
        environment: VirtualEnvironment,
        console: Console | None = None,
        apt: Apt | None = None,
    ) -> None:
        self._project = project
        self._environment = environment
        self._console = console if console is not None else Console(environment.log)
        self._apt = apt if apt is not None else Apt(self._console)

    def install(self, extras: Sequence[str], *, libraries: Libraries) -> None:
        """Make the environment fit, after any other setup of the same project; raises WorldError."""
        with locked(self._project.root, self._say_wait) as descriptors:
            stamp = self._environment.fitting_stamp(self._project, extras)
            if stamp is None:
                self._install_packages(extras, descriptors)
                stamp = self._environment.stamp()
            if libraries != "ignore" and not (stamp and stamp.libraries):
                self._install_libraries(is_fatal=libraries == "require")

    def _say_wait(self) -> None:
        self._console.say("Another start of Backstep is installing here. Waiting for it to finish.")

    def _install_packages(self, extras: Sequence[str], descriptors: Sequence[int]) -> None:
        """Make or complete the virtual environment if it lacks anything, and stamp it."""
        environment, project = self._environment, self._project
        condition = environment.condition()
        if condition == "foreign":
            raise WorldError(
                f"{environment.folder} exists and is not a virtual environment; move it away and start again."
            )
        if condition == "usable":
            old = environment.stamp()
            extras = sorted({*extras, *(old.extras if old else ())})
            if not environment.lacks(project, extras):
                environment.put_stamp(project, extras, libraries=False)
                return
            self._announce(extras, condition, ())
        else:
            self._make_environment(extras, condition, descriptors)
        try:
            environment.install(project, extras, self._console, descriptors)
        except CommandError as error:
            raise CommandError(
                f"The Python packages could not be installed; see {environment.log}, check the network and "
                f"the free disk space, then start again.",
                error.tail,
            ) from error
        environment.put_stamp(project, extras, libraries=False)

    def _make_environment(
        self, extras: Sequence[str], condition: Condition, descriptors: Sequence[int]
    ) -> None:
        """Make a virtual environment without packages, with the system packages known to be needed."""
        venv = _venv_packages()
        if venv and not self._apt.is_there:
            raise WorldError(
                f"{sys.executable} has no module ensurepip, so no virtual environment can be created; "
                f"install it with your system's package manager and start again."
            )
        system = self._apt.lacking(venv) if self._apt.is_there else ()
        self._announce(extras, condition, system)
        free = shutil.disk_usage(self._project.root).free
        if free < _FRESH_BYTES:
            raise WorldError(
                f"{self._project.root} has {free / 1e9:.1f} GB free and the Python packages need "
                f"{_FRESH_BYTES / 1e9:.1f} GB; free some space and start again."
            )
        self._environment.clear()
        if system:
            self._install_system(system, must=venv)
        self._environment.create(self._console, descriptors)

    def _announce(self, extras: Sequence[str], condition: Condition, system: Sequence[str]) -> None:
        say = self._console.say
        say("Backstep will install what is missing:")
        if system:
            say(f"  system packages, with apt-get: {' '.join(system)}")
        for_what = "the program and its tests" if "test" in extras else "the program"
        packages = f"the Python packages of {for_what} (PySide6, Playwright and others)"
        if condition == "usable":
            say(f"  into {self._environment.folder}: changes in {packages}")
        else:
            again = " (the existing one is incomplete)" if condition == "broken" else ""
            say(f"  a virtual environment{again} in {self._environment.folder}")
            say(f"  into it: {packages}, {_DOWNLOAD} to download")
        say(f"  The output of the commands goes to {self._environment.log}")

    def _install_system(self, packages: Sequence[str], must: Sequence[str]) -> None:
        """Install what can be installed; raises WorldError if one of `must` cannot."""
        prefix = self._apt.prefix()
        if prefix is None and must:
            raise WorldError(
                "Installing packages needs root or sudo; "
                f"ask an administrator to run this, then start again: {self._apt.command(packages)}"
            )
        if prefix is None:
            self._console.say("  apt-get needs root or sudo. Continuing without it.")
            return
        try:
            self._apt.install(packages, prefix)
        except WorldError:
            # One package that this release does not have must not keep the others away:
            # what is missing then is found by looking at the installed libraries.
            if must:
                self._apt.install(must, prefix)

    def _install_libraries(self, *, is_fatal: bool) -> None:
        """Look what the installed packages link, install what is missing, and look again."""
        try:
            if missing := self._missing():
                self._install_missing(missing)
        except WorldError as error:
            if is_fatal:
                raise
            self._console.say(str(error))
            return
        self._environment.note_libraries(True)

    def _install_missing(self, missing: Sequence[str]) -> None:
        """Install the packages of all libraries; raises WorldError if some are `missing` all the same."""
        lacks = f"The system lacks {', '.join(missing)}"
        if not self._apt.is_there:
            raise WorldError(f"{lacks}; install them with its package manager and start again.")
        packages = self._apt.lacking()
        if packages:
            self._console.say(
                f"QtWebEngine needs more system packages. Installing with apt-get: {' '.join(packages)}"
            )
            prefix = self._apt.prefix()
            if prefix is None:
                raise WorldError(
                    f"{lacks}, and installing packages needs root or sudo; "
                    f"ask an administrator to run this, then start again: {self._apt.command(packages)}"
                )
            self._apt.install(packages, prefix)
            missing = self._missing()
        if missing:
            raise WorldError(
                f"The system lacks {', '.join(missing)}, which none of the Debian packages known to Backstep "
                f"brings; find the package with: apt-file search {missing[0]}"
            )

    def _missing(self) -> tuple[str, ...]:
        places = self._environment.site_packages()
        if not places:
            raise WorldError(f"{self._environment.folder} is damaged; delete it and start again.")
        return missing_libraries(places[0])


def _venv_packages() -> tuple[str, ...]:
    """Return the Debian package without which this interpreter makes no virtual environment."""
    if importlib.util.find_spec("venv") is not None and importlib.util.find_spec("ensurepip") is not None:
        return ()
    return (f"python{sys.version_info.major}.{sys.version_info.minor}-venv",)
