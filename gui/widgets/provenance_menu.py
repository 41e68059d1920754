"""Adds the question where its words come from to the standard context menu of a text."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QPlainTextEdit, QWidget

from core.schema.formats import cut
from gui.widgets.copying import to_clipboard

_SHOWN = 30


class WhyMenu(QObject):
    """Adds an entry to the menus of these widgets; `asked` sends the selected text, or else the whole text."""

    asked = Signal(str)

    def __init__(self, widgets: Iterable[QWidget], parent: QObject) -> None:
        super().__init__(parent)
        for widget in widgets:
            widget.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            widget.customContextMenuRequested.connect(
                lambda place, widget=widget: self.menu_of(widget).popup(widget.mapToGlobal(place))
            )

    def menu_of(self, widget: QWidget) -> QMenu:
        """Return the menu of a widget."""
        menu = _standard(widget)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.setToolTipsVisible(True)
        text = selected_in(widget) or _whole(widget)
        shown = cut(" ".join(text.split()), _SHOWN)
        menu.addSeparator()
        words = (
            f"Where does “{shown}” come from?".replace("&", "&&") if shown else "Where does this come from?"
        )
        action = menu.addAction(f"{words}\tCtrl+I")
        action.setToolTip("Look for it in the prompt, the page and whatever else the step was made from")
        action.triggered.connect(lambda: self.asked.emit(text))
        return menu


def selected_in(widget: QWidget | None) -> str:
    """Return the selected text of a text widget."""
    if isinstance(widget, QPlainTextEdit):
        text = widget.textCursor().selectedText().replace("\u2029", "\n").replace("\u2060\n", "")
        return _bare(text) if widget.isReadOnly() else text
    if isinstance(widget, QLineEdit | QLabel):
        return widget.selectedText()
    return ""


def _whole(widget: QWidget) -> str:
    if isinstance(widget, QPlainTextEdit):
        return _bare(widget.toPlainText())
    return widget.text() if isinstance(widget, QLineEdit | QLabel) else ""


def _bare(text: str) -> str:
    """Return a thought without the quotes that it is shown in."""
    quoted = text.startswith("“") and text.endswith("”")
    return text[1:-1] if quoted else text


def _standard(widget: QWidget) -> QMenu:
    if isinstance(widget, QPlainTextEdit | QLineEdit):
        return widget.createStandardContextMenu()
    menu = QMenu(widget)
    text = selected_in(widget) or _whole(widget)
    copy = menu.addAction("Copy", lambda: to_clipboard([text]))
    copy.setShortcut(QKeySequence.StandardKey.Copy)
    return menu
