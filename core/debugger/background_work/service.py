"""Background work: the jobs of all services in one list, from their views."""

from typing import TYPE_CHECKING, Any

from core.debugger.background_work.views import BackgroundWorkView, WorkRow
from core.debugger.commands import command
from core.debugger.jobs import Job
from core.debugger.service import Service

if TYPE_CHECKING:
    from core.debugger.session import Session

_ENDED = 30
"""Jobs that have ended and are listed still."""


class BackgroundWorkService(Service[BackgroundWorkView]):
    """Follows the views of all services, and cancels a job through its service."""

    view = BackgroundWorkView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._services: dict[int, Service[Any]] = {}
        """The service of each job, by its number."""
        session.worked.connect(self._on_worked)

    @command
    async def end(self, number: int) -> None:
        """End a job; one that has ended already is left as it is."""
        row = next((one for one in self.view.under_way if one.number == number), None)
        if row is not None:
            self._put(row.replace(state="ending"))
            await self._services[number].end_job(row.job.key)

    @command
    async def forget_ended(self) -> None:
        """Remove finished work from the list."""
        self.show(rows=self.view.under_way)

    def _on_worked(self, service: Service[Any]) -> None:
        """Bring the rows of a service up to what it says continues."""
        rows = [one for one in self.view.under_way if self._services[one.number] is service]
        going = {job.key: job for job in service.jobs}
        for row in rows:
            self._put(self._now(row, going.pop(row.job.key, None), service))
        for job in going.values():
            number = max(self._services, default=0) + 1
            self._services[number] = service
            self._put(WorkRow(number=number, job=job))

    def _now(self, row: WorkRow, job: Job | None, service: Service[Any]) -> WorkRow:
        if job is not None:
            return row.replace(job=job)
        problem, notice = service.outcome
        if problem:
            return row.replace(state="failed", words=problem)
        return row.replace(state="cancelled" if row.state == "ending" else "ended", words=notice)

    def _put(self, row: WorkRow) -> None:
        others = [one for one in self.view.rows if one.number != row.number]
        rows = sorted((row, *others), key=lambda one: -one.number)
        ended = [one for one in rows if one.state not in ("under way", "ending")]
        dropped = {one.number for one in ended[_ENDED:]}
        self.show(rows=tuple(one for one in rows if one.number not in dropped))


make_service = BackgroundWorkService
