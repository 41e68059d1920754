"""The times of a run and the log of a page: read beside the run, the last that was asked for, and failures said."""

import pytest

from core.browser.log.records import ConsoleEntry, PageLog
from core.debugger.timeline.service import TimelineService
from core.trace.blobs import hash_of
from core.trace.store import TraceStore
from tests.core.trace.making import PICTURE, start, write_run, write_step


class Asked:
    """A service with what it has sent."""

    def __init__(self, session):
        self.session = session
        self.times, self.logs, self.pictures = [], [], []
        self.service = TimelineService(session)
        self.service.changed.connect(self.times.append)
        self.service.logged.connect(self.logs.append)
        self.service.pictured.connect(self.pictures.append)
        self.service.looked.connect(self.pictures.append)

    def log(self, run, step):
        """Ask for the log of a step and return what was sent."""
        self.service.read_log(run, step)
        self.session.done()
        (view,) = self.logs
        return view


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db", busy_seconds=0)
    yield store
    store.close()


@pytest.fixture
def asked(store, stand_in):
    return Asked(stand_in(store=store))


def test_the_log_of_a_step_is_read_in_its_parts(asked, store):
    run = write_run(store)
    log = PageLog(entries=(ConsoleEntry(time=1.0, text="hello"),))
    store.pages.save_log(run, 1, "in the action", log)
    view = asked.log(run, 1)
    assert (view.run, view.step, view.message) == (run, 1, "")
    assert view.parts[0].log == log


def test_a_step_stored_before_logs_were_kept_says_so(asked, store):
    assert "recorded by a version without page logs" in asked.log(write_run(store), 1).message


def test_a_step_that_has_only_begun_says_so(asked, store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    assert "not been observed" in asked.log(run, 1).message


def test_of_many_asked_in_a_row_the_last_is_answered(asked, store):
    run = write_run(store, steps=5)
    with asked.session.at_once():
        for step in range(1, 6):
            asked.service.read_log(run, step)
    asked.session.done()
    assert [view.step for view in asked.logs] == [5]


def test_times_hold_back_no_log(asked, store):
    run = write_run(store)
    write_step(store, run, 3)
    with asked.session.at_once():
        asked.service.read_log(run, 1)
        asked.service.read_times(run)
    asked.session.done()
    assert [view.step for view in asked.logs] == [1]
    assert [len(view.steps) for view in asked.times] == [3]


def test_a_run_that_is_not_there_is_said(asked, store):
    write_run(store)
    asked.service.read_times(99)
    asked.service.read_log(1, 77)
    asked.session.done()
    assert "no run 99" in asked.times[-1].problem
    assert "no step 77" in asked.logs[-1].message


def test_before_the_database_is_open_it_says_so(stand_in):
    asked = Asked(stand_in())
    asked.service.read_times(1)
    assert "not open yet" in asked.log(1, 1).message
    assert "not open yet" in asked.times[-1].problem


def test_pictures_of_the_film_that_are_missing_have_no_bytes(asked, store):
    write_run(store)
    names = (hash_of(PICTURE), hash_of(b"gone"))
    asked.service.read_pictures(names)
    asked.session.done()
    assert asked.pictures == [{names[0]: PICTURE, names[1]: b""}]


def test_why_a_step_cannot_be_shown_large_is_said_in_place_of_both_pictures(asked, store):
    write_run(store)
    asked.service.look(1, 77)
    asked.session.done()
    asked.service.look_restored(99)
    asked.session.done()
    step, restored = asked.pictures
    assert "no step 77" in step.before.missing
    assert step.before == step.after
    assert "no run 99" in restored.after.missing
    assert restored.restored
