"""The result of a fix: the run before, the run with the change, and the family."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QWidget

from core.debugger.fix.views import FixView, Rerun
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import ElidedLabel, set_tone

_MARKS = {True: "✓", False: "✗", None: "–"}


class OutcomeBox(QFrame):
    """Three lines: before, after and the family; hidden until something was run again."""

    run_opened = Signal(int, int)
    """Run and step to show."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rerun: Rerun | None = None
        self.before, self.after, self.family = (ElidedLabel("", self) for _ in range(3))
        show = "Show the new run in the main window"
        self.show_button = key_button("Show", show, "Alt+O", self._on_show, self)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Runs of the family that are done")
        after = in_row(None, (self.after, 1), self.show_button, spacing=8)
        in_column(self, self.before, after, self.family, self.progress, margins=(12, 4, 12, 4), spacing=3)
        self.hide()

    def show_view(self, view: FixView) -> None:
        self._rerun = rerun = view.rerun
        self.setVisible(view.busy or rerun is not None)
        self.before.setText(f"Before   {_MARKS[view.success]} {view.before}")
        set_tone(self.before, "" if view.success is None else "good" if view.success else "bad")
        self.after.setText(f"After   {_after(view)}")
        set_tone(self.after, _tone(rerun))
        self.show_button.setVisible(rerun is not None)
        family = view.family
        self.progress.setVisible(view.family_busy)
        self.family.setVisible(view.family_busy or family is not None)
        if family is None:
            self.family.setText("Family   the browser is being started…")
            self.progress.setRange(0, 0)
            return
        ended = "" if view.family_busy or family.done == family.total else " (not finished)"
        done = f", {family.done} of {family.total} runs" if view.family_busy else ""
        self.family.setText(f"Family   {family.sentence}, the same {family.seeds} seeds{done}{ended}")
        (before, _), (after, _) = family.before, family.after
        set_tone(self.family, "good" if after > before else "bad" if after < before else "")
        self.progress.setRange(0, family.total)
        self.progress.setValue(family.done)

    def _on_show(self) -> None:
        if self._rerun is not None:
            self.run_opened.emit(self._rerun.run, self._rerun.step)


def _after(view: FixView) -> str:
    rerun = view.rerun
    if rerun is None:
        return view.doing
    fresh = ", from the start" if rerun.fresh else f", from step {rerun.step}"
    fresh += ", the same text run again" if rerun.unchanged else ""
    run = f"run {rerun.run}{fresh}"
    match rerun.state:
        case "going on":
            return f"… {run} goes on: step {rerun.steps or rerun.step}. {rerun.words}".rstrip()
        case "waiting":
            return f"‖ {run} waits in the main window. {rerun.words}".rstrip()
        case "failed":
            return f"✗ {run} failed: {rerun.words}"
        case "left":
            return f"‖ {run} was left. {rerun.words}"
        case "lost":
            return f"✗ {rerun.words} Run afresh (Alt+A) does the task again from its start."
    return f"{_MARKS[rerun.success]} {rerun.words} ({run})"


def _tone(rerun: Rerun | None) -> str:
    if rerun is None or rerun.state == "going on":
        return ""
    if rerun.state == "ended":
        # The same text proves nothing about a change.
        return "" if rerun.unchanged else {True: "good", False: "bad", None: ""}[rerun.success]
    return "remedy" if rerun.state in ("waiting", "left") else "bad"
