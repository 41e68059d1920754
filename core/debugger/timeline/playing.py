"""How long each step is shown while a run is played back."""

from typing import Literal

from core.debugger.timeline.views import TimeView

Speed = Literal["0.5", "1", "2", "4", "even"]
LONGEST_LLM = 2.0
"""Seconds of waiting for LLMs that a step is shown at most, at its true speed."""
_LEAST = 0.1
_EVEN = 1.0


def seconds_shown(view: TimeView, at: int, speed: Speed) -> float:
    """Return how long the step at a position is shown before the next one; the last one is not followed.

    That is as long as it took until the next step began, without the time in
    which the run was held. Steps whose times are not known count a second.
    """
    if speed == "even":
        return _EVEN
    took = _EVEN
    if not view.untimed and at + 1 < len(view.steps):
        begun, ended = view.steps[at].begun, view.steps[at + 1].begun
        held = sum(max(min(one.ended, ended) - max(one.begun, begun), 0.0) for one in view.held)
        took = ended - begun - held - max(view.steps[at].seconds_asked - LONGEST_LLM, 0.0)
    return max(took / float(speed), _LEAST)
