"""The editor of one text: of the current run, of a held call, or of a file that agents use."""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QWidget

from core.debugger.editing.views import EditText
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.code_editor import CodeEditor
from gui.widgets.layouts import holding, in_column, in_row, splitter
from gui.widgets.text_view import TextView
from gui.widgets.words import ElidedLabel, NoteLabel, dim_label, set_flag

_IDLE_MS = 250
"""The text is checked after a pause in typing of this length."""
_KEPT = "This is your draft from before; Reload (Alt+R) reads the text as it is now."
_PREVIEW = "The prompt of the step in view, with this text"
_PREVIEW_BEFORE = "The prompt of the step in view, with the text as it was before the mistake"
_SIDES = (12, 2, 12, 2)


class TextEditor(QDialog):
    """Edits one `EditText`; requests to check, apply and reread it go out only as signals.

    A draft stays until it is applied or the text is read again, even if the window is closed or the run continues.
    """

    check_requested = Signal(str, str)
    """Name and text, some time after an edit."""
    apply_requested = Signal(str, str)
    try_requested = Signal(str, str)
    """Name and text to save and try at once."""
    reload_requested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = EditText(name="", title="")
        self._why_not = ""
        self._gone_on = ""
        self.title = ElidedLabel("", self)
        self.title.setFont(theme.text_font(bold=True))
        self.hint = NoteLabel("dim", parent=self, margins=_SIDES)
        self.field = CodeEditor(theme, self)
        self.field.textChanged.connect(self._on_changed)
        self.field.cursorPositionChanged.connect(self._tell_place)
        self.preview = TextView(theme, "The prompt that would result", self)
        self.preview_head = dim_label(_PREVIEW)
        self.preview_head.setContentsMargins(12, 2, 12, 2)
        self._beside = holding(in_column(None, self.preview_head, (self.preview, 1), spacing=0))
        self.note, self.problem = (
            NoteLabel("dim", parent=self, margins=_SIDES),
            NoteLabel("bad", parent=self, margins=_SIDES),
        )
        self.draft_note = NoteLabel("remedy", parent=self, margins=_SIDES)
        self.place = dim_label("")
        again = "Read the current text and discard the draft"
        self.reload_button = key_button("Reload", again, "Alt+R", self._on_reload, self)
        self.try_button = key_button("Try it here", "", "Ctrl+Shift+Return", self._on_try, self)
        close = "Close the editor; a draft is kept until it is applied or reloaded"
        self.cancel_button = key_button("Cancel", close, "Esc", self.close, self)
        self.apply_button = key_button("Apply", "", "Ctrl+Return", self._on_apply, self)
        set_flag(self.apply_button, "accent", True)
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self.check)
        split = splitter(Qt.Orientation.Horizontal, self.field, self._beside, sizes=(520, 480))
        head = in_row(None, (self.title, 1), self.place, margins=(12, 10, 12, 2), spacing=8)
        buttons = (self.try_button, self.cancel_button, self.apply_button)
        foot = in_row(None, self.reload_button, 1, *buttons, margins=(12, 8, 12, 10), spacing=8)
        notes = (self.note, self.draft_note, self.problem)
        in_column(self, head, self.hint, (split, 1), *notes, foot, spacing=0)
        theme.size_window(self, 860, 620)

    @property
    def text(self) -> str:
        return self.field.text

    @property
    def name(self) -> str:
        return self._view.name

    @property
    def edited(self) -> bool:
        """Whether there is a draft that was not applied."""
        return self.field.edited

    def offer(self, view: EditText) -> None:
        """Start with this text; if an earlier draft exists, keep it and show a message."""
        if self.edited and self.text != view.text:
            self._show(view)
            self._gone_on = _KEPT
            self.check()
        else:
            self._begin(view)
        if view.line:
            self.field.go_to_line(view.line)

    def show_checked(self, view: EditText) -> None:
        """Show the result of a check, unless the text has changed since."""
        if view.applied:
            self.field.count_from(view.text)
            self._show(view)
            if self.text == view.text:
                self.close()
        elif view.text == self.text:
            self._show(view)

    def show_run(self, why_not: str, gone_on: str) -> None:
        """Show why the text cannot be applied now, and that the run has continued since it was read."""
        if (why_not, gone_on) != (self._why_not, self._gone_on) and self.name:
            self._why_not = why_not
            self._gone_on = gone_on or (_KEPT if self._gone_on == _KEPT else "")
            self._refresh()

    @Slot()
    def check(self) -> None:
        """Request a check whether the current text could be applied."""
        self._idle.stop()
        self.check_requested.emit(self.name, self.text)

    def _begin(self, view: EditText) -> None:
        self._gone_on = ""
        at = self.field.textCursor().position() if self.text == view.text else 0
        self.field.begin(view.text)
        self.field.go_to(at)
        self._show(view)
        self._tell_place()
        self.field.setFocus()

    def _show(self, view: EditText) -> None:
        same_text = self.name == view.name
        self._view = view
        self.setWindowTitle(view.title)
        self.title.setText(view.title)
        self.field.setAccessibleName(view.title)
        self.hint.show_text(view.hint)
        self.note.show_text(view.note)
        self.problem.show_text(view.problem)
        self.field.mark_problem(view.problem)
        stale = view.problem != "" and not view.preview and same_text and not self._beside.isHidden()
        if not stale:
            self.preview.show_text(view.preview)
            self._beside.setVisible(bool(view.preview))
        self.preview_head.setText(_PREVIEW_BEFORE if stale else _PREVIEW)
        self._refresh()

    def _refresh(self) -> None:
        is_file = "/" in self.name
        self.draft_note.show_text(" ".join(filter(None, (self._gone_on, self._why_not))))
        wrong = self._view.problem if self._view.text == self.text else ""
        why = self._why_not or wrong
        self.apply_button.setText("Save" if is_file else "Apply")
        self.apply_button.setShortcut("Ctrl+Return")  # Another text makes the key invalid.
        words = "Save the file" if is_file else "Replace the current text with this"
        self.apply_button.setEnabled(not why)
        self.apply_button.setToolTip(why or f"{words} (Ctrl+Enter)")
        self.try_button.setVisible(is_file)
        self.try_button.setEnabled(not self._view.why_no_try and not wrong)
        tries = "Save the file, and ask for the action of the step under way again (Ctrl+Shift+Enter)"
        self.try_button.setToolTip(self._view.why_no_try or tries)

    def _on_changed(self) -> None:
        self._idle.start()
        self._refresh()

    def _tell_place(self) -> None:
        self.place.setText(self.field.place)

    def _on_apply(self) -> None:
        if self.apply_button.isEnabled():
            self.apply_requested.emit(self.name, self.text)

    def _on_try(self) -> None:
        if self.try_button.isEnabled():
            self.try_requested.emit(self.name, self.text)

    def _on_reload(self) -> None:
        self.field.count_from(self.text)
        self.reload_requested.emit(self.name)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._idle.stop()
        super().closeEvent(event)
