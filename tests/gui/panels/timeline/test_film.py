"""The filmstrip: its steps are scrubbed by mouse and keys, and a long run takes no more memory than a short one."""

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QImage

from gui.panels.timeline.film import FilmStrip
from gui.panels.timeline.strip import TimeStrip
from gui.panels.timeline.thumbnails import MOST_BYTES, Thumbnails
from gui.widgets.remembered import Remembered
from tests.gui import reading_samples, samples


def pictured(count):
    view = reading_samples.times(count)
    return view.replace(steps=tuple(one.replace(picture=f"page-{one.number}") for one in view.steps))


@pytest.fixture
def film(qtbot, theme):
    film = FilmStrip(theme)
    qtbot.addWidget(film)
    film.resize(900, 110)
    film.show()
    qtbot.waitExposed(film)
    return film


@pytest.fixture
def heard(film):
    heard = []
    film.scrubbed.connect(lambda run, number: heard.append(("scrubbed", run, number)))
    film.step_requested.connect(lambda run, number: heard.append(("requested", run, number)))
    return heard


def test_a_press_and_a_move_show_each_step_and_the_release_rests_on_the_last(film, heard, qtbot):
    film.show_times(pictured(5))
    viewport = film.viewport()
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=film.cell(0).center())
    for at in (1, 2):
        qtbot.mouseMove(viewport, film.cell(at).center())
    assert heard == [("scrubbed", 18, 1), ("scrubbed", 18, 2), ("scrubbed", 18, 3)]
    film.show_viewed(18, 5)  # A run that goes on does not take the frame away meanwhile.
    assert film.at.number == 3
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=film.cell(2).center())
    assert heard[-1] == ("requested", 18, 3)


def test_a_pointer_that_is_held_beside_the_filmstrip_goes_on_through_the_steps(film, heard, qtbot):
    film.show_times(pictured(100))
    viewport = film.viewport()
    beside = QPoint(viewport.width() + 40, 20)
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=film.cell(0).center())
    qtbot.mouseMove(viewport, beside)
    qtbot.waitUntil(lambda: film.at.number > 20)
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=beside)
    assert heard[-1] == ("requested", 18, film.at.number)
    assert not film.is_scrubbing


def test_keys_go_through_the_steps_and_rest_on_the_last_of_them(film, heard, qtbot):
    film.show_times(pictured(40))
    film.show_viewed(18, 1)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_End, Qt.Key.Key_Left, Qt.Key.Key_Home):
        qtbot.keyClick(film, key)
    assert [one[2] for one in heard if one[0] == "scrubbed"] == [2, 40, 39, 1]
    qtbot.keyClick(film, Qt.Key.Key_PageDown)
    page = heard[-1][2]
    assert 3 < page < 12
    qtbot.waitUntil(lambda: heard[-1] == ("requested", 18, page))
    assert sum(one[0] == "requested" for one in heard) == 1


def test_the_step_in_view_is_framed_and_scrolled_to(film):
    film.show_viewed(18, 900)
    film.show_times(pictured(1000))
    assert film.at.number == 900
    cell = film.cell(899)
    assert 0 <= cell.left() < cell.right() <= film.viewport().width()


def test_a_click_on_a_step_in_view_does_not_scroll_also_with_the_style_of_the_window(film, theme, qtbot):
    theme.prepare()
    theme.dress(film)
    film.show_times(pictured(100))
    film.show_viewed(18, 50)
    scrolled = film.horizontalScrollBar().value()
    place = film.cell(50).center()
    qtbot.mouseClick(film.viewport(), Qt.MouseButton.LeftButton, pos=place)
    film.show_viewed(18, 51)
    assert film.at.number == 51
    assert film.horizontalScrollBar().value() == scrolled
    assert film.visualRect(film.currentIndex()).height() <= film.viewport().height()


