from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip

from gui.widgets.lined_text import LineSign
from gui.widgets.text_view import TextView


def shown(theme, qtbot, lines: int = 4) -> TextView:
    view = TextView(theme, "Text", signs=True)
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show()
    view.show_text("\n".join(f"line {number}" for number in range(lines)))
    qtbot.waitUntil(lambda: view.complete)
    return view


def test_a_signed_line_has_its_sign_in_the_margin_and_its_words_as_tooltip(theme, qtbot):
    view = shown(theme, qtbot)
    before = view.grab(QRect(0, 0, 17, 100)).toImage()
    view.show_signs({1: LineSign("good", "+", "New")})
    assert view.grab(QRect(0, 0, 17, 100)).toImage() != before
    place = dict(view.visible_lines())[1].center()
    event = QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, place.y()), view.mapToGlobal(place))
    QApplication.sendEvent(view.viewport(), event)
    qtbot.waitUntil(lambda: QToolTip.text() == "New")
    QToolTip.hideText()


def test_lighting_scrolls_only_where_asked(theme, qtbot):
    view = shown(theme, qtbot, lines=200)
    view.light([150])
    assert view.verticalScrollBar().value() == 0
    view.light([150], reveal=True)
    assert 150 in dict(view.visible_lines())
    assert view.lit == {150}
