"""Guards an upgrade of PySide6: 6.12.0 lost a reference to None at every Qt call that returns nothing."""

import sys

from PySide6.QtWidgets import QLabel


def test_a_call_that_returns_nothing_keeps_the_reference_count_of_none(qtbot):
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for _ in range(2000):
        label.setText("text")
    assert abs(sys.getrefcount(None) - before) < 500
