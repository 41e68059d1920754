"""A tiny project that is set up for real, and stand-ins for the commands that would change the machine."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from core.setup.libraries import PACKAGES

SOURCES = Path(__file__).resolve().parents[3]

_NEEDED = (
    "core/__init__.py",
    "core/schema/__init__.py",
    "core/schema/errors.py",
    "core/system/__init__.py",
    "core/system/program.py",
)
"""What the setup imports beside itself."""

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "tiny"
version = "0.1"
dependencies = ["tinydep>=1,<2"]

[project.optional-dependencies]
test = ["tinytest>=1"]
"""

MAIN = """
import sys
from core.setup import ensure, import_failed
if __name__ == "__main__":
    ensure(sys.argv)
if "unimportable" in sys.argv:
    import_failed(ImportError("libgone.so.1 is missing"), sys.argv)
print(sys.prefix, *sys.argv[1:])
"""

# Stops in the middle of pip's work while a fifo named "held" lies in the project.
BACKEND = '''
import pathlib, zipfile

INFO = "tiny-0.1.dist-info"
METADATA = """Metadata-Version: 2.1
Name: tiny
Version: 0.1
Requires-Dist: tinydep>=1,<2
Provides-Extra: test
Requires-Dist: tinytest>=1; extra == "test"
"""
WHEEL = "Wheel-Version: 1.0\\nGenerator: tests\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"

def prepare_metadata_for_build_editable(directory, config_settings=None):
    folder = pathlib.Path(directory, INFO)
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA)
    (folder / "WHEEL").write_text(WHEEL)
    return INFO

def build_editable(directory, config_settings=None, metadata_directory=None):
    if pathlib.Path("held").exists():
        pathlib.Path("held").write_text("here")
        pathlib.Path("gate").read_text()
    name = "tiny-0.1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(directory, name), "w") as wheel:
        wheel.writestr(f"{INFO}/METADATA", METADATA)
        wheel.writestr(f"{INFO}/WHEEL", WHEEL)
        wheel.writestr(f"{INFO}/RECORD", f"{INFO}/METADATA,,\\n{INFO}/WHEEL,,\\n{INFO}/RECORD,,\\n")
    return name
'''


def write_wheel(folder: Path, name: str, version: str, files: Mapping[str, str]) -> None:
    """Write a wheel as a package index would have it."""
    info = f"{name}-{version}.dist-info"
    contents = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    for path, text in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(text.encode())}")
    contents[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in contents.items():
            wheel.writestr(path, text)


class Commands:
    """A folder that goes before PATH, with scripts in it that note how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._notes = folder / "calls"
        folder.mkdir()
        self._notes.touch()

    def add(self, name: str, body: str = "") -> None:
        script = self.folder / name
        script.write_text(f'#!/bin/sh\necho "{name} $*" >> {self._notes}\n{body}\n')
        script.chmod(0o755)

    def calls(self) -> list[str]:
        return self._notes.read_text().splitlines()


class TinyProject:
    """A project folder with the sources of the setup, and how to start it."""

    def __init__(self, root: Path, wheels: Path, commands: Commands) -> None:
        self.root = root
        self.venv = root / ".venv"
        for name in _NEEDED:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCES / name, root / name)
        shutil.copytree(
            SOURCES / "core" / "setup", root / "core" / "setup", ignore=shutil.ignore_patterns("__pycache__")
        )
        (root / "pyproject.toml").write_text(PYPROJECT)
        (root / "main.py").write_text(MAIN)
        (root / "backend.py").write_text(BACKEND)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
        self.environment = {
            **kept,
            "PATH": f"{commands.folder}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(root.parent),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
        }

    def begin(self, *arguments: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(self.root / "main.py"), *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )

    def start(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        process = self.begin(*arguments)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    write_wheel(folder, "tinydep", "1.0", {"tinydep/__init__.py": "", "tinydep/part.py": ""})
    write_wheel(folder, "tinytest", "1.0", {"tinytest/__init__.py": ""})
    return folder


def all_installed(*but: str) -> str:
    """Return a body for ``dpkg-query`` by which all packages of the setup are installed but for these."""
    lines = "".join(f"{name} installed\n" for name in PACKAGES if name not in but)
    return f"cat <<'.'\n{lines}.\n"


def harmless(folder: Path) -> Commands:
    """Return stand-ins that find nothing missing and install nothing."""
    commands = Commands(folder)
    for name in ("apt-get", "sudo", "dpkg", "ldd"):
        commands.add(name)
    commands.add("dpkg-query", all_installed())
    return commands


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    commands = Commands(tmp_path / "commands")
    monkeypatch.setenv("PATH", f"{commands.folder}{os.pathsep}{os.environ['PATH']}")
    return commands
