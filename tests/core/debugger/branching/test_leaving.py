"""Leaving the current run for another one."""

import asyncio
from types import SimpleNamespace

from core.debugger.branching.branches import Branches
from core.debugger.commands import SessionParts
from core.schema.errors import TraceError


async def test_a_run_is_left_to_be_taken_up_also_where_a_second_move_takes_the_place_of_the_first():
    asked, left = asyncio.Event(), []

    class Run:
        ended = False

        async def keep_network(self):
            asked.set()
            await asyncio.Event().wait()

        def leave(self):
            left.append(self)

    class Runner:
        async def halt(self):
            return

    run = Run()
    current = SimpleNamespace(run=run)
    parts = SessionParts(current, None, Runner(), None, None)
    move = asyncio.ensure_future(Branches(parts)._leave())
    await asked.wait()
    move.cancel()
    await asyncio.wait([move])
    assert (left, current.run) == ([run], None)


async def test_a_run_that_has_ended_and_was_deleted_does_not_keep_the_person_from_another_one():
    logged = []

    class Run:
        ended = True

        def leave(self):
            raise TraceError("There is no run 4.")

    class Runner:
        async def halt(self):
            return

    publisher = SimpleNamespace(log=lambda *words: logged.append(words))
    current = SimpleNamespace(run=Run())
    await Branches(SessionParts(current, publisher, Runner(), None, None))._leave()
    assert current.run is None
    assert logged == [
        ("warning", "session", "What pages sent after the end was not stored: There is no run 4.")
    ]
