"""Worth: tasks done with and without an exemplar, which runs flip, and what that shows."""

from PySide6.QtCore import QSignalBlocker, QStringListModel, Qt, Signal, Slot
from PySide6.QtWidgets import QCompleter, QLabel, QSpinBox, QWidget

from core.debugger.experiments.measurement import success_word
from core.debugger.experiments.views import WorthView
from core.debugger.experiments.worth_records import (
    Pair,
    Subject,
    Worth,
    WorthRequest,
    read_seeds,
)
from core.debugger.snapshots import Catalogue
from core.schema.errors import UsageError
from gui.experiments.page import ExperimentForm, ExperimentPage
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import offer_choices
from gui.widgets.formats import count, ranges
from gui.widgets.layouts import in_row
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import labelled

_KINDS = (("exemplar", "an exemplar"), ("family", "a family"), ("change", "a change of one"))
_GATES = (
    ("", "as in the settings"),
    ("refuse", "refuse: continue without it"),
    ("allow", "allow"),
    ("end", "end the run"),
)
_COLUMNS = (
    Column("Flip", tooltip="What the exemplar changed"),
    Column("Task"),
    Column("Seed", number=True),
    Column("With"),
    Column("Without"),
    Column("Shown", tooltip="Whether the LLM saw it"),
    Column("Steps", number=True, tooltip="With and without"),
    Column("Runs", number=True, tooltip="With and without"),
    Column("What went wrong"),
)


