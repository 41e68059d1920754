"""How the editor of an exemplar lies in its window: the looks, the look in view, the pages, and the buttons."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSplitter,
    QTabWidget,
    QWidget,
)

from gui.exemplars.editor.checked_pages import PreviewPage, ProblemsPage
from gui.exemplars.editor.edits import Edits
from gui.exemplars.editor.entries_page import CONTRASTS, PAIRS, EntriesPage
from gui.exemplars.editor.head_form import HeadForm
from gui.exemplars.editor.look_form import LookForm
from gui.exemplars.editor.looks_list import LooksList
from gui.exemplars.editor.parser_page import ParserPage
from gui.exemplars.editor.versions_page import VersionsPage
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column, in_row, on_panel
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, set_flag, set_tone

_SIZE = QSize(1280, 800)


class EditorFrame(QDialog):
    """Makes the parts, which share one `Edits`; `EditorWindow` joins them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlag(Qt.WindowType.WindowMinMaxButtonsHint)
        self.setWindowTitle("Edit an exemplar[*]")
        self._theme = theme
        self.edits = Edits(self)
        self.head = HeadForm(theme, self.edits, self)
        self.look = LookForm(theme, self.edits, self)
        self.looks = LooksList(theme, self.edits, lambda: self.look.action, self)
        self.preview = PreviewPage(theme, self)
        self.problems = ProblemsPage(theme, self)
        self.parser = ParserPage(theme, self.edits, self)
        self.versions = VersionsPage(theme, self)
        self.contrasts = EntriesPage(theme, self.edits, CONTRASTS, self)
        self.pairs = EntriesPage(theme, self.edits, PAIRS, self)
        self._lay_out(theme)
        self.resize(_SIZE.boundedTo(self.screen().availableSize()))

    def _lay_out(self, theme: Theme) -> None:
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("About the exemplar")
        for page, name in (
            (self.preview, "Preview"),
            (self.problems, "Problems"),
            (self.parser, "Parser"),
            (self.versions, "Versions"),
            (self.contrasts, "Contrasts"),
            (self.pairs, "Pairs"),
        ):
            on_panel(page)
            self.tabs.addTab(page, name)
        split = QSplitter(Qt.Orientation.Horizontal, self)
        for widget in (self.looks, self.look, self.tabs):
            on_panel(widget)
            split.addWidget(widget)
        self.look.setMinimumWidth(300)
        self.tabs.setMinimumWidth(240)
        split.setSizes([240, 520, 520])
        split.setStretchFactor(1, 1)
        split.setStretchFactor(2, 1)
        split.setChildrenCollapsible(False)
        line = QFrame(self)
        line.setProperty("line", True)
        inside = QWidget(self)
        in_column(inside, self.head, line, (split, 1), spacing=0)
        self.or_words = OrWords(inside, self)
        self.problem = NoteLabel("bad", parent=self)
        self.note = NoteLabel("remedy", parent=self)
        for note in (self.problem, self.note):
            note.setContentsMargins(12, 4, 12, 2)
        in_column(self, (self.or_words, 1), self.note, self.problem, self._foot(), spacing=0)

    def _foot(self) -> QHBoxLayout:
        self.fact = ElidedLabel("", self)
        set_tone(self.fact, "dim")
        self.drafts_button = QPushButton("Drafts", self)
        self.drafts_button.setAutoDefault(False)
        self.drafts_button.setToolTip("What was edited and not saved (Alt+D)")
        self.drafts_button.setShortcut("Alt+D")
        self.drafts_button.setMenu(QMenu(self.drafts_button))
        self.values_button = self._button(
            "Generalise…", "Put a placeholder in place of a value, or back", "Ctrl+G"
        )
        self.undo_button = self._button("Undo", "Take back the last change", "Ctrl+Z")
        self.redo_button = self._button("Redo", "Make it again", "Ctrl+Shift+Z")
        self.copy_button = self._button(
            "Save as a copy",
            "Store it as another exemplar, under a free id",
            "Ctrl+Shift+S",
        )
        self.save_button = self._button("Save", "Store it as a new version", "Ctrl+S")
        set_flag(self.save_button, "accent", True)
        foot = in_row(
            None,
            (self.fact, 1),
            self.drafts_button,
            self.values_button,
            self.undo_button,
            self.redo_button,
            self.copy_button,
            self.save_button,
            margins=(12, 8, 12, 10),
            spacing=8,
        )
        return foot

    def _button(self, text: str, words: str, key: str) -> QPushButton:
        """The key holds whether the button is enabled or not: a field would take it for itself."""
        button = QPushButton(text, self)
        button.setAutoDefault(False)
        button.setToolTip(f"{words} ({key})")
        QShortcut(QKeySequence(key), self).activated.connect(button.click)
        return button
