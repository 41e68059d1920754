"""A few programs are killed in each run of the tests; and the campaign finds what is lost."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core.trace.store import TraceStore
from tests.campaigns.kill import Checked, Stage, kill, pool
from tests.campaigns.processes import below, wait_for_all_to_end
from tests.campaigns.programs import KINDS, Before, Home, Program, Told, prepare
from tests.core.stage import need_chromium
from tests.core.trace.making import start, write_run, write_step

HIDDEN = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env={}, start_new_session=True)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env={}, start_new_session=True)
"""
"""Starts a process that ends when this one does, and one that sleeps until it is killed; neither shows whose it is."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that does not lie deep, so that temporary files are kept below it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.mark.browser
@pytest.mark.program
def test_programs_that_are_killed_lose_nothing(folder):
    need_chromium()
    before = prepare(Home(folder / "template"))
    lives = {kind: KINDS[kind].seconds for kind in ("run", "import", "run, embedded")}
    rounds = list(kill(Stage(folder, before, 6, lives), times=1, jobs=1))
    assert sum(len(one.killed) for one in rounds) >= 1
    assert [loss.what for one in rounds for loss in one.losses] == []


def leave_processes() -> tuple[list[str], list[int]]:
    subprocess.run([sys.executable, "-c", HIDDEN], check=True)
    left, _ = wait_for_all_to_end(1.0)
    return [one.command for one in left], [one.pid for one in below()]


@pytest.mark.program
def test_a_process_that_goes_on_is_found_wherever_it_hides_and_ended():
    with pool(1) as workers:
        (command,), later = workers.submit(leave_processes).result()
    assert "time.sleep(600)" in command
    assert later == []


def told(*steps: tuple[int, int], ended: tuple[int, ...] = ()) -> Program:
    return Program("run", ("main.py", "run"), lambda text, begun: Told(steps=steps, ended=ended))


class Spoken:
    """A program that was killed, and told nothing but what a test says that it did."""

    def told(self) -> str:
        return ""


@pytest.fixture
def home(folder) -> Home:
    """What a killed program has left: a run with a whole step, and one that is not whole."""
    home = Home(folder / "home").make()
    with closing(TraceStore.open(home.database)) as store:
        write_run(store)
        run = store.begin_run(start())
        write_step(store, run, 1)
        write_step(store, run, 2, until="act")
    return home


def looked_at(home: Home, program: Program) -> Checked:
    checked = Checked(home, Before(run=1, steps=1, exemplar=""))
    checked.look([program], [Spoken()])
    return checked


def test_what_was_told_and_is_there_is_no_loss_and_can_be_forked(home):
    checked = looked_at(home, told((2, 1)))
    assert checked.lost == []
    assert (checked.steps, checked.interrupted, checked.forkable) == (1, (2,), [(2, 1)])


@pytest.mark.parametrize(
    ("program", "lost"),
    [
        (told((2, 2)), "Step 2 of run 2 was told and is not whole"),
        (told((2, 3)), "Step 3 of run 2 was told and is not there"),
        (told(ended=(2,)), "Run 2 was told to have ended and is interrupted"),
    ],
)
def test_what_was_told_and_is_not_there_is_a_loss(home, program, lost):
    assert looked_at(home, program).lost == [lost]


def test_a_damaged_row_is_a_loss(home):
    with closing(TraceStore.open(home.database)) as store:
        store._database.execute("PRAGMA foreign_keys = OFF")
        store._database.execute("DELETE FROM runs WHERE run = 1")
    assert any("refers to none" in one for one in looked_at(home, told()).lost)


@pytest.mark.program
def test_temporary_files_that_the_next_start_does_not_sweep_are_a_loss(home):
    (home.temporary / "playwright-artifacts-1").mkdir()
    checked = Checked(home, Before(run=1, steps=1, exemplar=""))
    checked.sweep()
    assert checked.lost == ["playwright-artifacts-1 was not swept by the next start"]


def test_a_program_of_a_campaign_sees_nothing_of_who_started_it(home, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("BACKSTEP_DATA_DIR", "/elsewhere")
    environment = home.environment
    assert "OPENAI_API_KEY" not in environment
    folders = [value for value in environment.values() if value.startswith(str(home.folder))]
    assert len(folders) == 7
    assert environment["PATH"] == os.environ["PATH"]
