"""What the pages of experiments have in common: a form, results beside it, and how far the job is below."""

from datetime import datetime
from typing import Any, Generic, TypeVar

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from core.debugger.experiments.measurement import Measurement
from core.debugger.experiments.views import ExperimentView
from gui.experiments.form import ExperimentForm
from gui.widgets.buttons import key_button
from gui.widgets.formats import count, dollars
from gui.widgets.layouts import on_panel
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, set_flag, set_tone

View = TypeVar("View", bound=ExperimentView[Any])
M = TypeVar("M", bound=Measurement)

_STATES = {
    "running": "not ended",
    "done": "done",
    "cancelled": "cancelled",
    "limit": "ended at its limit",
    "failed": "failed",
}


class JobFoot(QHBoxLayout):
    """How far a job is, a problem of it above, and the buttons that begin and end it."""

    def __init__(self, parent: QWidget, progress: str, *buttons: QPushButton) -> None:
        """`progress` names the bar; the last button is the one that begins the job."""
        super().__init__()
        self.problem = NoteLabel("bad", parent=parent)
        self.problem.setContentsMargins(12, 4, 12, 4)
        self.progress = QProgressBar(parent)
        self.progress.setAccessibleName(progress)
        self.progress.setMaximumWidth(220)
        self.words = ElidedLabel("", parent)
        set_tone(self.words, "dim")
        set_flag(buttons[-1], "accent", True)
        self.setContentsMargins(12, 8, 12, 10)
        self.setSpacing(8)
        self.addWidget(self.progress)
        self.addWidget(self.words, 1)
        for button in buttons:
            self.addWidget(button)

    def put_below(self, page: QWidget, content: QWidget) -> None:
        """Lay out a page with its content, the problem and this below each other."""
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(content, 1)
        layout.addWidget(self.problem)
        layout.addLayout(self)

    def show_progress(self, done: int, total: int, words: str) -> None:
        self.progress.setVisible(True)
        self.progress.setRange(0, max(1, total))
        self.progress.setValue(done)
        self.words.setText(words)

    def show_words(self, words: str, *, busy: bool) -> None:
        """Show words without a progress; the bar moves where `busy`."""
        self.progress.setVisible(busy)
        self.progress.setRange(0, 0)
        self.words.setText(words)


