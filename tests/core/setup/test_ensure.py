"""The whole of it, on a tiny project with a real virtual environment and a real pip."""

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.setup.conftest import SOURCES, Commands, TinyProject, harmless

pytestmark = pytest.mark.program


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> TinyProject:
    """Give one project that the tests of this file set up, damage and set up again, each from any state."""
    folder = tmp_path_factory.mktemp("ensure")
    return TinyProject(folder / "project", wheels, harmless(folder / "commands"))


@pytest.fixture
def ready(project: TinyProject) -> TinyProject:
    assert project.start("runs").returncode == 0
    return project


def test_a_bare_python_ends_in_the_new_environment_with_the_same_arguments(project):
    shutil.rmtree(project.venv, ignore_errors=True)
    done = project.start("runs", "--json", "two words")
    assert done.stdout == f"{project.venv} runs --json two words\n"
    assert done.returncode == 0
    assert f"a virtual environment in {project.venv}" in done.stderr


@pytest.mark.parametrize("words", [("--help",), ("test", "--help"), ("run", "--help")])
def test_help_installs_nothing(tmp_path, wheels, words):
    project = TinyProject(tmp_path / "project", wheels, harmless(tmp_path / "commands"))
    done = project.start(*words)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: python3 main.py [COMMAND] [OPTIONS]\n")
    assert done.stderr == ""
    assert not project.venv.exists()


def test_a_second_start_does_nothing_and_says_nothing(ready):
    done = ready.start("runs")
    assert (done.stdout, done.stderr) == (f"{ready.venv} runs\n", "")


def test_an_import_that_fails_has_all_looked_at_once_more_and_is_then_reported(ready):
    done = ready.start("runs", "unimportable")
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "Backstep cannot start (libgone.so.1 is missing). Checking what is missing.",
        f"libgone.so.1 is missing; install it, or delete {ready.venv} and start again.",
    ]
    assert (ready.venv / "backstep.json").exists()


def test_the_packages_for_tests_are_added_to_what_is_there(ready):
    done = ready.start("test")
    # The tiny project has no PySide6, so a command that needs it stops there.
    assert done.returncode == 3
    assert "PySide6 is not in" in done.stderr
    assert list(ready.venv.glob("lib/python3*/site-packages/tinytest"))


def test_a_lost_stamp_is_written_anew(ready):
    (ready.venv / "backstep.json").unlink()
    assert ready.start("runs").returncode == 0
    assert (ready.venv / "backstep.json").exists()


def test_a_start_after_a_kill_waits_for_the_pip_that_lives_on_and_makes_the_environment_anew(ready):
    next(ready.venv.glob("lib/python3*/site-packages/tinydep/part.py")).unlink()
    held, gate = ready.root / "held", ready.root / "gate"
    os.mkfifo(held)
    os.mkfifo(gate)
    text = ready.root / "pyproject.toml"
    text.write_text(text.read_text().replace("tinydep>=1,<2", "tinydep>=1,<3"))
    first = ready.begin("runs", stderr=subprocess.DEVNULL)
    reached = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert select.select([reached], [], [], 60)[0], "pip never came to the project"
        first.kill()
        first.communicate()
        second = ready.begin("runs")
        assert second.stderr is not None
        assert "Waiting for it to finish" in second.stderr.readline()
        held.unlink()
        gate.write_text("go on")
        out, _ = second.communicate(timeout=60)
        assert (second.returncode, out) == (0, f"{ready.venv} runs\n")
        assert list(ready.venv.glob("lib/python3*/site-packages/tinydep/part.py"))
    finally:
        os.close(reached)
        gate.unlink()


def test_packages_that_cannot_be_had_are_reported_below_the_lines_of_pip(ready):
    text = ready.root / "pyproject.toml"
    kept = text.read_text()
    text.write_text(kept.replace("tinydep>=1", "tinydep>=1.5"))
    backend = ready.root / "backend.py"
    kept_backend = backend.read_text()
    backend.write_text(kept_backend.replace("tinydep>=1", "tinydep>=1.5"))
    try:
        done = ready.start("runs")
    finally:
        text.write_text(kept)
        backend.write_text(kept_backend)
    assert done.returncode == 3
    assert "No matching distribution found for tinydep" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("The Python packages could not be installed. ")
    assert "Traceback" not in done.stderr


def test_a_folder_of_somebody_else_is_left_alone(tmp_path, wheels):
    project = TinyProject(tmp_path / "project", wheels, harmless(tmp_path / "commands"))
    project.venv.mkdir()
    (project.venv / "thesis.tex").touch()
    done = project.start("runs")
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith(f"{project.venv} exists and is not a virtual environment")
    assert (project.venv / "thesis.tex").exists()


def test_an_environment_of_the_users_own_that_has_all_is_used_as_it_is(tmp_path, wheels):
    project = TinyProject(tmp_path / "project", wheels, Commands(tmp_path / "commands"))
    text = project.root / "pyproject.toml"
    text.write_text(text.read_text().replace("tinydep>=1,<2", "PySide6>=6"))
    done = project.start("runs")
    assert (done.returncode, done.stderr) == (0, "")
    assert not project.venv.exists()


def start_as_python_3_10(path: Path) -> subprocess.CompletedProcess[str]:
    program = (
        "import sys; from core.setup import ensure\n"
        "sys.version_info = (3, 10, 4, 'final', 0)\n"
        "ensure(['main.py', 'runs', '--json'])"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=SOURCES,
        env={**os.environ, "PATH": str(path)},
        capture_output=True,
        text=True,
    )


def test_a_python_that_is_too_old_is_reported_in_one_line(tmp_path):
    done = start_as_python_3_10(tmp_path)
    assert done.returncode == 3
    assert "needs Python 3.11 or newer" in done.stderr
    assert "3.10.4" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_newer_python_beside_one_that_is_too_old_takes_over(tmp_path):
    commands = Commands(tmp_path / "commands")
    commands.add("python3.11", "echo there is none behind this name; exit 127")
    commands.add("python3.12", '[ "$1" = -c ] || echo "$@"')
    done = start_as_python_3_10(commands.folder)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == f"{SOURCES / 'main.py'} runs --json"


def test_the_setup_imports_nothing_beyond_the_standard_library():
    program = (
        "import sys; import core.setup, core.setup.installer, core.setup.checks\n"
        "print([name for name in sys.modules if name.partition('.')[0] not in "
        "{*sys.stdlib_module_names, '__main__', 'core'}])"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], cwd=SOURCES, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
