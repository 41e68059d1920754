"""Runs of a task that cannot be taken back are made one after another, and not again without permission."""

import asyncio
from types import SimpleNamespace

import pytest

from core.debugger.evaluations import local
from core.debugger.evaluations.local import MadeRuns
from core.debugger.evaluations.records import Variant
from core.schema.task import Task
from core.trace.records import Case, CaseAttempt

PLAIN = Variant(preset="plain", llm="rules")
ATTEMPT = CaseAttempt(evaluation=4, case=Case(variant=PLAIN.name, task="own/order", seed=0))


def made_runs(monkeypatch, *earlier: int, rule: str = "refuse", seeded: bool = False):
    """Return the runs of an evaluation that has made these `earlier`, and the runs that each check was given."""
    checked: list[list[int]] = []
    monkeypatch.setattr(local, "check_again", lambda services, task, runs, on_gate: checked.append([*runs]))
    tries = [SimpleNamespace(run=SimpleNamespace(run=run), attempt=ATTEMPT) for run in earlier]
    monkeypatch.setattr(local, "attempts_of", lambda store, number: tries if number == 4 else ())
    task = Task(id="own/order", environment="own", seeded=seeded)
    services = SimpleNamespace(
        environments=SimpleNamespace(find=lambda name: task),
        world=lambda task: SimpleNamespace(keeper=None),
        settings=SimpleNamespace(on_gate=rule),
        store=None,
    )
    return MadeRuns(services), checked


async def make(made: MadeRuns, run: int, under_way: list[int], most: list[int]) -> None:
    async with made.turn(PLAIN, ATTEMPT) as runs:
        under_way.append(run)
        most.append(len(under_way))
        await asyncio.sleep(0)
        under_way.remove(run)
        runs.append(run)


async def test_what_one_run_has_sent_is_known_before_the_next_begins_also_of_an_earlier_start(monkeypatch):
    made, checked = made_runs(monkeypatch, 7)
    most: list[int] = []
    await asyncio.gather(*(make(made, run, under, most) for under in [[]] for run in (8, 9)))
    assert most == [1, 1]
    assert checked == [[7], [7, 8]]


@pytest.mark.parametrize("given", [{"rule": "allow"}, {"seeded": True}])
async def test_where_nothing_stays_done_or_all_is_allowed_runs_are_made_at_once(monkeypatch, given):
    made, checked = made_runs(monkeypatch, **given)
    most: list[int] = []
    await asyncio.gather(*(make(made, run, under, most) for under in [[]] for run in (8, 9)))
    assert max(most) == 2
    assert checked == []
