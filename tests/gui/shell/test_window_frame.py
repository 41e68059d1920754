"""The native window: its first size, its dialogs above it, and when it stands still."""

import time

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow
from pytestqt.qtbot import QtBot

from gui.shell.window_frame import Heartbeat, WindowFrame


class ShownDialog(QDialog):
    """Counts how often it came up."""

    shown = 0

    def showEvent(self, event) -> None:
        super().showEvent(event)
        self.shown += 1


def test_a_screen_without_room_for_the_first_size_is_filled(qtbot: QtBot):
    window = QMainWindow()
    qtbot.addWidget(window)
    frame = WindowFrame(window)
    frame.fit_screen(QSize(1920, 1080))
    assert not window.isMaximized()
    assert (window.width(), window.height()) == (1280, 800)
    frame.fit_screen(QSize(1280, 800))
    assert window.isMaximized()


def test_open_dialogs_come_up_again_above_a_replaced_window(qtbot: QtBot):
    window = QMainWindow()
    qtbot.addWidget(window)
    WindowFrame(window)
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


def test_a_stall_of_the_main_thread_is_reported_with_its_length(qtbot: QtBot):
    heartbeat = Heartbeat(interval_ms=5, limit_ms=50)
    heartbeat.start()
    with qtbot.waitSignal(heartbeat.stalled, check_params_cb=lambda late: late > 80) as emitted:
        end = time.perf_counter() + 0.1
        while time.perf_counter() < end:
            pass
    assert heartbeat.worst >= emitted.args[0] > 80
    heartbeat.stop()


def test_what_happened_before_the_start_does_not_count(qtbot: QtBot):
    heartbeat = Heartbeat(interval_ms=5, limit_ms=10_000)
    end = time.perf_counter() + 0.08
    while time.perf_counter() < end:
        pass
    with qtbot.assertNotEmitted(heartbeat.stalled, wait=30):
        heartbeat.start()
    heartbeat.stop()
