"""Labels and paragraphs: elided, fitted to their text, or instead of content."""

import math
from typing import TypeVar, cast

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from core.browser.floods import shortened
from core.schema.formats import in_line
from gui.theme.theme import Theme

AnyWidget = TypeVar("AnyWidget", bound=QWidget)
_LEAST_SHOWN = 2
"""Maximum number of characters of cut text that are not worth showing."""
_PAGE = 5000
"""Maximum number of characters of a paragraph."""


class ElidedLabel(QLabel):
    """One line that shrinks when space is short; its tooltip has the full text."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        tone: str = "",
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        if tone:
            set_tone(self, tone)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(in_line(text))
        self._tell()

    def minimumSizeHint(self) -> QSize:
        return QSize(12, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._tell()

    def paintEvent(self, event: QPaintEvent) -> None:
        QFrame.paintEvent(self, event)
        painter = QPainter(self)
        room = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), self._mode, room.width())
        if len(text) <= _LEAST_SHOWN and text != self.text():
            return  # It would say nothing.
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(room, int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), text)

    def _tell(self) -> None:
        cut = self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()
        self.setToolTip(self.text() if cut else "")


def small_label(theme: Theme, parent: QWidget | None = None) -> ElidedLabel:
    """Return a dim line in small text, for a fact next to other things."""
    label = ElidedLabel("", parent, tone="dim")
    label.setFont(theme.small_font())
    return label


class Paragraph(QLabel):
    """Wrapped text; of one longer than a page only the beginning, because Qt lays out all of it each time."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(shortened(text, _PAGE))

    def event(self, event: QEvent) -> bool:
        """Show the whole text as a tooltip where there is too little room for it."""
        if event.type() == QEvent.Type.ToolTip and not self.toolTip():
            cut = self.height() < self.heightForWidth(self.width())
            return show_words(cast(QHelpEvent, event), self.text() if cut else "", self)
        return super().event(event)


class EmptyText(Paragraph):
    """A dim paragraph that explains what is missing here and what to do."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, tone: str = "dim") -> None:
        super().__init__(text, parent)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setContentsMargins(10, 8, 10, 8)
        self.setMinimumWidth(60)
        set_tone(self, tone)


class NoteLabel(Paragraph):
    """A paragraph whose text can be copied; hidden if it is empty."""

    def __init__(
        self,
        tone: str = "dim",
        text: str = "",
        parent: QWidget | None = None,
        *,
        margins: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        super().__init__("", parent)
        self.setContentsMargins(*margins)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setMinimumWidth(60)
        set_tone(self, tone)
        self.setText(text)
        if not text:
            self.hide()

    def show_text(self, text: str) -> None:
        self.setText(text)
        self.setVisible(bool(text))


class OrWords(QWidget):
    """Shows its content, or instead a text that explains why there is none. It is as high as what it shows."""

    def __init__(self, content: QWidget, parent: QWidget | None = None, words: str = "") -> None:
        super().__init__(parent)
        self.content = content
        self.words = EmptyText()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(content)
        column.addWidget(self.words)
        self.say(words)

    def say(self, text: str) -> None:
        """Show `text` instead of the content, or the content if it is empty."""
        self.words.setText(text)
        self.words.setAccessibleName(text)
        self.words.setVisible(bool(text))
        self.content.setVisible(not text)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, super().minimumSizeHint().height())


def labelled(widget: AnyWidget, name: str, tooltip: str = "") -> AnyWidget:
    """Set a widget's accessible name and tooltip; return the widget."""
    widget.setAccessibleName(name)
    widget.setToolTip(tooltip)
    return widget


def show_words(event: QHelpEvent, words: str, widget: QWidget) -> bool:
    """Show the tooltip of a place in a widget that paints itself, or hide it if there are no words."""
    if words:
        QToolTip.showText(event.globalPos(), words, widget)
    else:
        QToolTip.hideText()
    return True


def dim_label(text: str) -> QLabel:
    """Return a label for the widget next to it or below it."""
    label = QLabel(text)
    set_tone(label, "dim")
    return label


def set_tone(widget: QWidget, tone: str) -> None:
    """Colour a label by meaning: dim, faint, bad, good, remedy, or the default colour if empty."""
    set_flag(widget, "tone", tone)


def set_flag(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet uses, and restyle the widget."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.updateGeometry()
    widget.update()


class FittedText(QPlainTextEdit):
    """Hidden if there is nothing to show."""

    def __init__(self, name: str, *, lines: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = lines
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show a text; of one longer than a page only the beginning."""
        text = shortened(text, _PAGE)
        if text != self.toPlainText():
            self.setPlainText(text)
            self._fit()
        self.setVisible(bool(text))

    def sizeHint(self) -> QSize:
        return QSize(120, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.fontMetrics().lineSpacing())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        metrics = self.fontMetrics()
        room = max(40, self.viewport().width())
        needed = 0
        for line in self.toPlainText().split("\n"):
            # Words wrap before the edge: allow for the lost space at the end of each line.
            needed += max(1, math.ceil(metrics.horizontalAdvance(line) * 1.06 / room))
            if needed > self._lines:
                break
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if needed > self._lines else policy.ScrollBarAlwaysOff
        )
        height = min(needed, self._lines) * metrics.lineSpacing() + 4
        if height != self.maximumHeight():
            self.setFixedHeight(height)
