"""Installs Debian packages as root or with sudo."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from core.schema.errors import WorldError
from core.setup.console import CommandError, Console, answer_of
from core.setup.libraries import FONT_PACKAGE, PACKAGES, RENAMED, has_fonts

_SURROUNDINGS = ("DEBIAN_FRONTEND=noninteractive", "NEEDRESTART_MODE=a", "LC_ALL=C.UTF-8")
_OPTIONS = ("-y", "-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=2")

_CUT_OFF_HINTS = ("dpkg --configure -a", "--fix-broken install")


class Apt:
    """apt-get of this system; `root` is where its files are, other than ``/`` only in tests."""

    def __init__(self, console: Console, root: Path = Path("/")) -> None:
        self._console = console
        self._root = root

    @property
    def is_there(self) -> bool:
        return shutil.which("apt-get") is not None and (self._root / "var/lib/dpkg").is_dir()

    @property
    def time64(self) -> bool:
        """Whether libraries were renamed for 64-bit time (Debian 13, Ubuntu 24.04 and later)."""
        return any((self._root / "var/lib/dpkg/info").glob("lib*t64*.list"))

    def prefix(self) -> tuple[str, ...] | None:
        """Return what goes before a command that needs root, or None if there are no such rights.

        May let sudo ask for the password, if there is a terminal to ask on.
        """
        if os.geteuid() == 0:
            return ()
        sudo = shutil.which("sudo")
        if sudo is None:
            return None
        may = answer_of([sudo, "-n", "true"])
        if may is not None and may.returncode == 0:
            return (sudo, "-n")
        if sys.stdin is not None and sys.stdin.isatty():
            self._console.say("  sudo may ask for your password:")
            if subprocess.run([sudo, "-v"]).returncode == 0:
                return (sudo, "-n")
        return None

    def command(self, packages: Sequence[str]) -> str:
        """Return what a person would type to install `packages`."""
        before = "" if os.geteuid() == 0 else "sudo "
        return f"{before}apt-get update && {before}apt-get install -y {shlex.join(packages)}"

    def lacking(self, more: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the packages of shared libraries, and `more`, that are not installed to their end."""
        names = [RENAMED.get(name, name) if self.time64 else name for name in PACKAGES]
        answer = answer_of(["dpkg-query", "-W", "-f", r"${Package} ${db:Status-Status}\n", *more, *names])
        rows = [line.split() for line in (answer.stdout.splitlines() if answer is not None else ())]
        installed = {row[0] for row in rows if row[1:] == ["installed"]}
        lacking = [name for name in (*more, *names) if name not in installed]
        return (*lacking, *(() if has_fonts() else (FONT_PACKAGE,)))

    def install(self, packages: Sequence[str], prefix: Sequence[str]) -> None:
        """Install `packages` behind the `prefix` that gives the rights; raises WorldError.

        Fetches the package lists only if there are none, or where the
        installation failed with those that are there. An installation that
        was cut off before is brought to its end first.
        """
        start = (*prefix, "env", *_SURROUNDINGS)
        install = (*start, "apt-get", "install", "--no-install-recommends", *_OPTIONS, *packages)
        updated = not self._has_lists()
        if updated:
            self._update(start)
        try:
            self._console.run(install, label="system packages")
            return
        except CommandError as failure:
            error = failure
        if any(hint in error.tail for hint in _CUT_OFF_HINTS):
            self._finish(start)
        elif updated:
            raise self._failed(packages, error) from error
        else:
            self._update(start)
        try:
            self._console.run(install, label="system packages, again")
        except CommandError as error:
            raise self._failed(packages, error) from error

    def _finish(self, start: Sequence[str]) -> None:
        """Bring an installation to its end that was cut off, in the two steps that apt-get itself names."""
        for command in (("dpkg", "--configure", "-a"), ("apt-get", "install", "--fix-broken", *_OPTIONS)):
            try:
                self._console.run((*start, *command), label="unfinished system packages")
            except CommandError:
                continue  # the first can need what only the second brings; what stays wrong shows right after

    def _update(self, start: Sequence[str]) -> None:
        try:
            self._console.run((*start, "apt-get", "update", *_OPTIONS[1:]), label="package lists")
        except CommandError as error:
            # One broken source among good ones fails the update; the installation tells whether it matters.
            self._console.say(f"  {error}")

    def _has_lists(self) -> bool:
        return any((self._root / "var/lib/apt/lists").glob("*_Packages*"))

    def _failed(self, packages: Sequence[str], error: CommandError) -> WorldError:
        return CommandError(
            f"apt-get could not install {', '.join(packages)}; see {self._console.log}, "
            f"check the network, then run: {self.command(packages)}",
            error.tail,
        )
