"""What all plots have: colours of the theme, tool tips of plain text, and keys left to the window."""

import pytest
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QDialog, QToolTip, QVBoxLayout
from pytestqt.qtbot import QtBot

from gui.theme.theme import Theme
from gui.widgets.plot import Plot


@pytest.fixture
def dialog(theme: Theme, qtbot: QtBot) -> QDialog:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    dialog.plot = Plot(theme, "A plot", QSize(200, 100), dialog)
    QVBoxLayout(dialog).addWidget(dialog.plot)
    theme.choose("dark")
    dialog.show()
    qtbot.waitExposed(dialog)
    return dialog


def test_a_tool_tip_shows_tags_as_they_are_written(dialog, qtbot: QtBot):
    words = '<b>Buy</b> & <img src="https://tracker.example/x.png">'
    dialog.plot.show_tip(QPointF(5, 5), words)
    assert QTextDocumentFragment.fromHtml(QToolTip.text()).toPlainText() == words
    dialog.plot.show_tip(QPointF(5, 5), "")
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_the_ground_follows_the_theme(dialog, theme: Theme):
    for choice in ("light", "dark"):
        theme.choose(choice)
        assert dialog.plot.grab().toImage().pixelColor(3, 3) == theme.colour("panel")


def test_a_key_that_the_plot_has_no_use_for_reaches_its_window(dialog, qtbot: QtBot):
    dialog.plot.setFocus()
    qtbot.keyClick(dialog.plot, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_a_right_click_opens_no_menu(dialog, qtbot: QtBot):
    qtbot.mouseClick(dialog.plot.viewport(), Qt.MouseButton.RightButton)
    assert dialog.plot.box.menu is None
