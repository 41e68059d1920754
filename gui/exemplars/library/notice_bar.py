"""The lower edge of the library: the work that goes on, and what was done last, with a way to take it back."""

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QProgressBar,
    QToolButton,
    QWidget,
)

from core.debugger.exemplars.library.views import LibraryJob, Notice, Undo
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import thousands
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import ElidedLabel, NoteLabel, set_flag, set_tone


class NoticeBar(QWidget):
    """Hidden where there is nothing to tell."""

    cancel_wanted = Signal()
    undo_wanted = Signal(object)
    """An `Undo`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._undo = Undo()
        self.progress = QProgressBar(self)
        self.progress.setAccessibleName("How far it is")
        self.progress.setMaximumWidth(240)
        self.progress.setTextVisible(False)
        self.doing = ElidedLabel("", self)
        self.cancel_button = key_button("Cancel", "End what goes on", "Alt+C", self.cancel_wanted.emit, self)
        self.work = QFrame(self)
        in_row(
            self.work, self.progress, (self.doing, 1), self.cancel_button, margins=(12, 6, 10, 6), spacing=8
        )
        self.title = QLabel(self)
        self.title.setFont(theme.text_font(bold=True))
        self.text = NoteLabel("", parent=self)
        self.undo_button = key_button("Undo", "Take it back", "Ctrl+Z", self._on_undo, self)
        self.close_button = QToolButton(self)
        self.close_button.setIcon(theme.icon("close"))
        self.close_button.setIconSize(QSize(12, 12))
        self.close_button.setToolTip("Close this message (Esc)")
        self.close_button.setAccessibleName("Close this message")
        self.close_button.clicked.connect(self.dismiss)
        theme.changed.connect(self.close_button.update)
        self.notice = QFrame(self)
        in_row(
            self.notice,
            self.title,
            (self.text, 1),
            self.undo_button,
            self.close_button,
            margins=(12, 6, 10, 6),
            spacing=8,
        )
        in_column(self, self.work, self.notice, spacing=0)
        self.work.hide()
        self.notice.hide()

    @property
    def has_notice(self) -> bool:
        return not self.notice.isHidden()

    @Slot(object)
    def show_job(self, view: LibraryJob) -> None:
        self.work.setVisible(view.busy)
        if not view.busy:
            return
        self.progress.setRange(0, view.of)
        self.progress.setValue(view.done)
        far = f": {thousands(view.done)} of {thousands(view.of)}" if view.of else "…"
        self.doing.setText(f"{view.doing}{far}")

    @Slot(object)
    def show_notice(self, notice: Notice) -> None:
        """Say what was done, or why not, until it is closed or another one comes."""
        self._undo = notice.undo
        self.title.setText("✗ Not done" if notice.bad else "✓ Done")
        set_tone(self.title, "bad" if notice.bad else "good")
        self.text.show_text(notice.text)
        self.undo_button.setVisible(notice.undo.anything)
        set_flag(self.notice, "messageBar", "failed" if notice.bad else "good")
        self.notice.show()

    def dismiss(self) -> None:
        self._undo = Undo()
        self.notice.hide()

    def _on_undo(self) -> None:
        undo = self._undo
        if undo.anything:
            self.dismiss()
            self.undo_wanted.emit(undo)
