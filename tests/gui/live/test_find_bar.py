"""The bar that finds words in the page: its keys."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from gui.live.find_bar import FindBar
from gui.widgets.layouts import in_column


def test_alt_c_matches_case_while_a_panel_has_the_same_key(qtbot, theme):
    window = QWidget()
    qtbot.addWidget(window)
    bar, of_panel = FindBar(theme, window), QPushButton("Copy all", window)
    of_panel.setCheckable(True)
    of_panel.setShortcut("Alt+C")
    in_column(window, bar, of_panel)
    bar.show()
    with qtbot.waitActive(window):
        window.show()
    for widget in (bar.field, bar.case_button):
        before = bar.case_button.isChecked()
        widget.setFocus()
        qtbot.keyClick(widget, Qt.Key.Key_C, Qt.KeyboardModifier.AltModifier)
        assert bar.case_button.isChecked() is not before
    assert bar.field.text() == ""
    assert not of_panel.isChecked()
    of_panel.setFocus()
    qtbot.keyClick(of_panel, Qt.Key.Key_C, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(of_panel.isChecked)
