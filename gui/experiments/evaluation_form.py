"""What an experiment is asked: whose worth, on which tasks and seeds, who answers, and where it ends at the latest."""

import re

from PySide6.QtCore import QSignalBlocker, QStringListModel, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from core.debugger.experiments.evaluation_views import ProvingView
from core.debugger.experiments.records import Subject, WorthWanted
from core.debugger.snapshots import Catalogue
from gui.experiments.limits import Limits
from gui.widgets.formats import count
from gui.widgets.words import set_tone

_KINDS = (("exemplar", "an exemplar"), ("family", "a family"), ("change", "a change of one"))
_GATES = (
    ("", "as in the settings"),
    ("refuse", "refuse: go on without it"),
    ("allow", "allow"),
    ("end", "end the run"),
)
_SEEDS = re.compile(r"\s*\d+(-\d+)?(\s*,\s*\d+(-\d+)?)*\s*")
_MOST_SEEDS = 10_000


class WorthForm(QWidget):
    """Holds the choices; `problem` says why they cannot be used yet."""

    changed = Signal()
    subject_chosen = Signal(object)
    """A `Subject`, once its name is written or chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = ProvingView()
        self.kind = QComboBox(self)
        self.kind.setAccessibleName("What is tried")
        for value, text in _KINDS:
            self.kind.addItem(text, value)
        self.name = QLineEdit(self)
        self.name.setAccessibleName("Exemplar or family")
        self._families = QStringListModel(self)
        self.before, self.after = (self._version(text) for text in ("Without: version", "With: version"))
        self.versions = QWidget(self)
        row = QHBoxLayout(self.versions)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for label, box in (("with version", self.after), ("in place of", self.before)):
            row.addWidget(QLabel(label))
            row.addWidget(box, 1)
        self.tasks = QLineEdit(self)
        self.tasks.setAccessibleName("Tasks")
        self.tasks.setPlaceholderText("where it came from")
        self.tasks.setToolTip("Ids or patterns, such as miniwob/click-*, with commas between them")
        self._task_names = QStringListModel(self)
        completer = QCompleter(self._task_names, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.tasks.setCompleter(completer)
        self.seeds = QLineEdit("0-4", self)
        self.seeds.setAccessibleName("Seeds")
        self.seeds.setToolTip("Such as 0-9 or 1, 4, 7; both runs of a pair have the same")
        self.times = QSpinBox(self)
        self.times.setAccessibleName("How often each")
        self.times.setRange(1, 100)
        self.times.setSuffix(" ×")
        self.times.setToolTip(
            "How often each task is done at each seed; more tells more where an LLM is not steady"
        )
        self.preset, self.llm = QComboBox(self), QComboBox(self)
        self.preset.setAccessibleName("Preset")
        self.preset.setToolTip("Only presets with memory recall exemplars")
        self.llm.setAccessibleName("LLM")
        self.gate = QComboBox(self)
        self.gate.setAccessibleName("At a gate")
        self.gate.setToolTip("What is done where a person would be asked, such as before something is bought")
        for value, text in _GATES:
            self.gate.addItem(text, value)
        self.limits = Limits("pair", self)
        self.total = QLabel(self)
        self.total.setWordWrap(True)
        form = QFormLayout(self)
        form.setContentsMargins(12, 10, 12, 8)
        form.setSpacing(7)
        form.addRow("Try", self.kind)
        form.addRow("Named", self.name)
        form.addRow("", self.versions)
        form.addRow("Tasks", self.tasks)
        form.addRow("Seeds", self.seeds)
        form.addRow("Each", self.times)
        form.addRow("Preset", self.preset)
        form.addRow("LLM", self.llm)
        form.addRow("At a gate", self.gate)
        form.addRow("At the most", self.limits)
        form.addRow("", self.total)
        for combo in (self.preset, self.llm):
            combo.currentIndexChanged.connect(self._on_edited)
        for spin in (self.times, self.before, self.after):
            spin.valueChanged.connect(self._on_edited)
        self.limits.changed.connect(self._on_edited)
        for field in (self.tasks, self.seeds, self.name):
            field.textChanged.connect(self._on_edited)
        self.kind.currentIndexChanged.connect(self._on_kind)
        self.name.editingFinished.connect(self._on_name)
        self._on_kind()

    def show_view(self, view: ProvingView) -> None:
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
        self._on_edited()

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer the presets with memory, and the LLMs but for the person; what is chosen stays so."""
        presets = [one for one in catalogue.presets if one.recalls]
        llms = [one for one in catalogue.llms if one.name != "person"]
        for box, offered, first in ((self.preset, presets, ""), (self.llm, llms, "of the settings")):
            chosen = box.currentData()
            with QSignalBlocker(box):
                box.clear()
                if first:
                    box.addItem(first, "")
                for one in offered:
                    box.addItem(one.title, one.name)
                    box.setItemData(box.count() - 1, one.description, Qt.ItemDataRole.ToolTipRole)
                box.setCurrentIndex(max(0, box.findData(chosen)))
        if self.preset.currentData() is None or chosen is None:
            self.preset.setCurrentIndex(max(0, self.preset.findData("synapse")))
        self._on_edited()

    @property
    def subject(self) -> Subject | None:
        """What is to be tried; None while it is not told."""
        name, kind = self.name.text().strip(), self.kind.currentData()
        if not name or (kind == "change" and self.before.value() == self.after.value()):
            return None
        numbers = {"before": self.before.value(), "after": self.after.value()} if kind == "change" else {}
        return Subject.model_validate({"kind": kind, "name": name, **numbers})

    @property
    def wanted(self) -> WorthWanted:
        """The choices; only to be asked for where there is no `problem`."""
        subject = self.subject
        assert subject is not None
        return WorthWanted(
            subject=subject,
            tasks=tuple(name for part in self.tasks.text().split(",") if (name := part.strip())),
            seeds=self._seeds(),
            times=self.times.value(),
            preset=self.preset.currentData() or "synapse",
            llm=self.llm.currentData() or "",
            on_gate=self.gate.currentData(),
            most_calls=self.limits.most_calls,
            most_cost=self.limits.most_cost,
        )

    @property
    def problem(self) -> str:
        """Why the choices cannot be used, in a sentence, or nothing."""
        if not self.name.text().strip():
            what = "a family" if self.kind.currentData() == "family" else "an exemplar by its id"
            return f"Name {what}; or choose exemplars in the library and press Worth."
        if self.subject is None:
            return "A change has two different versions."
        if not _SEEDS.fullmatch(self.seeds.text()):
            return "Write the seeds as 0-9, or as 1, 4, 7."
        if not self._seeds():
            return f"These are no seeds, or more than {_MOST_SEEDS}."
        if not self.tasks.text().strip() and self._view.ready and not self._view.recorded_at:
            return "It does not say where it came from: name tasks, such as miniwob/click-*."
        return ""

    def choose_again(self, wanted: WorthWanted) -> None:
        """Choose as was done before, for whatever exemplar."""
        self.seeds.setText(", ".join(_ranges(wanted.seeds)))
        self.times.setValue(wanted.times)
        for box, name in ((self.preset, wanted.preset), (self.llm, wanted.llm), (self.gate, wanted.on_gate)):
            box.setCurrentIndex(max(0, box.findData(name)))
        self.limits.choose(wanted.most_calls, wanted.most_cost)

    def _version(self, name: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setAccessibleName(name)
        box.setRange(1, 1)
        return box

    def _seeds(self) -> tuple[int, ...]:
        """Return the seeds; nothing where they are too many, or backwards."""
        found: dict[int, None] = {}
        for part in self.seeds.text().split(","):
            first, _, last = part.strip().partition("-")
            numbers = range(int(first), int(last or first) + 1)
            if not numbers or len(numbers) > _MOST_SEEDS:
                return ()
            found.update(dict.fromkeys(numbers))
        return tuple(found)

    def _on_kind(self) -> None:
        kind = self.kind.currentData()
        self.versions.setVisible(kind == "change")
        self.name.setCompleter(None)  # type: ignore[arg-type]
        if kind == "family":
            completer = QCompleter(self._families, self)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            self.name.setCompleter(completer)
        self.name.setPlaceholderText("the family’s name" if kind == "family" else "the exemplar’s id")
        self._on_edited()
        self._on_name()

    def _on_name(self) -> None:
        subject = self.subject
        if subject is not None and subject != self._view.subject:
            self.subject_chosen.emit(subject)

    def _on_edited(self) -> None:
        problem = self.problem
        self.total.setText(problem or self._words())
        set_tone(self.total, "bad" if problem and self.name.text().strip() else "dim")
        self.changed.emit()

    def _words(self) -> str:
        wanted = self.wanted
        tasks = wanted.tasks or tuple(dict.fromkeys(task for task, _ in self._view.recorded_at))
        words = f"{count(len(wanted.seeds) * wanted.times, 'pair')} of runs for each task"
        if not any(sign in task for task in tasks for sign in "*?["):
            skipped = sum(
                1 for task, seed in self._view.recorded_at if task in tasks and seed in wanted.seeds
            )
            pairs = (len(tasks) * len(wanted.seeds) - skipped) * wanted.times
            words = f"{count(pairs, 'pair')} of runs: one with it, one without, at the same seed"
            if skipped:
                words += f". Left out: {skipped} where it was recorded itself"
        if self.llm.currentData() == "rules":
            words += ". The built-in LLM heeds only the mistakes that exemplars tell of"
        return f"{words}."


def _ranges(seeds: tuple[int, ...]) -> list[str]:
    """Return numbers in words, those that follow each other as ``0-4``."""
    found: list[list[int]] = []
    for seed in seeds:
        if found and seed == found[-1][-1] + 1:
            found[-1].append(seed)
        else:
            found.append([seed])
    return [f"{some[0]}-{some[-1]}" if len(some) > 1 else str(some[0]) for some in found]
