"""Which commands are available in each mode of the session."""

from core.debugger.session_view import SessionView
from core.trace.records import RunRow

BUSY = ("running", "asking", "acting")
RESTING = ("waiting", "failed")
"""A failed run can be retried from its current position."""


NO_TASK = "No task is open: choose one (Ctrl+N)"
NO_RUN = "No run is in view: open a task (Ctrl+N) or choose a run"
HANDED_OVER = "You have the page: give it back first (F6)"
GOING_ON = "The run goes on: pause it first (F5)"


def why_no_other_seed(view: SessionView) -> str:
    """Return why the task cannot be opened with another seed, or an empty string."""
    if not view.task:
        return NO_TASK
    return "" if view.seeded else "The task is the same at every seed"


def why_no_step(view: SessionView) -> str:
    """Return why the run cannot go on from where it is, or an empty string if it rests."""
    if view.mode == "opening":
        return "The page is being opened: wait until it is there"
    if view.run is None:
        return NO_TASK
    if view.mode == "ended":
        return "The run has ended: open the task again (Ctrl+R), or go back to a step (Ctrl+B)"
    if view.handed_over:
        return HANDED_OVER
    if view.mode == "answering":
        return "The agent waits for your answer: give it in the Action panel (Alt+4)"
    return "" if view.mode in RESTING else GOING_ON


def why_no_edit(view: SessionView, *, live: bool, name: str = "") -> str:
    """Return why the run cannot be edited now, or an empty string; `name` is a key of `SessionView.refusals`."""
    if view.run is None or view.mode == "ended":
        return "Only a run under way can be changed: open a task (Ctrl+N), or go back to a step of this one (Ctrl+B)"
    if not live:
        return "Only the step under way can be changed: go back to now (Esc), or to this step on a branch (Ctrl+B)"
    if view.handed_over:
        return HANDED_OVER
    if view.held_call:
        return f"Call {view.held_call} is held: only its prompt can be changed until you go on (F5, F10)"
    if view.held_reply:
        return (
            f"The reply to call {view.held_reply} is held: only it can be changed until you go on (F5, F10)"
        )
    if view.held_request:
        return "A request is held: let it go (F5, F10) or refuse it (Ctrl+J) first"
    if view.mode not in RESTING:
        return "Only while the run rests: pause it (F5)"
    return view.refusals.get(name, "")


def can_take_up(row: RunRow) -> bool:
    """Whether a run that is not the current one can be resumed."""
    return row.outcome in ("left", "interrupted")


def can_pause(view: SessionView) -> bool:
    return view.mode in BUSY


def can_hand_over(view: SessionView) -> bool:
    """Taking the page back is possible at any time."""
    return view.run is not None and (view.handed_over or view.mode in (*RESTING, "ended"))


def why_no_devtools(view: SessionView) -> str:
    """Return why DevTools cannot be opened now, or an empty string; once open, they stay open."""
    if view.run is None:
        return "DevTools open here once there is a page: open a task (Ctrl+N)."
    if view.mode in BUSY and not view.handed_over:
        return "The agent is acting: pause it (F5), and DevTools open here."
    return ""


def can_say_how_it_ended(view: SessionView) -> bool:
    """If there is no judge, when the agent is idle."""
    return (
        view.run is not None
        and not view.judged
        and view.success is None
        and view.mode in ("waiting", "answering", "ended")
    )
