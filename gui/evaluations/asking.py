"""Start an evaluation, rerun failures, or resume one: the choices and what they amount to."""

from abc import abstractmethod
from collections.abc import Iterable
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSpinBox,
    QWidget,
)

from core.debugger.catalogue import Catalogue, PresetOption
from core.debugger.evaluations.records import EvalRequest, Request, words_of
from core.debugger.evaluations.views import RequestPreview, SuiteItem
from core.schema.formats import count, dollars
from core.schema.messages import LLMChoice
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import titled_box
from gui.widgets.copying import to_clipboard
from gui.widgets.item_views import MenuEntry, RowMenu, open_menu
from gui.widgets.layouts import in_column, in_row
from gui.widgets.number_field import NumberField
from gui.widgets.words import NoteLabel, labelled, set_tone

_IDLE_MS = 150
_SHOWN_TASKS = 40
_TICK_ROWS = 6
_EXEMPLARS = (
    ("own: the bundled ones and yours", "own"),
    ("none", "none"),
    ("both: with and without, to compare", "own,none"),
)
_GATES = (
    ("as in the settings", ""),
    ("refuse: continue without it", "refuse"),
    ("allow", "allow"),
    ("end the run", "end"),
)


class TickList(QListWidget):
    """A list of names with check boxes."""

    changed = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setUniformItemSizes(True)
        RowMenu(self)
        self.itemChanged.connect(lambda _item: self.changed.emit())

    def offer(self, choices: Iterable[PresetOption | LLMChoice], ticked: Iterable[str]) -> None:
        """Offer these, with the given names checked."""
        self.blockSignals(True)
        self.clear()
        ticked = set(ticked)
        for choice in choices:
            item = QListWidgetItem(choice.name, self)
            item.setToolTip(choice.description or choice.title)
            item.setFlags(
                Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable
            )
            item.setCheckState(Qt.CheckState.Checked if choice.name in ticked else Qt.CheckState.Unchecked)
        self.setCurrentRow(0)
        self.blockSignals(False)
        rows = max(2, min(_TICK_ROWS, self.count()))
        self.setFixedHeight(rows * max(18, self.sizeHintForRow(0)) + 2 * self.frameWidth() + 12)

    @property
    def ticked(self) -> tuple[str, ...]:
        items = (self.item(at) for at in range(self.count()))
        return tuple(item.text() for item in items if item.checkState() == Qt.CheckState.Checked)


