"""Limits of time: what a process was kept from by others does not count, what it took itself does."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.system import patience
from core.system.patience import Limit, within
from tests.core.system.busy import busy

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="Only Linux tells how long a thread waited for a processor."
)
COMPUTE = "while True: sum(range(100_000))"
REST = "import time\nwhile True: time.sleep(0.2)"


@contextmanager
def beside_four_that_compute(work: str) -> Iterator[int]:
    """Run a program on a processor that four others are busy on; yields the number of its process."""
    one = min(os.sched_getaffinity(0))
    process = subprocess.Popen([sys.executable, "-c", work])
    os.sched_setaffinity(process.pid, {one})
    try:
        with busy(4, one):
            yield process.pid
    finally:
        process.kill()
        process.wait()


def spent(process: int, seconds: float) -> tuple[float, float]:
    """Return how much of a limit was counted while so much time went by, and that time."""
    limit = Limit(1000, process)
    began = time.monotonic()
    time.sleep(limit.first())
    before = limit.left()
    started = time.monotonic()
    assert before <= 1000 - (started - began) + 0.1, "the beginning counts in full"
    while time.monotonic() - started < seconds:
        time.sleep(0.1)
    return before - limit.left(), time.monotonic() - started


def test_time_in_which_others_had_the_processor_does_not_count() -> None:
    with beside_four_that_compute(COMPUTE) as process:
        counted, elapsed = spent(process, 3)
    assert counted < elapsed / 2


def test_time_in_which_a_process_rests_counts_though_others_compute() -> None:
    with beside_four_that_compute(REST) as process:
        counted, elapsed = spent(process, 2)
    assert counted > elapsed / 2


def test_a_process_that_keeps_the_machine_busy_itself_is_not_given_more_time() -> None:
    threads = (
        "import hashlib, threading\nwork = lambda: [hashlib.sha256(bytes(10**7)) for _ in iter(int, 1)]\n"
    )
    threads += f"for _ in range({4 * (os.cpu_count() or 1)}): threading.Thread(target=work).start()"
    process = subprocess.Popen([sys.executable, "-c", threads])
    counted, _ = spent(process.pid, 2)
    process.kill()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = -9
    # The limit began a moment after the process.
    assert counted > (usage.ru_utime + usage.ru_stime) / (os.cpu_count() or 1) / 2


async def test_what_is_awaited_ends_when_its_limit_is_over() -> None:
    with pytest.raises(TimeoutError):
        async with within(0.05):
            await asyncio.Event().wait()


async def test_what_is_done_in_time_is_not_disturbed_later() -> None:
    async with within(0.05) as limit:
        await asyncio.sleep(0)
    await asyncio.sleep(0.1)
    assert not limit.expired()


async def test_an_error_of_ones_own_is_not_taken_for_the_limit() -> None:
    with pytest.raises(TimeoutError, match="another"):
        async with within(5) as limit:
            raise TimeoutError("another")
    assert not limit.expired()


def test_many_limits_at_once_ask_the_system_no_oftener_than_one(monkeypatch):
    asked = []
    read = patience._read

    def slow(process):
        asked.append(process)
        time.sleep(0.01)  # As with some hundred threads on a busy machine.
        return read(process)

    monkeypatch.setattr(patience, "_read", slow)
    monkeypatch.setattr(patience, "_known", {})
    limits = [patience.Limit(1e-6) for _ in range(200)]
    began = time.monotonic()
    for limit in limits:
        limit.left()
        limit.left()
    taken = time.monotonic() - began
    assert len(asked) <= 1 + taken / 0.1
