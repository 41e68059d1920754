"""Where moments lie on the line of time: folded, zoomed and moved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debugger.timeline.views import HeldSpan
from gui.panels.timeline.painter import TimeScale


def wait(begun, ended):
    return HeldSpan(begun=begun, ended=ended, step=1)


def scale(*waits, begun=0.0, ended=100.0, folded=True, width=1000.0):
    made = TimeScale()
    made.resize(width)
    made.show(begun, ended, waits, folded=folded)
    return made


def test_all_of_it_fits_to_scale():
    made = scale(folded=False)
    assert [made.x(time) for time in (0.0, 25.0, 100.0)] == [0.0, 250.0, 1000.0]


def test_a_folded_wait_is_short_and_the_work_takes_the_room():
    folded, plain = scale(wait(10.0, 90.0)), scale(wait(10.0, 90.0), folded=False)
    assert plain.x(90) - plain.x(10) == 800.0
    assert folded.x(90) - folded.x(10) < 250
    assert folded.x(10) > plain.x(10)
    assert folded.x(100) == pytest.approx(1000.0)


def test_a_wait_that_is_shorter_than_its_fold_keeps_its_length():
    made = scale(wait(50.0, 50.1))
    assert made.x(50.1) - made.x(50.0) == pytest.approx(1.0, abs=0.01)


def test_zooming_leaves_the_moment_under_the_pointer_where_it_is():
    made = scale()
    before = made.time(300)
    made.zoom_by(4, 300)
    assert made.time(300) == pytest.approx(before)
    made.fit()
    assert (made.zoom, made.left) == (1.0, 0.0)


def test_nobody_gets_out_of_the_bar_by_zooming_and_moving():
    made = scale()
    made.zoom_by(1e9, 500)
    made.move_by(1e12)
    assert made.x(100.0) == pytest.approx(1000.0)
    made.zoom_by(1e-9, 500)
    made.move_by(-1e12)
    assert (made.zoom, made.left) == (1.0, 0.0)


def test_a_step_out_of_view_is_moved_into_it():
    made = scale()
    made.zoom_by(20, 0)
    made.reveal(80.0, 81.0)
    assert 0 <= made.x(80.0) < made.x(81.0) <= 1000
    made.reveal(0.0, 1.0)
    assert made.x(0.0) >= 0


def test_a_run_without_length_is_no_fault():
    made = scale(begun=5.0, ended=5.0)
    assert 0 <= made.x(5.0) <= 1000
    assert made.time(1000) >= 5.0


@given(
    cuts=st.lists(st.floats(0, 1000), min_size=2, max_size=20, unique=True),
    folded=st.booleans(),
    zoom=st.floats(1, 50),
    moments=st.lists(st.floats(0, 1000), min_size=2, max_size=10),
)
def test_later_moments_never_lie_further_left_and_places_lead_back(cuts, folded, zoom, moments):
    cuts = sorted(cuts)
    made = scale(*map(wait, cuts[::2], cuts[1::2]), ended=1000.0, folded=folded)
    made.zoom_by(zoom, 500)
    places = [made.x(moment) for moment in sorted(moments)]
    assert places == sorted(places)
    for place in places:
        assert made.x(made.time(place)) == pytest.approx(place, abs=0.5)
