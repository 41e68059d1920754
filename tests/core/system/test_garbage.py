import gc
import threading
import weakref
from collections.abc import Iterator

import pytest

from core.system.memory import GarbageCollector


class _Knot:
    """An object that only the collection of cyclic garbage can end."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collector() -> Iterator[GarbageCollector]:
    enabled = gc.isenabled()
    collector = GarbageCollector()
    yield collector
    if enabled:
        collector.close()


def _end_in(threads: list[str]) -> None:
    weakref.finalize(_Knot(), lambda: threads.append(threading.current_thread().name))


def test_a_thread_that_takes_memory_collects_nothing(collector: GarbageCollector) -> None:
    ended_in: list[str] = []
    _end_in(ended_in)
    thread = threading.Thread(target=lambda: [[] for _ in range(100_000)], name="taker")
    thread.start()
    thread.join()
    assert ended_in == []
    kept = [[] for _ in range(100_000)]
    collector.collect()
    assert ended_in == [threading.current_thread().name]
    assert len(kept) == 100_000


def test_objects_that_lived_for_long_are_collected_as_well(collector: GarbageCollector) -> None:
    ended_in: list[str] = []
    knot = _Knot()
    weakref.finalize(knot, ended_in.append, "ended")
    gc.collect()  # What survives is of the oldest generation.
    del knot
    for _ in range(500):
        for _ in range(5_000):
            _Knot()
        collector.collect()
        if ended_in:
            break
    assert ended_in == ["ended"]


def test_what_is_to_be_kept_is_looked_at_again_only_in_the_end(collector: GarbageCollector) -> None:
    ended_in: list[str] = []
    _end_in(ended_in)
    collector.keep_all()
    gc.collect()
    assert ended_in == []
    collector.close()
    gc.collect()
    assert ended_in == [threading.current_thread().name]
    gc.disable()


def test_it_is_left_to_python_again(collector: GarbageCollector) -> None:
    enabled = gc.isenabled()
    collector.close()
    assert gc.isenabled()
    if not enabled:
        gc.disable()