class AskingDialog(QDialog):
    """Shows live what a request amounts to. The checks of the command line determine why it cannot be started."""

    preview_wanted = Signal(object)
    """A `Request`."""
    asked = Signal(object)
    """The `Request` to start."""
    title = ""
    begins = "Begin"
    nothing = ""
    """What to do while nothing is chosen that could be measured."""
    tells_command = True

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.title)
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._on_idle)
        self.form = QFormLayout()
        self.form.setSpacing(7)
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.name = self.line("Name")
        self.name.setPlaceholderText("what it is about, and the time when it begins")
        self.selected = NoteLabel("dim", parent=self)
        # Without a parent until it is placed: some dialogs leave fields out.
        self.times = self.number(QSpinBox(minimum=1, maximum=1000, suffix=" ×"), "How many times each")
        self.at_once = self.number(QSpinBox(self, minimum=1, maximum=64), "Runs at once")
        self.at_once.setToolTip("Up to four per processor core work well")
        self.calls = self.number(QSpinBox(self, minimum=0, maximum=10_000_000), "Most LLM calls")
        self.calls.setSpecialValueText("no call limit")
        self.calls.setSuffix(" calls")
        self.calls.setToolTip("Start no further run after this many LLM calls")
        self.cost = self.number(NumberField(self, decimals=2, maximum=100_000), "Most cost")
        self.cost.setPrefix("$")
        self.cost.setSpecialValueText("no cost limit")
        self.cost.setToolTip(
            "Start no further run after this cost in US dollars, over all runs of the evaluation"
        )
        self.minutes = self.number(NumberField(self, decimals=1, maximum=100_000), "Most minutes")
        self.minutes.setSpecialValueText("no time limit")
        self.minutes.setSuffix(" min")
        self.minutes.setToolTip("End after this many minutes from now. You can resume it")
        self.gate = titled_box(_GATES, "At a gate", "What to do where a person would be asked", self)
        self.gate.currentIndexChanged.connect(self.on_edited)
        self.total = NoteLabel("", parent=self)
        self.command = labelled(QLineEdit(), "The equivalent command line")
        self.command.setReadOnly(True)
        self.command.setFont(theme.machine_font())
        self.copy_button = key_button("Copy", "Copy the command line", "Alt+C", self._on_copy)
        words = "Make the runs in a separate process"
        self.begin_button = key_button(self.begins, words, "Ctrl+Return", self._on_begin, self, accent=True)
        cancel = key_button("Cancel", "Begin nothing", "Esc", self.reject, self)
        self.fill()
        limits = in_row(None, (self.calls, 1), (self.cost, 1), (self.minutes, 1), spacing=6)
        self.add(("At once", self.at_once), ("Limits", limits), ("At a gate", self.gate))
        if self.tells_command:
            self.add(("Command line", in_row(None, (self.command, 1), self.copy_button, spacing=6)))
        buttons = in_row(None, 1, cancel, self.begin_button, spacing=8)
        in_column(self, self.form, self.total, 1, buttons, margins=(14, 12, 14, 12), spacing=10)
        theme.size_window(self, 640, 0)

    # For the dialogs

    @abstractmethod
    def fill(self) -> None:
        """Add the rows of the form before those that every evaluation has."""

    @property
    @abstractmethod
    def request(self) -> Request:
        """The request given by the fields."""

    @property
    def problem(self) -> str:
        """What is still missing in the form itself, as a sentence."""
        return ""

    def line(self, name: str, text: str = "", tooltip: str = "") -> QLineEdit:
        field = labelled(QLineEdit(text), name, tooltip)
        field.textChanged.connect(self.on_edited)
        return field

    def number(self, field: Any, name: str) -> Any:
        labelled(field, name)
        field.valueChanged.connect(self.on_edited)
        return field

    def add(self, *rows: tuple[str, QWidget | QLayout]) -> None:
        """Add rows with their labels to the form."""
        for label, field in rows:
            self.form.addRow(label, field)

    @property
    def common(self) -> dict[str, Any]:
        """The keys of every request."""
        return {
            "name": self.name.text().strip(),
            "times": self.times.value(),
            "concurrency": self.at_once.value(),
            "max_calls": self.calls.value() or None,
            "max_cost": round(self.cost.value(), 2) or None,
            "max_minutes": round(self.minutes.value(), 1) or None,
            "on_gate": self.gate.currentData(),
        }

    def choose_common(self, request: Request) -> None:
        """Restore the last choices that every request has."""
        self.times.setValue(request.times)
        self.at_once.setValue(request.concurrency)
        self.calls.setValue(request.max_calls or 0)
        self.cost.setValue(request.max_cost or 0.0)
        self.minutes.setValue(request.max_minutes or 0.0)
        self.gate.setCurrentIndex(max(0, self.gate.findData(request.on_gate)))

    @Slot()
    def on_edited(self) -> None:
        self.begin_button.setEnabled(False)
        self._idle.start()

    def _on_idle(self) -> None:
        if self.nothing_chosen:
            self.total.show_text(self.nothing)
            set_tone(self.total, "dim")
        else:
            self.preview_wanted.emit(self.request)

    @property
    def nothing_chosen(self) -> bool:
        return False

    @Slot(object)
    def show_preview(self, preview: RequestPreview) -> None:
        """Show what the request amounts to, if it is still the current one."""
        if self.nothing_chosen or preview.request != self.request:
            return
        self.show_tasks(preview.tasks)
        self.command.setText(preview.command)
        self.command.setCursorPosition(0)
        problem = preview.problem or self.problem
        self.total.show_text(problem or f"{self.size_of(preview)} {_cost(preview)}")
        set_tone(self.total, "bad" if problem else "")
        self.begin_button.setEnabled(not problem)

    def show_tasks(self, tasks: tuple[str, ...]) -> None:
        """Show which tasks are selected."""
        more = f" and {len(tasks) - _SHOWN_TASKS} more" if len(tasks) > _SHOWN_TASKS else ""
        self.selected.show_text(_few(tasks))
        self.selected.setMinimumHeight(self.selected.heightForWidth(self.name.width()))
        self.selected.setToolTip(", ".join(tasks[:_SHOWN_TASKS]) + more)

    def size_of(self, preview: RequestPreview) -> str:
        """Return how many runs it would be, as a sentence."""
        tasks, variants = count(len(preview.tasks), "task"), count(preview.variants, "variant")
        return f"{count(preview.runs, 'run')}: {tasks}, {variants}."

    def _on_begin(self) -> None:
        if self.begin_button.isEnabled():
            self.asked.emit(self.request)
            self.accept()

    def _on_copy(self) -> None:
        to_clipboard([self.command.text()])


