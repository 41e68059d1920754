"""Temporary files go with their process; what a killed one has left is swept by the next start."""

import os
import subprocess
import sys
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


@pytest.fixture
def started(tmp_path) -> Iterator:
    running = []

    def start() -> tuple[subprocess.Popen, Path]:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT,
            env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
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


def test_temporary_files_are_gone_when_the_process_has_ended(started, tmp_path):
    process, folder = started()
    assert folder.parent == tmp_path
    assert folder.is_dir()
    end(process)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_has_left_is_swept_and_a_living_one_keeps_its_own(started, tmp_path):
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


def test_a_process_that_another_one_starts_has_its_folder_beside(started, tmp_path):
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
    assert Path(process.stdout.split()[0]).parent == tmp_path
    end(first)


def test_what_is_not_ours_is_left_alone(started, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".lock").touch()
    (tmp_path / "backstep-run-link").symlink_to(elsewhere)
    (tmp_path / "backstep-run-without-lock").mkdir()
    process, _ = started()
    end(process)
    assert (elsewhere / ".lock").exists()
    assert (tmp_path / "backstep-run-without-lock").exists()
