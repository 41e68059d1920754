"""The search fields over an editor: the words to find, and what to put in their place."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette, QShortcut
from PySide6.QtWidgets import QLineEdit, QWidget

from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button, key_button
from gui.widgets.layouts import holding, in_column, in_row
from gui.widgets.lined_text import LinedText
from gui.widgets.search import Finder
from gui.widgets.words import labelled


class ReplaceBar(QWidget):
    """Finds in one text, and replaces in it if it was opened for that."""

    replace_wanted = Signal()
    replace_all_wanted = Signal()

    def __init__(self, theme: Theme, view: LinedText) -> None:
        super().__init__(view, visible=False, autoFillBackground=True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.finder = Finder(theme, "Find", (view,), self)
        self.finder.hide()  # Its parts have other places here.
        self.field, self.counted, self.refresh = self.finder.field, self.finder.counted, self.finder.refresh
        self.field.escape_clears = False
        self.other = labelled(QLineEdit(placeholderText="Replace with"), "Replace with")
        self.other.returnPressed.connect(self.replace_wanted)
        back = icon_button(theme, "arrow-up", "Previous match", lambda: view.go_to_match(-1), key="Shift+F3")
        on = icon_button(theme, "arrow-down", "Next match", lambda: view.go_to_match(1), key="F3")
        QShortcut("Shift+F3", self, back.click)
        QShortcut("F3", self, on.click)
        one = key_button("Replace", "Replace this match (Enter)", "", self.replace_wanted.emit)
        every = key_button("All", "Replace all matches", "Ctrl+Alt+Return", self.replace_all_wanted.emit)
        for button in (back, on, one, every):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # After a click, typing goes on in the field.
        for field in (self.field, self.other):
            field.setMinimumWidth(theme.scaled(80))
            field.setMaximumWidth(theme.scaled(230))
        found = in_row(None, (self.field, 9), back, on, self.counted, 1, spacing=4)
        self.replacing = holding(in_row(None, (self.other, 9), one, every, 1, spacing=4))
        in_column(self, found, self.replacing, margins=(8, 4, 8, 4), spacing=4)

    def open(self, *, replaces: bool) -> None:
        """Show the field for the words, and with `replaces` that for what replaces them."""
        self.replacing.setVisible(replaces)
        self.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keep the keys that a field does not need from the text, which would get them next."""
        event.accept()
