"""Bisect: from which step on a run still comes to success, asked in the background and kept."""

from datetime import datetime

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from core.debugger.experiments.bisect_records import Bisection, BranchResult
from core.debugger.experiments.bisect_views import BisectView
from core.debugger.snapshots import Catalogue
from gui.experiments.bisect_form import BisectForm
from gui.experiments.bisect_plot import BisectPlot
from gui.experiments.bisect_table import BisectTable
from gui.theme.theme import Theme
from gui.widgets.formats import count, dollars, seconds
from gui.widgets.key_button import key_button
from gui.widgets.rows import Row, Rows
from gui.widgets.section import Section, on_panel, scrolled
from gui.widgets.words import ElidedLabel, Note, OrWords, set_flag, set_tone

_READING = "The run is being read…"
_NONE = (
    "This run was not bisected yet. Choose steps at the left and press Bisect (Ctrl+Enter): the run is "
    "brought to each of them, the LLM goes on from there several times, and how often it comes to success "
    "shows here."
)
_STATES = {
    "running": "not ended",
    "done": "done",
    "cancelled": "cancelled",
    "limit": "ended at its limit",
    "failed": "failed",
}


class BisectWindow(QDialog):
    """Shows `BisectView`; asks for things only by emitting. Closing it ends nothing."""

    start_requested = Signal(object)
    """What is `Wanted`."""
    cancel_requested = Signal()
    run_opened = Signal(int, int)
    """Run and step that the main window is to show."""
    export_requested = Signal(object, str)
    """A `Bisection`, and the path of the file."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Bisect")
        self.setWindowFlag(Qt.WindowType.WindowMinMaxButtonsHint)
        self._theme = theme
        self._view = BisectView(run=0)
        self._chosen: int | None = None
        """The number of the bisection in view; None for the one that goes on, or the latest."""
        self.form = BisectForm(self)
        self.form.changed.connect(self._refresh)
        self.browser = Note("dim", parent=self)
        self.browser.setContentsMargins(12, 0, 12, 6)
        self.plot = BisectPlot(theme, self)
        self.table = BisectTable(theme, self)
        self.branches = Rows(theme, "Branches from this step")
        self.choice = QComboBox(self)
        self.choice.setAccessibleName("Bisections of this run")
        self.choice.setToolTip("Which bisection is shown; all are kept with the run")
        self.words = ElidedLabel("", self)
        set_tone(self.words, "dim")
        self.point = QLabel(self)
        self.point.setWordWrap(True)
        self.point.setContentsMargins(12, 4, 12, 4)
        self.progress = QProgressBar(self)
        self.progress.setAccessibleName("Branches made")
        self.progress.setMaximumWidth(220)
        self.problem = Note("bad", parent=self)
        self.problem.setContentsMargins(12, 4, 12, 4)
        self.start_button = key_button("Bisect", "Begin in the background", "Ctrl+Return", self._on_start)
        set_flag(self.start_button, "accent", True)
        self.cancel_button = key_button(
            "Cancel", "End it; the branches that were made are kept", "Alt+C", self.cancel_requested.emit
        )
        self.export_button = key_button(
            "Export the table…", "Write it as comma-separated values", "Ctrl+E", self._on_export
        )
        self._lay_out(theme)
        self.plot.chosen.connect(self._on_step)
        self.table.step_chosen.connect(self._on_step)
        self.choice.activated.connect(self._on_choice)
        self.branches.pressed_on.connect(self._on_branch)
        self.resize(1020, 720)
        self.wait(0)

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these presets and LLMs."""
        self.form.show_catalogue(catalogue)

    def wait(self, run: int) -> None:
        """Say that this run is being read."""
        self._chosen = None
        self.show_view(BisectView(run=run, under_way=self._view.under_way, starting=self._view.starting))

    @Slot(object)
    def show_view(self, view: BisectView) -> None:
        """Replace what is on screen; choices and the step in view stay."""
        if view.under_way is not None and self._view.under_way is None and view.under_way.run == view.run:
            self._chosen = None  # What has just begun is what the person waits for.
        self._view = view
        self.setWindowTitle(f"Bisect run {view.run}" + (f": {view.task}" if view.task else ""))
        self.form.show_view(view)
        self.form.setEnabled(view.ready)
        self.browser.show_text(view.browser)
        self.problem.show_text(view.problem)
        self._show_choice()
        self._show_bisection()
        self._refresh()

    @property
    def bisection(self) -> Bisection | None:
        """The one in view."""
        found = next((one for one in self._all() if one.number == self._chosen), None)
        return found or next(iter(reversed(self._all())), None)

    def _all(self) -> tuple[Bisection, ...]:
        """Return those of the run, with the one that goes on as far as it has come, the latest last."""
        going = self._view.under_way
        if going is None or going.run != self._view.run:
            return self._view.bisections
        return (*(one for one in self._view.bisections if one.number != going.number), going)

    # Building

    def _lay_out(self, theme: Theme) -> None:
        left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.form)
        column.addWidget(self.browser)
        self.branches_section = Section(theme, "Branches from this step", parent=left)
        branches = self.branches_section.layout()
        assert branches is not None
        branches.addWidget(scrolled("Branches from this step", self.branches))
        on_panel(self.branches_section)
        column.addWidget(self.branches_section, 1)
        results = QSplitter(Qt.Orientation.Vertical)
        results.addWidget(self.plot)
        results.addWidget(self.table)
        results.setStretchFactor(0, 3)
        results.setStretchFactor(1, 2)
        results.setSizes([330, 240])
        results.setChildrenCollapsible(False)
        head = QHBoxLayout()
        head.setContentsMargins(10, 8, 10, 4)
        head.setSpacing(8)
        head.addWidget(self.choice, 1)
        head.addWidget(self.export_button)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.point)
        column.addWidget(results, 1)
        on_panel(inside)
        self.or_words = OrWords(inside, self)
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(left)
        split.addWidget(self.or_words)
        split.setStretchFactor(1, 1)
        split.setSizes([390, 630])
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
            self.choice.addItem(bisection_words(one, going=one is self._view.under_way), one.number)
        shown = self.bisection
        if shown is not None:
            self.choice.setCurrentIndex(self.choice.findData(shown.number))

    def _show_bisection(self) -> None:
        shown = self.bisection
        waiting = "It is being begun: the browser starts…" if self._view.starting else _NONE
        self.or_words.say(
            (_READING if not self._view.ready and not self._view.problem else waiting)
            if shown is None
            else ""
        )
        self.plot.show_bisection(shown)
        self.table.show_bisection(shown)
        if self.plot.step is not None:
            self.table.choose(self.plot.step)
        self._show_step()

    def _show_step(self) -> None:
        shown, step = self.bisection, self.plot.step
        self.point.setText(self.plot.words)
        result = next((one for one in shown.results if one.step == step), None) if shown else None
        rows = [_branch_row(one, step or 0) for one in result.branches] if result is not None else []
        nothing = "No branch was made from this step yet." if shown else "No bisection is in view."
        self.branches.show_rows(rows or [Row(nothing, quiet=True)])
        self.branches_section.title.setText(
            "Branches" if step is None or shown is None else f"Branches from step {step}"
        )
        self.branches_section.show_fact(count(len(rows), "branch", "branches") if rows else "")

    def _refresh(self) -> None:
        view, going = self._view, self._view.under_way
        self.start_button.setEnabled(
            view.ready and bool(view.steps) and not view.busy and not self.form.problem
        )
        self.cancel_button.setEnabled(going is not None)
        shown = self.bisection
        self.export_button.setEnabled(shown is not None and bool(shown.results))
        self.progress.setVisible(view.busy)
        if going is not None:
            self.progress.setRange(0, max(1, going.wanted))
            self.progress.setValue(going.made)
            whose = "" if going.run == view.run else f"run {going.run}: "
            cost = f", {dollars(going.cost)}" if going.cost is not None else ""
            self.words.setText(
                f"{whose}{going.made} of {going.wanted} branches, {count(going.calls, 'LLM call')}{cost}"
            )
        else:
            self.progress.setRange(0, 0)
            ended = view.notice or (shown.why if shown is not None else "")
            self.words.setText("The browser starts…" if view.starting else ended)

    # What the person does

    def _on_start(self) -> None:
        if self.start_button.isEnabled():
            self.problem.show_text("")
            self.start_requested.emit(self.form.wanted)

    def _on_step(self, step: int) -> None:
        self.plot.choose(step)
        self.table.choose(step)
        self._show_step()

    def _on_choice(self) -> None:
        self._chosen = self.choice.currentData()
        self._show_bisection()
        self._refresh()

    def _on_branch(self, key: object) -> None:
        if isinstance(key, tuple):
            self.run_opened.emit(*key)

    def _on_export(self) -> None:
        shown = self.bisection
        if shown is None or not self.export_button.isEnabled():
            return
        name = f"bisection-{shown.number}-run-{shown.run}.csv"
        path, _ = QFileDialog.getSaveFileName(self, "Export the table", name, "Table (*.csv)")
        if path:
            self.export_requested.emit(shown, path)


