"""The documentation in a window of its own, and a list of every key."""

import re
from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QDesktopServices,
    QImage,
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtGui import QTextFrameFormat as FrameFormat
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QScrollArea,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from core.storage.resources import RESOURCES
from gui.shell.actions import native_key, plain
from gui.shell.docks import PLACES
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.search import SearchField
from gui.widgets.words import dim_label

CONTENTS = RESOURCES / "docs" / "README.md"
_MARGIN = 20
Resource = QTextDocument.ResourceType
_ELSEWHERE = (
    ("Enter", "Accept, where the focus is in Next action"),
    ("Enter, double-click", "Put a permissible action in place of the next one"),
    ("Enter, Shift+Enter", "Next and previous match, in a search field"),
    ("Right, Left", "Open and close a run in Runs & steps"),
    ("Ctrl+M, F2", "In Runs & steps: make a run the current one, name it"),
    ("Menu key, right click", "In Runs & steps: go back, ask again, origin, compare, name, export"),
    ("Ctrl+Enter, Alt+C, Alt+A, Alt+R", "In Ask again: ask, cancel, adopt, reset"),
    ("Left, Right, Home, End", "In the time bar: show the step before, after, the first, the last"),
    ("+, −, 0, wheel", "In the time bar: zoom in and out, show all"),
    ("N, Shift+N", "In Compare: next and previous difference"),
    ("Enter, Space, L, Delete", "In Breakpoints: edit, switch, only log, delete"),
    ("Enter, Space, Delete", "In Watches: edit, stop at a change, delete"),
    ("Ctrl+Space", "In an expression: what may come next"),
    ("Menu key, right click", "In thought and action of Next action: where its words come from"),
    ("Menu key, right click", "In State, Policy stack, Permissible actions and Calls: stop there"),
    ("Ctrl+Shift+P, Ctrl+Shift+M", "Choose the preset, choose the LLM"),
    ("Ctrl+Shift+H", "Switch mechanisms of the agent on and off"),
    ("Alt+G, Alt+C", "Fold or unfold the prompt, copy it"),
    ("Alt+Q, Alt+W, Alt+E", "Observation: raw and clean, HTML, the parser"),
    ("Alt+S", "Open the file of the state space in the editor"),
    ("Insert, F2, Alt+Up, Alt+Down, Delete", "In the remedies: add, edit, try sooner, later, drop"),
    ("Menu key, right click", "In Plan, Policy stack, State and Exemplars: put it right in the live run"),
    ("Ctrl+Enter, Ctrl+Shift+Enter, Alt+R", "In the editor: apply or save, try it here, reload"),
    ("+, −, 0, arrows", "Zoom and move the diagram of the states"),
    ("Enter", "Open a frame or an exemplar; try a remedy; edit the plan"),
    ("Insert, Delete, F2, Space", "In the plan: add, delete, rename, make the current one"),
    ("Alt+Up, Alt+Down", "In the plan: move the subtask"),
    ("Ctrl+Enter, Esc", "In the plan: apply, cancel"),
)


class HelpPages(QTextBrowser):
    """Markdown files; pictures are no wider than the window, and links lead to headings by their anchors."""

    not_opened = Signal(str)
    """Why a link was not opened."""

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
        elif not QDesktopServices.openUrl(url):
            self.not_opened.emit(
                f"No program of the desktop opens {url.toString()}; open it in a browser yourself."
            )

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
        head = in_row(None, back, forward, contents, self.search, find, margins=(10, 8, 10, 8), spacing=6)
        self.problem = QLabel(self)
        self.problem.setWordWrap(True)
        self.problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.problem.hide()
        in_column(self, head, self.problem, self.pages)
        self.pages.not_opened.connect(self._show_problem)
        self.pages.backwardAvailable.connect(back.setEnabled)
        self.pages.forwardAvailable.connect(forward.setEnabled)
        self.pages.historyChanged.connect(self._on_page)
        self.search.next_wanted.connect(self._find)
        self.search.previous_wanted.connect(lambda: self._find(QTextDocument.FindFlag.FindBackward))
        self.show_contents()

    @Slot(str)
    def _show_problem(self, problem: str) -> None:
        self.problem.setText(problem)
        self.problem.show()

    def show_contents(self) -> None:
        self.pages.setSource(QUrl.fromLocalFile(str(CONTENTS)))

    @Slot()
    def _on_page(self) -> None:
        self.problem.hide()
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


class KeysDialog(QDialog):
    """Lists commands, docks and what the panels know."""

    def __init__(self, theme: Theme, actions: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(16, 12, 16, 12)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(5)
        groups = (
            ("Commands", [(native_key(action), plain(action.text())) for action in actions]),
            ("Docks: show and go to; once more hides", [(place.key, place.name) for place in PLACES]),
            ("In the panels", list(_ELSEWHERE)),
        )
        for title, rows in groups:
            heading = QLabel(title, inside)
            heading.setFont(theme.heading_font())
            grid.addWidget(heading, grid.rowCount(), 0, 1, 2)
            for key, words in rows:
                row = grid.rowCount()
                keys = dim_label(key)
                keys.setFont(theme.machine_font())
                grid.addWidget(keys, row, 0)
                grid.addWidget(QLabel(words, inside, wordWrap=True), row, 1)
        grid.setColumnStretch(1, 1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setWidget(inside)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(area)
        layout.addWidget(buttons)
        self.resize(520, 620)
