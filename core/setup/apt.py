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
from core.setup.commands import CommandError, answer_of, run, say
from core.setup.libraries import FONT_PACKAGE, PACKAGES, RENAMED, has_fonts

_SURROUNDINGS = ("env", "DEBIAN_FRONTEND=noninteractive", "NEEDRESTART_MODE=a", "LC_ALL=C.UTF-8")
_OPTIONS = ("-y", "-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=2")
_MENDS = (
    ("apt-get", "update"),
    ("dpkg", "--configure", "-a"),
    ("apt-get", "install", "--fix-broken", *_OPTIONS),
)
"""What a failed installation may lack: the package lists, or the end of one that was cut off before."""


def has_apt() -> bool:
    """Return whether this system installs by apt-get."""
    return shutil.which("apt-get") is not None and shutil.which("dpkg-query") is not None


def install_packages(packages: Sequence[str]) -> None:
    """Install packages, with sudo if this is not root; raises WorldError."""
    prefix = _rights()
    if prefix is None:
        raise WorldError(
            f"Installing {', '.join(packages)} needs root or sudo. Ask an administrator to run this, then start "
            f"again: {apt_command(packages)}"
        )
    start = (*prefix, *_SURROUNDINGS)
    install = (*start, "apt-get", "install", "--no-install-recommends", *_OPTIONS, *packages)
    try:
        run(install)
        return
    except CommandError:
        say("Trying again after the package lists are fetched and unfinished installations ended.")
    for command in _MENDS:
        try:
            run((*start, *command))
        except CommandError as error:
            say(
                str(error)
            )  # One broken source among good ones fails here; the installation tells if it matters.
    try:
        run(install)
    except CommandError as error:
        raise WorldError(
            f"apt-get could not install {', '.join(packages)}. Check the messages above and the network, then "
            f"run: {apt_command(packages)}"
        ) from error


def apt_command(packages: Sequence[str]) -> str:
    """Return what a person would type to install `packages`."""
    before = "" if os.geteuid() == 0 else "sudo "
    return f"{before}apt-get update && {before}apt-get install -y {shlex.join(packages)}"


def lacking_packages(info: Path = Path("/var/lib/dpkg/info")) -> tuple[str, ...]:
    """Return the packages of shared libraries and fonts that are not installed to their end."""
    # Libraries were renamed for 64-bit time in Debian 13, Ubuntu 24.04 and later.
    renamed = RENAMED if any(info.glob("lib*t64*.list")) else {}
    names = [renamed.get(name, name) for name in PACKAGES]
    answer = answer_of(["dpkg-query", "-W", "-f", r"${Package} ${db:Status-Status}\n", *names])
    rows = [line.split() for line in (answer.stdout.splitlines() if answer is not None else ())]
    installed = {row[0] for row in rows if row[1:] == ["installed"]}
    lacking = (name for name in names if name not in installed)
    return (*lacking, *(() if has_fonts() else (FONT_PACKAGE,)))


def _rights() -> tuple[str, ...] | None:
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
        say("sudo may ask for your password:")
        if subprocess.run([sudo, "-v"]).returncode == 0:
            return (sudo, "-n")
    return None
