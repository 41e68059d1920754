"""A read-only paragraph as high as its words need, up to a number of lines; then it scrolls."""

import math

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget


class FittedText(QPlainTextEdit):
    """Hidden where there is nothing to say."""

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
            # Words wrap before the edge: allow for what is lost at the end of each line.
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
