"""Going back through a stored run to where it would last have stopped."""

import pytest

from core.debugger.breakpoints.kinds.actions import ActionChosen
from core.debugger.breakpoints.kinds.problems import Condition, FigureAbove
from core.debugger.breakpoints.stored_events import LastHit, last_hit
from core.schema.errors import TraceError
from tests.core.trace.making import write_run

CLICK = ActionChosen(action="click", target="Save")


@pytest.fixture
def run(trace):
    """A stored run of three steps, each of which clicks Save."""
    return write_run(trace, steps=3)


def test_going_back_finds_the_last_place_before_a_step(trace, run):
    found = last_hit(trace, [CLICK.replace(number=1)], run, 3)
    assert found == LastHit(
        2, "review", 'click [1] on button "Save" is about to be carried out at http://127.0.0.1:1/save.html.'
    )
    assert last_hit(trace, [CLICK], run, 1) is None
    assert trace.stops.hits(run) == ()


def test_going_back_leaves_out_what_stops_nothing(trace, run):
    logs, off = (CLICK.replace(**one) for one in ({"then": "log"}, {"enabled": False}))
    assert last_hit(trace, [logs, off], run, 4) is None
    assert last_hit(trace, [], run, 4) is None
    assert last_hit(trace, [CLICK.replace(ignore=3)], run, 4) is None
    assert last_hit(trace, [CLICK.replace(ignore=2)], run, 4).step == 3


def test_going_back_takes_the_latest_of_several(trace, run):
    once = Condition(number=1, expression="step.number == 2")
    figure = FigureAbove(number=2, figure="steps", above=2)
    assert last_hit(trace, [once, figure], run, 3).sentence == "step.number == 2 has become true."
    assert last_hit(trace, [once, figure], run, 4).sentence == "The steps of the run reached 3, above 2."


def test_going_back_in_a_run_that_is_not_there_says_so(trace):
    with pytest.raises(TraceError, match="no run 9"):
        last_hit(trace, [CLICK], 9, 2)
