import pytest
from pytestqt.qtbot import QtBot

from core.debugger.snapshots import ScreenshotView
from core.schema.observation import Box
from gui.page.step_cover import Picture
from tests.gui import samples


@pytest.fixture
def picture(qtbot: QtBot, theme) -> Picture:
    picture = Picture(theme)
    qtbot.addWidget(picture)
    picture.resize(424, 324)
    return picture


def view(width: int, height: int, **changes) -> ScreenshotView:
    box = Box(x=100, y=50, width=40, height=20)
    shot = ScreenshotView(data=samples.screenshot(width, height), viewport=(width, height), box=box)
    return shot.replace(**changes)


def test_a_large_picture_shrinks_into_its_room_with_its_proportions(picture: Picture):
    picture.show_screenshot(view(800, 400))
    place = picture.place()
    assert (place.width(), place.height()) == (400, 200)


def test_a_small_picture_is_not_blown_up(picture: Picture):
    picture.show_screenshot(view(160, 120))
    assert (picture.place().width(), picture.place().height()) == (160, 120)


def test_the_acted_element_is_marked_where_it_lies_in_the_picture(picture: Picture):
    picture.show_screenshot(view(800, 400))
    marked, place = picture.marked(), picture.place()
    assert (marked.x() - place.x(), marked.y() - place.y()) == (50, 25)
    assert (marked.width(), marked.height()) == (20, 10)


def test_a_step_without_a_picture_says_so(picture: Picture):
    picture.show_screenshot(ScreenshotView())
    assert "no picture" in picture.words


def test_a_damaged_picture_says_so(picture: Picture):
    picture.show_screenshot(view(10, 10, data=b"not a picture"))
    assert "cannot be read" in picture.words
    picture.show_screenshot(view(10, 10))
    assert picture.words == ""


def test_the_mark_is_painted_into_the_picture(picture: Picture):
    picture.show_screenshot(view(300, 200, box=None))
    plain = picture.grab().toImage()
    picture.show_screenshot(view(300, 200))
    assert picture.grab().toImage() != plain
