import io
import os

import pytest

from core.schema.errors import WorldError
from core.setup.apt import apt_command, install_packages, lacking_packages
from tests.core.setup.conftest import all_installed

INSTALL = "apt-get install"


@pytest.fixture
def root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)


@pytest.fixture
def user(monkeypatch):
    """Be a user without a terminal."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("sys.stdin", io.StringIO())


def verbs(calls: list[str]) -> list[str]:
    return [" ".join(call.split()[:2]) for call in calls]


def test_packages_are_installed_from_the_lists_that_are_there(root, commands):
    commands.add("apt-get")
    install_packages(["libnss3"])
    assert verbs(commands.calls()) == [INSTALL]
    assert commands.calls()[0].endswith(" libnss3")
    assert "sudo" not in apt_command(["libnss3"])


@pytest.mark.parametrize("lack", ["update", "*--fix-broken*"])
def test_lists_and_what_was_cut_off_before_are_mended_after_a_failure(root, commands, tmp_path, lack):
    mended = tmp_path / "mended"
    commands.add("dpkg", "exit 1")
    commands.add("apt-get", f'case "$*" in {lack}) touch {mended};; esac; [ -e {mended} ] || exit 100')
    install_packages(["libnss3"])
    assert verbs(commands.calls()) == [INSTALL, "apt-get update", "dpkg --configure", INSTALL, INSTALL]


def test_packages_that_are_not_installed_to_their_end_are_lacking(commands, tmp_path):
    commands.add("dpkg-query", f"{all_installed('libnss3')}; echo libnss3 unpacked; exit 1")
    assert lacking_packages(tmp_path) == ("libnss3",)


def test_packages_renamed_for_64_bit_time_have_their_new_names(commands, tmp_path):
    (tmp_path / "libssl3t64:amd64.list").touch()
    commands.add("dpkg-query", all_installed("libasound2", "libglib2.0-0"))
    assert lacking_packages(tmp_path) == ("libasound2t64", "libglib2.0-0t64")


def test_without_any_font_a_font_package_is_lacking(commands, monkeypatch, tmp_path):
    monkeypatch.setattr("core.setup.apt.has_fonts", lambda: False)
    commands.add("dpkg-query", all_installed())
    assert lacking_packages(tmp_path) == ("fonts-dejavu-core",)


def test_a_failure_names_the_packages_and_the_command(root, commands):
    for name in ("apt-get", "dpkg"):
        commands.add(name, "exit 100")
    with pytest.raises(WorldError, match=r"libnss3.*apt-get install -y libnss3"):
        install_packages(["libnss3"])


def test_the_command_runs_behind_sudo_without_asking_anything(user, commands):
    commands.add("sudo", '[ "$2" = true ] && exit 0; shift; exec "$@"')
    commands.add("apt-get")
    install_packages(["libnss3"])
    assert verbs(commands.calls()) == ["sudo -n", "sudo -n", INSTALL]
    assert "DEBIAN_FRONTEND=noninteractive" in commands.calls()[1]


def test_a_sudo_that_wants_a_password_gives_no_rights_without_a_terminal(user, commands):
    commands.add("sudo", "exit 1")
    with pytest.raises(WorldError, match=r"needs root or sudo.*sudo apt-get install -y libnss3"):
        install_packages(["libnss3"])
