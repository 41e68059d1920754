"""Temporary files go with their process; what a killed one has left is swept by the next start."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import tempfile
from core.system.temp_folder import begin_temp_folder

print(begin_temp_folder(), flush=True)
tempfile.mkdtemp(prefix="kept-")
input()
"""

BROWSER_LIKE = """
import socket, tempfile
from core.system.temp_folder import begin_temp_folder

print(begin_temp_folder(), flush=True)
folder = tempfile.mkdtemp(prefix=".org.chromium.Chromium.")
with socket.socket(socket.AF_UNIX) as single:
    single.bind(folder + "/SingletonSocket")
"""


@pytest.fixture
def near() -> Iterator[Path]:
    """A folder that does not lie deep, as the system's does not."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def started(near) -> Iterator:
    running = []

    def start() -> tuple[subprocess.Popen, Path]:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT,
            env=os.environ | {"TMPDIR": str(near), "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    yield start
    for process in running:
        process.kill()
        process.communicate()


def end(process: subprocess.Popen) -> None:
    process.communicate("\n")


def test_temporary_files_are_gone_when_the_process_has_ended(started, near):
    process, folder = started()
    assert folder.parent == near
    assert folder.is_dir()
    end(process)
    assert list(near.iterdir()) == []


def test_what_a_killed_process_has_left_is_swept_and_a_living_one_keeps_its_own(started, near):
    killed, left = started()
    living, kept = started()
    killed.kill()
    killed.communicate()
    assert left.is_dir()
    other, own = started()
    assert not left.exists()
    assert kept.is_dir()
    end(other)
    end(living)
    assert not kept.exists()
    assert not own.exists()


def test_a_process_that_another_one_starts_has_its_folder_beside(started, near):
    first, folder = started()
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(folder), "PYTHONPATH": str(ROOT)},
        input="\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(process.stdout.split()[0]).parent == near
    end(first)


def test_where_the_folder_of_the_system_lies_deep_a_browser_can_still_make_its_socket(tmp_path):
    deep = tmp_path / ("d" * 60)
    deep.mkdir()
    process = subprocess.run(
        [sys.executable, "-c", BROWSER_LIKE],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(deep), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not Path(process.stdout.strip()).exists()
    assert list(deep.iterdir()) == []


def test_what_is_not_ours_is_left_alone(started, near):
    elsewhere = near / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".lock").touch()
    (near / "backstep-run-link").symlink_to(elsewhere)
    (near / "backstep-run-without-lock").mkdir()
    process, _ = started()
    end(process)
    assert (elsewhere / ".lock").exists()
    assert (near / "backstep-run-without-lock").exists()