class NewDialog(AskingDialog):
    """A new evaluation of tasks."""

    title = "New evaluation"
    nothing = "Choose tasks."

    def fill(self) -> None:
        self._suites: tuple[SuiteItem, ...] = ()
        self.tasks = self.line(
            "Tasks", "", "Ids, patterns, tag:NAME, suite:NAME or @FILE, separated by commas"
        )
        self.tasks.setPlaceholderText("miniwob/click-*, tag:email, suite:shop, @FILE")
        self.suites = key_button(
            "Suites", "Add a named selection of tasks", "Alt+U", self._offer_suites, self
        )
        self.seeds = self.line("Seeds", "0-4", "Such as 0-19 or 1, 4, 7. All variants use the same seeds")
        self.presets, self.llms = TickList("Presets", self), TickList("LLMs", self)
        for ticks in (self.presets, self.llms):
            ticks.changed.connect(self.on_edited)
        self.exemplars = titled_box(_EXEMPLARS, "Exemplars", "Which exemplars the prompts show", self)
        self.exemplars.currentIndexChanged.connect(self.on_edited)
        self.add(
            ("Name", self.name),
            ("Tasks", in_row(None, (self.tasks, 1), self.suites, spacing=6)),
            ("", self.selected),
            ("Seeds", self.seeds),
            ("Each", self.times),
            ("Presets", self.presets),
            ("LLMs", self.llms),
            ("Exemplars", self.exemplars),
        )

    def choose(
        self,
        request: EvalRequest,
        catalogue: Catalogue,
        preset: str,
        llm: str,
        suites: tuple[SuiteItem, ...] = (),
    ) -> None:
        """Restore the last choices; `preset` and `llm` are checked if there are none."""
        self._suites = suites
        self.suites.setEnabled(bool(suites))
        self.tasks.setText(", ".join(request.tasks))
        if request.tasks:
            self.seeds.setText(request.seeds)
        self.choose_common(request)
        self.exemplars.setCurrentIndex(max(0, self.exemplars.findData(",".join(request.exemplars))))
        self.presets.offer(catalogue.presets, request.preset or (preset,))
        offered = [choice for choice in catalogue.llms if choice.name != "person"]
        self.llms.offer(offered, request.llm or (llm,))
        self.on_edited()

    @property
    def request(self) -> EvalRequest:
        return EvalRequest.model_validate(
            {
                **self.common,
                "tasks": words_of(self.tasks.text()),
                "seeds": self.seeds.text(),
                "preset": self.presets.ticked,
                "llm": self.llms.ticked,
                "exemplars": words_of(self.exemplars.currentData()),
            }
        )

    @property
    def problem(self) -> str:
        if not self.presets.ticked:
            return "Select a preset."
        return "" if self.llms.ticked else "Select an LLM."

    @property
    def nothing_chosen(self) -> bool:
        return not words_of(self.tasks.text())

    def _offer_suites(self) -> None:
        entries = [
            MenuEntry(f"{suite.name}: {suite.title}", partial(self._add_suite, suite.name))
            for suite in self._suites
        ]
        open_menu(self, entries, self.suites.mapToGlobal(self.suites.rect().bottomLeft()))

    def _add_suite(self, name: str) -> None:
        words = words_of(self.tasks.text())
        self.tasks.setText(", ".join(dict.fromkeys((*words, f"suite:{name}"))))


class FailuresDialog(AskingDialog):
    """The failures of an evaluation, once more."""

    title = "Run the failures again"

    def __init__(self, theme: Theme, of: str, parent: QWidget | None = None) -> None:
        """`of` is the name of the evaluation."""
        self._of = of
        super().__init__(theme, parent)
        self.on_edited()

    def fill(self) -> None:
        of = labelled(NoteLabel("", self._of, self), "Failures of")
        self.add(("Name", self.name), ("Failures of", of), ("", self.selected))

    @property
    def request(self) -> EvalRequest:
        return EvalRequest.model_validate({**self.common, "failures_of": self._of})


class ResumeDialog(AskingDialog):
    """What is left of an evaluation."""

    title = "Resume an evaluation"
    begins = "Resume"
    tells_command = False

    def __init__(self, theme: Theme, of: str, parent: QWidget | None = None) -> None:
        self._of = of
        super().__init__(theme, parent)

    def fill(self) -> None:
        self.add(("Evaluation", labelled(NoteLabel("", self._of, self), "Evaluation")))

    @property
    def request(self) -> Request:
        return Request.model_validate({**self.common, "name": self._of})

    @Slot()
    def on_edited(self) -> None:
        """Nothing has to be checked."""


def _few(tasks: tuple[str, ...]) -> str:
    if not tasks:
        return ""
    some = ", ".join(tasks[:3])
    return f"{count(len(tasks), 'task')}: {some}{', …' if len(tasks) > 3 else ''}"


def _cost(preview: RequestPreview) -> str:
    if preview.cost is None:
        return "The cost of a run is not known yet."
    known = (
        ""
        if preview.priced == preview.runs
        else f" for the {count(preview.priced, 'run')} whose price is known"
    )
    return f"About {dollars(preview.cost)}{known}, based on the cost of such runs so far."
