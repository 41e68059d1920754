"""The map of the exemplars, its plot and its legend."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.analyses.views import ExemplarMap, TaskPlace
from gui.exemplars.analyses.map_marks import SYMBOLS, MarkStyle
from gui.exemplars.analyses.map_pane import MapPane
from gui.exemplars.analyses.map_plot import picture_of

POINTS = np.array([[0, 0], [1, 0], [0, 1], [-1, -1], [0.5, 0.5]], np.float32)
MAP = ExemplarMap(
    points=POINTS.tobytes(),
    families=np.array([0, 0, 1, 1, 2], np.int32).tobytes(),
    names=("click", "login", "rare"),
    ids=("a", "b", "c", "d", "e"),
    tasks=("Click.", "Click on.", "Log in.", "Log out.", "Do a rare thing."),
    share=0.23,
    embedding="words",
)


@pytest.fixture
def page(theme, qtbot: QtBot) -> MapPane:
    page = MapPane(theme)
    qtbot.addWidget(page)
    page.resize(800, 700)
    page.show()
    qtbot.waitExposed(page)
    page.show_map(MAP)
    return page


def test_without_a_map_the_pane_says_what_to_do(page):
    page.show_map(None)
    assert "Look up a task (Ctrl+Enter)" in page.body.words.text()
    page.show_map(None, busy=True)
    assert "Drawing" in page.body.words.text()
    page.show_map(ExemplarMap())
    assert "There are no exemplars yet" in page.body.words.text()


def test_it_says_how_much_the_plane_shows_and_lists_the_families_with_their_marks(page):
    assert "The plane shows 23% of the differences" in page.caption.text()
    families = [page.family.itemText(at) for at in range(page.family.count())]
    assert families == ["All families", "click (2)", "login (2)", "rare (1)"]
    assert not page.family.itemIcon(1).isNull()


def test_a_point_is_described_in_words_and_opened_by_a_click(page, qtbot):
    place = page.plot.place_of(2).toPoint()
    assert page.plot.near(QPointF(place)) == 2
    assert page.plot.words_of(2) == "c, of the family login: Log in."
    with qtbot.waitSignal(page.exemplar_opened) as opened:
        qtbot.mouseClick(page.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened.args == ["c"]
    assert page.current.text() == page.plot.words_of(2)


def test_arrows_go_from_point_to_point_and_enter_opens(page, qtbot):
    page.plot.choose(0)
    for key, id in ((Qt.Key.Key_Right, "b"), (Qt.Key.Key_Left, "a"), (Qt.Key.Key_Up, "c")):
        qtbot.keyClick(page.plot, key)
        assert MAP.ids[page.plot.place] == id
    with qtbot.waitSignal(page.exemplar_opened) as opened:
        qtbot.keyClick(page.plot, Qt.Key.Key_Return)
    assert opened.args == ["c"]


def test_the_wheel_zooms_about_the_pointer_and_all_is_shown_again(page, qtbot):
    plot = page.plot
    before = plot.place_of(1)
    event = QWheelEvent(
        before,
        plot.mapToGlobal(before),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    plot.wheelEvent(event)
    assert (plot.place_of(1) - before).manhattanLength() < 1
    assert not plot.rect().contains(plot.place_of(3).toPoint())
    qtbot.keyClick(plot, Qt.Key.Key_0)
    assert all(plot.rect().contains(plot.place_of(number).toPoint()) for number in range(5))


def test_a_drag_moves_the_map_and_opens_nothing(page, qtbot):
    place = page.plot.place_of(0).toPoint()
    with qtbot.assertNotEmitted(page.exemplar_opened):
        qtbot.mousePress(page.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseMove(page.plot.viewport(), place + QPoint(40, 25))
        qtbot.mouseRelease(page.plot.viewport(), Qt.MouseButton.LeftButton, pos=place + QPoint(40, 25))
    assert page.plot.place_of(0).toPoint() == place + QPoint(40, 25)


def test_a_point_under_the_pointer_is_described_in_a_tool_tip(page, qtbot):
    qtbot.mouseMove(page.plot.viewport(), page.plot.place_of(2).toPoint())
    qtbot.waitUntil(lambda: "of the family login: Log in." in QToolTip.text())
    assert page.plot.cursor().shape() == Qt.CursorShape.PointingHandCursor


def test_only_the_family_that_is_shown_is_hit_and_it_stays_chosen(page):
    page.family.setCurrentIndex(page.family.findData("login"))
    assert page.plot.near(page.plot.place_of(0)) is None
    assert page.plot.near(page.plot.place_of(3)) == 3
    page.show_map(MAP.replace(names=("login", "click", "rare")))
    assert page.family.family == "login"
    assert page.plot.near(page.plot.place_of(0)) == 0
    page.family.setCurrentIndex(0)
    assert page.plot.near(page.plot.place_of(3)) == 3


def test_the_task_and_lines_to_its_neighbours_are_drawn_with_their_distances(page):
    before = page.plot.grab().toImage()
    page.show_map(MAP.replace(task=TaskPlace(across=0.0, up=0.8, near=((2, 0.2), (4, 0.4)))))
    assert page.plot.grab().toImage() != before
    words = [item.toPlainText() for item in page.plot._task if hasattr(item, "toPlainText")]
    assert words == ["0.20", "0.40", "the task"]


def test_no_two_of_the_first_48_families_look_alike():
    assert len({(look.hue, look.shape) for look in map(MarkStyle, range(48))}) == 48


@pytest.mark.parametrize("count", [0, 1, 20_000])
def test_none_one_and_very_many_points_are_painted(page, count):
    points = np.random.default_rng(0).standard_normal((count, 2)).astype(np.float32)
    families = (np.arange(count) % 700).astype(np.int32)
    names = tuple(f"family-{number}" for number in range(min(700, count)))
    ids = tuple(str(number) for number in range(count))
    page.show_map(
        ExemplarMap(points=points.tobytes(), families=families.tobytes(), names=names, ids=ids, tasks=ids)
    )
    if not count:
        assert "no exemplars" in page.body.words.text()
        return
    picture = page.plot.grab().toImage()
    colours = {
        picture.pixel(x, y) for x in range(0, picture.width(), 3) for y in range(0, picture.height(), 3)
    }
    assert len(colours) > (40 if count > 1 else 0)
    assert page.plot.near(page.plot.place_of(0)) is not None
    if count == 1:
        away = page.plot.place_of(0) - QPointF(page.plot.rect().center())
        assert away.manhattanLength() < 3


RED, BLUE = (255, 0, 0, 255), (0, 0, 255, 255)


def drawn(places, shape="circle", ratio=1.0):
    colours = np.array([RED, BLUE][: len(places)], np.uint8)
    shapes = np.full(len(places), list(SYMBOLS).index(shape))
    return picture_of(np.array(places, float), shapes, colours, (20, 10), ratio)


def test_each_point_is_drawn_around_its_place_and_later_ones_above_earlier_ones():
    picture = drawn([(5, 5), (6, 5)])
    assert picture.shape == (10, 20, 4)
    assert tuple(picture[5, 6]) == BLUE
    assert tuple(picture[5, 3]) == RED
    assert not picture[:, 10:].any()


def test_a_point_at_the_edge_is_cut_there():
    picture = drawn([(0, 0), (19.9, 9.9)])
    assert tuple(picture[0, 0]) == RED
    assert tuple(picture[9, 19]) == BLUE
    assert not picture[0, 17:].any()


@pytest.mark.parametrize("shape", SYMBOLS)
def test_a_point_has_its_shape_and_is_larger_where_pixels_are_smaller(shape):
    small = drawn([(4, 4)], shape)[..., 3] > 0
    assert 0 < small.sum() < (drawn([(4, 4)], shape, ratio=2.0)[..., 3] > 0).sum()


def test_a_triangle_points_up():
    widths = (drawn([(4, 4)], "triangle")[2:7, :, 3] > 0).sum(axis=1)
    assert list(widths) == sorted(widths)
    assert widths[0] < widths[-1]
