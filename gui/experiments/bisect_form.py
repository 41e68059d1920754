"""What a bisection is asked: which steps, who answers, how often, and where it ends at the latest."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from core.debugger.experiments.bisect_records import Wanted, read_steps
from core.debugger.experiments.bisect_views import BisectView
from core.debugger.snapshots import Catalogue
from core.schema.errors import UsageError
from gui.experiments.limits import Limits
from gui.widgets.words import set_tone

_ALL, _EVERY, _CHOSEN = range(3)


class BisectForm(QWidget):
    """Holds the choices; `problem` says why they cannot be used yet."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = BisectView(run=0)
        self.which = QComboBox(self)
        self.which.setAccessibleName("Steps")
        self.which.addItems(("all steps", "every so many", "these steps"))
        self.every = QSpinBox(self)
        self.every.setAccessibleName("Every so many steps")
        self.every.setRange(2, 1000)
        self.every.setPrefix("every ")
        self.steps = QLineEdit(self)
        self.steps.setAccessibleName("Which steps")
        self.steps.setPlaceholderText("such as 1, 3, 5-8")
        row = QHBoxLayout()
        row.setSpacing(6)
        for widget in (self.which, self.every, self.steps):
            row.addWidget(widget, 1)
        self.times = QSpinBox(self)
        self.times.setAccessibleName("Branches from each step")
        self.times.setRange(1, 1000)
        self.times.setValue(Wanted.model_fields["times"].default)
        self.times.setSuffix(" ×")
        self.times.setToolTip("How many branches are made from each step")
        self.preset = self._combo("Preset")
        self.llm = self._combo("LLM")
        self.limits = Limits("branch", self)
        self.total = QLabel(self)
        set_tone(self.total, "dim")
        self.total.setWordWrap(True)
        form = QFormLayout(self)
        form.setContentsMargins(12, 10, 12, 8)
        form.setSpacing(7)
        form.addRow("Go on from", row)
        form.addRow("Each", self.times)
        form.addRow("Preset", self.preset)
        form.addRow("LLM", self.llm)
        form.addRow("At the most", self.limits)
        form.addRow("", self.total)
        for box in (self.which, self.preset, self.llm):
            box.currentIndexChanged.connect(self._on_edited)
        for spin in (self.every, self.times):
            spin.valueChanged.connect(self._on_edited)
        self.limits.changed.connect(self._on_edited)
        self.steps.textChanged.connect(self._on_edited)
        self._on_edited()

    def show_view(self, view: BisectView) -> None:
        """Say what the run itself has; the choices stay."""
        self._view = view
        self.preset.setItemText(0, f"{view.preset} (as in the run)" if view.preset else "as in the run")
        self.llm.setItemText(0, f"{view.llm} (as in the run)" if view.llm else "as in the run")
        self._on_edited()

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these presets and LLMs, but for the person; what is chosen stays so."""
        llms = [one for one in catalogue.llms if one.name != "person"]
        for box, offered in ((self.preset, catalogue.presets), (self.llm, llms)):
            chosen, first = box.currentData(), box.itemText(0)
            with QSignalBlocker(box):
                box.clear()
                box.addItem(first, "")
                for one in offered:
                    box.addItem(one.title, one.name)
                    box.setItemData(box.count() - 1, one.description, Qt.ItemDataRole.ToolTipRole)
                box.setCurrentIndex(max(0, box.findData(chosen)))

    @property
    def wanted(self) -> Wanted:
        """The choices; only to be asked for where there is no `problem`."""
        which = self.which.currentIndex()
        return Wanted(
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
        """Why the choices cannot be used, in a sentence, or nothing."""
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
        return "" if steps else "Write which steps, such as 1, 3, 5-8."

    def choose_again(self, wanted: Wanted) -> None:
        """Choose as was done before, for whatever run."""
        which = _CHOSEN if wanted.steps else _EVERY if wanted.every > 1 else _ALL
        self.which.setCurrentIndex(which)
        self.every.setValue(max(2, wanted.every))
        self.steps.setText(", ".join(map(str, wanted.steps)))
        self.times.setValue(wanted.times)
        for box, name in ((self.preset, wanted.preset), (self.llm, wanted.llm)):
            box.setCurrentIndex(max(0, box.findData(name)))
        self.limits.choose(wanted.most_calls, wanted.most_cost)

    def _combo(self, name: str) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(name)
        box.addItem("as in the run", "")
        return box

    def _on_edited(self) -> None:
        which = self.which.currentIndex()
        self.every.setVisible(which == _EVERY)
        self.steps.setVisible(which == _CHOSEN)
        problem = self.problem
        if problem:
            self.total.setText(problem)
        elif self._view.steps:
            wanted = self.wanted
            steps = len(wanted.steps) or len(self._view.steps[:: wanted.every])
            self.total.setText(
                f"{steps} {'step' if steps == 1 else 'steps'} × {wanted.times}: "
                f"{steps * wanted.times} branches, each a run of its own."
            )
        else:
            self.total.setText("")
        set_tone(self.total, "bad" if problem else "dim")
        self.changed.emit()
