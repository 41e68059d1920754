"""The window's tests run without a screen and with separate settings."""

import os
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gui.theme.theme import Theme
from tests.gui.stand_ins import AskedSession, DrawnPage


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Delete the widgets of a test when it ends, and release its keys.

    Otherwise the next window would restyle all of the widgets. When a test sends keys, Qt takes Ctrl as held until
    the next key is pressed.
    """
    yield
    if QCoreApplication.instance() is None:
        return
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if QGuiApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
        pressed = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_unknown, Qt.KeyboardModifier.NoModifier)
        QCoreApplication.sendEvent(QWidget(), pressed)


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def theme(qapp: object, settings: QSettings) -> Theme:
    return Theme(settings)


@pytest.fixture
def session() -> AskedSession:
    return AskedSession()


@pytest.fixture
def page() -> DrawnPage:
    return DrawnPage()


@pytest.fixture
def window(qtbot: QtBot, session: AskedSession, page: DrawnPage, settings: QSettings) -> Iterator[object]:
    from gui.shell.main_window import MainWindow

    window = MainWindow(page, settings)
    window.begin(session)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    yield window
    window.close()
