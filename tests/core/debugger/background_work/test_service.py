"""The jobs of all services in one list: how far they are, and what came of them."""

import asyncio

import pytest

from core.debugger.background_work.service import BackgroundWorkService
from core.debugger.commands import command
from core.debugger.jobs import JobView
from core.debugger.service import JobService
from core.schema.errors import UsageError


class Counted(JobView):
    """What a test sees of a service."""

    problem: str = ""
    notice: str = ""


class Counting(JobService[Counted]):
    """Counts as far as it is told."""

    view = Counted()

    def __init__(self, session) -> None:
        super().__init__(session)
        self.reached: asyncio.Queue[int] = asyncio.Queue()

    @command
    async def count(self) -> None:
        self.begin("Counting", self._count, problem="", notice="")

    @command
    async def reach(self, number: int) -> None:
        """Count on to a number, and wait until that is shown."""
        self.reached.put_nowait(number)
        await self.reached.join()
        if self._job is not None and not 0 <= number < 10:
            await asyncio.wait([self._job])

    async def _count(self) -> None:
        report = self.reporting()
        number = 0
        while number < 10:
            number = await self.reached.get()
            if 0 <= number < 10:
                report(number, 10)
            self.reached.task_done()
            if number < 0:
                raise UsageError("Count from 0 on.")
        self.show(notice="Counted to 10.")


@pytest.fixture
def session(stand_in):
    return stand_in()


@pytest.fixture
def work(session):
    return BackgroundWorkService(session)


@pytest.fixture
def counting(session, work):
    return Counting(session)


def rows(work):
    return [(one.job.title, one.job.done, one.state, one.words) for one in work.view.rows]


def test_a_job_is_listed_with_its_progress_and_what_came_of_it(session, work, counting):
    counting.count()
    session.done()
    assert rows(work) == [("Counting", 0, "under way", "")]
    counting.reach(4)
    session.done()
    assert rows(work) == [("Counting", 4, "under way", "")]
    counting.reach(10)
    session.done()
    assert rows(work) == [("Counting", 4, "ended", "Counted to 10.")]


def test_a_failure_is_told_in_its_sentence_and_the_next_job_is_a_row_of_its_own(session, work, counting):
    counting.count()
    counting.reach(-1)
    session.done()
    assert rows(work) == [("Counting", 0, "failed", "Count from 0 on.")]
    counting.count()
    session.done()
    assert [row[2] for row in rows(work)] == ["under way", "failed"]
    work.forget_ended()
    session.done()
    assert [row[2] for row in rows(work)] == ["under way"]


def test_a_job_is_cancelled_from_the_list(session, work, counting):
    counting.count()
    session.done()
    assert work.view.under_way
    work.end(work.view.rows[0].number)
    session.done()
    assert rows(work)[0][2] == "cancelled"
    assert not counting.view.busy
