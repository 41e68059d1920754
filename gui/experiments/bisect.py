"""Bisect: up to which step a run can still succeed, measured in the background and stored."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QSpinBox, QWidget

from core.debugger.experiments.bisect import Bisection, BisectRequest, PrefixResult, read_steps
from core.debugger.experiments.measurement import RunResult, success_word
from core.debugger.experiments.views import BisectView
from core.debugger.snapshots import Catalogue
from core.schema.errors import UsageError
from gui.experiments.bisect_plot import BisectPlot, result_words
from gui.experiments.page import ExperimentForm, ExperimentPage
from gui.theme.theme import Theme
from gui.widgets.choices import offer_choices
from gui.widgets.formats import count, dollars, seconds
from gui.widgets.layouts import Section, in_column, in_row, on_panel, scrolled, splitter
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.rows import Row, Rows
from gui.widgets.words import labelled

_ALL, _EVERY, _CHOSEN = range(3)
_MARKS = {True: ("check", "good"), False: ("close", "bad"), None: ("question", "remedy")}
_COLUMNS = (
    Column("From", number=True),
    Column("Success", number=True),
    Column("95 % interval", number=True),
    Column("Calls", number=True),
    Column("Cost", number=True),
    Column("The run did"),
)


class BisectForm(ExperimentForm):
    """The choices for the run in view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._view = BisectView(run=0)
        super().__init__("branch", "Branches from each step", 1000, parent)
        self.which = self.combo("Steps")
        self.every = labelled(QSpinBox(self, minimum=2, maximum=1000), "Every so many steps")
        self.every.setPrefix("every ")
        self.steps = self.line("Which steps")
        self.steps.setPlaceholderText("such as 1, 3, 5-8")
        row = in_row(None, (self.which, 1), (self.every, 1), (self.steps, 1), spacing=6)
        self.which.addItems(("all steps", "every so many", "these steps"))
        self.times.setValue(BisectRequest.model_fields["times"].default)
        self.times.setToolTip("How many branches to make from each step")
        for box in (self.preset, self.llm):
            box.addItem("as in the run", "")
        self.lay_out([("Go on from", row)])
        self.every.valueChanged.connect(self.on_edited)
        self.on_edited()

    def show_view(self, view: BisectView) -> None:
        """Show the values of the run; the choices stay."""
        self._view = view
        for box, name in ((self.preset, view.preset), (self.llm, view.llm)):
            box.setItemText(0, f"{name} (as in the run)" if name else "as in the run")
        self.on_edited()

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these presets and LLMs, except the person; the current choice is kept."""
        offer_choices(self.preset, catalogue.presets, self.preset.itemText(0))
        llms = [one for one in catalogue.llms if one.name != "person"]
        offer_choices(self.llm, llms, self.llm.itemText(0))

    @property
    def request(self) -> BisectRequest:
        which = self.which.currentIndex()
        return BisectRequest(
            run=self._view.run,
            steps=read_steps(self.steps.text()) if which == _CHOSEN else (),
            every=self.every.value() if which == _EVERY else 1,
            times=self.times.value(),
            preset=self.preset.currentData() or "",
            llm=self.llm.currentData() or "",
            most_calls=self.limits.most_calls,
            most_cost=self.limits.most_cost,
        )

    @property
    def problem(self) -> str:
        if self.which.currentIndex() != _CHOSEN:
            return ""
        try:
            steps = read_steps(self.steps.text())
        except UsageError as error:
            return str(error)
        there = [number for number, _ in self._view.steps]
        missing = [number for number in steps if number not in there]
        if missing and there:
            return f"The run has no step {missing[0]}; its steps are {there[0]} to {there[-1]}."
        return "" if steps else "Enter steps, such as 1, 3, 5-8."

    @property
    def words(self) -> str:
        if not self._view.steps:
            return ""
        request = self.request
        steps = len(request.steps) or len(self._view.steps[:: request.every])
        return f"{count(steps, 'step')} × {request.times}: {steps * request.times} branches, each a run of its own."

    def choose_again(self, request: BisectRequest) -> None:
        """Restore earlier choices, regardless of the run."""
        self.choose_common(request)
        self.which.setCurrentIndex(_CHOSEN if request.steps else _EVERY if request.every > 1 else _ALL)
        self.every.setValue(max(2, request.every))
        self.steps.setText(", ".join(map(str, request.steps)))

    def on_edited(self) -> None:
        which = self.which.currentIndex()
        self.every.setVisible(which == _EVERY)
        self.steps.setVisible(which == _CHOSEN)
        super().on_edited()


class BisectPage(ExperimentPage[BisectView, Bisection]):
    """Shows `BisectView`."""

    units = "branches"
    reading = "The run is being read…"
    nothing = (
        "This run has not been bisected yet. Choose steps on the left and press Bisect (Ctrl+Enter). The run goes back "
        "to each of them, and the LLM continues from there several times. How often it succeeds "
        "shows here."
    )
    export_title = "Export the table"
    form: BisectForm

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(BisectForm(), BisectView(run=0), parent)
        self.plot = BisectPlot(theme, self)
        self.table = PlainTable(theme, "Success by step, as numbers", _COLUMNS, self)
        self.branches = Rows(theme, "Branches from this step")
        branches = scrolled("Branches from this step", self.branches)
        self.branches_section = Section(theme, "Branches from this step", branches, parent=self)
        on_panel(self.branches_section)
        both = (self.plot, self.table)
        self.build(
            splitter(Qt.Orientation.Vertical, *both, sizes=(330, 240), stretch=(3, 2)),
            ("Bisect", "Branches made"),
            ("Bisections of this run", "The bisection to show. All are saved with the run"),
            ("Export the table…", "Export it as comma-separated values"),
            below_form=self.branches_section,
            sizes=(390, 630),
            show_results=self._show_measurement,
            file_name=self._name_of_export,
        )
        self.plot.chosen.connect(self._on_step)
        self.table.current.connect(self._on_step)
        self.branches.pressed_on.connect(self._on_branch)
        self.show_view(self.view)

    @Slot(object)
    def show_view(self, view: BisectView) -> None:
        """Replace what is shown; choices and the step in view stay."""
        self.form.show_view(view)
        self.form.setEnabled(view.ready)
        super().show_view(view)

    @property
    def whose(self) -> str:
        going = self.view.under_way
        return f"run {going.run}: " if going is not None and going.run != self.view.run else ""

    def _name_of_export(self) -> str:
        assert self.shown is not None
        return f"bisection-{self.shown.number}-run-{self.shown.run}.csv"

    def _show_measurement(self) -> None:
        shown = self.shown
        results = {one.step: one for one in shown.results} if shown else {}
        self.plot.show_bisection(shown)
        self.table.show_lines(
            [_line(step, results.get(step)) for step in sorted(shown.chosen if shown else ())]
        )
        if self.plot.step is not None:
            self.table.choose(self.plot.step)
        self._show_step()

    def _show_step(self) -> None:
        shown, step = self.shown, self.plot.step
        self.sentence.setText(self.plot.words)
        result = next((one for one in shown.results if one.step == step), None) if shown else None
        rows = [_branch_row(one, step or 0) for one in result.branches] if result is not None else []
        nothing = "No branches from this step yet." if shown else "No bisection is selected."
        self.branches.show_rows(rows or [Row(nothing, quiet=True)])
        self.branches_section.title.setText(
            "Branches" if step is None or shown is None else f"Branches from step {step}"
        )
        self.branches_section.show_fact(count(len(rows), "branch", "branches") if rows else "")

    def _on_step(self, step: int) -> None:
        self.plot.choose(step)
        self.table.choose(step)
        self._show_step()

    def _on_branch(self, key: object) -> None:
        if isinstance(key, tuple):
            self.run_opened.emit(*key)


class BisectWindow(QDialog):
    """The page in a separate window; closing it stops no running work."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Bisect")
        self.page = BisectPage(theme, self)
        in_column(self, self.page)
        theme.size_window(self, 1020, 720)

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these presets and LLMs."""
        self.page.form.show_catalogue(catalogue)

    def wait(self, run: int) -> None:
        """Show that this run is being read."""
        before = self.page.view
        self.show_view(BisectView(run=run, under_way=before.under_way, starting=before.starting))

    @Slot(object)
    def show_view(self, view: BisectView) -> None:
        self.setWindowTitle(f"Bisect run {view.run}" + (f": {view.task}" if view.task else ""))
        self.page.show_view(view)


def _line(step: int, one: PrefixResult | None) -> TableLine:
    if one is None:
        cells = (str(step), "not tried yet", "", "", "", "")
        return TableLine(
            cells, key=step, tooltip=result_words(None, step), values=(step, -1.0, -1.0, 0, 0.0, "")
        )
    share = -1.0 if one.share is None else one.share
    return TableLine(
        cells=(
            str(step),
            "not judged" if one.share is None else f"{one.successes} of {one.judged}",
            "" if one.share is None else f"{one.low:.0%} – {one.high:.0%}",
            str(one.calls),
            dollars(one.cost),
            one.action,
        ),
        key=step,
        tooltip="\n".join((result_words(one, step), *one.problems)),
        values=(step, share, one.low if one.judged else -1.0, one.calls, one.cost or 0.0, one.action),
    )


def _branch_row(branch: RunResult, step: int) -> Row:
    if branch.run is None:
        return Row(
            "No branch was made.", icon="warning", tone="bad", word=branch.outcome, detail=branch.error
        )
    icon, tone = _MARKS[branch.success]
    facts = [count(branch.steps, "step"), count(branch.llm_calls, "LLM call"), seconds(branch.seconds)]
    if branch.cost is not None:
        facts.append(dollars(branch.cost))
    detail = " · ".join(facts) + (f"\n{branch.error}" if branch.error else "")
    return Row(
        f"Run {branch.run}",
        icon=icon,
        tone=tone,
        word=success_word(branch.success),
        detail=detail,
        link=True,
        key=(branch.run, step),
        tooltip="Show it in the main window (Enter)",
    )
