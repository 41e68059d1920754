"""The results of commands in the library: running work, the last result, and the findings of a check."""

from collections.abc import Callable

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QProgressBar,
    QWidget,
)

from core.debugger.exemplars.library.views import CheckView, LibraryJob, Notice
from core.schema.formats import count, thousands
from gui.shell.undo import UndoHistory
from gui.shell.undo_button import UndoButton
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button, key_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, labelled, set_flag, set_tone

_SOUND = "No problems: their actions can be read, and their elements are in their observations."
_COLUMNS = (Column("Exemplar"), Column("Level"), Column("Where"), Column("What"))


class JobRow(QFrame):
    """The progress of a job of the library, with a button that cancels it; hidden without one."""

    def __init__(self, cancel: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.progress = labelled(QProgressBar(self, textVisible=False), "Progress")
        self.progress.setMaximumWidth(240)
        self.doing = ElidedLabel("", self)
        self.cancel_button = key_button("Cancel", "Cancel", "Alt+C", cancel, self)
        in_row(self, self.progress, (self.doing, 1), self.cancel_button, spacing=8)
        self.hide()

    @Slot(object)
    def show_job(self, view: LibraryJob) -> None:
        self.setVisible(view.busy)
        if view.busy:
            self.progress.setRange(0, view.of)
            self.progress.setValue(view.done)
            far = f": {thousands(view.done)} of {thousands(view.of)}" if view.of else "…"
            self.doing.setText(f"{view.doing}{far}")


class NoticeBar(QWidget):
    """Hidden if there is no message."""

    cancel_wanted = Signal()

    def __init__(self, theme: Theme, history: UndoHistory, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.work = JobRow(self.cancel_wanted.emit, self)
        self.work.setContentsMargins(12, 6, 10, 6)
        self.title = QLabel(self)
        self.title.setFont(theme.text_font(bold=True))
        self.text = NoteLabel("", parent=self)
        self.undo_button = UndoButton(history, self)
        self.close_button = icon_button(
            theme, "close", "Close this message", self.dismiss, self, key="Esc", size=12
        )
        self.notice = QFrame(self)
        notice = (self.title, (self.text, 1), self.undo_button, self.close_button)
        in_row(self.notice, *notice, margins=(12, 6, 10, 6), spacing=8)
        in_column(self, self.work, self.notice, spacing=0)
        self.notice.hide()

    @property
    def has_notice(self) -> bool:
        return not self.notice.isHidden()

    @Slot(object)
    def show_notice(self, notice: Notice) -> None:
        """Show what was done, or why not, until it is closed or replaced."""
        self.title.setText("✗ Not done" if notice.bad else "✓ Done")
        set_tone(self.title, "bad" if notice.bad else "good")
        self.text.show_text(notice.text)
        self.undo_button.offer(notice.change)
        set_flag(self.notice, "messageBar", "failed" if notice.bad else "good")
        self.notice.show()

    def dismiss(self) -> None:
        self.notice.hide()


class CheckPane(QWidget):
    """A line for each problem; a click or Enter on one shows its exemplar."""

    exemplar_chosen = Signal(object)
    """The id of an exemplar."""
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = ElidedLabel("", self)
        self.title.setFont(theme.text_font(bold=True))
        close = icon_button(theme, "close", "Close the results", self.closed.emit, self, key="Esc", size=12)
        self.table = PlainTable(theme, "Problems", _COLUMNS, self)
        self.table.opened.connect(lambda key: self.exemplar_chosen.emit(str(key)))
        self.table.clicked.connect(lambda _at: self.exemplar_chosen.emit(str(self.table.current_key)))
        self.or_words = OrWords(self.table, self)
        head = in_row(None, (self.title, 1), close, margins=(12, 5, 10, 3))
        in_column(self, head, (self.or_words, 1), spacing=0)

    @Slot(object)
    def show_check(self, view: CheckView) -> None:
        faults = sum(1 for problem in view.problems if problem.level == "fault")
        parts = [f"{count(view.checked, 'exemplar')} checked"]
        if view.cancelled:
            parts[0] += f" of {view.of}, then cancelled"
        parts.append(count(faults, "fault"))
        parts.append(count(len(view.problems) - faults, "note"))
        if view.more:
            parts.append(f"{view.more} more problems are not listed")
        self.title.setText(" · ".join(parts))
        self.or_words.say("" if view.problems else _SOUND)
        self.table.show_lines(
            TableLine(
                (problem.id, problem.level, problem.where or "the whole", problem.text),
                key=problem.id,
                tone="bad" if problem.level == "fault" else "",
                tooltip=f"{problem.id}, {problem.where or 'the whole'}: {problem.text}",
            )
            for problem in view.problems
        )
