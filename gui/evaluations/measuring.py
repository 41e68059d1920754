"""Start a bisection of a run, or an evaluation with and without an exemplar."""

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QSpinBox, QWidget

from core.debugger.catalogue import Catalogue
from core.debugger.evaluations.records import BisectRequest, Subject, WorthRequest, words_of
from core.debugger.evaluations.selection import read_steps
from core.debugger.evaluations.views import BisectChoices, RequestPreview
from core.schema.errors import UsageError
from core.schema.formats import count
from gui.evaluations.asking import AskingDialog
from gui.theme.theme import Theme
from gui.widgets.choices import offer_choices, titled_box
from gui.widgets.layouts import in_row
from gui.widgets.words import NoteLabel, labelled

_KINDS = (("an exemplar", "exemplar"), ("a family", "family"), ("a change of an exemplar", "change"))


class BisectDialog(AskingDialog):
    """The steps of a run to go on from, and how often."""

    title = "Bisect"
    nothing = "The run has no steps to go back to."

    def __init__(
        self, theme: Theme, choices: BisectChoices, catalogue: Catalogue, parent: QWidget | None = None
    ) -> None:
        self._choices, self._catalogue = choices, catalogue
        super().__init__(theme, parent)
        row = choices.row
        self.setWindowTitle(f"Bisect run {row.run}: {row.task}, seed {row.seed}")
        self.on_edited()

    def fill(self) -> None:
        choices = self._choices
        last = max(choices.steps, default=0)
        self.steps = self.line("Steps to go on from", "", "Such as 1, 3, 5-8, or “every 2”")
        self.steps.setPlaceholderText(f"some of steps 1 to {last}; or such as 1, 3, 5-8, or every 2")
        self.preset, self.llm = QComboBox(self), QComboBox(self)
        presets = self._catalogue.presets
        llms = [choice for choice in self._catalogue.llms if choice.name != "person"]
        for box, name, offered, own in (
            (self.preset, "Preset", presets, choices.row.preset),
            (self.llm, "LLM", llms, choices.row.llm),
        ):
            offer_choices(labelled(box, name), offered, f"{own} (as in the run)")
            box.currentIndexChanged.connect(self.on_edited)
        self.times.setValue(3)
        self.times.setToolTip("How many branches to make from each step")
        self.add(
            ("Name", self.name),
            ("Go on from", self.steps),
            ("Branches", self.times),
            ("Preset", self.preset),
            ("LLM", self.llm),
        )

    def choose(self, request: BisectRequest) -> None:
        """Restore the last choices, whatever run they were for."""
        self.choose_common(request)
        self.preset.setCurrentIndex(max(0, self.preset.findData(request.preset)))
        self.llm.setCurrentIndex(max(0, self.llm.findData(request.llm)))

    @property
    def nothing_chosen(self) -> bool:
        return not self._choices.steps

    def show_tasks(self, tasks: tuple[str, ...]) -> None:
        """The task is that of the run."""

    def size_of(self, preview: RequestPreview) -> str:
        return f"{count(preview.runs, 'branch', 'branches')} from {count(preview.variants, 'step')}."

    @property
    def request(self) -> BisectRequest:
        steps, every, _problem = self._read()
        return BisectRequest.model_validate(
            {
                **self.common,
                "run": self._choices.row.run,
                "steps": steps,
                "every": every,
                "preset": self.preset.currentData() or "",
                "llm": self.llm.currentData() or "",
            }
        )

    @property
    def problem(self) -> str:
        return self._read()[2]

    def _read(self) -> tuple[tuple[int, ...], int, str]:
        """Return the steps, or every how many, or what is wrong with the text."""
        text = self.steps.text().strip()
        try:
            numbers = read_steps(text.removeprefix("every"))
        except UsageError as error:
            return (), 0, str(error)
        if not text.startswith("every"):
            return numbers, 0, ""
        if len(numbers) != 1:
            return (), 0, "After “every” write one number, such as every 2."
        return (), numbers[0], ""