class WorthForm(ExperimentForm):
    """The choices for the subject in view."""

    subject_chosen = Signal(object)
    """A `Subject`, sent when its name is written or chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._view = WorthView()
        super().__init__("pair", "How often each", 100, parent)
        self.kind = self.combo("What is tried", _KINDS)
        self.name = self.line("Exemplar or family")
        self._families = QStringListModel(self)
        self.before, self.after = (self._version(text) for text in ("Without: version", "With: version"))
        self.versions = QWidget(self)
        after, before = (QLabel("with version"), (self.after, 1)), (QLabel("in place of"), (self.before, 1))
        in_row(self.versions, *after, *before, spacing=6)
        self.tasks = self.line("Tasks")
        self.tasks.setPlaceholderText("its own task")
        self.tasks.setToolTip("Ids or patterns, such as miniwob/click-*, separated by commas")
        self._task_names = QStringListModel(self)
        completer = QCompleter(self._task_names, self, caseSensitivity=Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.tasks.setCompleter(completer)
        self.seeds = self.line("Seeds", "0-4")
        self.seeds.setToolTip("Such as 0-9 or 1, 4, 7. Both runs of a pair use the same seed")
        self.times.setToolTip(
            "How many times each task at each seed. More runs tell more if the LLM's answers vary"
        )
        self.preset.setToolTip("Only presets with memory recall exemplars")
        self.gate = self.combo("At a gate", _GATES)
        self.gate.setToolTip("What to do where a person would be asked, such as before a purchase")
        subject = (("Try", self.kind), ("Named", self.name), ("", self.versions))
        where = (("Tasks", self.tasks), ("Seeds", self.seeds))
        self.lay_out((*subject, *where), (("At a gate", self.gate),))
        self.kind.currentIndexChanged.connect(self._on_kind)
        self.name.editingFinished.connect(self._on_name)
        self._on_kind()

    def show_view(self, view: WorthView) -> None:
        """Offer what exists; the choices stay, unless another subject was opened."""
        before, self._view = self._view, view
        self._families.setStringList(list(view.families))
        if before.tasks != view.tasks:
            self._task_names.setStringList(list(view.tasks))
        subject = view.subject
        if subject is not None and subject != before.subject and subject != self.subject:
            with QSignalBlocker(self.kind), QSignalBlocker(self.name):
                self.kind.setCurrentIndex(self.kind.findData(subject.kind))
                self.name.setText(subject.name)
            self._on_kind()
        if view.versions and before.versions != view.versions:
            most = max(view.versions)
            for spin in (self.before, self.after):
                spin.setMaximum(most)
            if most > 1:
                self.before.setValue(most - 1)
                self.after.setValue(most)
        places = ", ".join(dict.fromkeys(task for task, _ in view.recorded_at))
        self.tasks.setPlaceholderText(places or "such as miniwob/click-*")
        self.on_edited()

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer the presets with memory, and the LLMs except the person; the current choice is kept."""
        is_first = self.preset.currentData() is None
        offer_choices(self.preset, [one for one in catalogue.presets if one.recalls])
        offer_choices(self.llm, [one for one in catalogue.llms if one.name != "person"], "of the settings")
        if is_first:
            self.choose(self.preset, "synapse")
        self.on_edited()

    @property
    def subject(self) -> Subject | None:
        """The subject to measure; None while it is not complete."""
        name, kind = self.name.text().strip(), self.kind.currentData()
        if not name or (kind == "change" and self.before.value() == self.after.value()):
            return None
        numbers = {"before": self.before.value(), "after": self.after.value()} if kind == "change" else {}
        return Subject.model_validate({"kind": kind, "name": name, **numbers})

    @property
    def request(self) -> WorthRequest:
        subject = self.subject
        assert subject is not None
        return WorthRequest(
            subject=subject,
            tasks=tuple(name for part in self.tasks.text().split(",") if (name := part.strip())),
            seeds=read_seeds(self.seeds.text()),
            times=self.times.value(),
            preset=self.preset.currentData() or "synapse",
            llm=self.llm.currentData() or "",
            on_gate=self.gate.currentData(),
            most_calls=self.limits.most_calls,
            most_cost=self.limits.most_cost,
        )

    @property
    def problem(self) -> str:
        if not self.is_begun:
            what = "a family" if self.kind.currentData() == "family" else "an exemplar by its id"
            return f"Enter {what}, or select exemplars in the library and press Worth."
        if self.subject is None:
            return "A change needs two different versions."
        try:
            read_seeds(self.seeds.text())
        except UsageError as error:
            return str(error)
        if not self.tasks.text().strip() and self._view.ready and not self._view.recorded_at:
            return "Its own task is not known. Enter tasks, such as miniwob/click-*."
        return ""

    @property
    def is_begun(self) -> bool:
        return bool(self.name.text().strip())

    @property
    def words(self) -> str:
        request = self.request
        tasks = request.tasks or tuple(dict.fromkeys(task for task, _ in self._view.recorded_at))
        words = f"{count(len(request.seeds) * request.times, 'pair')} of runs for each task"
        if not any(sign in task for task in tasks for sign in "*?["):
            skipped = sum(
                1 for task, seed in self._view.recorded_at if task in tasks and seed in request.seeds
            )
            pairs = (len(tasks) * len(request.seeds) - skipped) * request.times
            words = f"{count(pairs, 'pair')} of runs: one with it, one without, at the same seed"
            if skipped:
                words += f". Left out: {skipped} at which it was recorded"
        if self.llm.currentData() == "rules":
            words += ". The built-in LLM uses only the contrasts of exemplars"
        return f"{words}."

    def choose_again(self, request: WorthRequest) -> None:
        """Restore earlier choices, regardless of the exemplar."""
        self.choose_common(request)
        self.seeds.setText(ranges(request.seeds, "-"))
        self.choose(self.gate, request.on_gate)

    def _version(self, name: str) -> QSpinBox:
        box = labelled(QSpinBox(self, minimum=1, maximum=1), name)
        box.valueChanged.connect(self.on_edited)
        return box

    def _on_kind(self) -> None:
        kind = self.kind.currentData()
        self.versions.setVisible(kind == "change")
        self.name.setCompleter(None)  # type: ignore[arg-type]
        if kind == "family":
            completer = QCompleter(self._families, self, filterMode=Qt.MatchFlag.MatchContains)
            self.name.setCompleter(completer)
        self.name.setPlaceholderText("the family’s name" if kind == "family" else "the exemplar’s id")
        self.on_edited()
        self._on_name()

    def _on_name(self) -> None:
        subject = self.subject
        if subject is not None and subject != self._view.subject:
            self.subject_chosen.emit(subject)


