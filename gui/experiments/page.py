"""The common parts of the pages of experiments: a form, results next to it, and the job's progress below."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QWidget,
)

from core.debugger.experiments.measurement import Measurement, MeasurementRequest
from core.debugger.experiments.views import ExperimentView
from gui.widgets.buttons import key_button
from gui.widgets.formats import count, dollars
from gui.widgets.layouts import in_column, in_row, on_panel, splitter
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, Paragraph, labelled, set_flag, set_tone

View = TypeVar("View", bound=ExperimentView[Any])
M = TypeVar("M", bound=Measurement)
_STATES = {
    "running": "not ended",
    "done": "done",
    "cancelled": "cancelled",
    "limit": "ended at its limit",
    "failed": "failed",
}


class LimitFields(QWidget):
    """Limits for work that asks an LLM many times: two fields, of which zero means no limit."""

    changed = Signal()

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        """`what` is no longer started beyond the limits, for example "branch"."""
        super().__init__(parent)
        made = f"Start no further {what} after this many LLM calls"
        self.calls = labelled(QSpinBox(self, minimum=0, maximum=1_000_000), "Most LLM calls", made)
        self.calls.setSpecialValueText("no call limit")
        self.calls.setSuffix(" LLM calls")
        spent = f"Start no further {what} beyond this cost. Calls without a known price do not count"
        self.cost = labelled(QDoubleSpinBox(self, minimum=0, maximum=100_000), "Most cost", spent)
        self.cost.setPrefix("$")
        self.cost.setSpecialValueText("no cost limit")
        in_row(self, (self.calls, 1), (self.cost, 1), spacing=6)
        for field in (self.calls, self.cost):
            field.valueChanged.connect(lambda _value: self.changed.emit())

    @property
    def most_calls(self) -> int | None:
        return self.calls.value() or None

    @property
    def most_cost(self) -> float | None:
        """US dollars."""
        return round(self.cost.value(), 2) or None

    def choose(self, calls: int | None, cost: float | None) -> None:
        self.calls.setValue(calls or 0)
        self.cost.setValue(cost or 0.0)


class ExperimentForm(QWidget):
    """Holds the choices; `problem` is the reason why they cannot be used yet."""

    changed = Signal()

    def __init__(self, unit: str, times: str, most_times: int, parent: QWidget | None = None) -> None:
        """`unit` is what the limits count, for example "branch"; `times` is the label of the number of repetitions."""
        super().__init__(parent)
        self.times = labelled(QSpinBox(self, minimum=1, maximum=most_times, suffix=" ×"), times)
        self.preset, self.llm = self.combo("Preset"), self.combo("LLM")
        self.limits = LimitFields(unit, self)
        self.total = Paragraph("", self)
        self.times.valueChanged.connect(self.on_edited)
        self.limits.changed.connect(self.on_edited)

    @property
    @abstractmethod
    def request(self) -> MeasurementRequest:
        """The choices; only valid if there is no `problem`."""

    @property
    @abstractmethod
    def problem(self) -> str:
        """Why the choices cannot be used, as a sentence, or an empty string."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the choices amount to, as a sentence."""

    @property
    def is_begun(self) -> bool:
        """Whether enough was chosen to show a problem."""
        return True

    # For the forms

    def combo(self, name: str, choices: Sequence[tuple[str, str]] = ()) -> QComboBox:
        """Return a combo box with these values and their texts."""
        box = labelled(QComboBox(self), name)
        for value, text in choices:
            box.addItem(text, value)
        box.currentIndexChanged.connect(self.on_edited)
        return box

    def line(self, name: str, text: str = "") -> QLineEdit:
        field = labelled(QLineEdit(text, self), name)
        field.textChanged.connect(self.on_edited)
        return field

    def lay_out(
        self, first: Sequence[tuple[str, QWidget | QLayout]], last: Sequence[tuple[str, QWidget]] = ()
    ) -> None:
        """Place labelled fields above and below the number of repetitions and the LLM."""
        form = QFormLayout(self)
        form.setContentsMargins(12, 10, 12, 8)
        form.setSpacing(7)
        common = (("Each", self.times), ("Preset", self.preset), ("LLM", self.llm))
        limits = (("Limits", self.limits), ("", self.total))
        for label, field in (*first, *common, *last, *limits):
            if isinstance(field, QLayout):
                form.addRow(label, field)
            else:
                form.addRow(label, field)

    def choose_common(self, request: MeasurementRequest) -> None:
        """Restore the number of repetitions and the LLM."""
        self.times.setValue(request.times)
        self.choose(self.preset, request.preset)
        self.choose(self.llm, request.llm)
        self.limits.choose(request.most_calls, request.most_cost)

    def choose(self, box: QComboBox, name: object) -> None:
        """Choose the entry of this name, or the first."""
        box.setCurrentIndex(max(0, box.findData(name)))

    def on_edited(self) -> None:
        problem = self.problem
        self.total.setText(problem or self.words)
        set_tone(self.total, "bad" if problem and self.is_begun else "dim")
        self.changed.emit()


