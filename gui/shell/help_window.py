"""The documentation in a window of its own: the pages of resources/docs, with their links and pictures."""

import re
from typing import Any

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QImage, QTextBlock, QTextCursor, QTextDocument, QTextFormat
from PySide6.QtGui import QTextFrameFormat as FrameFormat
from PySide6.QtWidgets import QDialog, QHBoxLayout, QTextBrowser, QVBoxLayout, QWidget

from core.storage.resources import RESOURCES
from gui.theme.theme import Theme
from gui.widgets.key_button import key_button
from gui.widgets.search_field import SearchField

CONTENTS = RESOURCES / "docs" / "README.md"
_MARGIN = 20
Resource = QTextDocument.ResourceType


class HelpPages(QTextBrowser):
    """Markdown files; pictures are no wider than the window, and links lead to headings by their anchors."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName("Documentation")
        self.setOpenLinks(False)
        self.setFrameStyle(0)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.document().setDocumentMargin(_MARGIN)
        self.anchorClicked.connect(self.open_link)
        self.historyChanged.connect(self._lay_out)
        theme.changed.connect(self.reload)
        theme.changed.connect(self._lay_out)

    @Slot(QUrl)
    def open_link(self, link: QUrl) -> None:
        """Show a page of the documentation, or hand an address on the web to the system."""
        url = self.source().resolved(link)
        if url.isLocalFile():
            self.setSource(url)
        else:
            QDesktopServices.openUrl(url)

    @Slot()
    def _lay_out(self) -> None:
        """Colour tables and code, set headings apart, and go to the heading that the address names."""
        wanted = self.source().fragment()
        for table in self.document().rootFrame().childFrames():
            shape = table.frameFormat()
            shape.setBorderBrush(self._theme.colour("line"))
            shape.setBorderStyle(FrameFormat.BorderStyle.BorderStyle_Solid)
            table.setFrameFormat(shape)
        block = self.document().begin()
        while block.isValid():
            layout = block.blockFormat()
            if layout.hasProperty(QTextFormat.Property.BlockCodeFence.value):
                layout.setBackground(self._theme.colour("raised"))
            if layout.headingLevel():
                layout.setTopMargin(_MARGIN)
            QTextCursor(block).setBlockFormat(layout)
            if wanted and layout.headingLevel() and _anchor(block) == wanted:
                self.verticalScrollBar().setValue(round(self.cursorRect(QTextCursor(block)).top()) - _MARGIN)
            block = block.next()

    def loadResource(self, type: int, name: QUrl | str) -> Any:
        if type != Resource.ImageResource.value:
            return super().loadResource(type, name)
        picture = QImage(self.source().resolved(QUrl(name)).toLocalFile())
        room = self.viewport().width() - 2 * _MARGIN
        smooth = Qt.TransformationMode.SmoothTransformation
        return picture.scaledToWidth(room, smooth) if picture.width() > room else picture


class HelpWindow(QDialog):
    """Opens at the contents; links lead from page to page, and Ctrl+F finds words in one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.resize(860, 720)
        self.pages = HelpPages(theme, self)
        self.search = SearchField(theme, "Find in the page", self)
        back = key_button("Back", "The page before", "Alt+Left", self.pages.backward, self)
        forward = key_button("Forward", "The page after", "Alt+Right", self.pages.forward, self)
        contents = key_button("Contents", "All pages", "Alt+Home", self.show_contents, self)
        find = key_button("Find", "Go to the search field", "Ctrl+F", self.search.setFocus, self)
        head = QHBoxLayout()
        head.setContentsMargins(10, 8, 10, 8)
        head.setSpacing(6)
        for widget in (back, forward, contents, self.search, find):
            head.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(head)
        column.addWidget(self.pages)
        self.pages.backwardAvailable.connect(back.setEnabled)
        self.pages.forwardAvailable.connect(forward.setEnabled)
        self.pages.historyChanged.connect(self._on_page)
        self.search.next_wanted.connect(self._find)
        self.search.previous_wanted.connect(lambda: self._find(QTextDocument.FindFlag.FindBackward))
        self.show_contents()

    def show_contents(self) -> None:
        self.pages.setSource(QUrl.fromLocalFile(str(CONTENTS)))

    @Slot()
    def _on_page(self) -> None:
        self.setWindowTitle(f"{self.pages.document().begin().text()} – Backstep")

    def _find(self, flags: QTextDocument.FindFlag = QTextDocument.FindFlag(0)) -> None:  # noqa: B008
        """Go to the next match; after the last one, to the first."""
        words = self.search.text()
        if words and not self.pages.find(words, flags):
            end = QTextCursor.MoveOperation.End if flags else QTextCursor.MoveOperation.Start
            self.pages.moveCursor(end)
            self.pages.find(words, flags)


def _anchor(heading: QTextBlock) -> str:
    """Return the name by which a link finds a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.text().strip().lower()).replace(" ", "-")