class WorthPage(ExperimentPage[WorthView, Worth]):
    """Shows the experiments of `WorthView`."""

    compare_requested = Signal(int, int)
    """The runs with and without."""

    units = "pairs"
    reading = "Reading the library…"
    nothing = (
        "Nothing has been tried yet. Choose tasks and seeds on the left and press Try (Ctrl+Enter). Each task "
        "runs with and without the exemplar. The runs that flip show here."
    )
    export_title = "Export the pairs"
    form: WorthForm

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(WorthForm(), WorthView(), parent)
        self.table = PlainTable(theme, "Pairs of runs", _COLUMNS, self)
        self.table.opened.connect(lambda _key: self._open(0))
        self.table.current.connect(lambda _key: self.refresh())
        where = "Show it in the main window"
        self.with_button = key_button("Run with", where, "Alt+W", lambda: self._open(0))
        self.without_button = key_button("Run without", where, "Alt+O", lambda: self._open(1))
        self.compare_button = key_button("Compare", "Both runs side by side", "Alt+P", self._on_compare)
        self.build(
            self.table,
            ("Try", "Pairs done"),
            ("Experiments", "The experiment to show. All are saved with the exemplar"),
            ("Export…", "Export the pairs as comma-separated values"),
            self.with_button,
            self.without_button,
            self.compare_button,
            sizes=(380, 700),
            show_results=self._show_measurement,
            file_name=self._name_of_export,
        )
        self.show_view(self.view)

    def show_catalogue(self, catalogue: Catalogue) -> None:
        self.form.show_catalogue(catalogue)

    @Slot(object)
    def show_view(self, view: WorthView) -> None:
        """Replace what is shown; choices and the experiment in view stay."""
        self.form.show_view(view)
        super().show_view(view)

    @property
    def whose(self) -> str:
        going = self.view.under_way
        return f"{going.subject.words}: " if going is not None else ""

    def _name_of_export(self) -> str:
        assert self.shown is not None
        return f"worth-{self.shown.number}.csv"

    def _show_measurement(self) -> None:
        shown = self.shown
        self.sentence.setText(f"{shown.subject.words}: {shown.sentence}" if shown else "")
        self.table.show_lines([_line(one) for one in shown.pairs] if shown else ())

    def refresh(self) -> None:
        super().refresh()
        if self.view.replay is not None:
            self.foot.show_words(
                "Exemplars are being replayed. Wait for the end, or cancel there.", busy=False
            )
        runs = self._runs()
        self.with_button.setEnabled(runs[0] is not None)
        self.without_button.setEnabled(runs[1] is not None)
        self.compare_button.setEnabled(None not in runs)

    def _runs(self) -> tuple[int | None, int | None]:
        """Return the runs with and without of the current pair, if the window has their database open."""
        shown, key = self.shown, self.table.current_key
        if shown is None or shown.trace != self.view.trace:
            return None, None
        pair = next((one for one in shown.pairs if _key(one) == key), None)
        return (pair.with_it.run, pair.without_it.run) if pair is not None else (None, None)

    def _open(self, arm: int) -> None:
        run = self._runs()[arm]
        if run is not None:
            self.run_opened.emit(run, 1)

    def _on_compare(self) -> None:
        runs = self._runs()
        if None not in runs:
            self.compare_requested.emit(*runs)


def _key(pair: Pair) -> tuple[str, int, int]:
    return pair.task, pair.seed, pair.time


def _line(pair: Pair) -> TableLine:
    a, b = pair.with_it, pair.without_it
    with_it, without_it = success_word(a.success), success_word(b.success)
    errors = "; ".join(dict.fromkeys(pair.errors))
    runs = " / ".join("–" if one.run is None else str(one.run) for one in (a, b))
    shown, steps = "yes" if a.used else "no", f"{a.steps} / {b.steps}"
    return TableLine(
        cells=(pair.flip, pair.task, str(pair.seed), with_it, without_it, shown, steps, runs, errors),
        values=(pair.flip, pair.task, pair.seed, with_it, without_it, a.used, a.steps, a.run or 0, errors),
        key=_key(pair),
        tone={"to success": "good", "to failure": "bad", "": ""}[pair.flip],
        strong=bool(pair.flip),
    )
