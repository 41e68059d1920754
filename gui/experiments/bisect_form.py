"""What a bisection is asked: which steps, who answers, how often, and where it ends at the latest."""

from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QWidget

from core.debugger.experiments.bisect_records import BisectRequest, read_steps
from core.debugger.experiments.views import BisectView
from core.debugger.snapshots import Catalogue
from core.schema.errors import UsageError
from gui.experiments.form import ExperimentForm
from gui.widgets.formats import count

_ALL, _EVERY, _CHOSEN = range(3)


class BisectForm(ExperimentForm):
    """The choices for the run in view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._view = BisectView(run=0)
        super().__init__("branch", "Branches from each step", 1000, parent)
        self.which = self.combo("Steps")
        self.every = QSpinBox(self)
        self.every.setAccessibleName("Every so many steps")
        self.every.setRange(2, 1000)
        self.every.setPrefix("every ")
        self.steps = self.line("Which steps")
        self.steps.setPlaceholderText("such as 1, 3, 5-8")
        row = QHBoxLayout()
        row.setSpacing(6)
        for widget in (self.which, self.every, self.steps):
            row.addWidget(widget, 1)
        self.which.addItems(("all steps", "every so many", "these steps"))
        self.times.setValue(BisectRequest.model_fields["times"].default)
        self.times.setToolTip("How many branches are made from each step")
        for box in (self.preset, self.llm):
            box.addItem("as in the run", "")
        self.lay_out([("Go on from", row)])
        self.every.valueChanged.connect(self.on_edited)
        self.on_edited()

    def show_view(self, view: BisectView) -> None:
        """Say what the run itself has; the choices stay."""
        self._view = view
        for box, name in ((self.preset, view.preset), (self.llm, view.llm)):
            box.setItemText(0, f"{name} (as in the run)" if name else "as in the run")
        self.on_edited()

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these presets and LLMs, but for the person; what is chosen stays so."""
        self.offer(self.preset, catalogue.presets, self.preset.itemText(0))
        llms = [one for one in catalogue.llms if one.name != "person"]
        self.offer(self.llm, llms, self.llm.itemText(0))

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
        return "" if steps else "Write which steps, such as 1, 3, 5-8."

    @property
    def words(self) -> str:
        if not self._view.steps:
            return ""
        request = self.request
        steps = len(request.steps) or len(self._view.steps[:: request.every])
        return f"{count(steps, 'step')} × {request.times}: {steps * request.times} branches, each a run of its own."

    def choose_again(self, request: BisectRequest) -> None:
        """Choose as was done before, for whatever run."""
        self.choose_common(request)
        self.which.setCurrentIndex(_CHOSEN if request.steps else _EVERY if request.every > 1 else _ALL)
        self.every.setValue(max(2, request.every))
        self.steps.setText(", ".join(map(str, request.steps)))

    def on_edited(self) -> None:
        which = self.which.currentIndex()
        self.every.setVisible(which == _EVERY)
        self.steps.setVisible(which == _CHOSEN)
        super().on_edited()
