"""The documentation in a window, help for the focused panel, and a list of all keys."""

import re
from typing import Any

from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QDesktopServices,
    QImage,
    QKeySequence,
    QShortcut,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtGui import QTextFrameFormat as FrameFormat
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLabel,
    QTextBrowser,
    QWidget,
)

from core.storage.resources import RESOURCES
from gui.shell.command_set import CommandSet, plain
from gui.shell.docks import PANELS
from gui.shell.parts import WindowParts
from gui.shell.places import PanelPlace, anchor
from gui.shell.window_frame import present
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.search import SearchField
from gui.widgets.words import OrWords

DOCS = RESOURCES / "docs"
CONTENTS = DOCS / "README.md"
SECTIONS: dict[str, str] = {
    "AskAgain": "debugging.md#ask-a-question-again",
    "AskingDialog": "evaluations.md#in-the-window",
    "AttachDialog": "attach.md#attach-your-agent",
    "BackgroundWorkWindow": "window.md#background-work",
    "BisectDialog": "debugging.md#bisect-a-run",
    "BreakpointEditor": "debugging.md#stop-the-run-with-breakpoints",
    "CompareWindow": "debugging.md#compare-two-runs",
    "EditorWindow": "exemplars.md#the-editor",
    "EvaluationsWindow": "evaluations.md#in-the-window",
    "ExemplarChooser": "debugging.md#ask-a-question-again",
    "ExportDialog": "exemplars.md#import-and-export",
    "FixWindow": "debugging.md#fix-a-failed-run",
    "ForkDialog": "debugging.md#fork-a-run",
    "ImportDialog": "exemplars.md#import-and-export",
    "KeysDialog": "window.md",
    "LibraryWindow": "exemplars.md#the-library",
    "MainWindow": "window.md",
    "PageStack": "window.md#the-live-page",
    "Palette": "window.md#command-palette",
    "PartedDialog": "attach.md#go-back",
    "ReplaceDialog": "exemplars.md#the-editor",
    "ReplyDialog": "attach.md#go-back",
    "RunCard": "window.md#runs--steps",
    "SavingWindow": "exemplars.md#save-an-exemplar",
    "SettingsDialog": "llms.md#connect-a-server",
    "StateSpaceWindow": "window.md#state",
    "TagDialog": "exemplars.md#the-library",
    "IndexDialog": "exemplars.md#how-exemplars-are-found",
    "TaskChooser": "tasks.md",
    "TextEditor": "debugging.md#change-what-the-agent-knows",
    "TimeStrip": "window.md#the-steps",
    "ToolBar": "window.md#tool-bar",
    "Welcome": "getting-started.md#step-through-a-task",
    "WhyWindow": "debugging.md#find-where-words-come-from",
    "WorthDialog": "exemplars.md#measure-what-an-exemplar-is-worth",
}
"""Page and heading of the documentation for each dialog, window and part of the main window, by class."""
_MARGIN = 20
_KEY_NAME = "help.key"
Resource = QTextDocument.ResourceType


def section_for(kind: type) -> str:
    """Return page and heading of the documentation for a class, or for the nearest of its bases that has one."""
    return next((SECTIONS[base.__name__] for base in kind.__mro__ if base.__name__ in SECTIONS), "")


def section_of(widget: QWidget | None) -> str:
    """Return page and heading of the documentation for the innermost widget around `widget` that has one."""
    while widget is not None:
        if isinstance(widget, PanelPlace):
            return widget.help
        if section := getattr(widget, "help_section", "") or section_for(type(widget)):
            return section
        widget = widget.parentWidget()
    return "window.md"


