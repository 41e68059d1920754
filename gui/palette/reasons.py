"""Why a command is unavailable now, in one sentence that says what to do."""

from core.debugger.session_view import SessionView
from gui.widgets.enabled_commands import BUSY

_NO_RUN = "No run is in view: open a task (Ctrl+N) or choose a run"
_REASONS: dict[str, str] = {
    **dict.fromkeys(("again", "next_seed"), "No task is open: choose one (Ctrl+N)"),
    **dict.fromkeys(("export", "bisect", "keep"), _NO_RUN),
    "run_to_subtask": "No subtask lies ahead: it needs a plan, and a run that rests",
    "back_to_hit": "No breakpoint has stopped at a step before this one",
    "back_to_change": "Choose a watch that changed at a step before this one",
    "stop": "No run is under way",
    "edit_plan": "There is no plan to edit now: it needs a run that rests, with a preset that plans",
    "fire_remedy": "No remedy waits",
    "point": "No action is under review: step to the next one (F10)",
    "previous": "There is no recorded step before the one in view",
    "next_recorded": "There is no recorded step after the one in view",
    "now": "The step under way is in view already",
    "record": "Recording needs an open task and a run that rests",
}


def why_not(name: str, view: SessionView, *, live: bool, told: str = "") -> str:
    """Return why a disabled command is unavailable; `told` is the reason in its tooltip, if it has one.

    `live` means that the current step is in view.
    """
    if told:
        return told
    if name in _REASONS:
        return _REASONS[name]
    if view.mode == "opening":
        return "The page is being opened: wait until it is there"
    if view.run is None:
        return "No task is open: choose one (Ctrl+N)"
    if name in ("back", "fork"):
        return "There is no step to go back to yet"
    if name in ("success", "failure"):
        return (
            "The task's own judge says how it ended" if view.judged else "Only once the agent rests, and once"
        )
    if name == "handover" and view.mode in BUSY:
        return "The run goes on: pause it first (F5)"
    if view.mode == "ended":
        return "The run has ended: open the task again (Ctrl+R), or go back to a step (Ctrl+B)"
    if not live and name in ("accept", "ask_again", "skip"):
        return "A recorded step is in view: go back to now first (Esc)"
    if view.handed_over:
        return "You have the page: give it back first (F6)"
    if view.mode in BUSY:
        return "The run goes on: pause it first (F5)"
    return "No action is under review: step to the next one (F10)"
