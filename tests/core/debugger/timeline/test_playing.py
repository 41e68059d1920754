"""How long a step is shown while a run is played back."""

import pytest

from core.debugger.timeline.views import seconds_shown
from tests.gui import reading_samples as samples


@pytest.mark.parametrize(("speed", "factor"), [("0.5", 2.0), ("1", 1.0), ("2", 0.5), ("4", 0.25)])
def test_a_step_is_shown_as_long_as_it_took_by_the_speed_and_without_what_held_the_run(speed, factor):
    view = samples.times(3, wait=8.0)
    took = view.steps[1].begun - view.steps[0].begun - 8.0
    assert seconds_shown(view, 0, speed) == pytest.approx(took * factor)


def test_waits_for_llms_are_cut_to_two_seconds():
    view = samples.times(2, wait=0.0)
    first = view.steps[0]
    call = first.calls[0].replace(seconds=40.0)
    later = view.steps[1].replace(begun=first.begun + 41.0, ended=first.begun + 42.0)
    slow = view.replace(steps=(first.replace(calls=(call,)), later))
    assert seconds_shown(slow, 0, "1") == pytest.approx(3.0)


def test_steps_without_times_and_even_ones_take_a_second():
    view = samples.times(2).replace(untimed="imported")
    assert seconds_shown(view, 0, "2") == 0.5
    assert seconds_shown(samples.times(2), 0, "even") == 1.0