class HelpPages(QTextBrowser):
    """Markdown files. Pictures are at most as wide as the window, and links find headings by their anchors."""

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
        """Show a page of the documentation, or open a web address in the system's browser."""
        url = self.source().resolved(link)
        if url.isLocalFile():
            self.go_to(url)
        elif not QDesktopServices.openUrl(url):
            self.not_opened.emit(
                f"No program is set up to open {url.toString()}. Open it in a browser yourself."
            )

    def go_to(self, url: QUrl) -> None:
        """Show a file at the heading of the URL's fragment, even if the file is already open and was scrolled."""
        again = url == self.source()
        self.setSource(url)
        if again:
            self._lay_out()

    @Slot()
    def _lay_out(self) -> None:
        """Style tables and code, add space around headings, and scroll to the heading in the address."""
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
            if wanted and layout.headingLevel() and anchor(block.text()) == wanted:
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
    """Opens at the table of contents. Links lead from page to page, and Ctrl+F finds words in a page."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.size_window(self, 860, 720)
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
        """Go to the next match; wraps around after the last one."""
        words = self.search.text()
        if words and not self.pages.find(words, flags):
            end = QTextCursor.MoveOperation.End if flags else QTextCursor.MoveOperation.Start
            self.pages.moveCursor(end)
            self.pages.find(words, flags)


class Help(QObject):
    """Opens the documentation for `window` and its dialogs, and gives each dialog its help key."""

    def __init__(self, window: WindowParts) -> None:
        super().__init__(window)
        self._window = window
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)

    @Slot()
    def show_here(self) -> None:
        """Show the section for the focused widget.

        A dialog gets its own help window, because a modal dialog blocks all other windows.
        """
        focus = QApplication.focusWidget() or QApplication.activeWindow()
        dialog = focus.window() if focus is not None else None
        self.show_page(section_of(focus), dialog if isinstance(dialog, QDialog) else self._window)

    def show_page(self, page: str, over: QWidget | None = None) -> None:
        """Show a page of the documentation at the heading given after ``#``."""
        over = over or self._window
        direct = Qt.FindChildOption.FindDirectChildrenOnly
        shown = over.findChild(HelpWindow, options=direct) or HelpWindow(self._window.theme, over)
        if over is self._window:
            self._window.frame.show_beside(shown, "docs/geometry")
        else:
            present(shown)
        shown.pages.go_to(QUrl.fromLocalFile(f"{DOCS}/").resolved(QUrl(page)))

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        dialog = now.window() if now is not None else None
        if not isinstance(dialog, QDialog) or isinstance(dialog, HelpWindow):
            return
        direct = Qt.FindChildOption.FindDirectChildrenOnly
        if dialog.findChild(QShortcut, _KEY_NAME, direct) is None:
            key = QShortcut(QKeySequence("F1"), dialog, self.show_here)
            key.setObjectName(_KEY_NAME)


class KeysDialog(QDialog):
    """Lists the keys of commands, docks and panels; a field filters them."""

    def __init__(self, theme: Theme, commands: CommandSet, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        self._lines = [
            *(_key_line(bound.key, "command", plain(bound.action.text())) for bound in commands),
            *(
                _key_line(record.key, "panel", f"{record.name}: show and go to, again folds or hides")
                for record in PANELS
            ),
            *(_key_line(keys, "in a panel", words) for keys, words in _keys_in_panels()),
        ]
        self.search = SearchField(theme, "Find a key or what it does", self)
        self.search.textChanged.connect(self._find)
        columns = (Column("Key"), Column("Where"), Column("What it does"))
        self.table = PlainTable(theme, "Keys", columns, self)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.none = OrWords(self.table, self)
        close = key_button("Close", "Close the list of keys", "Esc", self.reject, self)
        foot = in_row(None, 1, close)
        in_column(self, self.search, (self.none, 1), foot, margins=(12, 12, 12, 10), spacing=8)
        self._find("")
        self.search.setFocus()
        theme.size_window(self, 760, 620)

    def _find(self, words: str) -> None:
        wanted = words.lower().split()
        found = [line for line in self._lines if all(one in " ".join(line.cells).lower() for one in wanted)]
        self.table.show_lines(found)
        self.none.say("" if found else f"No key matches “{words}”.")


def _key_line(keys: str, where: str, words: str) -> TableLine:
    return TableLine((keys, where, words), key=words)


def _keys_in_panels() -> list[tuple[str, str]]:
    """Return keys and their effects from the last table of the documentation's page of keys."""
    page = (DOCS / "keys.md").read_text(encoding="utf-8")
    return re.findall(r"^\| (.+) \| (.+) \|$", page.rpartition("|---|---|")[2], flags=re.MULTILINE)
