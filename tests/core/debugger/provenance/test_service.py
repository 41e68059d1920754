"""Reading beside the run: logs, explanations and times, the last that was asked for, and failures said."""

import asyncio
from types import SimpleNamespace

import pytest

from core.browser.log.records import ConsoleEntry, PageLog
from core.debugger.provenance.service import ReadingDesk
from core.debugger.provenance.views import WhyQuestion
from core.trace.store import TraceStore
from tests.core.trace.making import start, write_run, write_step


class Asked:
    """A desk at a store, with what it has announced."""

    def __init__(self, store):
        self.jobs = []
        self.told = []
        self.desk = ReadingDesk(SimpleNamespace(store=store), self.jobs.append)
        for signal in (self.desk.logged, self.desk.explained, self.desk.timed):
            signal.connect(self.told.append)

    def done(self):
        """Do what was queued, all of it at once, and return what was told."""

        async def all_of_it():
            await asyncio.gather(*self.jobs)

        asyncio.run(all_of_it())
        self.jobs.clear()
        return self.told


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db", busy_seconds=0)
    yield store
    store.close()


@pytest.fixture
def asked(store):
    return Asked(store)


def test_the_log_of_a_step_is_read_in_its_parts(asked, store):
    run = write_run(store)
    log = PageLog(entries=(ConsoleEntry(time=1.0, text="hello"),))
    store.save_page_log(run, 1, "in the action", log)
    asked.desk.read_log(run, 1)
    (view,) = asked.done()
    assert (view.run, view.step, view.message) == (run, 1, "")
    assert view.parts[0].log == log


def test_a_step_stored_before_logs_were_kept_says_so(asked, store):
    asked.desk.read_log(write_run(store), 1)
    (view,) = asked.done()
    assert "stored before" in view.message


def test_a_step_that_has_only_begun_says_so(asked, store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    asked.desk.read_log(run, 1)
    (view,) = asked.done()
    assert "not been looked at" in view.message


def test_of_many_asked_in_a_row_the_last_is_told(asked, store):
    run = write_run(store, steps=5)
    for step in range(1, 6):
        asked.desk.read_log(run, step)
    assert [view.step for view in asked.done()] == [5]


def test_what_is_read_of_one_kind_holds_back_no_other(asked, store):
    run = write_run(store)
    write_step(store, run, 3)
    asked.desk.read_times(run)
    asked.desk.explain(WhyQuestion(run=run, step=1, text="draft"))
    asked.desk.read_log(run, 1)
    told = {type(view).__name__: view for view in asked.done()}
    assert set(told) == {"TimeView", "WhyView", "PageLogView"}
    assert len(told["TimeView"].steps) == 3
    assert [place.kind for place in told["WhyView"].places] == ["task"]


def test_a_run_that_is_not_there_is_said(asked, store):
    write_run(store)
    asked.desk.read_times(99)
    asked.desk.explain(WhyQuestion(run=99, step=1, text="x"))
    asked.desk.read_log(1, 77)
    told = {type(view).__name__: view for view in asked.done()}
    assert "no run 99" in told["TimeView"].problem
    assert "no run 99" in told["WhyView"].problem
    assert "no step 77" in told["PageLogView"].message


def test_before_the_database_is_open_it_says_so():
    asked = Asked(None)
    asked.desk.read_times(1)
    (view,) = asked.done()
    assert "not open yet" in view.problem