class WorthDialog(AskingDialog):
    """What about exemplars is measured, and on which tasks."""

    title = "What an exemplar is worth"
    nothing = "Enter an exemplar by its id, or a family."

    def __init__(self, theme: Theme, catalogue: Catalogue, parent: QWidget | None = None) -> None:
        self._catalogue = catalogue
        super().__init__(theme, parent)

    def fill(self) -> None:
        self.rules_note = NoteLabel("dim", "The built-in LLM uses only the contrasts of exemplars.", self)
        self.preset, self.llm = QComboBox(self), QComboBox(self)
        self.kind = titled_box(_KINDS, "What is measured", "", self)
        self.kind.currentIndexChanged.connect(self._on_kind)
        self.subject = self.line("Exemplar or family")
        self.after, self.before = (
            self.number(QSpinBox(self, minimum=1, maximum=100_000), name)
            for name in ("With: version", "Without: version")
        )
        self.after.setPrefix("with version ")
        self.before.setPrefix("in place of version ")
        self.after.setValue(2)
        self.versions = QWidget(self)
        in_row(self.versions, (self.after, 1), (self.before, 1), spacing=6)
        self.tasks = self.line("Tasks", "", "Ids or patterns, such as miniwob/click-*, separated by commas")
        self.tasks.setPlaceholderText("its own task")
        self.seeds = self.line(
            "Seeds", "0-4", "Such as 0-9 or 1, 4, 7. Both runs of a pair use the same seed"
        )
        offer_choices(
            labelled(self.preset, "Preset"), [preset for preset in self._catalogue.presets if preset.recalls]
        )
        self.preset.setToolTip("Only presets with memory recall exemplars")
        llms = [choice for choice in self._catalogue.llms if choice.name != "person"]
        offer_choices(labelled(self.llm, "LLM"), llms, "of the settings")
        for box in (self.preset, self.llm):
            box.currentIndexChanged.connect(self.on_edited)
        self.add(
            ("Name", self.name),
            ("Measure", in_row(None, self.kind, (self.subject, 1), spacing=6)),
            ("", self.versions),
            ("Tasks", self.tasks),
            ("", self.selected),
            ("Seeds", self.seeds),
            ("Each", self.times),
            ("Preset", self.preset),
            ("LLM", self.llm),
            ("", self.rules_note),
        )
        self._on_kind()

    def choose(self, request: WorthRequest | None, subject: Subject | None) -> None:
        """Restore the last choices, and measure this; without a request, the preset is ``synapse`` if there is one."""
        if request is not None:
            self.choose_common(request)
            self.seeds.setText(request.seeds)
            self.llm.setCurrentIndex(max(0, self.llm.findData(request.llm)))
        preset = request.preset if request is not None else ""
        self.preset.setCurrentIndex(max(0, self.preset.findData(preset or "synapse")))
        if subject is not None:
            with QSignalBlocker(self.kind):
                self.kind.setCurrentIndex(self.kind.findData(subject.kind))
            self.subject.setText(subject.name)
        self._on_kind()

    @property
    def nothing_chosen(self) -> bool:
        return not self.subject.text().strip()

    @property
    def request(self) -> WorthRequest:
        kind, subject = self.kind.currentData(), {"name": self.subject.text().strip()}
        if kind == "change" and not self.problem:
            subject |= {"kind": kind, "before": self.before.value(), "after": self.after.value()}
        elif kind == "family":
            subject |= {"kind": kind}
        return WorthRequest.model_validate(
            {
                **self.common,
                "subject": subject,
                "tasks": words_of(self.tasks.text()),
                "seeds": self.seeds.text(),
                "preset": self.preset.currentData() or "",
                "llm": self.llm.currentData() or "",
            }
        )

    @property
    def problem(self) -> str:
        same = self.kind.currentData() == "change" and self.before.value() == self.after.value()
        return "A change needs two different versions." if same else ""

    def on_edited(self) -> None:
        super().on_edited()
        self.rules_note.setVisible(self.llm.currentData() == "rules")

    def _on_kind(self) -> None:
        kind = self.kind.currentData()
        self.versions.setVisible(kind == "change")
        self.subject.setPlaceholderText("the family’s name" if kind == "family" else "the exemplar’s id")
        self.on_edited()