class ExperimentPage(QWidget, Generic[View, M]):
    """Shows an `ExperimentView`; asks for things only by emitting."""

    start_requested = Signal(object)
    """The request of the form."""
    cancel_requested = Signal()
    run_opened = Signal(int, int)
    """Run and step that the main window is to show."""
    export_requested = Signal(object, str)
    """A `Measurement`, and the path of the file."""

    units = ""
    """What the progress is counted in."""
    reading = ""
    nothing = ""
    """What to do where nothing was measured yet."""
    export_title = ""

    def __init__(self, form: ExperimentForm, view: View, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = view
        self._chosen: int | None = None
        """The number of the measurement in view; None for the one that goes on, or the latest."""
        self.form = form
        self.form.changed.connect(self.refresh)
        self.browser = NoteLabel("dim", parent=self)
        self.browser.setContentsMargins(12, 0, 12, 6)
        self.choice = QComboBox(self)
        self.choice.activated.connect(self._on_choice)
        self.sentence = QLabel(self)
        self.sentence.setWordWrap(True)
        self.sentence.setContentsMargins(12, 6, 12, 6)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def build(
        self,
        results: QWidget,
        start: tuple[str, str],
        choice: tuple[str, str],
        export: tuple[str, str],
        *head: QPushButton,
        below_form: QWidget | None = None,
        sizes: tuple[int, int],
    ) -> None:
        """Make what is around the results.

        `start` is the text of the button and the name of the progress bar, `choice` the name and the
        tooltip of the box, `export` the text and the tooltip of the button; `head` are further buttons.
        """
        self.choice.setAccessibleName(choice[0])
        self.choice.setToolTip(choice[1])
        self.start_button = key_button(start[0], "Begin in the background", "Ctrl+Return", self._on_start)
        self.cancel_button = key_button(
            "Cancel",
            f"End it; the {self.units} that were made are kept",
            "Alt+C",
            self.cancel_requested.emit,
        )
        self.export_button = key_button(export[0], export[1], "Ctrl+E", self._on_export)
        left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.form)
        column.addWidget(self.browser)
        if below_form is None:
            column.addStretch(1)
        else:
            column.addWidget(below_form, 1)
        line = QHBoxLayout()
        line.setContentsMargins(10, 8, 10, 4)
        line.setSpacing(8)
        line.addWidget(self.choice, 1)
        for button in (*head, self.export_button):
            line.addWidget(button)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(line)
        column.addWidget(self.sentence)
        column.addWidget(results, 1)
        on_panel(inside)
        self.or_words = OrWords(inside, self)
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(left)
        split.addWidget(self.or_words)
        split.setStretchFactor(1, 1)
        split.setSizes(sizes)
        split.setChildrenCollapsible(False)
        self.foot = JobFoot(self, start[1], self.cancel_button, self.start_button)
        self.foot.put_below(self, split)

    # What a page shows of its own

    @property
    def whose(self) -> str:
        """Whose measurement goes on, with a colon, where that is not clear."""
        return ""

    @property
    def file_name(self) -> str:
        """What the table of the measurement in view is exported as."""
        raise NotImplementedError

    def show_results(self) -> None:
        """Show the measurement in view, if any."""
        raise NotImplementedError

    # Showing

    @Slot(object)
    def show_view(self, view: View) -> None:
        """Replace what is on screen; choices and the measurement in view stay."""
        begins = view.going is not None and self.view.under_way is None
        if begins or view.about != self.view.about:
            self._chosen = None  # What has just begun is what the person waits for.
        self.view = view
        self.browser.show_text(view.browser)
        self.foot.problem.show_text(view.problem)
        self.choice.clear()
        for one in reversed(view.measurements):
            state = "going on" if one is view.under_way else _STATES[one.state]
            when = datetime.fromtimestamp(one.when)
            words = f"{one.what}, {one.preset}, {one.llm} ({state})"
            self.choice.addItem(f"{one.number}. {when:%d %b %H:%M}: {words}", one.number)
        if self.shown is not None:
            self.choice.setCurrentIndex(self.choice.findData(self.shown.number))
        self._show()

    @property
    def shown(self) -> M | None:
        """The measurement in view."""
        found: dict[int, M] = {one.number: one for one in self.view.measurements}
        return found.get(self._chosen or 0) or next(reversed(found.values()), None)

    def _show(self) -> None:
        view = self.view
        waiting = "It is being begun: the browser starts…" if view.starting else self.nothing
        is_read = view.ready or view.problem
        self.or_words.say("" if self.shown is not None else waiting if is_read else self.reading)
        self.show_results()
        self.refresh()

    def refresh(self) -> None:
        """Let the buttons and the foot follow what goes on."""
        view, going, shown = self.view, self.view.under_way, self.shown
        self.start_button.setEnabled(view.can_start and not self.form.problem)
        self.cancel_button.setEnabled(going is not None)
        self.export_button.setEnabled(shown is not None and shown.done > 0)
        if going is not None:
            cost = f", {dollars(going.cost)}" if going.cost is not None else ""
            made = f"{going.done} of {going.total} {self.units}, {count(going.calls, 'LLM call')}{cost}"
            self.foot.show_progress(going.done, going.total, f"{self.whose}{made}")
        else:
            ended = view.notice or (shown.why if shown is not None else "")
            self.foot.show_words("The browser starts…" if view.starting else ended, busy=view.starting)

    # What the person does

    def _on_start(self) -> None:
        if self.start_button.isEnabled():
            self.foot.problem.show_text("")
            self.start_requested.emit(self.form.request)

    def _on_choice(self) -> None:
        self._chosen = self.choice.currentData()
        self._show()

    def _on_export(self) -> None:
        shown = self.shown
        if shown is None or not self.export_button.isEnabled():
            return
        path, _ = QFileDialog.getSaveFileName(self, self.export_title, self.file_name, "Table (*.csv)")
        if path:
            self.export_requested.emit(shown, path)
