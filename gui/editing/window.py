"""The editor of one text: of the current run, of a held call, or of a file that agents use."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QWidget

from core.debugger.editing.views import EditText
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.edit_pane import EditPane
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import ElidedLabel, NoteLabel, set_flag

_KEPT = "This is your draft from before; Reload (Alt+R) reads the text as it is now."
_PREVIEW = "The prompt of the step in view, with this text"
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
        self.base: str | None = None
        """The text of the file that the draft began with; None if there was none."""
        self._why_not = ""
        self._gone_on = ""
        self.title = ElidedLabel("", self)
        self.title.setFont(theme.text_font(bold=True))
        self.hint = NoteLabel("dim", parent=self, margins=_SIDES)
        self.pane = EditPane(theme)
        self.pane.edited.connect(self._refresh)
        self.pane.check_wanted.connect(self.check)
        self.pane.reload_wanted.connect(lambda: self.reload_requested.emit(self.name))
        self.field = self.pane.field
        self.note, self.problem = (
            NoteLabel("dim", parent=self, margins=_SIDES),
            NoteLabel("bad", parent=self, margins=_SIDES),
        )
        self.draft_note = NoteLabel("remedy", parent=self, margins=_SIDES)
        self.try_button = key_button("Try it here", "", "Ctrl+Shift+Return", self._on_try, self)
        close = "Close the editor; a draft is kept until it is applied or reloaded"
        self.cancel_button = key_button("Cancel", close, "Esc", self.close, self)
        self.apply_button = key_button("Apply", "", "Ctrl+Return", self._on_apply, self)
        set_flag(self.apply_button, "accent", True)
        head = in_row(None, (self.title, 1), self.pane.place, margins=(12, 10, 12, 2), spacing=8)
        left = (self.pane.reload_button, self.pane.diff_button)
        right = (self.try_button, self.cancel_button, self.apply_button)
        foot = in_row(None, *left, 1, *right, margins=(12, 8, 12, 10), spacing=8)
        notes = (self.note, self.draft_note, self.problem)
        in_column(self, head, self.hint, (self.pane, 1), *notes, foot, spacing=0)
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
        has_draft = self.pane.begin(view, view.name)
        self._gone_on = _KEPT if has_draft else ""
        self.base = self.base if has_draft else view.base
        self._show(view)
        self.field.setFocus()
        if view.line:
            self.field.go_to_line(view.line)

    def show_checked(self, view: EditText) -> None:
        """Show the result of a check, unless the text has changed since."""
        if view.applied:
            self.base = view.base
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
        self.pane.wait()
        self.check_requested.emit(self.name, self.text)

    def _show(self, view: EditText) -> None:
        self._view = view
        self.setWindowTitle(view.title)
        self.title.setText(view.title)
        self.hint.show_text(view.hint)
        self.note.show_text(view.note)
        self.problem.show_text(view.told)
        self.pane.show_view(view, _PREVIEW)
        self._refresh()

    def _refresh(self) -> None:
        is_file = "/" in self.name
        self.draft_note.show_text(" ".join(filter(None, (self._gone_on, self._why_not))))
        wrong = self._view.problem if self._view.text == self.text else ""
        why = self._why_not or wrong
        self.apply_button.setText("Save" if is_file else "Apply")
        words = "Save the file" if is_file else "Replace the current text with this"
        self.apply_button.setEnabled(not why)
        self.apply_button.setToolTip(why or f"{words} (Ctrl+Enter)")
        self.try_button.setVisible(is_file)
        self.try_button.setEnabled(not self._view.why_no_try and not wrong)
        tries = "Save the file, and ask for the action of the step under way again (Ctrl+Shift+Enter)"
        self.try_button.setToolTip(self._view.why_no_try or tries)

    def _on_apply(self) -> None:
        if self.apply_button.isEnabled():
            self.apply_requested.emit(self.name, self.text)

    def _on_try(self) -> None:
        if self.try_button.isEnabled():
            self.try_requested.emit(self.name, self.text)
