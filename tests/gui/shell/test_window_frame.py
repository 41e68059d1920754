"""The native window: its first size, its dialogs above it, and when it stands still."""

import time

from PySide6.QtCore import QEvent, QRect, QSettings, QSize, Qt
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow
from pytestqt.qtbot import QtBot

from gui.shell import window_frame
from gui.shell.main_window import MainWindow
from gui.shell.window_frame import Heartbeat, WindowFrame
from gui.widgets.remembered import Remembered
from tests.gui.stand_ins import DrawnPage


class ShownDialog(QDialog):
    """Counts how often it came up."""

    shown = 0

    def showEvent(self, event) -> None:
        super().showEvent(event)
        self.shown += 1


def test_a_screen_without_room_for_the_first_size_is_filled(qtbot: QtBot, settings: QSettings):
    window = QMainWindow()
    qtbot.addWidget(window)
    frame = WindowFrame(window, Remembered(settings))
    frame.fit_screen(QSize(1920, 1080))
    assert not window.isMaximized()
    assert (window.width(), window.height()) == (1280, 800)
    frame.fit_screen(QSize(1280, 800))
    assert window.isMaximized()


def test_open_dialogs_come_up_again_above_a_replaced_window(qtbot: QtBot, settings: QSettings):
    window = QMainWindow()
    qtbot.addWidget(window)
    WindowFrame(window, Remembered(settings))
    window.show()
    dialog, closed = ShownDialog(window), ShownDialog(window)
    dialog.show()
    before = dialog.shown
    ended = []
    dialog.finished.connect(ended.append)
    QApplication.sendEvent(window, QEvent(QEvent.Type.WinIdChange))
    qtbot.waitUntil(lambda: dialog.shown > before)
    assert dialog.isVisible()
    assert not closed.isVisible()
    assert not ended


def test_a_window_beside_the_main_one_belongs_to_none_and_wears_its_look(
    window: MainWindow, session, qtbot: QtBot
):
    window.actions_by_name["docs"].trigger()
    (shown,) = (one for one in window.findChildren(QDialog) if one.isVisible())
    assert shown.windowType() == Qt.WindowType.Window
    assert shown.windowHandle().transientParent() is None
    assert shown.palette().window().color() == window.palette().window().color()
    shown.close()
    window.actions_by_name["docs"].trigger()
    assert shown.isVisible()
    assert shown.windowHandle().transientParent() is None


def test_a_window_beside_the_main_one_closes_with_it_and_opens_where_it_was(
    qtbot: QtBot, settings: QSettings
):
    place = QRect(40, 60, 500, 320)
    for start in range(2):
        window = MainWindow(DrawnPage(), settings)
        qtbot.addWidget(window)
        window.show()
        beside = QDialog(window)
        window.frame.show_beside(beside, "test/geometry")
        if not start:
            beside.setGeometry(place)
        window.close()
        assert not beside.isVisible()
    assert beside.geometry() == place


def test_a_window_beside_has_its_title_bar_on_the_screen(window: MainWindow, qtbot: QtBot):
    beside = QDialog(window)
    beside.resize(900, 2000)
    beside.move(-50, -400)
    window.frame.show_beside(beside, "test/tall")
    assert beside.screen().availableGeometry().contains(beside.frameGeometry().topLeft())


def test_opening_a_run_from_a_window_beside_brings_the_main_one_to_the_front(
    window: MainWindow, session, qtbot: QtBot
):
    beside = QDialog(window)
    window.frame.show_beside(beside, "test/geometry")
    qtbot.waitUntil(beside.isActiveWindow)
    window.showMinimized()
    window.show_run(18, 3)
    qtbot.waitUntil(window.isActiveWindow)
    assert not window.isMinimized()
    assert session.asked[-1] == ("show_step", 18, 3)


def test_a_stall_of_the_main_thread_is_reported_with_its_length(qtbot: QtBot):
    heartbeat = Heartbeat()
    heartbeat.start()
    with qtbot.waitSignal(heartbeat.stalled, check_params_cb=lambda late: late > 80) as emitted:
        end = time.perf_counter() + 0.15
        while time.perf_counter() < end:
            pass
    assert emitted.args[0] > 80
    heartbeat.stop()


def test_what_happened_before_the_start_does_not_count(qtbot: QtBot, monkeypatch):
    monkeypatch.setattr(window_frame, "_LATE_MS", 10_000)
    heartbeat = Heartbeat()
    end = time.perf_counter() + 0.08
    while time.perf_counter() < end:
        pass
    with qtbot.assertNotEmitted(heartbeat.stalled, wait=30):
        heartbeat.start()
    heartbeat.stop()
