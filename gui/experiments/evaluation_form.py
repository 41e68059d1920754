"""What an evaluation is asked: of what, on which tasks and seeds, who answers, and where it ends at the latest."""

from PySide6.QtCore import QSignalBlocker, QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QLabel, QSpinBox, QWidget

from core.debugger.experiments.evaluation_records import EvaluationRequest, Subject, read_seeds
from core.debugger.experiments.views import EvaluationView
from core.debugger.snapshots import Catalogue
from core.schema.errors import UsageError
from gui.experiments.form import ExperimentForm
from gui.widgets.formats import count

_KINDS = (("exemplar", "an exemplar"), ("family", "a family"), ("change", "a change of one"))
_GATES = (
    ("", "as in the settings"),
    ("refuse", "refuse: go on without it"),
    ("allow", "allow"),
    ("end", "end the run"),
)


class EvaluationForm(ExperimentForm):
    """The choices for the subject in view."""

    subject_chosen = Signal(object)
    """A `Subject`, once its name is written or chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._view = EvaluationView()
        super().__init__("pair", "How often each", 100, parent)
        self.kind = self.combo("What is tried", _KINDS)
        self.name = self.line("Exemplar or family")
        self._families = QStringListModel(self)
        self.before, self.after = (self._version(text) for text in ("Without: version", "With: version"))
        self.versions = QWidget(self)
        row = QHBoxLayout(self.versions)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for label, box in (("with version", self.after), ("in place of", self.before)):
            row.addWidget(QLabel(label))
            row.addWidget(box, 1)
        self.tasks = self.line("Tasks")
        self.tasks.setPlaceholderText("where it came from")
        self.tasks.setToolTip("Ids or patterns, such as miniwob/click-*, with commas between them")
        self._task_names = QStringListModel(self)
        completer = QCompleter(self._task_names, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.tasks.setCompleter(completer)
        self.seeds = self.line("Seeds", "0-4")
        self.seeds.setToolTip("Such as 0-9 or 1, 4, 7; both runs of a pair have the same")
        self.times.setToolTip(
            "How often each task is done at each seed; more tells more where an LLM is not steady"
        )
        self.preset.setToolTip("Only presets with memory recall exemplars")
        self.gate = self.combo("At a gate", _GATES)
        self.gate.setToolTip("What is done where a person would be asked, such as before something is bought")
        self.lay_out(
            [
                ("Try", self.kind),
                ("Named", self.name),
                ("", self.versions),
                ("Tasks", self.tasks),
                ("Seeds", self.seeds),
            ],
            [("At a gate", self.gate)],
        )
        self.kind.currentIndexChanged.connect(self._on_kind)
        self.name.editingFinished.connect(self._on_name)
        self._on_kind()

    def show_view(self, view: EvaluationView) -> None:
        """Offer what there is; the choices stay, unless another subject was opened."""
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
        """Offer the presets with memory, and the LLMs but for the person; what is chosen stays so."""
        is_first = self.preset.currentData() is None
        self.offer(self.preset, [one for one in catalogue.presets if one.recalls])
        self.offer(self.llm, [one for one in catalogue.llms if one.name != "person"], "of the settings")
        if is_first:
            self.choose(self.preset, "synapse")
        self.on_edited()

    @property
    def subject(self) -> Subject | None:
        """What is to be evaluated; None while it is not complete."""
        name, kind = self.name.text().strip(), self.kind.currentData()
        if not name or (kind == "change" and self.before.value() == self.after.value()):
            return None
        numbers = {"before": self.before.value(), "after": self.after.value()} if kind == "change" else {}
        return Subject.model_validate({"kind": kind, "name": name, **numbers})

    @property
    def request(self) -> EvaluationRequest:
        subject = self.subject
        assert subject is not None
        return EvaluationRequest(
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
            return f"Name {what}; or choose exemplars in the library and press Worth."
        if self.subject is None:
            return "A change has two different versions."
        try:
            read_seeds(self.seeds.text())
        except UsageError as error:
            return str(error)
        if not self.tasks.text().strip() and self._view.ready and not self._view.recorded_at:
            return "It does not say where it came from: name tasks, such as miniwob/click-*."
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
                words += f". Left out: {skipped} where it was recorded itself"
        if self.llm.currentData() == "rules":
            words += ". The built-in LLM heeds only the mistakes that exemplars tell of"
        return f"{words}."

    def choose_again(self, request: EvaluationRequest) -> None:
        """Choose as was done before, for whatever exemplar."""
        self.choose_common(request)
        self.seeds.setText(", ".join(_ranges(request.seeds)))
        self.choose(self.gate, request.on_gate)

    def _version(self, name: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setAccessibleName(name)
        box.setRange(1, 1)
        box.valueChanged.connect(self.on_edited)
        return box

    def _on_kind(self) -> None:
        kind = self.kind.currentData()
        self.versions.setVisible(kind == "change")
        self.name.setCompleter(None)  # type: ignore[arg-type]
        if kind == "family":
            completer = QCompleter(self._families, self)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            self.name.setCompleter(completer)
        self.name.setPlaceholderText("the family’s name" if kind == "family" else "the exemplar’s id")
        self.on_edited()
        self._on_name()

    def _on_name(self) -> None:
        subject = self.subject
        if subject is not None and subject != self._view.subject:
            self.subject_chosen.emit(subject)


def _ranges(seeds: tuple[int, ...]) -> list[str]:
    """Return numbers as texts, those that follow each other as ``0-4``."""
    found: list[list[int]] = []
    for seed in seeds:
        if found and seed == found[-1][-1] + 1:
            found[-1].append(seed)
        else:
            found.append([seed])
    return [f"{some[0]}-{some[-1]}" if len(some) > 1 else str(some[0]) for some in found]
