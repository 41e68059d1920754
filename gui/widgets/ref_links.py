"""Refs of elements in texts, such as ``[12]``: hovering over one reports it, a click chooses it."""

import re
from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

_LINE = re.compile(r"\s*\[(\d+)\] ")
"""The beginning of a line of an observation; the whole line is about that element."""
_REF = re.compile(r'\[(\d+)\]|"(?:target|source|ref|element|bid)": *"?(\d+)')
"""A ref within a line, as in an action or a tool call."""


def ref_of_line(line: str) -> int | None:
    """Return the ref at the beginning of a line of an observation."""
    found = _LINE.match(line)
    return int(found[1]) if found else None


def ref_at(line: str, column: int) -> int | None:
    """Return the ref that the character at `column` belongs to."""
    if (ref := ref_of_line(line)) is not None:
        return ref
    for found in _REF.finditer(line):
        if found.start() <= column <= found.end():
            return int(found[1] or found[2])
    return None


class RefLinks(QObject):
    """Watches the mouse over texts."""

    hovered = Signal(object)
    """The ref under the pointer, or None if there is none."""
    chosen = Signal(int)
    """The clicked ref."""

    def __init__(self, texts: Iterable[QPlainTextEdit], parent: QObject) -> None:
        super().__init__(parent)
        self._texts = {text.viewport(): text for text in texts}
        self._hovered: int | None = None
        for viewport in self._texts:
            viewport.setMouseTracking(True)
            viewport.installEventFilter(self)

    def at_cursor(self) -> int | None:
        """Return the ref at the text cursor of the focused text."""
        focused = next((text for text in self._texts.values() if text.hasFocus()), None)
        return _at(focused.textCursor()) if focused is not None else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        text = self._texts.get(watched)  # type: ignore[call-overload]
        if text is None:
            return False
        if event.type() in (QEvent.Type.Leave, QEvent.Type.Wheel):
            self._hover(text, None)
        elif isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            place = event.position().toPoint()
            self._hover(text, None if event.buttons() else _at(text.cursorForPosition(place)))
        elif isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonRelease:
            left = event.button() == Qt.MouseButton.LeftButton
            if left and self._hovered is not None and not text.textCursor().hasSelection():
                self.chosen.emit(self._hovered)
        return False

    def _hover(self, text: QPlainTextEdit, ref: int | None) -> None:
        if ref != self._hovered:
            self._hovered = ref
            pointing, text_cursor = Qt.CursorShape.PointingHandCursor, Qt.CursorShape.IBeamCursor
            text.viewport().setCursor(text_cursor if ref is None else pointing)
            self.hovered.emit(ref)


def _at(cursor: QTextCursor) -> int | None:
    return ref_at(cursor.block().text(), cursor.positionInBlock())
