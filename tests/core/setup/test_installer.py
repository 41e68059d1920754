"""Shared libraries: looked for, announced, installed, and again, with stand-ins for ldd and apt-get."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.schema.errors import WorldError
from core.setup import installer
from core.setup.apt import Apt
from core.setup.console import Console
from core.setup.environment import VirtualEnvironment
from core.setup.installer import Installer, locked
from core.setup.project import Project
from tests.core.setup.conftest import all_installed


class Machine:
    """A project whose packages are installed, on a system that may lack libraries."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.project = Project(root=folder, name="tiny", requirements=(), extras={}, asks="this")
        self.environment = VirtualEnvironment(folder / ".venv")
        self.screen = io.StringIO()
        self.system = folder / "system"
        probe = self.environment.folder / "lib/python3.11/site-packages/PySide6/QtWebEngineCore.abi3.so"
        probe.parent.mkdir(parents=True)
        probe.touch()
        self.environment.python.parent.mkdir()
        self.environment.python.symlink_to(sys.executable)
        self.environment.put_stamp(self.project, (), libraries=False)
        (self.system / "var/lib/dpkg/info").mkdir(parents=True)
        (self.system / "var/lib/apt/lists").mkdir(parents=True)
        (self.system / "var/lib/apt/lists/main_Packages").touch()

    def install(self, libraries: installer.Libraries = "require") -> None:
        console = Console(self.root / "log", self.screen)
        Installer(self.project, self.environment, console, Apt(console, self.system)).install(
            (), libraries=libraries
        )

    @property
    def libraries_are_known(self) -> bool:
        stamp = self.environment.stamp()
        return stamp is not None and stamp.libraries


@pytest.fixture
def machine(tmp_path, commands, monkeypatch) -> Machine:
    """Give one that lacks libnss3.so until apt-get has run."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("core.setup.libraries.has_fonts", lambda: True)
    commands.add("ldd", f"[ -e {tmp_path}/installed ] || printf '\\tlibnss3.so => not found\\n'")
    commands.add(
        "dpkg-query", f"{all_installed('libnss3')}[ -e {tmp_path}/installed ] && echo libnss3 installed"
    )
    commands.add("apt-get", f"touch {tmp_path}/installed")
    return Machine(tmp_path)


def test_what_is_missing_is_said_before_it_is_installed(machine, commands):
    machine.install()
    assert machine.screen.getvalue().index("libnss3") < machine.screen.getvalue().index("done")
    assert [call.split()[-1] for call in commands.calls() if call.startswith("apt-get")] == ["libnss3"]
    assert machine.libraries_are_known


def test_a_command_without_use_for_libraries_does_not_look_for_them(machine, commands):
    machine.install("ignore")
    assert commands.calls() == []
    assert not machine.libraries_are_known


def test_without_rights_the_message_names_library_package_and_command(machine, commands, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    commands.add("sudo", "exit 1")
    with pytest.raises(WorldError, match=r"libnss3\.so.*sudo apt-get install -y libnss3") as caught:
        machine.install()
    assert "\n" not in str(caught.value)
    assert not machine.libraries_are_known


def test_a_command_that_can_do_without_goes_on_and_says_what_is_missing(machine, commands, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    commands.add("sudo", "exit 1")
    machine.install("try")
    assert "libnss3.so" in machine.screen.getvalue()
    assert not machine.libraries_are_known


def test_on_another_system_the_message_names_the_libraries(machine):
    (machine.system / "var/lib/dpkg/info").rmdir()
    (machine.system / "var/lib/dpkg").rmdir()
    with pytest.raises(WorldError, match=r"libnss3\.so; install them with its package manager"):
        machine.install()


def test_a_library_no_package_is_known_for_is_named(machine, commands):
    commands.add("ldd", "printf '\\tlibnew.so.9 => not found\\n'")
    commands.add("dpkg-query", all_installed())
    with pytest.raises(WorldError, match=r"libnew\.so\.9.*apt-file search libnew\.so\.9"):
        machine.install()


def test_a_library_that_is_still_missing_after_the_installation_is_reported(machine, commands):
    commands.add("apt-get")
    with pytest.raises(WorldError, match=r"libnss3\.so"):
        machine.install()


def test_too_little_room_is_reported_before_anything_is_installed(tmp_path, commands, monkeypatch):
    commands.add("apt-get")
    commands.add("dpkg-query")
    monkeypatch.setattr(installer, "_FRESH_BYTES", 10**18)
    console = Console(tmp_path / "log", io.StringIO())
    project = Project(root=tmp_path, name="tiny", requirements=(), extras={}, asks="this")
    with pytest.raises(WorldError, match="free some space"):
        Installer(project, VirtualEnvironment(tmp_path / ".venv"), console).install((), libraries="ignore")
    assert not [call for call in commands.calls() if call.startswith("apt-get")]


def is_free(folder: Path) -> bool:
    return subprocess.run(["flock", "-n", str(folder), "true"]).returncode == 0


def test_the_folder_is_locked_inside_and_free_after(tmp_path):
    with locked(tmp_path, lambda: None):
        assert not is_free(tmp_path)
    assert is_free(tmp_path)


def test_the_wait_is_announced_only_when_there_is_one(tmp_path):
    said: list[str] = []
    with locked(tmp_path, lambda: said.append("wait")):
        pass
    assert said == []


def test_a_command_that_was_handed_the_lock_keeps_it(tmp_path):
    with locked(tmp_path, lambda: None) as descriptors:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=descriptors)
    assert not is_free(tmp_path)
    child.communicate()
    assert is_free(tmp_path)
