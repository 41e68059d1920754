"""The sizes of docks follow the window, and come back with it."""

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.shell.main_window import MainWindow


def resized(qtbot: QtBot, window: MainWindow, width: int, height: int = 800) -> tuple[int, int]:
    """Return the widths of the docks at both sides in a window of this size."""
    window.resize(width, height)
    for _ in range(3):
        QApplication.processEvents()
    return window.place("Runs & steps").width(), window.place("Action").width()


def test_docks_widen_with_the_window_and_come_back_and_a_width_that_the_person_gives_is_kept(
    window: MainWindow, qtbot: QtBot
):
    first = resized(qtbot, window, 1280)
    wide = resized(qtbot, window, 2600)
    assert all(width > at_first * 1.3 for width, at_first in zip(wide, first, strict=True))
    resized(qtbot, window, 900, 600)
    again = resized(qtbot, window, 1280)
    assert all(abs(width - at_first) <= 4 for width, at_first in zip(again, first, strict=True))
    resized(qtbot, window, 1280)
    below = window.docks.below.height()
    resized(qtbot, window, 1280, 560)
    assert window.docks.below.height() < below
    resized(qtbot, window, 1280)
    assert abs(window.docks.below.height() - below) <= 4
    resized(qtbot, window, 1280)
    window.docks.resize({"Runs": 400}, Qt.Orientation.Horizontal)
    QApplication.processEvents()
    at, none = QPointF(1, 1), Qt.KeyboardModifier.NoModifier
    left, released = Qt.MouseButton.LeftButton, QEvent.Type.MouseButtonRelease
    QApplication.sendEvent(window, QMouseEvent(released, at, at, left, Qt.MouseButton.NoButton, none))
    resized(qtbot, window, 1600)
    assert abs(resized(qtbot, window, 1280)[0] - 400) <= 4
