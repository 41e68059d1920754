"""The editor of an `EditText`, beside the prompt that would result, or beside the bundled file."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from core.debugger.editing.views import EditText
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.code_editor import CodeEditor
from gui.widgets.layouts import holding, in_column, in_row, splitter
from gui.widgets.side_by_side import SideBySide
from gui.widgets.text_view import TextView
from gui.widgets.words import dim_label

_IDLE_MS = 250
"""The text is checked after a pause in typing of this length."""
_BEFORE = "The prompt as it was before the mistake"


class EditPane(QStackedWidget):
    """Keeps drafts, and what can be undone in them, by the name of their text. The owner places its buttons."""

    edited = Signal()
    check_wanted = Signal()
    """Some time after an edit."""
    reload_wanted = Signal()

    def __init__(self, theme: Theme, *beside: QWidget) -> None:
        """`beside` is shown above the prompt."""
        super().__init__()
        self._view = EditText(name="", title="")
        self.field = CodeEditor(theme, self)
        self.field.textChanged.connect(self._on_changed)
        self.place = dim_label("")
        self.field.cursorPositionChanged.connect(lambda: self.place.setText(self.field.place))
        self.preview = TextView(theme, "The prompt that would result", self)
        self.preview_head = dim_label("")
        self.preview_head.setContentsMargins(12, 2, 12, 2)
        self.beside = holding(in_column(None, self.preview_head, *beside, (self.preview, 1), spacing=0))
        split = splitter(Qt.Orientation.Horizontal, self.field, self.beside, sizes=(520, 480))
        self.sides = SideBySide(theme, self)
        heads = in_row(
            None, (dim_label("The bundled file"), 1), (dim_label("Yours"), 1), margins=(12, 2, 12, 2)
        )
        self.addWidget(split)
        self.addWidget(holding(in_column(None, heads, (self.sides, 1), spacing=0)))
        self.diff_button = key_button("Diff to bundled", "", "Alt+D", self.show_diff)
        self.diff_button.setCheckable(True)
        again = "Put the saved text in place of the draft; Ctrl+Z brings the draft back"
        self.reload_button = key_button("Reload", again, "Alt+R", self._on_reload)
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self.check_wanted)

    def begin(self, view: EditText, name: str) -> bool:
        """Start with this text, or with the draft of its name if there is one; return whether there is."""
        has_draft = self.field.begin(view.text, name=name, language=view.language, keep_draft=True)
        self.diff_button.setChecked(False)
        self.show_diff()
        self.place.setText(self.field.place)
        if has_draft:
            self._idle.start()
        return has_draft

    def show_view(self, view: EditText, heading: str) -> None:
        """Show what was found in a text; the prompt of the last text without a mistake stays, and that is told."""
        is_same, self._view = self._view.name == view.name, view
        self.field.words = view.words
        self.field.setAccessibleName(view.title)
        self.field.show_problems(view.problems if view.text == self.field.text else ())
        stale = bool(view.problem) and not view.preview and is_same and not self.beside.isHidden()
        if not stale:
            self.preview.show_text(view.preview)
            self.beside.setVisible(bool(view.preview))
        self.preview_head.setText(_BEFORE if stale else heading)
        self._refresh()

    def show_diff(self) -> None:
        """Show the bundled file beside the text while the button is pressed."""
        shows = self.diff_button.isChecked() and self._view.bundled is not None
        if shows:
            self.sides.show_texts(self._view.bundled or "", self.field.text)
        self.setCurrentIndex(int(shows))
        (self.sides.right if shows else self.field).setFocus()

    def wait(self) -> None:
        """Request no check until the next edit."""
        self._idle.stop()

    def hideEvent(self, event: QHideEvent) -> None:
        self._idle.stop()
        super().hideEvent(event)

    def _refresh(self) -> None:
        bundled = self._view.bundled
        same = "" if bundled != self.field.text else "The text is that of the bundled file"
        self.diff_button.setVisible(bundled is not None)
        self.diff_button.setEnabled(not same)
        self.diff_button.setToolTip(same or "Show what is changed in the bundled file (Alt+D)")
        if same and self.diff_button.isChecked():
            self.diff_button.setChecked(False)
            self.show_diff()

    def _on_changed(self) -> None:
        self._idle.start()
        self._refresh()
        self.edited.emit()

    def _on_reload(self) -> None:
        self.field.count_from(self.field.text)  # It is no draft any more.
        self.reload_wanted.emit()
