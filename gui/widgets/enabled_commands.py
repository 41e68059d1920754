"""What can be asked for in each mode of the session."""

from dataclasses import dataclass

from core.debugger.snapshots import SessionView
from core.trace.records import RunRow

BUSY = ("running", "asking", "acting")
RESTING = ("waiting", "failed")
"""A failed run can be tried again from where it stands."""
UNDER_WAY = ("answering", *RESTING, *BUSY)


def can_step(view: SessionView) -> bool:
    return view.mode in RESTING and view.run is not None and not view.handed_over


def can_take_up(row: RunRow) -> bool:
    """Whether a run that is not the current one can be gone on with."""
    return row.outcome in ("left", "interrupted")


def can_pause(view: SessionView) -> bool:
    return view.mode in BUSY


def can_stop(view: SessionView) -> bool:
    return view.run is not None and view.mode in UNDER_WAY


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


@dataclass(frozen=True)
class CommandContext:
    """What the window shows, as far as commands depend on it."""

    session: SessionView
    recorded: bool
    """A recorded step is in view."""
    editable: bool
    """The action in view can be changed."""
    answering: bool
    pointing: bool
    message: bool
    """A message lies over the page."""
    run_in_view: bool
    step_before: bool
    step_after: bool
    plan_editable: bool
    remedy_waits: bool
    """A remedy can be fired."""
    back_to: bool
    """There is a step to go back to."""
    subtask_ahead: bool
    """There is a subtask to run to."""
    hit_before: bool
    """A breakpoint can be looked for in what is recorded."""
    change_before: bool


def enabled(scene: CommandContext) -> dict[str, bool]:
    """Return which commands can be given, by name; those left out always can."""
    view = scene.session
    acceptable = scene.editable and not view.handed_over
    reviewing = acceptable and not scene.answering
    return {
        "step": can_step(view),
        "over": can_step(view),
        "into": can_step(view),
        "out": can_step(view),
        "run_to_step": can_step(view),
        "run_to_subtask": can_step(view) and scene.subtask_ahead,
        "back": scene.back_to and view.mode != "opening",
        "fork": scene.back_to and view.mode != "opening",
        "bisect": scene.run_in_view,
        "keep": scene.run_in_view,
        "back_to_hit": scene.hit_before,
        "back_to_change": scene.change_before,
        "phase": can_step(view),
        "run": can_step(view) or can_pause(view),
        "stop": can_stop(view),
        "accept": acceptable,
        "ask_again": reviewing,
        "skip": reviewing or bool(view.held_request),
        "point": scene.pointing or acceptable,
        "edit_plan": scene.plan_editable,
        "fire_remedy": scene.remedy_waits,
        "handover": can_hand_over(view),
        "success": can_say_how_it_ended(view),
        "failure": can_say_how_it_ended(view),
        "export": scene.run_in_view,
        "again": bool(view.task),
        "next_seed": bool(view.task),
        "previous": scene.step_before,
        "next_recorded": scene.recorded and scene.step_after,
        "now": scene.recorded or scene.pointing or scene.message,
    }
