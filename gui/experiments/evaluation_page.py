"""Worth: tasks done with an exemplar and without it, which runs flip, and what that shows."""

from datetime import datetime

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from core.debugger.experiments.evaluation_views import ProvingView
from core.debugger.experiments.records import Experiment, Pair, RunResult
from core.debugger.snapshots import Catalogue
from gui.experiments.evaluation_form import WorthForm
from gui.theme.theme import Theme
from gui.widgets.formats import count, dollars
from gui.widgets.key_button import key_button
from gui.widgets.plain_table import Column, Line, PlainTable
from gui.widgets.section import on_panel
from gui.widgets.words import ElidedLabel, Note, OrWords, set_flag, set_tone

_NONE = (
    "Nothing was tried of this yet. Choose tasks and seeds at the left and press Try (Ctrl+Enter): each task is "
    "done with the exemplar in the library and without it, and which runs flip shows here."
)
_STATES = {
    "running": "not ended",
    "done": "done",
    "cancelled": "cancelled",
    "limit": "ended at its limit",
    "failed": "failed",
}
_TOLD = {True: "success", False: "no success", None: "not judged"}
_COLUMNS = (
    Column("Flip", tooltip="What having it changed"),
    Column("Task"),
    Column("Seed", number=True),
    Column("With"),
    Column("Without"),
    Column("Shown", tooltip="Whether the LLM was shown it"),
    Column("Steps", number=True, tooltip="With and without"),
    Column("Runs", number=True, tooltip="With and without"),
    Column("What went wrong"),
)


