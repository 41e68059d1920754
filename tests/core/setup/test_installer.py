"""Shared libraries: looked for, announced, installed, and again, with stand-ins for ldd and apt-get."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.schema.errors import WorldError
from core.setup.environment import VirtualEnvironment
from core.setup.installer import Libraries, install, locked
from core.setup.project import Project
from tests.core.setup.conftest import all_installed


class Machine:
    """A project whose packages are installed, on a system that may lack libraries."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(root=folder, requirements=(), extras={}, asks="this")
        self.environment = VirtualEnvironment(folder / ".venv")
        probe = self.environment.folder / "lib/python3.11/site-packages/PySide6/QtWebEngineCore.abi3.so"
        probe.parent.mkdir(parents=True)
        probe.touch()
        self.environment.python.parent.mkdir()
        self.environment.python.symlink_to(sys.executable)
        self.environment.put_stamp(self.project.asks, ())

    def install(self, libraries: Libraries = "require") -> None:
        install(self.project, self.environment, (), libraries)

    @property
    def libraries_are_known(self) -> bool:
        stamp = self.environment.stamp()
        return stamp is not None and stamp.libraries


@pytest.fixture
def machine(tmp_path, commands, monkeypatch) -> Machine:
    """Give one that lacks libnss3.so until apt-get has run."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for module in ("apt", "libraries"):
        monkeypatch.setattr(f"core.setup.{module}.has_fonts", lambda: True)
    commands.add("ldd", f"[ -e {tmp_path}/installed ] || printf '\\tlibnss3.so => not found\\n'")
    commands.add(
        "dpkg-query", f"{all_installed('libnss3')}[ -e {tmp_path}/installed ] && echo libnss3 installed"
    )
    commands.add("apt-get", f"touch {tmp_path}/installed")
    return Machine(tmp_path)


def test_what_is_missing_is_said_before_it_is_installed(machine, commands, capfd):
    machine.install()
    said = capfd.readouterr().err
    assert said.index("lacks libnss3.so. Installing with apt-get: libnss3") < said.index("$ env ")
    assert [call.split()[-1] for call in commands.calls() if call.startswith("apt-get")] == ["libnss3"]
    assert machine.libraries_are_known


def test_a_command_without_use_for_libraries_does_not_look_for_them(machine, commands):
    machine.install("ignore")
    assert commands.calls() == []
    assert not machine.libraries_are_known


def test_without_rights_a_command_stops_or_goes_on_with_the_package_and_command_named(
    machine, commands, monkeypatch, capfd
):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    commands.add("sudo", "exit 1")
    with pytest.raises(WorldError, match=r"sudo apt-get install -y libnss3") as caught:
        machine.install()
    assert "\n" not in str(caught.value)
    capfd.readouterr()
    machine.install("try")
    assert str(caught.value) in capfd.readouterr().err
    assert not machine.libraries_are_known


def test_on_another_system_the_message_names_the_libraries(machine, monkeypatch):
    monkeypatch.setattr("core.setup.installer.has_apt", lambda: False)
    with pytest.raises(WorldError, match=r"libnss3\.so; install them with its package manager"):
        machine.install()


def test_a_library_that_no_package_brings_is_named(machine, commands):
    commands.add("apt-get")
    with pytest.raises(WorldError, match=r"libnss3\.so.*apt-file search libnss3\.so"):
        machine.install()


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
