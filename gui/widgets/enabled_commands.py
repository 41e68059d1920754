"""What can be asked for in each mode of the session."""

from core.debugger.snapshots import SessionView
from core.trace.records import RunRow

BUSY = ("running", "asking", "acting")
RESTING = ("waiting", "failed")
"""A failed run can be tried again from where it stands."""


def can_step(view: SessionView) -> bool:
    return view.mode in RESTING and view.run is not None and not view.handed_over


def can_take_up(row: RunRow) -> bool:
    """Whether a run that is not the current one can be gone on with."""
    return row.outcome in ("left", "interrupted")


def can_pause(view: SessionView) -> bool:
    return view.mode in BUSY


def can_hand_over(view: SessionView) -> bool:
    """Taking the page back is possible at any time."""
    return view.run is not None and (view.handed_over or view.mode in (*RESTING, "ended"))


def can_say_how_it_ended(view: SessionView) -> bool:
    """Where there is no judge, once the agent rests."""
    return (
        view.run is not None
        and not view.judged
        and view.success is None
        and view.mode in ("waiting", "answering", "ended")
    )
