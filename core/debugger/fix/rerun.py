"""Runs that continue from a fixed step, or begin afresh: they are started, and followed to their end."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.agent.edits.next_action import EditAction
from core.agent.edits.run_edits import problem_of
from core.agent.run_history import RunHistory
from core.debugger.fix.views import Rerun
from core.debugger.session_view import SessionView
from core.schema.action import Action, RefTarget
from core.schema.element_identity import called, find_again
from core.schema.errors import TraceError
from core.schema.formats import count
from core.trace.records import RunRow
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session


def outcome_words(row: RunRow) -> str:
    """Return how a run ended, such as ``no success, reward 0.5, 7 steps: 1 of 2 items``."""
    if row.outcome == "running":
        return f"going on, {count(row.steps, 'step')} so far"
    word = {True: "success", False: "no success", None: f"not judged ({row.outcome})"}[row.verdict.success]
    reward = f", reward {round(row.verdict.reward, 3):g}" if row.verdict.reward is not None else ""
    why = row.error or row.verdict.reason
    return f"{word}{reward}, {count(row.steps, 'step')}" + (
        f": {why}" if why and not row.verdict.success else ""
    )


def _standing(rerun: Rerun, session: SessionView, store: TraceStore) -> Rerun:
    """Return how the run that is the session's current one stands."""
    match session.mode:
        case "ended":
            row = store.run(rerun.run)
            words = outcome_words(row)
            return rerun.replace(state="ended", success=row.verdict.success, steps=row.steps, words=words)
        case "failed":
            return rerun.replace(state="failed", words=session.message, steps=session.step)
        case "waiting" | "answering":
            return rerun.replace(state="waiting", words=session.message, steps=session.step)
    return rerun.replace(state="going on", steps=session.step)


class ActionInPlace:
    """A person's action for a step, written for its recorded page, to be carried out in the new one."""

    def __init__(self, session: "Session", made: int, run: int, step: int, action: Action) -> None:
        self._session = session
        self._made = made
        self._run = run
        self._step = step
        self._action = action

    def is_due(self, session: SessionView) -> bool:
        """Return whether the run stands at the review of the step."""
        at_step = (session.run, session.step, session.phase) == (self._made, self._step, "review")
        return at_step and session.mode == "waiting"

    def problem(self) -> str:
        """Return why it cannot be put in place of the agent's, with the run waiting; or nothing."""
        run = self._session.agent_run
        assert run is not None
        try:
            recorded = RunHistory(run.store, self._run).observation(self._step)
        except TraceError as error:
            return str(error)
        changes = dict[str, Any]()
        for part in ("target", "to"):
            target = getattr(self._action, part, None)
            element = recorded.element(target.ref) if isinstance(target, RefTarget) else None
            if element is None:
                continue
            found = find_again(element, recorded, run.state.observation)
            if found.element is None:
                return (
                    f"The run waits at step {self._step}: {called(element)} was not found with "
                    f"certainty. {found.why}"
                )
            changes[part] = RefTarget(ref=found.element.ref)
        self._action = self._action.replace(**changes)
        if problem := problem_of(run, EditAction(action=str(self._action))):
            return f"The run waits at step {self._step}: {problem}"
        return ""

    def put(self) -> None:
        """Put it in place of the agent's, and run on; it is found in the new page by `problem` before."""
        self._session.edits.edit_action(str(self._action))
        self._session.run_commands.run()


class Reruns:
    """Has runs continue in the session, and tells how the last one stands."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._in_place: ActionInPlace | None = None
        """The action that waits to be put in place of the next one of the run made last."""
        self._left: tuple[int, str, int] | None = None
        """The run that was current when a task was asked for afresh, that task and its seed; None if none was."""
        self._begun = False
        """Whether the run made last was told to continue."""

    def forget(self) -> None:
        """A run is about to be made: what the one before waited for does not happen any more."""
        self._in_place, self._left, self._begun = None, None, False

    def go_on(self, in_place: ActionInPlace | None = None) -> None:
        """Have the run that was just made continue; with an action in place of the agent's next one."""
        self._in_place = in_place
        self._tell(self._session.run_commands.run if in_place is None else self._session.run_commands.step)

    def afresh(self, row: RunRow, llm: str) -> None:
        """Do the task of a run again from its start, at the same seed, with the files as they are now."""
        session = self._session
        url, instruction = (row.start_url, row.instruction) if row.environment == "web" else ("", "")
        self.forget()
        self._left = (session.session.run or 0, row.task, row.seed)
        session.agent.set_preset(row.preset)
        session.agent.set_llm(llm)
        session.tasks.open(row.task, row.seed, url=url, instruction=instruction, profile=row.profile or "")
        self._tell(session.run_commands.run)

    def _tell(self, command: Callable[[], None]) -> None:
        """Give a command; where the run rests before it is carried out is not told."""
        self._begun = False
        command()

        async def mark() -> None:
            self._begun = True

        self._session.queue(mark())

    def followed(self, rerun: Rerun | None, session: SessionView) -> tuple[Rerun | None, str]:
        """Return how the run made last stands, and why its action cannot be put in place, or nothing.

        Raises TraceError.
        """
        if self._left is not None and session.mode != "opening" and session.run not in (None, self._left[0]):
            wanted, self._left = self._left[1:], None
            if wanted == (session.task, session.seed):
                rerun = Rerun(run=session.run, fresh=True)
        if rerun is None or rerun.state == "lost" or not self._begun:
            return rerun, ""
        if session.run != rerun.run:
            if session.run is not None and rerun.state in ("going on", "waiting"):
                rerun = rerun.replace(state="left", words="It was replaced by another run.")
            return rerun, ""
        problem = ""
        if self._in_place is not None and session.mode not in ("failed", "ended"):
            if not self._in_place.is_due(session):
                return rerun, ""
            in_place, self._in_place = self._in_place, None
            problem = in_place.problem()
            if not problem:
                self._tell(in_place.put)
                return rerun, ""
        return _standing(rerun, session, self._session.services().store), problem
