"""Snapshots are read beside the loop, and come in the order in which they were asked for."""

import asyncio
import threading

import pytest

from core.debugger.background_read import LatestRead, TraceReader
from core.trace.store import TraceStore


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db")
    yield store
    store.close()


class Reads:
    """Reads that answer with a word each, and what was sent of them."""

    def __init__(self, store):
        self._store = store
        self._reader = TraceReader()
        self.sent = []
        self.failed = []
        self.latest = LatestRead(self.failed.append)
        self.release = threading.Event()
        self.begun = threading.Event()

    def ask(self, word, *, held=False):
        def read(file):
            if held:
                self.begun.set()
                assert self.release.wait(10)
            return word

        self.read(read)

    def read(self, question):
        self.latest.ask(lambda: self._reader.ask(self._store, question), self.sent.append, self.failed.append)

    async def held(self, word):
        """Ask, and return once the reading has begun; it ends when `release` is set."""
        self.ask(word, held=True)
        await asyncio.to_thread(self.begun.wait, 10)

    async def over(self):
        self.release.set()
        await self.latest.settled()
        await self._reader.close()


def test_of_what_waits_only_the_newest_is_read_and_the_order_is_kept(store):
    async def work():
        reads = Reads(store)
        await reads.held("first")
        for word in ("second", "third", "last"):
            reads.ask(word)
        await reads.over()
        return reads

    assert asyncio.run(work()).sent == ["first", "last"]


def test_what_was_withdrawn_is_not_sent_even_where_it_is_being_read(store):
    async def work():
        reads = Reads(store)
        await reads.held("first")
        reads.ask("second")
        reads.latest.withdraw()
        reads.ask("last")
        await reads.over()
        return reads

    assert asyncio.run(work()).sent == ["last"]


def test_the_loop_goes_on_while_the_file_is_read(store):
    async def work():
        reads = Reads(store)
        await reads.held("slow")
        assert reads.latest.pending
        for _ in range(3):
            await asyncio.sleep(0)
        assert reads.sent == []
        await reads.over()
        assert not reads.latest.pending
        return reads

    assert asyncio.run(work()).sent == ["slow"]


def test_a_failure_is_reported_and_the_next_is_read(store):
    async def work():
        reads = Reads(store)
        reads.read(lambda file: file.run(4711))
        await reads.latest.settled()
        reads.ask("next")
        await reads.over()
        return reads

    reads = asyncio.run(work())
    (problem,) = reads.failed
    assert "no run 4711" in problem
    assert reads.sent == ["next"]


def test_a_mistake_of_the_program_is_reported_as_it_is_and_the_next_is_read(store):
    async def work():
        reads = Reads(store)
        reads.read(lambda file: 1 // 0)
        await reads.latest.settled()
        reads.ask("next")
        await reads.over()
        return reads

    reads = asyncio.run(work())
    assert [type(error) for error in reads.failed] == [ZeroDivisionError]
    assert reads.sent == ["next"]