class WorthPage(QWidget):
    """Shows `ProvingView`; asks for things only by emitting."""

    start_requested = Signal(object)
    """What is `WorthWanted`."""
    subject_chosen = Signal(object)
    cancel_requested = Signal()
    run_opened = Signal(int, int)
    compare_requested = Signal(int, int)
    """The runs with and without."""
    export_requested = Signal(object, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = ProvingView()
        self._chosen: int | None = None
        """The number of the experiment in view; None for the one that goes on, or the latest."""
        self.form = WorthForm(self)
        self.form.changed.connect(self._refresh)
        self.form.subject_chosen.connect(self.subject_chosen)
        self.browser = Note("dim", parent=self)
        self.browser.setContentsMargins(12, 0, 12, 6)
        self.choice = QComboBox(self)
        self.choice.setAccessibleName("Experiments")
        self.choice.setToolTip("Which experiment is shown; all are kept with the exemplar")
        self.choice.activated.connect(self._on_choice)
        self.sentence = QLabel(self)
        self.sentence.setWordWrap(True)
        self.sentence.setContentsMargins(12, 6, 12, 6)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.table = PlainTable(theme, "Pairs of runs", _COLUMNS, self)
        self.table.opened.connect(self._on_opened)
        self.table.current.connect(lambda _key: self._refresh())
        self.progress = QProgressBar(self)
        self.progress.setAccessibleName("Pairs done")
        self.progress.setMaximumWidth(220)
        self.words = ElidedLabel("", self)
        set_tone(self.words, "dim")
        self.problem = Note("bad", parent=self)
        self.problem.setContentsMargins(12, 4, 12, 4)
        self.start_button = key_button("Try", "Begin in the background", "Ctrl+Return", self._on_start)
        set_flag(self.start_button, "accent", True)
        self.cancel_button = key_button(
            "Cancel", "End it; the pairs that were done are kept", "Alt+C", self.cancel_requested.emit
        )
        self.with_button = key_button(
            "Run with", "Show it in the main window", "Alt+W", lambda: self._open(True)
        )
        self.without_button = key_button(
            "Run without", "Show it in the main window", "Alt+O", lambda: self._open(False)
        )
        self.compare_button = key_button("Compare", "Both runs side by side", "Alt+P", self._on_compare)
        self.export_button = key_button(
            "Export…", "Write the pairs as comma-separated values", "Ctrl+E", self._on_export
        )
        self._lay_out()
        self.show_view(ProvingView())

    def show_catalogue(self, catalogue: Catalogue) -> None:
        self.form.show_catalogue(catalogue)

    @Slot(object)
    def show_view(self, view: ProvingView) -> None:
        """Replace what is on screen; choices and the experiment in view stay."""
        if view.experiment is not None and self._view.experiment is None:
            self._chosen = None  # What has just begun is what the person waits for.
        if view.subject != self._view.subject:
            self._chosen = None
        self._view = view
        self.form.show_view(view)
        self.browser.show_text(view.browser)
        self.problem.show_text(view.problem)
        self._show_choice()
        self._show_experiment()
        self._refresh()

    @property
    def experiment(self) -> Experiment | None:
        """The one in view."""
        found = next((one for one in self._all() if one.number == self._chosen), None)
        return found or next(iter(reversed(self._all())), None)

    def _all(self) -> tuple[Experiment, ...]:
        """Return those of the subject, with the one that goes on as far as it has come, the latest last."""
        going, subject = self._view.experiment, self._view.subject
        if going is None or (subject is not None and going.subject.name != subject.name):
            return self._view.experiments
        return (*(one for one in self._view.experiments if one.number != going.number), going)

    # Building

    def _lay_out(self) -> None:
        left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.form)
        column.addWidget(self.browser)
        column.addStretch(1)
        head = QHBoxLayout()
        head.setContentsMargins(10, 8, 10, 4)
        head.setSpacing(8)
        head.addWidget(self.choice, 1)
        for button in (self.with_button, self.without_button, self.compare_button, self.export_button):
            head.addWidget(button)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.sentence)
        column.addWidget(self.table, 1)
        on_panel(inside)
        self.or_words = OrWords(inside, self)
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(left)
        split.addWidget(self.or_words)
        split.setStretchFactor(1, 1)
        split.setSizes([380, 700])
        split.setChildrenCollapsible(False)
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 8, 12, 10)
        foot.setSpacing(8)
        foot.addWidget(self.progress)
        foot.addWidget(self.words, 1)
        foot.addWidget(self.cancel_button)
        foot.addWidget(self.start_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(split, 1)
        layout.addWidget(self.problem)
        layout.addLayout(foot)

    # Showing

    def _show_choice(self) -> None:
        self.choice.clear()
        for one in reversed(self._all()):
            self.choice.addItem(experiment_words(one, going=one is self._view.experiment), one.number)
        shown = self.experiment
        if shown is not None:
            self.choice.setCurrentIndex(self.choice.findData(shown.number))

    def _show_experiment(self) -> None:
        shown = self.experiment
        waiting = "It is being begun: the browser starts…" if self._view.starting else _NONE
        reading = not self._view.ready and not self._view.problem
        self.or_words.say(("The library is being read…" if reading else waiting) if shown is None else "")
        if shown is None:
            self.table.show_lines(())
            self.sentence.clear()
            return
        self.sentence.setText(f"{shown.subject.words}: {shown.sentence}")
        self.table.show_lines([_line(one) for one in shown.pairs])

    def _pair(self) -> Pair | None:
        shown, key = self.experiment, self.table.current_key
        if shown is None or key is None:
            return None
        return next((one for one in shown.pairs if (one.task, one.seed, one.time) == key), None)

    def _is_openable(self) -> bool:
        """Whether the runs in view are in the database that the window has open."""
        shown = self.experiment
        return shown is not None and shown.trace == self._view.trace

    def _refresh(self) -> None:
        view, going = self._view, self._view.experiment
        self.start_button.setEnabled(view.ready and not view.busy and not self.form.problem)
        self.cancel_button.setEnabled(going is not None)
        pair = self._pair() if self._is_openable() else None
        self.with_button.setEnabled(pair is not None and pair.with_it.run is not None)
        self.without_button.setEnabled(pair is not None and pair.without_it.run is not None)
        self.compare_button.setEnabled(self.with_button.isEnabled() and self.without_button.isEnabled())
        shown = self.experiment
        self.export_button.setEnabled(shown is not None and bool(shown.pairs))
        self.progress.setVisible(going is not None or (view.starting and view.tally is None))
        if going is not None:
            self.progress.setRange(0, max(1, len(going.cases)))
            self.progress.setValue(len(going.pairs))
            cost = f", {dollars(going.cost)}" if going.cost is not None else ""
            self.words.setText(
                f"{going.subject.words}: {len(going.pairs)} of {len(going.cases)} pairs, "
                f"{count(going.calls, 'LLM call')}{cost}"
            )
        else:
            self.progress.setRange(0, 0)
            other = "Exemplars are being replayed: wait for their end, or cancel there." if view.tally else ""
            ended = view.notice or (shown.why if shown is not None else "")
            self.words.setText(other or ("The browser starts…" if view.starting else ended))

    # What the person does

    def _on_start(self) -> None:
        if self.start_button.isEnabled():
            self.problem.show_text("")
            self.start_requested.emit(self.form.wanted)

    def _on_choice(self) -> None:
        self._chosen = self.choice.currentData()
        self._show_experiment()
        self._refresh()

    def _on_opened(self, _key: object) -> None:
        self._open(True)

    def _open(self, with_it: bool) -> None:
        pair = self._pair()
        run = None if pair is None else (pair.with_it if with_it else pair.without_it).run
        if run is not None and self._is_openable():
            self.run_opened.emit(run, 1)

    def _on_compare(self) -> None:
        pair = self._pair()
        if pair is not None and pair.with_it.run is not None and pair.without_it.run is not None:
            self.compare_requested.emit(pair.with_it.run, pair.without_it.run)

    def _on_export(self) -> None:
        shown = self.experiment
        if shown is None or not self.export_button.isEnabled():
            return
        path, _ = QFileDialog.getSaveFileName(
            self, "Export the pairs", f"worth-{shown.number}.csv", "Table (*.csv)"
        )
        if path:
            self.export_requested.emit(shown, path)


def experiment_words(one: Experiment, *, going: bool) -> str:
    """Return an experiment as a line of the choice among them."""
    state = "going on" if going else _STATES[one.state]
    when = datetime.fromtimestamp(one.when)
    return (
        f"{one.number}. {when:%d %b %H:%M}: {one.subject.words}, {count(len(one.tasks), 'task')}, "
        f"{one.preset}, {one.llm} ({state})"
    )


def _line(pair: Pair) -> Line:
    a, b = pair.with_it, pair.without_it
    errors = "; ".join(dict.fromkeys(filter(None, (a.error, b.error))))
    tone = {"to success": "good", "to failure": "bad", "": ""}[pair.flip]
    return Line(
        cells=(
            pair.flip,
            pair.task,
            str(pair.seed),
            _told(a),
            _told(b),
            "yes" if a.used else "no",
            f"{a.steps} / {b.steps}",
            f"{_run(a)} / {_run(b)}",
            errors,
        ),
        values=(pair.flip, pair.task, pair.seed, _told(a), _told(b), a.used, a.steps, a.run or 0, errors),
        key=(pair.task, pair.seed, pair.time),
        tone=tone,
        strong=bool(pair.flip),
    )


def _told(result: RunResult) -> str:
    return _TOLD[result.success]


def _run(result: RunResult) -> str:
    return "–" if result.run is None else str(result.run)
