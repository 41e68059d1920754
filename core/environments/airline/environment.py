"""The airline desk as an environment: its six tasks, opened in a session of their own and judged by its state.

Its tasks are listed from a file, so that a program which only lists them does
not have to load what makes a scenario.
"""

import asyncio
import json
from typing import TYPE_CHECKING

from core.environments.protocol import Ask, PageDriver
from core.environments.sites.server import SiteServer
from core.environments.sites.visitor import put_session, session_of
from core.schema.errors import DataError, UsageError
from core.schema.task import Episode, Task, Verdict
from core.storage.resources import RESOURCES

if TYPE_CHECKING:
    from core.environments.airline.application import AirlineDesk
    from core.environments.airline.evaluation import DeskEvaluation
    from core.environments.airline.scenarios import Kind
    from core.environments.airline.state import AirlineState

TASKS = RESOURCES / "sites" / "airline" / "tasks.json"
"""Written by ``python -m tests.core.environments.airline.task_list``."""

KINDS: "dict[str, Kind]" = {
    "find-flight": "TASK_FIND_FLIGHT",
    "book-flight": "TASK_BOOK_FLIGHT",
    "find-booking": "TASK_FIND_BOOKING",
    "cancel-booking": "TASK_CANCEL_BOOKING",
    "change-passenger": "TASK_MODIFY_PASSENGER",
    "change-flights": "TASK_MODIFY_FLIGHTS",
}
"""What kind of scenario each task is."""


class Airline:
    """The customer-service desk of an invented airline, served from a loopback address."""

    id = "airline"
    title = "Airline desk"
    hidden_selectors: tuple[str, ...] = ()
    session_cookies: tuple[str, ...] = ("airline_session",)

    def __init__(self) -> None:
        self._made: tuple[AirlineDesk, SiteServer[AirlineState]] | None = None
        self._tasks: tuple[Task, ...] | None = None

    @property
    def server(self) -> "SiteServer[AirlineState]":
        """The desk's server; no port is opened before its origin is asked for."""
        return self._desk[1]

    @property
    def _desk(self) -> "tuple[AirlineDesk, SiteServer[AirlineState]]":
        if self._made is None:
            from core.environments.airline.application import STATIC, AirlineDesk

            application = AirlineDesk(origin=lambda: self.server.origin)
            self._made = (application, SiteServer(application, STATIC))
        return self._made

    def tasks(self) -> tuple[Task, ...]:
        if self._tasks is None:
            listed = json.loads(TASKS.read_text(encoding="utf-8"))
            self._tasks = tuple(Task(environment=self.id, seeded=True, **one) for one in listed)
        return self._tasks

    async def open(self, task: Task, seed: int, page: PageDriver) -> Episode:
        """Begin a session at the desk with the scenario of this seed."""
        from core.environments.airline.scenarios import HIGHEST_SEED, make
        from core.environments.airline.wording import instruction

        if not 0 <= seed <= HIGHEST_SEED:
            raise UsageError(f"The seed {seed} cannot be used: give a whole number from 0 to {HIGHEST_SEED}.")
        scenario = make(seed, _kind(task))
        session = self.server.sessions.begin()
        await put_session(self.server, page, session)
        url = f"{self.server.origin}/?scenario={scenario.id}"
        await page.goto(url)
        return Episode(
            task=task, seed=seed, instruction=instruction(scenario), start_url=url, session=session
        )

    async def ended(self, page: PageDriver) -> bool:
        """Return whether a desk of the page's session is done with its scenario, well or not."""
        from core.environments.airline.application import evaluation_of

        session = await session_of(self.server, page)
        if not self.server.sessions.known(session):
            return False
        state = self.server.sessions.state(session)
        return any(evaluation_of(desk.scenario, state).ended for desk in state.desks if desk.scenario)

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        """Return success, with the progress as the reward; the page and the answer are not looked at."""
        from core.environments.airline.application import evaluation_of
        from core.environments.airline.scenarios import scenario_id

        state = self.server.sessions.state(episode.session)
        found = evaluation_of(scenario_id(_kind(episode.task), episode.seed), state)
        return Verdict(success=found.success, reward=found.progress, judge="page", reason=_reason(found))

    def snapshot(self, episode: Episode) -> str:
        """Return the session's state as JSON text; raises DataError where the session is gone."""
        return self.server.sessions.snapshot(episode.session)

    async def restore(self, episode: Episode, page: PageDriver, snapshot: str) -> Episode:
        sessions = self.server.sessions
        session = sessions.begin()
        sessions.restore(session, snapshot)
        for desk in sessions.state(session).desks:
            self._desk[0].remember(desk)
        await put_session(self.server, page, session)
        return episode.replace(session=session)

    async def close(self) -> None:
        if self._made is not None:
            await asyncio.to_thread(self.server.close)


def _kind(task: Task) -> "Kind":
    found = KINDS.get(task.id.rpartition("/")[2])
    if found is None:
        raise DataError(f"{task.id} is no task of the airline desk: there are {', '.join(KINDS)}.")
    return found


def _reason(found: "DeskEvaluation") -> str:
    reached = sum(step.reached for step in found.steps)
    missing = [step.name for step in found.steps if not step.reached]
    parts = [f"{reached} of {len(found.steps)} steps reached"]
    if missing:
        parts.append(f"not reached: {', '.join(missing)}")
    text = "; ".join(parts) + "."
    if found.wrong:
        text += " Wrong: " + " ".join(found.wrong)
    elif not found.success and not missing:
        text += " The last thing brought up is not what was asked for."
    return text
