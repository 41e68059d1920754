"""Where moments lie on the line of time: folded, zoomed and moved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debugger.timeline.views import HeldSpan
from gui.panels.timeline.bar import TimeBar, TimeScale
from gui.panels.timeline.film import FilmStrip
from tests.gui import reading_samples as samples


def wait(begun, ended):
    return HeldSpan(begun=begun, ended=ended, step=1)


def scale(*waits, begun=0.0, ended=100.0, folded=True, width=1000.0):
    made = TimeScale(begun, ended, waits, folded=folded)
    made.stretch(width)
    return made


@pytest.fixture
def bar(qtbot, theme):
    film = FilmStrip(theme)
    bar = TimeBar(theme, film)
    qtbot.addWidget(film)
    qtbot.addWidget(bar)
    bar.resize(1000, 80)
    bar.show()
    qtbot.waitExposed(bar)
    bar.show_times(samples.times(20))
    film.show_times(bar.view)
    return bar


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


def test_zooming_leaves_the_moment_under_the_pointer_where_it_is(bar):
    before = bar.scale.time(300)
    bar.zoom_by(4, 300)
    assert bar.scale.x(before) == pytest.approx(300, abs=0.6)
    bar.fit()
    assert (bar.zoom, bar.horizontalScrollBar().maximum()) == (1.0, 0)


def test_nobody_gets_out_of_the_bar_by_zooming_and_moving(bar):
    right = bar.scale.x(bar.view.ended)
    bar.zoom_by(1e15, 500)
    bar.horizontalScrollBar().setValue(2**31 - 1)
    assert bar.scale.x(bar.view.ended) == pytest.approx(right, abs=1)
    bar.zoom_by(1e-15, 500)
    assert (bar.zoom, bar.horizontalScrollBar().maximum()) == (1.0, 0)


def test_a_run_of_weeks_can_be_zoomed_into_to_scale(bar):
    bar.set_folded(False)
    bar.show_times(samples.times(3, 1e7))
    bar.zoom_by(1e15, 500)
    assert bar.zoom > 1000
    assert not bar.grab().isNull()


def test_a_step_out_of_view_is_moved_into_it(bar):
    bar.zoom_by(20, 0)
    for number in (15, 1):
        step = bar.view.steps[number - 1]
        bar._film.show_viewed(18, number)
        assert 0 <= bar.scale.x(step.begun) < bar.width()


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
    made.stretch(1000 * zoom)
    made.left = 500 * (zoom - 1)
    places = [made.x(moment) for moment in sorted(moments)]
    assert places == sorted(places)
    for place in places:
        assert made.x(made.time(place)) == pytest.approx(place, abs=0.5)
