"""The result of a fix: the run before, the run with the change, and the proof that is under way."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QWidget

from core.debugger.fix.views import FixView, Rerun
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import ElidedLabel, set_tone

_MARKS = {True: "✓", False: "✗", None: "–"}


class OutcomeBox(QFrame):
    """Three lines: before, after and the proof; hidden until something was run again."""

    run_opened = Signal(int, int)
    """Run and step to show."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rerun: Rerun | None = None
        self.before, self.after, self.proof = (ElidedLabel("", self) for _ in range(3))
        show = "Show the new run in the main window"
        self.show_button = key_button("Show", show, "Alt+O", self._on_show, self)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Runs of the proof that are done")
        after = in_row(None, (self.after, 1), self.show_button, spacing=8)
        in_column(self, self.before, after, self.proof, self.progress, margins=(12, 4, 12, 4), spacing=3)
        self.hide()

    def show_view(self, view: FixView) -> None:
        self._rerun = rerun = view.rerun
        runs, proving = view.busy or rerun is not None, bool(view.proving)
        self.setVisible(runs or proving or view.proposing)
        for line in (self.before, self.after):
            line.setVisible(runs)
        self.before.setText(f"Before   {_MARKS[view.success]} {view.before}")
        set_tone(self.before, "" if view.success is None else "good" if view.success else "bad")
        self.after.setText(f"After   {_after(view)}")
        set_tone(self.after, _tone(rerun))
        self.show_button.setVisible(rerun is not None)
        self.progress.setVisible(proving)
        self.proof.setVisible(proving or view.proposing)
        self.progress.setRange(0, view.of)
        self.progress.setValue(view.done)
        told = next((one.proof.sentence for one in view.clues if one.proving and one.proof is not None), "")
        made = f"{view.done} of at most {view.of} runs" if view.of else ""
        of_run = f" for run {view.proving}" if view.proving != view.run else ""
        proof = f"Proof{of_run}   {': '.join(filter(None, (made, told or view.proof_says)))}"
        self.proof.setText(view.proof_says if view.proposing else proof)

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
