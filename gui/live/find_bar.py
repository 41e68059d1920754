"""Find in page: search for words in the live page, show the number of matches, and move between them by key."""

from PySide6.QtCore import QEvent, QKeyCombination, QObject, QTimer, Signal
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWebEngineCore import QWebEngineFindTextResult, QWebEnginePage
from PySide6.QtWidgets import QAbstractButton, QFrame, QPushButton, QToolButton, QWidget

from core.schema.formats import thousands
from gui.theme.theme import Theme
from gui.widgets.keys import takes_key
from gui.widgets.layouts import in_row
from gui.widgets.search import SearchField
from gui.widgets.words import dim_label, labelled, set_tone

_IDLE_MS = 120
_CASE = QKeyCombination(Qt.KeyboardModifier.AltModifier, Qt.Key.Key_C)


class FindBar(QFrame):
    """A field with the match number and the total. Enter and Shift+Enter move between matches, Esc closes it."""

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._page: QWebEnginePage | None = None
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._search)
        self.setProperty("findBar", True)
        self.field = SearchField(theme, "Find in page", self)
        self.field.setMinimumWidth(120)
        self.counted = dim_label("")
        self.counted.setParent(self)
        self.case_button = QPushButton("Aa", self, autoDefault=False)
        self.case_button.setCheckable(True)
        self.case_button.setProperty("chip", True)
        labelled(self.case_button, "Match case", "Match case (Alt+C)")
        self.case_button.toggled.connect(self._search)
        self.previous_button = self._button(theme, "arrow-up", "Previous match (Shift+Enter)")
        self.next_button = self._button(theme, "arrow-down", "Next match (Enter)")
        self.close_button = self._button(theme, "close", "Close the search (Esc)")
        for widget in (self.field, *self.findChildren(QAbstractButton)):
            widget.installEventFilter(self)
        self.field.textChanged.connect(lambda _: self._idle.start())
        self.field.next_wanted.connect(self.find_next)
        self.field.previous_wanted.connect(self.find_previous)
        self.previous_button.clicked.connect(self.find_previous)
        self.next_button.clicked.connect(self.find_next)
        self.close_button.clicked.connect(self.close_search)
        in_row(
            self,
            *((self.field, 1), self.counted, self.case_button),
            *(self.previous_button, self.next_button, self.close_button),
            margins=(10, 4, 8, 4),
            spacing=6,
        )
        self.hide()

    def open_in(self, page: QWebEnginePage) -> None:
        """Search a page from now on, and focus the field."""
        if page is not self._page:
            self._leave_page()
            self._page = page
            page.findTextFinished.connect(self._on_found)
        self.show()
        self.field.reach()
        self._search()

    def move_to(self, page: QWebEnginePage | None) -> None:
        """Continue in another page if the bar is open and there is a page."""
        if self.isHidden() or page is self._page:
            return
        if page is None:
            self.close_search()
            return
        focus = self.window().focusWidget()
        self.open_in(page)
        if focus is not None:
            focus.setFocus()

    def close_search(self) -> None:
        """Clear the highlights in the page and hide the bar."""
        if self.isHidden():
            return
        self._leave_page()
        self.hide()
        self.closed.emit()

    def find_next(self) -> None:
        self._search()

    def find_previous(self) -> None:
        self._search(back=True)

    def event(self, event: QEvent) -> bool:
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        return (escape and takes_key(event, self.close_search)) or super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Panels have a button with the same key.
        case = isinstance(event, QKeyEvent) and event.keyCombination() == _CASE
        return (case and takes_key(event, self.case_button.toggle)) or super().eventFilter(watched, event)

    def _search(self, *, back: bool = False) -> None:
        self._idle.stop()
        if self._page is None:
            return
        flags = QWebEnginePage.FindFlag(0)
        if back:
            flags |= QWebEnginePage.FindFlag.FindBackward
        if self.case_button.isChecked():
            flags |= QWebEnginePage.FindFlag.FindCaseSensitively
        self._page.findText(self.field.text(), flags)
        if not self.field.text():
            self._tell("", found=True)

    def _on_found(self, result: QWebEngineFindTextResult) -> None:
        if not self.field.text():
            return
        count = result.numberOfMatches()
        words = f"{thousands(result.activeMatch())} of {thousands(count)}" if count else "not found"
        self._tell(words, found=bool(count))

    def _tell(self, words: str, *, found: bool) -> None:
        self.counted.setText(words)
        set_tone(self.counted, "dim" if found else "bad")
        for button in (self.previous_button, self.next_button):
            button.setEnabled(found and bool(words))

    def _leave_page(self) -> None:
        if self._page is not None:
            self._page.findTextFinished.disconnect(self._on_found)
            self._page.findText("")
            self._page.triggerAction(QWebEnginePage.WebAction.Unselect)
            self._page = None

    def _button(self, theme: Theme, icon: str, words: str) -> QToolButton:
        button = labelled(QToolButton(self), words.partition(" (")[0], words)
        button.setIcon(theme.icon(icon))
        return button
