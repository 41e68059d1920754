"""A run that continues from a fixed step: its status, and its first action if a person gave one."""

from typing import TYPE_CHECKING, Any

from core.agent.edits.next_action import EditAction
from core.agent.edits.run_edits import problem_of
from core.agent.run_history import RunHistory
from core.debugger.fix.views import Rerun
from core.debugger.session_view import SessionView
from core.schema.action import Action, RefTarget
from core.schema.element_identity import called, find_again
from core.schema.errors import TraceError
from core.trace.records import RunRow
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session


def outcome_words(row: RunRow) -> str:
    """Return how a run ended, such as ``no success, reward 0.5, 7 steps: 1 of 2 items``."""
    if row.outcome == "running":
        return f"going on, {_steps(row.steps)} so far"
    word = {True: "success", False: "no success", None: f"not judged ({row.outcome})"}[row.verdict.success]
    reward = f", reward {round(row.verdict.reward, 3):g}" if row.verdict.reward is not None else ""
    why = row.error or row.verdict.reason
    return f"{word}{reward}, {_steps(row.steps)}" + (f": {why}" if why and not row.verdict.success else "")


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def rerun_of(rerun: Rerun, session: SessionView, store: TraceStore) -> Rerun:
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
