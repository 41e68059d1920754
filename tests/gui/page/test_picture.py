import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from core.debugger.steps.views import ScreenshotView
from core.schema.observation import Box
from gui.page.picture import Picture, SliderPicture
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
    assert (place.width(), place.height()) == (408, 204)


def test_a_small_picture_is_enlarged_to_twice_its_size_at_most(picture: Picture):
    picture.show_screenshot(view(160, 120))
    assert (picture.place().width(), picture.place().height()) == (320, 240)


def test_the_acted_element_is_marked_where_it_lies_in_the_picture(picture: Picture):
    picture.show_screenshot(view(800, 400))
    marked, place = picture.marked(), picture.place()
    assert (marked.x() - place.x(), marked.y() - place.y()) == (51, 25.5)
    assert (marked.width(), marked.height()) == (20.4, 10.2)


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


@pytest.fixture
def slider(qtbot: QtBot, theme) -> SliderPicture:
    slider = SliderPicture(theme)
    qtbot.addWidget(slider)
    slider.resize(424, 324)
    slider.show_screenshot(view(400, 200, box=None))
    after = QImage(400, 200, QImage.Format.Format_RGB32)
    after.fill(Qt.GlobalColor.red)
    slider.show_after(after)
    return slider


def test_the_page_after_shows_right_of_the_line_which_keys_and_the_mouse_move(slider: SliderPicture, qtbot):
    place = slider.place()

    def is_after(share: float) -> bool:
        colour = (
            slider.grab()
            .toImage()
            .pixelColor(round(place.left() + place.width() * share), round(place.top() + 20))
        )
        return (colour.red(), colour.green()) == (255, 0)

    assert is_after(0.75)
    assert not is_after(0.25)
    qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(round(place.left() + 320), 100))
    assert not is_after(0.75)
    for _ in range(4):
        qtbot.keyClick(slider, Qt.Key.Key_Left)
    assert is_after(0.75)
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    assert slider.share == 0.0
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(round(place.left() + 100), 100))
    qtbot.mouseMove(slider, QPoint(round(place.right()) + 50, 100))
    assert slider.share == 1.0


def test_without_a_page_after_there_is_no_line(slider: SliderPicture):
    slider.show_after(QImage())
    assert not slider.slides
    assert slider.focusPolicy() == Qt.FocusPolicy.NoFocus
