"""What all services have: commands that queue, one job at a time, and reading of which the last counts."""

import asyncio
import gc
import warnings
from functools import partial

import pytest

from core.debugger.commands import command
from core.debugger.service import Service
from core.schema.errors import UsageError
from core.schema.record import Record
from core.schema.signal import Signal
from core.trace.store import TraceStore
from tests.core.trace.making import write_run

BUSY = "Counting is still running. Wait for it to end, or cancel it."


class Counted(Record):
    """What a test sees of a service."""

    number: int = 0
    begun: tuple[int, ...] = ()
    cancelled: tuple[int, ...] = ()
    problem: str = ""


class Counting(Service[Counted]):
    """Counts at once, or in jobs that wait for `go_on`."""

    view = Counted()

    def __init__(self, session) -> None:
        super().__init__(session)
        self.go_on = asyncio.Event()

    @command
    async def count(self, number: int) -> None:
        """Count to a number."""
        if number < 0:
            raise UsageError("Count from 0 on.")
        self.show(number=number, problem="")

    @command
    async def divide(self) -> None:
        1 // self.view.number

    @command
    async def begin(self, number: int) -> None:
        self.start(partial(self._job_of, number), BUSY)

    @command
    async def begin_and_cancel(self, number: int) -> None:
        self.start(partial(self._job_of, number), BUSY)
        await self.stop()

    @command
    async def cancel(self) -> None:
        await self.stop()

    @command
    async def let_go(self) -> None:
        self.go_on.set()
        if self._job is not None:
            await asyncio.wait([self._job])

    async def _job_of(self, number: int) -> None:
        self.show(begun=(*self.view.begun, number))
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.show(cancelled=(*self.view.cancelled, number))
            raise
        if number < 0:
            raise UsageError("Count from 0 on.")
        self.show(number=number)


@pytest.fixture
def session(stand_in):
    return stand_in()


@pytest.fixture
def counting(session):
    return Counting(session)


def test_a_command_only_queues_its_work(session, counting):
    with session.at_once():
        assert counting.count(1) is None
        assert counting.view.number == 0
    session.done()
    assert counting.view.number == 1


def test_a_command_keeps_the_name_and_the_words_of_its_work():
    assert (Counting.count.__name__, Counting.count.__doc__) == ("count", "Count to a number.")


def test_a_view_is_sent_whole_each_time_a_part_of_it_changes(session, counting):
    views = []
    counting.changed.connect(views.append)
    counting.count(1)
    counting.begin(2)
    session.done()
    assert views == [Counted(number=1), Counted(number=1, begun=(2,))]


def test_what_a_user_can_mend_becomes_the_problem_of_the_view(session, counting):
    counting.count(1)
    counting.count(-1)
    session.done()
    assert counting.view == Counted(number=1, problem="Count from 0 on.")


def test_a_mistake_of_the_program_is_raised(session, counting):
    counting.divide()
    with pytest.raises(ZeroDivisionError):
        session.done()
    assert counting.view.problem == ""


def test_a_second_job_is_refused_with_the_sentence_given(session, counting):
    counting.begin(1)
    counting.begin(2)
    session.done()
    assert counting.view == Counted(begun=(1,), problem=BUSY)
    counting.let_go()
    session.done()
    counting.begin(3)
    session.done()
    assert (counting.view.begun, counting.view.number) == ((1, 3), 3)


def test_a_job_that_fails_says_why_and_another_can_be_begun(session, counting):
    counting.begin(-1)
    counting.let_go()
    session.done()
    assert counting.view.problem == "Count from 0 on."
    assert not counting.is_busy
    counting.begin(1)
    session.done()
    assert counting.view.begun == (-1, 1)


def test_a_job_is_cancelled_by_its_command(session, counting):
    counting.begin(1)
    session.done()
    counting.cancel()
    session.done()
    assert counting.view == Counted(begun=(1,), cancelled=(1,))
    assert not counting.is_busy
    counting.cancel()
    session.done()


def test_a_job_that_is_cancelled_before_it_has_begun_does_nothing_and_warns_of_nothing(session, counting):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        counting.begin_and_cancel(1)
        session.done()
        gc.collect()
    assert [str(warning.message) for warning in warned] == []
    assert counting.view == Counted()
    assert not counting.is_busy


def test_closing_the_session_ends_the_job(session, counting):
    counting.begin(1)
    session.done()
    (close,) = session.closers
    session.thread.run(close())
    assert counting.view.cancelled == (1,)
    assert not counting.is_busy


def test_progress_is_thinned_to_whole_percents_and_reported_to_the_end(counting):
    reports = []
    report = counting.progress(lambda done, total: reports.append((done, total)))
    for done in range(10_001):
        report(done, 10_000)
    assert len(reports) == 101
    assert (reports[0], reports[-1]) == ((0, 10_000), (10_000, 10_000))
    few = []
    report = counting.progress(lambda done, total: few.append(done))
    for done in range(4):
        report(done, 3)
    assert few == [0, 1, 2, 3]


def test_progress_of_nothing_is_reported_once(counting):
    reports = []
    report = counting.progress(lambda done, total: reports.append((done, total)))
    report(0, 0)
    report(0, 0)
    assert reports == [(0, 0)]


# Reading


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db", busy_seconds=0)
    yield store
    store.close()


class Reading(Service[Counted]):
    """Reads the number of steps of a run, each of the two kinds for itself."""

    view = Counted()

    def __init__(self, session) -> None:
        super().__init__(session)
        self.other: Signal[Counted] = Signal()
        self.read_runs = []

    @command
    async def steps_of(self, run: int) -> None:
        await self._read("steps", run, self.send)

    @command
    async def others_of(self, run: int) -> None:
        await self._read("others", run, self.other.send)

    async def _read(self, topic, run, send) -> None:
        def question(store):
            self.read_runs.append(run)
            store.run(run)
            return Counted(number=len(store.steps(run)))

        await self.answer(topic, question, send, lambda problem: Counted(problem=problem))


def test_of_several_questions_at_once_only_the_last_is_answered(stand_in, store):
    session = stand_in(store=store)
    reading, views = Reading(session), []
    reading.changed.connect(views.append)
    first, second, third = (write_run(store, steps=steps) for steps in (1, 2, 3))
    with session.at_once():
        for run in (first, second, third):
            reading.steps_of(run)
    session.done()
    assert views == [Counted(number=3)]
    assert second not in reading.read_runs


def test_a_question_does_not_overtake_one_of_another_kind(stand_in, store):
    session = stand_in(store=store)
    reading, others = Reading(session), []
    reading.other.connect(others.append)
    run = write_run(store, steps=2)
    with session.at_once():
        reading.others_of(run)
        reading.steps_of(run)
    session.done()
    assert reading.view == Counted(number=2)
    assert others == [Counted(number=2)]


def test_a_question_that_fails_is_answered_with_why(stand_in, store):
    session = stand_in(store=store)
    reading = Reading(session)
    reading.steps_of(99)
    session.done()
    assert "no run 99" in reading.view.problem


def test_before_the_database_is_open_a_question_is_answered_so(session):
    reading = Reading(session)
    reading.steps_of(1)
    session.done()
    assert "not open yet" in reading.view.problem
