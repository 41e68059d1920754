"""The time bar: what it says, where it leads, and that long runs do not hold it up."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from core.debugger.timeline.views import TimeMark, TimeView
from gui.panels.timeline import text as time_words
from gui.panels.timeline.bar import TimeArea
from gui.panels.timeline.painter import ROWS
from gui.panels.timeline.strip import TimeStrip
from gui.widgets.remembered import Remembered
from tests.gui import reading_samples as samples


@pytest.fixture
def area(qtbot, theme):
    area = TimeArea(theme)
    qtbot.addWidget(area)
    area.resize(1200, 120)
    area.show()
    qtbot.waitExposed(area)
    return area


@pytest.fixture
def bar(area):
    area.show_times(samples.times())
    return area.bar


@pytest.fixture
def asked(bar):
    steps = []
    bar.step_requested.connect(lambda run, number: steps.append((run, number)))
    return steps


def middle(bar, at):
    step = bar.view.steps[at]
    return bar.scale.x((step.begun + step.ended) / 2)


def test_without_a_run_or_steps_it_says_what_to_do(area):
    assert "F10" in area.or_words.words.text()
    area.show_times(TimeView(run=18))
    assert "has no steps yet" in area.or_words.words.text()
    area.show_times(TimeView(run=18, problem="It cannot be read."))
    assert area.or_words.words.text() == "It cannot be read."


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


def test_a_click_leads_to_the_step_and_a_drag_does_not(bar, asked, qtbot):
    place = QPoint(round(middle(bar, 2)) + 6, ROWS.steps + 4)
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=place)
    assert asked == [(18, 3)]
    bar.zoom_by(5)
    left = bar.scale.left
    qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseMove(bar, place - QPoint(60, 0))
    qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=place - QPoint(60, 0))
    assert asked == [(18, 3)]
    assert bar.scale.left > left


def test_a_drag_over_the_whole_bar_scrubs_and_the_release_rests_on_the_step(bar, asked, qtbot):
    scrubbed = []
    bar.scrubbed.connect(lambda run, number: scrubbed.append(number))
    y = ROWS.steps + 4
    qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=QPoint(round(middle(bar, 0)) + 6, y))
    for at in (1, 2, 3):
        qtbot.mouseMove(bar, QPoint(round(middle(bar, at)) + 6, y))
    assert asked == []
    qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=QPoint(round(middle(bar, 3)) + 6, y))
    assert scrubbed == [2, 3, 4]
    assert asked == [(18, 4)]


def test_keys_go_through_the_steps(bar, asked, qtbot):
    bar.show_viewed(18, 3)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End):
        qtbot.keyClick(bar, key)
    assert asked == [(18, 2), (18, 4), (18, 1), (18, 5)]
    bar.show_viewed(18, 5)
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert asked[-1] == (18, 5)


def test_wheel_and_keys_zoom_and_0_fits_again(area, bar, qtbot):
    turned = QWheelEvent(
        QPointF(300, 20),
        QPointF(300, 20),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(bar, turned)
    assert bar.scale.zoom > 1.4
    assert area.slider.isVisible()
    area.slider.setValue(40)
    assert bar.scale.left == 40
    qtbot.keyClick(bar, Qt.Key.Key_Plus)
    qtbot.keyClick(bar, Qt.Key.Key_0)
    assert bar.scale.zoom == 1.0
    assert not area.slider.isVisible()


def test_zoom_stays_while_the_same_run_goes_on_and_not_for_another(area, bar):
    bar.zoom_by(4)
    area.show_times(samples.times(6))
    assert bar.scale.zoom == 4.0
    area.show_times(samples.times().replace(run=19))
    assert bar.scale.zoom == 1.0


def test_waits_are_drawn_to_scale_when_asked(bar):
    folded = middle(bar, 4) - middle(bar, 3)
    assert folded > 0
    held = bar.view.held[0]
    short = bar.scale.x(held.ended) - bar.scale.x(held.begun)
    bar.set_folded(False)
    assert bar.scale.x(held.ended) - bar.scale.x(held.begun) > 3 * short
    assert "Drawn shorter" not in bar.words_at(bar.scale.x(held.begun + 4), ROWS.calls + 2)


def test_hundreds_of_steps_are_drawn_and_only_those_in_view(area, qtbot):
    area.show_times(samples.times(800, 1.0))
    bar = area.bar
    assert not bar.grab().isNull()
    bar.zoom_by(100, 600)
    drawn = []
    real = bar._painter._step
    bar._painter._step = lambda painter, step, *rest: (drawn.append(step.number), real(painter, step, *rest))
    bar._repaint()
    bar.grab()
    assert 0 < len(drawn) < 30


def test_hostile_words_are_only_text(area):
    view = samples.times()
    step = view.steps[0].replace(action="<b>x\x00</b>\u202e" + "y" * 100_000)
    mark = TimeMark(time=step.begun, step=1, kind="error", text="<img src=x>" + "z" * 100_000)
    area.show_times(view.replace(steps=(step, *view.steps[1:]), marks=(mark,)))
    assert not area.bar.grab().isNull()
    assert len(area.bar.words_at(10, ROWS.steps + 2)) < 1000


def test_the_description_tells_it_to_those_who_cannot_see_it(bar):
    description = bar.accessibleDescription()
    assert "Run 18 · 5 steps" in description
    assert "The longest: step" in description
    assert "Going back, step 5: Went back to step 3, the page exact" in description
    bar.show_viewed(18, 3)
    assert bar.accessibleName().startswith("Time bar. Step 3")
    assert "failed" in bar.accessibleName()


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
