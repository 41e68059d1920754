"""Packages of others, fetched by pip and npm: environments of Python, and unpacked packages of npm.

Each lands in its folder whole or not at all, however many processes ask for it at once.
"""

import base64
import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
import venv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

_SECONDS = 1200.0


class CannotInstall(Exception):
    """A package that cannot be had here, in a sentence."""


class NpmPackage(NamedTuple):
    """A version of a package of npm, and what of it is kept."""

    name: str
    version: str
    sha512: str
    """Of the package's file, as npm writes it."""
    kept: tuple[str, ...] = ("",)
    """How the paths begin that are kept."""


def make_once(folder: Path, make: Callable[[Path], None]) -> None:
    """Let `make` fill a new folder and name it `folder`, unless that is there already."""
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=folder.parent) as parent:
        made = Path(parent) / "made"
        made.mkdir()
        make(made)
        try:
            made.rename(folder)
        except OSError:
            if not folder.exists():
                raise
            # Another process was faster.


def make_environment(folder: Path, packages: Iterable[str], *, alone: str = "") -> Path:
    """Return the interpreter of an environment with these packages; `alone` is installed without what it requires.

    Its scripts cannot be started, for they name the folder that it was made in: start modules with `-m`.
    """

    def make(made: Path) -> None:
        venv.create(made, with_pip=True)
        pip = [str(made / "bin" / "python"), "-m", "pip", "install", "-q", "--retries", "1"]
        if alone:
            _run([*pip, "--no-deps", alone])
        _run([*pip, *packages])

    make_once(folder, make)
    return folder / "bin" / "python"


def install_node_modules(folder: Path, package: str) -> None:
    """Install a package of npm with all that it requires."""
    make_once(folder, lambda made: _run(["npm", "install", "--no-audit", "--no-fund", package], made))


def unpack(folder: Path, packages: Iterable[NpmPackage]) -> None:
    """Unpack packages of npm to `folder/NAME`, without what they require."""
    lacking = [one for one in packages if not (folder / one.name / one.version).exists()]
    if not lacking:
        return
    with tempfile.TemporaryDirectory() as place:
        asked = [f"{one.name}@{one.version}" for one in lacking]
        told = _run(["npm", "pack", "--json", "--silent", "--fetch-retries=1", *asked], Path(place))
        files = {one["id"]: Path(place) / one["filename"] for one in json.loads(told)}
        for one in lacking:
            _unpack(folder, one, files[f"{one.name}@{one.version}"])


def _unpack(folder: Path, package: NpmPackage, file: Path) -> None:
    digest = base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
    if digest != package.sha512:
        raise CannotInstall(f"{package.name} {package.version} is not the package that was pinned: {digest}.")

    def make(made: Path) -> None:
        with tarfile.open(file) as packed:
            for member in packed.getmembers():
                member.name = member.name.partition("/")[2]  # Packages lie in a folder of their own.
                if member.isfile() and member.name.startswith(package.kept):
                    packed.extract(member, made, filter="data")

    make_once(folder / package.name / package.version, make)


def _run(command: list[str], folder: Path | None = None) -> str:
    """Run a command to its end and return what it printed; raises CannotInstall."""
    if shutil.which(command[0]) is None:
        raise CannotInstall(f"{command[0]} is not installed here.")
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired as expired:
        raise CannotInstall(f"{' '.join(command)} took longer than {_SECONDS:.0f} seconds.") from expired
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise CannotInstall(f"{command[0]} could not install {command[-1]}: {said[-1]}")
    return done.stdout