def test_a_step_that_is_cut_comes_into_view_when_it_is_clicked(film, qtbot):
    film.show_times(pictured(100))
    film.horizontalScrollBar().setValue(film.pitch // 2)
    qtbot.mouseClick(film.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(10, 20))
    assert film.at.number == 1
    assert film.cell(0).left() >= 0


def test_an_update_of_the_framed_step_does_not_scroll_back_to_it(film):
    film.show_times(pictured(100))
    film.show_viewed(18, 50)
    film.horizontalScrollBar().setValue(0)
    film.show_viewed(18, 50)
    assert film.horizontalScrollBar().value() == 0
    film.show_viewed(18, 51)
    assert film.horizontalScrollBar().value() > 0


def test_only_the_pictures_in_view_are_asked_for(film, qtbot):
    asked = []

    def answer(names):
        asked.extend(names)
        film.thumbnails.show_pictures(dict.fromkeys(names, b""))

    film.thumbnails.wanted.connect(answer)
    film.show_times(pictured(1000))
    film.show_viewed(18, 500)
    qtbot.waitUntil(lambda: "page-500" in asked)
    assert len(asked) < 30
    assert "page-1000" not in asked


def test_thumbnails_stay_below_their_bound_whatever_is_asked_for(qtbot, monkeypatch):
    monkeypatch.setattr("gui.panels.timeline.thumbnails.MOST_BYTES", 200_000)
    thumbnails = Thumbnails()
    thumbnails.set_size(QSize(160, 100))
    thumbnails.wanted.connect(
        lambda names: thumbnails.show_pictures(dict.fromkeys(names, samples.screenshot(320, 200)))
    )
    for first in range(0, 24, 6):
        names = [f"{number}" for number in range(first, first + 6)]
        thumbnails.want(names)
        qtbot.waitUntil(lambda last=names[-1]: thumbnails.of(last) is not None)
    assert 0 < thumbnails.total_bytes <= 200_000 < MOST_BYTES
    assert thumbnails.of("0") is None
    assert thumbnails.of("23").size() == QSize(160, 100)
    thumbnails.deleteLater()


def test_a_picture_that_cannot_be_read_is_asked_for_once(qtbot):
    thumbnails = Thumbnails()
    thumbnails.set_size(QSize(160, 100))
    asked = []
    thumbnails.wanted.connect(asked.append)
    thumbnails.want(["gone"])
    thumbnails.show_pictures({"gone": b""})
    qtbot.waitUntil(lambda: thumbnails.of("gone") is not None)
    assert thumbnails.of("gone") == QImage()
    thumbnails.want(["gone"])
    assert asked == [("gone",)]
    thumbnails.deleteLater()


def test_each_mark_says_what_it_is(film):
    view = pictured(5)
    film.show_times(view)
    chips = [(mark, chip) for at in range(5) for mark, chip in film.chips(view.steps[at], film.cell(at))]
    assert {mark.kind for mark, _ in chips} == {"breakpoint", "error", "person", "went back"}
    for mark, chip in chips:
        assert mark.text in film.words_at(chip.center())


def test_a_step_without_a_picture_says_so(film):
    film.show_times(reading_samples.times(3))
    assert "No picture was taken or kept" in film.words_at(QPoint(30, 60))
    assert not film.grab().isNull()


def test_another_run_ends_scrubbing(film, heard, qtbot):
    ended = []
    film.scrub_ended.connect(lambda: ended.append(True))
    film.show_times(pictured(5))
    qtbot.mousePress(film.viewport(), Qt.MouseButton.LeftButton, pos=film.cell(1).center())
    film.show_times(pictured(2).replace(run=19))
    assert ended == [True]
    assert not film.is_scrubbing


def test_height_and_presence_of_the_filmstrip_are_remembered(qtbot, theme, settings):
    strip = TimeStrip(theme, Remembered(settings))
    qtbot.addWidget(strip)
    strip.show_times(pictured(5))
    height = strip.film.height()
    qtbot.keyClick(strip.grip, Qt.Key.Key_Down)
    assert strip.film.height() > height
    strip.toggle_film()
    again = TimeStrip(theme, Remembered(settings))
    qtbot.addWidget(again)
    again.show_times(pictured(5))
    assert again.film.isHidden()
    assert again.film.height() == strip.film.height()


def test_a_run_without_any_picture_says_how_to_have_them(qtbot, theme, settings):
    strip = TimeStrip(theme, Remembered(settings))
    qtbot.addWidget(strip)
    strip.show_times(reading_samples.times(3))
    assert "--pictures" in strip.facts.text()
    strip.show_times(pictured(3))
    assert "--pictures" not in strip.facts.text()


def test_the_focus_frames_no_step_while_the_step_in_view_is_not_listed(film, heard):
    film.show_viewed(18, 6)
    film.show_times(pictured(5))
    film.clearFocus()
    film.setFocus(Qt.FocusReason.TabFocusReason)
    assert film.at is None
    assert not film.is_scrubbing
    film.show_times(pictured(6))
    assert film.at.number == 6
    assert heard == []


def test_scrubbing_can_be_given_up_before_the_keys_rest(film, heard, qtbot):
    film.show_times(pictured(5))
    film.show_viewed(18, 2)
    qtbot.keyClick(film, Qt.Key.Key_End)
    assert film.is_scrubbing
    film.end_scrubbing()
    assert not film.is_scrubbing
    assert film.at.number == 2
    assert [one[0] for one in heard] == ["scrubbed"]