class JobFoot(QHBoxLayout):
    """The progress of a job, a problem above it, and the buttons that start and cancel it."""

    def __init__(self, parent: QWidget, progress: str, *buttons: QPushButton) -> None:
        """`progress` is the name of the bar; the last button starts the job."""
        super().__init__()
        self.problem = NoteLabel("bad", parent=parent)
        self.problem.setContentsMargins(12, 4, 12, 4)
        self.progress = labelled(QProgressBar(parent), progress)
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
        """Lay out a page with its content, the problem and this, one below the other."""
        in_column(page, (content, 1), self.problem, self, spacing=0)

    def show_progress(self, done: int, total: int, words: str) -> None:
        self.progress.setVisible(True)
        self.progress.setRange(0, max(1, total))
        self.progress.setValue(done)
        self.words.setText(words)

    def show_words(self, words: str, *, busy: bool) -> None:
        """Show a text without progress; the bar is animated if `busy`."""
        self.progress.setVisible(busy)
        self.progress.setRange(0, 0)
        self.words.setText(words)


class ExperimentPage(QWidget, Generic[View, M]):
    """Shows an `ExperimentView`; requests go out only as signals."""

    start_requested = Signal(object)
    """The request of the form."""
    cancel_requested = Signal()
    run_opened = Signal(int, int)
    """Run and step to show in the main window."""
    export_requested = Signal(object, str)
    """A `Measurement`, and the path of the file."""

    units = ""
    """The unit of the progress."""
    reading = ""
    nothing = ""
    """What to do if nothing was measured yet."""
    export_title = ""

    def __init__(self, form: ExperimentForm, view: View, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = view
        self._chosen: int | None = None
        """The number of the measurement in view; None for the running one, or else the latest."""
        self.form = form
        self.form.changed.connect(self.refresh)
        self.browser = NoteLabel("dim", parent=self)
        self.browser.setContentsMargins(12, 0, 12, 6)
        self.choice = QComboBox(self)
        self.choice.activated.connect(self._on_choice)
        self.sentence = Paragraph("", self)
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
        show_results: Callable[[], None],
        file_name: Callable[[], str],
    ) -> None:
        """Create the parts around the results.

        `start` is the text of the button and the name of the progress bar, `choice` the name and the tooltip of the
        combo box, `export` the text and the tooltip of the button; `head` are further buttons. `show_results` shows
        the measurement in view, if there is one; `file_name` is the default name for exporting its table.
        """
        self._show_results, self._file_name = show_results, file_name
        labelled(self.choice, *choice)
        self.start_button = key_button(start[0], "Start in the background", "Ctrl+Return", self._on_start)
        kept = f"Cancel. The finished {self.units} are kept"
        self.cancel_button = key_button("Cancel", kept, "Alt+C", self.cancel_requested.emit)
        self.export_button = key_button(export[0], export[1], "Ctrl+E", self._on_export)
        left = QWidget(self)
        in_column(left, self.form, self.browser, (below_form, 1) if below_form else 1, spacing=0)
        line = in_row(None, (self.choice, 1), *head, self.export_button, margins=(10, 8, 10, 4), spacing=8)
        inside = QWidget()
        in_column(inside, line, self.sentence, (results, 1), spacing=0)
        on_panel(inside)
        self.or_words = OrWords(inside, self)
        split = splitter(Qt.Orientation.Horizontal, left, self.or_words, sizes=sizes, stretch=(0, 1))
        self.foot = JobFoot(self, start[1], self.cancel_button, self.start_button)
        self.foot.put_below(self, split)

    # Overridden by pages

    @property
    def whose(self) -> str:
        """The subject of the running measurement, with a colon, if it is not obvious."""
        return ""

    # Display

    @Slot(object)
    def show_view(self, view: View) -> None:
        """Replace what is shown; choices and the measurement in view stay."""
        begins = view.going is not None and self.view.under_way is None
        if begins or view.about != self.view.about:
            self._chosen = None  # The person waits for what has just started.
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
        waiting = "Starting: the browser starts…" if view.starting else self.nothing
        is_read = view.ready or view.problem
        self.or_words.say("" if self.shown is not None else waiting if is_read else self.reading)
        self._show_results()
        self.refresh()

    def refresh(self) -> None:
        """Update the buttons and the foot to the running work."""
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

    # Input of the person

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
        path, _ = QFileDialog.getSaveFileName(self, self.export_title, self._file_name(), "Table (*.csv)")
        if path:
            self.export_requested.emit(shown, path)
