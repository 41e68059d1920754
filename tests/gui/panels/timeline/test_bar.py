"""The time bar: what it says, where it leads, and that long runs do not hold it up."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from core.debugger.timeline.views import TimeMark, TimeView
from gui.panels.timeline import text as time_words
from gui.panels.timeline.bar import ROWS
from gui.panels.timeline.strip import TimeStrip
from gui.widgets.remembered import Remembered
from tests.gui import reading_samples as samples
from tests.gui import samples as views


@pytest.fixture
def strip(qtbot, theme, settings):
    strip = TimeStrip(theme, Remembered(settings))
    qtbot.addWidget(strip)
    strip.show_bar(on=True)
    strip.resize(1200, 200)
    strip.show()
    qtbot.waitExposed(strip)
    return strip


@pytest.fixture
def bar(strip):
    strip.show_times(samples.times())
    return strip.bar


@pytest.fixture
def asked(strip):
    steps = []
    strip.film.step_requested.connect(lambda run, number: steps.append((run, number)))
    return steps


def middle(bar, at):
    step = bar.view.steps[at]
    return bar.scale.x((step.begun + step.ended) / 2)


def test_without_a_run_or_steps_it_says_what_to_do(strip):
    for view, words in (
        (TimeView(), "F10"),
        (TimeView(run=18), "has no steps yet"),
        (TimeView(run=18, problem="It cannot be read."), "It cannot be read."),
    ):
        strip.film.show_viewed(view.run, 0)
        strip.show_times(view)
        assert words in strip.bar.words_at(10, 10)
        assert words in strip.film.words_at(QPoint(10, 10))
        assert words in strip.bar.accessibleDescription()
        assert not strip.bar.grab().isNull()


def test_what_lies_under_the_pointer_is_described_in_words(bar):
    step = bar.view.steps[0]
    x = bar.scale.x
    decide = next(phase for phase in step.phases if phase.phase == "decide")
    assert bar.words_at(x(decide.begun + 0.5), ROWS.phases + 2) == "Step 1, decide: 1.6 s"
    words = bar.words_at(x(step.calls[0].started + 0.5), ROWS.calls + 2)
    assert "Call 2 for decide, gpt-4o: 1.5 s" in words
    assert "$0.0031" in words
    held = bar.words_at(x(bar.view.held[0].begun + 4), ROWS.calls + 2)
    assert held.startswith("Step 1 was held at the review, for the person: 8.0 s")
    assert "Drawn shorter" in held
    assert bar.words_at(x(step.begun + 0.5), ROWS.steps + 2).startswith("Step 1, ")
    assert "so far" in bar.words_at(x(step.begun + 0.5), ROWS.cost + 2)
    mark = bar.view.marks[0]
    assert bar.words_at(x(mark.time), 3).startswith("Breakpoint, step 1: Stopped at review")


def test_a_failed_call_says_why(bar):
    step = bar.view.steps[2]
    assert "429" in bar.words_at(bar.scale.x(step.calls[1].started + 0.2), ROWS.calls + 2)


def test_a_click_leads_to_the_step_also_where_the_bar_is_zoomed(bar, asked, qtbot):
    for factor in (1, 5):
        bar.zoom_by(factor, middle(bar, 2))
        place = QPoint(round(middle(bar, 2)), ROWS.steps + 4)
        qtbot.mouseClick(bar.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert asked == [(18, 3), (18, 3)]


def test_a_click_on_a_mark_leads_to_its_step(bar, asked, qtbot):
    mark = next(mark for mark in bar.view.marks if mark.step == 3)
    qtbot.mouseClick(
        bar.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(bar.scale.x(mark.time)) + 3, 4)
    )
    assert asked == [(18, 3)]


def test_a_drag_over_the_bar_scrubs_and_the_release_rests_on_the_step(strip, bar, asked, qtbot):
    scrubbed = []
    strip.film.scrubbed.connect(lambda run, number: scrubbed.append(number))
    places = [QPoint(round(middle(bar, at)), ROWS.steps + 4) for at in range(4)]
    qtbot.mousePress(bar.viewport(), Qt.MouseButton.LeftButton, pos=places[0])
    for place in places[1:]:
        qtbot.mouseMove(bar.viewport(), place)
    assert asked == []
    qtbot.mouseRelease(bar.viewport(), Qt.MouseButton.LeftButton, pos=places[3])
    assert scrubbed == [1, 2, 3, 4]
    assert asked == [(18, 4)]


@pytest.mark.parametrize("another_run", [False, True])
def test_a_drag_ends_with_escape_or_another_run(strip, bar, asked, qtbot, another_run):
    strip.film.show_viewed(18, 1)
    places = [QPoint(round(middle(bar, at)), ROWS.steps + 4) for at in range(4)]
    qtbot.mousePress(bar.viewport(), Qt.MouseButton.LeftButton, pos=places[1])
    qtbot.mouseMove(bar.viewport(), places[2])
    if another_run:
        strip.film.show_viewed(19, 1)
        strip.show_times(samples.times().replace(run=19))
    else:
        strip.film.end_scrubbing()
    qtbot.mouseMove(bar.viewport(), places[3])
    qtbot.mouseRelease(bar.viewport(), Qt.MouseButton.LeftButton, pos=places[3])
    assert strip.film.at.number == 1
    assert not strip.film.is_scrubbing
    assert asked == []


def test_keys_before_a_drag_request_nothing_while_it_goes_on(strip, bar, qtbot):
    place = QPoint(round(middle(bar, 2)), ROWS.steps + 4)
    qtbot.keyClick(bar, Qt.Key.Key_Home)
    qtbot.mousePress(bar.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.assertNotEmitted(strip.film.step_requested, wait=400):  # Keys rest after a shorter pause.
        pass
    qtbot.mouseRelease(bar.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_an_update_of_the_framed_step_does_not_move_the_zoomed_bar(strip, bar):
    step = views.STEP.replace(run=18, number=5)
    strip.show_step(step)
    bar.zoom_by(8)
    slider = bar.horizontalScrollBar()
    slider.setValue(0)
    strip.show_step(step)
    assert slider.value() == 0
    strip.show_step(step.replace(number=4))
    assert slider.value() > 0


def test_the_rows_have_their_height_also_with_the_style_of_the_window(strip, bar, theme, qtbot):
    theme.prepare()
    theme.dress(strip)
    qtbot.waitUntil(lambda: bar.viewport().height() == ROWS.height)
    bar.zoom_by(8)
    qtbot.waitUntil(lambda: bar.viewport().height() == ROWS.height)


def test_keys_go_through_the_steps_and_rest_on_the_last_of_them(strip, bar, asked, qtbot):
    scrubbed = []
    strip.film.scrubbed.connect(lambda run, number: scrubbed.append(number))
    strip.film.show_viewed(18, 3)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End):
        qtbot.keyClick(bar, key)
    assert scrubbed == [2, 3, 1, 5]
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: asked == [(18, 5)])


def grown(view, seconds):
    """Return the times of a run whose last step goes on for so long."""
    last = view.steps[-1]
    last = last.replace(ended=last.ended + seconds)
    return view.replace(ended=view.ended + seconds, steps=(*view.steps[:-1], last))


def turn(bar, x, y, modifiers=Qt.KeyboardModifier.NoModifier):
    turned = QWheelEvent(
        QPointF(300, 20),
        QPointF(300, 20),
        QPoint(),
        QPoint(x, y),
        Qt.MouseButton.NoButton,
        modifiers,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(bar.viewport(), turned)


@pytest.mark.parametrize(
    ("x", "y", "modifiers"),
    [(-120, 0, Qt.KeyboardModifier.NoModifier), (0, -120, Qt.KeyboardModifier.ShiftModifier)],
)
def test_a_turn_of_the_wheel_moves_the_zoomed_bar_by_a_part_of_what_is_in_view(bar, x, y, modifiers):
    bar.zoom_by(8)
    left, zoom = bar.scale.left, bar.zoom
    turn(bar, x, y, modifiers)
    assert left < bar.scale.left < left + bar.viewport().width() / 10
    turn(bar, -x, -y, modifiers)
    assert (bar.scale.left, bar.zoom) == (left, zoom)


def test_wheel_and_keys_zoom_and_0_fits_again(bar, qtbot):
    turn(bar, 0, 240)
    assert bar.zoom > 1.4
    slider, left = bar.horizontalScrollBar(), bar.scale.left
    assert slider.isVisible()
    slider.setValue(slider.value() + 40)
    assert bar.scale.left == left + 40
    qtbot.keyClick(bar, Qt.Key.Key_Plus)
    qtbot.keyClick(bar, Qt.Key.Key_0)
    assert bar.zoom == 1.0
    assert not slider.isVisible()


def test_slow_turns_of_the_wheel_move_the_zoomed_bar_as_far_as_a_fast_one(bar):
    bar.zoom_by(8)
    left = bar.scale.left
    for _ in range(120):
        turn(bar, -1, 0)
    assert bar.scale.left == pytest.approx(left + 60, abs=1)
    start = bar.scale.time(300)
    for _ in range(120):
        turn(bar, 0, 1)
    assert bar.scale.x(start) == pytest.approx(300, abs=1)


def test_a_turn_that_goes_a_little_sideways_zooms(bar):
    turn(bar, 2, 120)
    assert bar.zoom == pytest.approx(1.25)


@pytest.mark.parametrize("folded", [False, True])
def test_a_zoomed_bar_stays_where_it_is_while_the_run_goes_on(strip, bar, folded):
    bar.set_folded(folded)
    bar.zoom_by(8, 300)
    for seconds in (0.5, 10, 120):
        times = [bar.scale.time(x) for x in (6, 300, 1000)]
        strip.show_times(grown(bar.view, seconds))
        places = [bar.scale.x(time) for time in times]
        # Folded waits get longer with the run.
        assert places[: 1 if folded else 3] == pytest.approx([6, 300, 1000][: 1 if folded else 3], abs=1)
    strip.show_times(samples.times().replace(run=19))
    assert bar.zoom == 1.0


def test_a_bar_that_shows_the_whole_run_goes_on_to_show_it(strip, bar):
    for turned in (*[15] * 5, *[-15] * 5):
        turn(bar, 0, turned)
    strip.show_times(grown(bar.view, 120))
    assert bar.zoom == 1.0
    assert bar.horizontalScrollBar().maximum() == 0


def test_a_zoomed_bar_goes_on_to_show_the_end_of_the_run(strip, bar):
    bar.zoom_by(8)
    bar.horizontalScrollBar().setValue(bar.horizontalScrollBar().maximum())
    for seconds in (0.5, 10, 120):
        strip.show_times(grown(bar.view, seconds))
        assert bar.width() - 20 < bar.scale.x(bar.view.ended) < bar.width()


def test_the_moment_at_the_left_stays_when_the_window_is_widened_or_waits_are_unfolded(strip, bar, qtbot):
    bar.zoom_by(8, 300)
    time = bar.scale.time(6)
    strip.resize(1500, 200)
    qtbot.waitUntil(lambda: bar.width() > 1400)
    assert bar.scale.time(6) == pytest.approx(time, abs=0.05)
    bar.set_folded(False)
    assert bar.scale.time(6) == pytest.approx(time, abs=0.05)


def test_waits_are_drawn_to_scale_when_asked(bar):
    folded = middle(bar, 4) - middle(bar, 3)
    assert folded > 0
    held = bar.view.held[0]
    short = bar.scale.x(held.ended) - bar.scale.x(held.begun)
    bar.set_folded(False)
    assert bar.scale.x(held.ended) - bar.scale.x(held.begun) > 3 * short
    assert "Drawn shorter" not in bar.words_at(bar.scale.x(held.begun + 4), ROWS.calls + 2)


def test_hundreds_of_steps_are_drawn_and_only_those_in_view(strip):
    strip.show_times(samples.times(800, 1.0))
    bar = strip.bar
    assert not bar.grab().isNull()
    bar.zoom_by(100, 600)
    drawn = {box.words().partition(",")[0] for box in bar._boxes(0, bar.width())}
    assert 0 < sum(words.startswith("Step") for words in drawn) < 30
    assert not bar.grab().isNull()


def test_hostile_words_are_only_text(strip):
    view = samples.times()
    step = view.steps[0].replace(action="<b>x\x00</b>\u202e" + "y" * 100_000)
    mark = TimeMark(time=step.begun, step=1, kind="error", text="<img src=x>" + "z" * 100_000)
    strip.show_times(view.replace(steps=(step, *view.steps[1:]), marks=(mark,)))
    assert not strip.bar.grab().isNull()
    assert len(strip.bar.words_at(10, ROWS.steps + 2)) < 1000


def test_the_description_tells_it_to_those_who_cannot_see_it(strip, bar):
    description = bar.accessibleDescription()
    assert "Run 18 · 5 steps" in description
    assert "The longest: step" in description
    assert "Going back, step 5: Went back to step 3, the page exact" in description
    strip.film.show_viewed(18, 3)
    for shown, name in ((bar, "Time bar"), (strip.film, "Filmstrip")):
        assert shown.accessibleName().startswith(f"{name}. Step 3")
        assert "failed" in shown.accessibleName()
    strip.film.scrub_to(0)
    assert strip.film.accessibleName().startswith("Filmstrip. Step 1")


def test_every_kind_of_mark_has_a_sign_of_its_own():
    assert len({sign for sign, _, _ in time_words.MARKS.values()}) == len(time_words.MARKS)


def test_a_run_whose_phases_have_no_beginnings_says_so():
    view = samples.times().replace(phases_known=False)
    assert "not stored" in time_words.summary(view)
    imported = view.replace(untimed="imported from a file without times")
    assert time_words.summary(imported) == "Run 18 · 5 steps · imported from a file without times"


def test_whether_waits_are_folded_is_remembered(qtbot, theme, settings):
    strip = TimeStrip(theme, Remembered(settings))
    qtbot.addWidget(strip)
    assert strip.bar.folded
    strip.fold.setChecked(False)
    assert not strip.bar.folded
    again = TimeStrip(theme, Remembered(settings))
    qtbot.addWidget(again)
    assert not again.bar.folded
