import io
import os
from pathlib import Path

import pytest

from core.schema.errors import WorldError
from core.setup.apt import Apt
from core.setup.console import Console
from tests.core.setup.conftest import all_installed

INSTALL = "apt-get install"


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """Give the files of a system that has package lists."""
    (tmp_path / "system/var/lib/dpkg/info").mkdir(parents=True)
    (tmp_path / "system/var/lib/apt/lists").mkdir(parents=True)
    (tmp_path / "system/var/lib/apt/lists/deb.debian.org_bookworm_main_binary-amd64_Packages").touch()
    return tmp_path / "system"


@pytest.fixture
def apt(tmp_path: Path, system: Path) -> Apt:
    return Apt(Console(tmp_path / "log", io.StringIO()), system)


def verbs(calls: list[str]) -> list[str]:
    return [" ".join(call.split()[:2]) for call in calls]


def test_packages_are_installed_from_the_lists_that_are_there(apt, commands):
    commands.add("apt-get")
    apt.install(["libnss3"], ())
    assert verbs(commands.calls()) == [INSTALL]
    assert commands.calls()[0].endswith(" libnss3")


def test_lists_are_fetched_first_where_there_are_none(apt, commands, system):
    for file in (system / "var/lib/apt/lists").iterdir():
        file.unlink()
    commands.add("apt-get")
    apt.install(["libnss3"], ())
    assert verbs(commands.calls()) == ["apt-get update", INSTALL]


def test_old_lists_are_fetched_anew_after_a_failure(apt, commands, tmp_path):
    commands.add("apt-get", f"[ $1 = update ] && touch {tmp_path}/new; [ -e {tmp_path}/new ]")
    apt.install(["libnss3"], ())
    assert verbs(commands.calls()) == [INSTALL, "apt-get update", INSTALL]


@pytest.mark.parametrize("hint", ["run dpkg --configure -a", "Try apt --fix-broken install with no packages"])
def test_an_installation_cut_off_before_is_brought_to_its_end(apt, commands, tmp_path, hint):
    commands.add("dpkg", "exit 1")
    mended = f"{tmp_path}/mended"
    commands.add(
        "apt-get",
        f'case "$*" in *fix-broken*) touch {mended};; esac; [ -e {mended} ] || {{ echo {hint}; exit 100; }}',
    )
    apt.install(["libnss3"], ())
    assert verbs(commands.calls()) == [INSTALL, "dpkg --configure", INSTALL, INSTALL]


def test_packages_that_are_not_installed_to_their_end_are_lacking(apt, commands):
    commands.add("dpkg-query", f"{all_installed('libnss3')}; echo libnss3 unpacked; exit 1")
    assert apt.lacking(["python3.11-venv"]) == ("python3.11-venv", "libnss3")


def test_packages_renamed_for_64_bit_time_have_their_new_names(apt, commands, system):
    (system / "var/lib/dpkg/info/libssl3t64:amd64.list").touch()
    commands.add("dpkg-query", all_installed("libasound2", "libglib2.0-0"))
    assert apt.lacking() == ("libasound2t64", "libglib2.0-0t64")


def test_without_any_font_a_font_package_is_lacking(apt, commands, monkeypatch):
    monkeypatch.setattr("core.setup.apt.has_fonts", lambda: False)
    commands.add("dpkg-query", all_installed())
    assert apt.lacking() == ("fonts-dejavu-core",)


def test_a_failure_names_the_packages_and_the_command(apt, commands):
    commands.add("apt-get", "echo E: Unable to fetch; exit 100")
    with pytest.raises(WorldError, match=r"libnss3.*apt-get install -y libnss3") as caught:
        apt.install(["libnss3"], ())
    assert "Unable to fetch" in caught.value.tail


def test_the_command_runs_behind_sudo_without_asking_anything(apt, commands, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    commands.add("sudo", '[ "$2" = true ] && exit 0; shift; exec "$@"')
    commands.add("apt-get", 'echo "$DEBIAN_FRONTEND"')
    prefix = apt.prefix()
    assert prefix is not None
    apt.install(["libnss3"], prefix)
    assert verbs(commands.calls()) == ["sudo -n", "sudo -n", INSTALL]
    assert "DEBIAN_FRONTEND=noninteractive" in commands.calls()[1]


def test_a_sudo_that_wants_a_password_gives_no_rights_without_a_terminal(apt, commands, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    commands.add("sudo", "exit 1")
    assert apt.prefix() is None


def test_root_needs_nothing_before_the_command(apt, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert apt.prefix() == ()
    assert "sudo" not in apt.command(["libnss3"])


def test_renamed_packages_tell_a_system_with_64_bit_time(apt, system):
    assert not apt.time64
    (system / "var/lib/dpkg/info/libssl3t64:amd64.list").touch()
    assert apt.time64
