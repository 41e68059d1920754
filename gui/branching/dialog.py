"""Try again from a stored step: go back to it, with changes or without, or find the step that decides."""

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QScrollArea, QWidget

from core.debugger.branching.views import ForkView
from core.schema.changes import Changes
from gui.branching.form import ForkForm
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row, on_panel
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, Paragraph, set_flag, set_tone

_FORK = "Restore the page and continue from there on a branch with these changes"
_BACK = "Restore the page and continue from there on a branch"
_BISECT = "Find the step from which the run can still succeed, by runs from each of its steps (Alt+B)"
_READING = "Reading the step…"


class ForkDialog(QDialog):
    """Shows `ForkView` and requests a branch, or a bisection; every choice can be undone with Ctrl+Z."""

    fork_requested = Signal(int, int, object, bool)
    """Run, step, the `Changes`, and whether the person knows which effects stay."""
    bisect_requested = Signal(int)
    """The run to bisect."""
    cancel_requested = Signal()
    """Cancel the current fork."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Try again from here")
        self._view = ForkView(run=0, step=0)
        self.last_time = Changes()
        """The choices of the previous fork."""
        self._build(theme)
        self.wait(0, 0)
        theme.size_window(self, 760, 620)

    def wait(self, run: int, step: int) -> None:
        """Show that this step is being read; choices are reset."""
        self.show_view(ForkView(run=run, step=step))
        self.or_words.say(_READING)

    @Slot(object)
    def show_view(self, view: ForkView) -> None:
        """Replace what is shown; choices stay if it is the same step."""
        begun = view.ready and not self._view.ready
        same = (view.run, view.step) == (self._view.run, self._view.step)
        if same and self._view.ready and not view.ready:
            view = self._view.replace(problem=view.problem, busy=False)
        self._view = view
        self.setWindowTitle(f"Try again from step {view.step} of run {view.run}")
        did = f"{view.task}. The run did: {view.action or 'nothing'}." if view.ready else ""
        self.head.setText(did)
        self.or_words.say("" if view.ready else view.problem or _READING)
        self.problem.show_text(view.problem if view.ready else "")
        if begun:
            self.form.offer(view)
        self.irreversible.setVisible(bool(view.irreversible))
        self.irreversible_words.show_text(f"{view.irreversible}." if view.irreversible else "")
        if begun:
            self.irreversible.setChecked(False)
            self.form.preset.setFocus()
        self._refresh()

    def reject(self) -> None:
        """Close; a current fork is cancelled first."""
        if self._view.busy:
            self.cancel_requested.emit()
            return
        super().reject()

    # Building

    def _build(self, theme: Theme) -> None:
        self.head = ElidedLabel("", self)
        self.head.setContentsMargins(14, 10, 14, 4)
        set_tone(self.head, "dim")
        self.form = ForkForm(theme, self)
        self.form.edited.connect(self._refresh)
        area = QScrollArea(self, widgetResizable=True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidget(self.form)
        on_panel(self.form)
        self.or_words = OrWords(area, self)
        self.summary = Paragraph("", self)
        self.summary.setContentsMargins(14, 6, 14, 2)
        self.irreversible_words = NoteLabel("remedy", parent=self)
        self.irreversible_words.setContentsMargins(14, 4, 14, 0)
        self.irreversible = QCheckBox("I know. Go back anyway", self)
        self.irreversible.setContentsMargins(14, 0, 14, 0)
        self.irreversible.toggled.connect(self._refresh)
        self.problem = NoteLabel("bad", parent=self)
        self.problem.setContentsMargins(14, 4, 14, 0)
        known = in_row(None, self.irreversible, margins=(14, 0, 14, 0))
        in_column(
            self,
            self.head,
            (self.or_words, 1),
            self.summary,
            self.irreversible_words,
            known,
            self.problem,
            self._foot(),
            spacing=2,
        )

    def _foot(self) -> QHBoxLayout:
        self.undo_button = key_button("Undo", "Undo the last choice", "Ctrl+Z", self.form.undo)
        self.redo_button = key_button("Redo", "Make it again", "Ctrl+Shift+Z", self.form.redo)
        as_run = partial(self.form.take, Changes())
        self.reset_button = key_button("As in the run", "Undo all choices", "Alt+R", as_run)
        before = "Use the choices of the last fork"
        self.last_button = key_button("As last time", before, "Alt+L", self._on_last)
        self.bisect_button = key_button("Find the deciding step…", _BISECT, "Alt+B", self._on_bisect)
        self.cancel_button = key_button("Cancel", "Close without a branch", "Esc", self.reject)
        self.fork_button = key_button("Fork", _FORK, "Ctrl+Return", self._on_fork)
        set_flag(self.fork_button, "accent", True)
        left = (self.undo_button, self.redo_button, self.reset_button, self.last_button)
        right = (self.bisect_button, self.cancel_button, self.fork_button)
        return in_row(None, *left, 1, *right, margins=(14, 8, 14, 10), spacing=8)

    def _on_last(self) -> None:
        self.form.take_over(self.last_time)

    def _on_bisect(self) -> None:
        self.bisect_requested.emit(self._view.run)
        self.reject()

    def _on_fork(self) -> None:
        if not self.fork_button.isEnabled():
            return
        self.problem.show_text("")
        self.fork_requested.emit(
            self._view.run, self._view.step, self.form.changes, self.irreversible.isChecked()
        )

    def _refresh(self) -> None:
        view = self._view
        differs = self.form.differs if view.ready else ()
        if view.busy:
            self.summary.setText(f"Going back to step {view.step} of run {view.run}…")
        elif differs:
            self.summary.setText("The branch differs: " + "; ".join(differs) + ".")
        else:
            self.summary.setText("Nothing differs from the run: you go back to the step, and decide there.")
        self.summary.setVisible(view.ready)
        known = not view.irreversible or self.irreversible.isChecked()
        self.or_words.setEnabled(not view.busy)
        self.fork_button.setEnabled(view.ready and not view.busy and known)
        why = "" if known else "; first confirm what cannot be taken back"
        self.fork_button.setText("Fork" if differs else "Go back")
        self.fork_button.setToolTip(f"{_FORK if differs else _BACK} (Ctrl+Enter){why}")
        self.bisect_button.setEnabled(view.ready and not view.busy)
        self.undo_button.setEnabled(self.form.can_undo and not view.busy)
        self.redo_button.setEnabled(self.form.can_redo and not view.busy)
        self.reset_button.setEnabled(bool(differs) and not view.busy)
        self.last_button.setEnabled(view.ready and self.last_time != Changes() and not view.busy)
        self.cancel_button.setText("Give up" if view.busy else "Cancel")
