"""The airline desk as an environment: its six tasks, opened in a session of their own and judged by its state."""

from typing import TYPE_CHECKING

from core.environments.protocol import Ask, PageDriver
from core.environments.sites import SiteEnvironment, SiteServer
from core.schema.errors import DataError, UsageError
from core.schema.task import Episode, Task, Verdict
from core.storage.resources import RESOURCES

if TYPE_CHECKING:
    from core.environments.airline.desk import AirlineState
    from core.environments.airline.evaluation import DeskEvaluation
    from core.environments.airline.scenarios import Kind

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


class Airline(SiteEnvironment["AirlineState"]):
    """The customer-service desk of an invented airline, served from a loopback address."""

    id = "airline"
    title = "Airline desk"
    session_cookies = ("airline_session",)
    seeded = True
    tasks_file = TASKS

    def make_server(self) -> "SiteServer[AirlineState]":
        from core.environments.airline.application import STATIC, AirlineDesk

        return SiteServer(AirlineDesk(), STATIC)

    async def open(self, task: Task, seed: int, page: PageDriver) -> Episode:
        """Begin a session at the desk with the scenario of this seed."""
        from core.environments.airline.scenarios import HIGHEST_SEED, make
        from core.environments.airline.wording import instruction

        if not 0 <= seed <= HIGHEST_SEED:
            raise UsageError(f"The seed {seed} cannot be used: use a whole number from 0 to {HIGHEST_SEED}.")
        scenario = make(seed, _kind(task))
        return await self.begin(task, seed, page, f"/?scenario={scenario.id}", instruction(scenario))

    async def ended(self, page: PageDriver) -> bool:
        """Return whether a desk of the page's session is done with its scenario, well or not."""
        from core.environments.airline.application import evaluation_of

        state = await self.state_of(page)
        return state is not None and any(
            evaluation_of(desk.scenario, state).ended for desk in state.desks if desk.scenario
        )

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        """Return success, with the progress as the reward; the page and the answer are not looked at."""
        from core.environments.airline.application import evaluation_of
        from core.environments.airline.scenarios import scenario_id

        state = self.server.sessions.state(episode.session)
        found = evaluation_of(scenario_id(_kind(episode.task), episode.seed), state)
        return Verdict(success=found.success, reward=found.progress, judge="page", reason=_reason(found))


def _kind(task: Task) -> "Kind":
    found = KINDS.get(task.id.rpartition("/")[2])
    if found is None:
        raise DataError(f"{task.id} is not a task of the airline desk: there are {', '.join(KINDS)}.")
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
        text += " The last page opened is not the requested one."
    return text