def bisection_words(one: Bisection, *, going: bool) -> str:
    """Return a bisection as a line of the choice among them."""
    state = "going on" if going else _STATES[one.state]
    when = datetime.fromtimestamp(one.when)
    return (
        f"{one.number}. {when:%d %b %H:%M}: {count(len(one.chosen), 'step')} × {one.times}, "
        f"{one.preset}, {one.llm} ({state})"
    )


def _branch_row(branch: BranchResult, step: int) -> Row:
    told = {True: "success", False: "no success", None: "not judged"}[branch.success]
    tone = {True: "good", False: "bad", None: "remedy"}[branch.success]
    icon = {True: "check", False: "close", None: "question"}[branch.success]
    facts = [count(branch.steps, "step"), count(branch.llm_calls, "LLM call"), seconds(branch.seconds)]
    if branch.cost is not None:
        facts.append(dollars(branch.cost))
    detail = " · ".join(facts) + (f"\n{branch.error}" if branch.error else "")
    if branch.run is None:
        return Row(
            "No branch was made.", icon="warning", tone="bad", word=branch.outcome, detail=branch.error
        )
    return Row(
        f"Run {branch.run}",
        icon=icon,
        tone=tone,
        word=told,
        detail=detail,
        link=True,
        key=(branch.run, step),
        tooltip="Show it in the main window (Enter)",
    )
