"""A program that is held: nothing that it waits for runs out meanwhile."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

from core.attach.clock import HeldClock

NODE = compute_driver_executable()[0]
PYTHON_WAITS = """
import asyncio, time
async def wait():
    began = time.monotonic()
    print("begun", flush=True)
    try:
        await asyncio.wait_for(asyncio.Event().wait(), 0.4)
    except TimeoutError:
        print(time.monotonic() - began, flush=True)
asyncio.run(wait())
"""
NODE_WAITS = """
const began = process.hrtime.bigint();
console.log("begun");
setTimeout(() => console.log(Number(process.hrtime.bigint() - began) / 1e9), 400);
"""
WAITING = [[sys.executable, "-c", PYTHON_WAITS], [NODE, "-e", NODE_WAITS]]


def started(command: list[str], clock: HeldClock, **more: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, **more}
    return subprocess.Popen(
        command,
        env=environment | clock.environment(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.program
@pytest.mark.parametrize("command", WAITING, ids=["python", "node"])
def test_a_limit_does_not_run_out_while_the_program_is_held(tmp_path: Path, command: list[str]) -> None:
    clock = HeldClock(tmp_path / "clock")
    with started(command, clock) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "begun\n"
        with clock.hold():
            time.sleep(1.5)  # So long a person thinks.
            assert program.poll() is None
        assert 0.3 < float(program.stdout.read()) < 1.4
    clock.close()


@pytest.mark.program
@pytest.mark.parametrize("command", WAITING, ids=["python", "node"])
def test_a_program_that_is_not_held_waits_as_ever(tmp_path: Path, command: list[str]) -> None:
    clock = HeldClock(tmp_path / "clock")
    with started(command, clock) as program:
        said = program.communicate(timeout=60)[0].split()
    assert said[0] == "begun"
    assert float(said[1]) >= 0.39
    clock.close()


@pytest.mark.program
def test_the_programs_own_hooks_are_run_as_well(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('its own')")
    clock = HeldClock(tmp_path / "clock")
    with started([sys.executable, "-c", "pass"], clock, PYTHONPATH=str(tmp_path)) as program:
        assert program.communicate(timeout=60)[0] == "its own\n"
    clock.close()


@pytest.mark.program
@pytest.mark.parametrize("command", WAITING, ids=["python", "node"])
def test_a_program_whose_clock_is_gone_runs_all_the_same(tmp_path: Path, command: list[str]) -> None:
    clock = HeldClock(tmp_path / "clock")
    clock.path.unlink()
    with started(command, clock) as program:
        assert program.communicate(timeout=60)[0].startswith("begun")
        assert program.returncode == 0
    clock.close()


def test_holds_may_overlap(tmp_path: Path) -> None:
    clock = HeldClock(tmp_path / "clock")
    with clock.hold():
        with clock.hold():
            assert clock.holds
        assert clock.holds
    assert not clock.holds
    clock.close()
