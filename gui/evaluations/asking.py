"""Start an evaluation, rerun failures, or resume one: the choices and what they amount to."""

from collections.abc import Iterable
from functools import partial
from typing import Literal

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSpinBox,
    QWidget,
)

from core.debugger.evaluations.records import EvalRequest, words_of
from core.debugger.evaluations.views import RequestPreview, SuiteItem
from core.debugger.snapshots import Catalogue, PresetOption
from core.schema.messages import LLMChoice
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import titled_box
from gui.widgets.formats import count, dollars
from gui.widgets.item_views import MenuEntry, RowMenu, open_menu
from gui.widgets.layouts import in_column, in_row
from gui.widgets.number_field import NumberField
from gui.widgets.words import NoteLabel, labelled, set_tone

Mode = Literal["new", "failures", "resume"]

_IDLE_MS = 150
_SHOWN_TASKS = 40
_TICK_ROWS = 6
_TITLES: dict[Mode, str] = {
    "new": "New evaluation",
    "failures": "Run the failures again",
    "resume": "Resume an evaluation",
}
_EXEMPLARS = (
    ("own: the bundled ones and yours", "own"),
    ("none", "none"),
    ("both: with and without, to compare", "own,none"),
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
        for one in choices:
            item = QListWidgetItem(one.name, self)
            item.setToolTip(one.description or one.title)
            item.setFlags(
                Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable
            )
            item.setCheckState(Qt.CheckState.Checked if one.name in ticked else Qt.CheckState.Unchecked)
        self.setCurrentRow(0)
        self.blockSignals(False)
        rows = max(2, min(_TICK_ROWS, self.count()))
        self.setFixedHeight(rows * max(18, self.sizeHintForRow(0)) + 2 * self.frameWidth() + 12)

    @property
    def ticked(self) -> tuple[str, ...]:
        items = (self.item(at) for at in range(self.count()))
        return tuple(item.text() for item in items if item.checkState() == Qt.CheckState.Checked)


class AskingDialog(QDialog):
    """Shows live what the request amounts to. The checks of the command line determine why it cannot be started."""

    preview_wanted = Signal(object)
    """An `EvalRequest`."""
    asked = Signal(object)
    """The `EvalRequest` to start."""

    def __init__(self, theme: Theme, mode: Mode, name: str = "", parent: QWidget | None = None) -> None:
        """`name` is the evaluation that is resumed, or whose failures are rerun."""
        super().__init__(parent)
        self.setWindowTitle(_TITLES[mode])
        self.mode = mode
        self._of = name
        self._preview: RequestPreview | None = None
        self._suites: tuple[SuiteItem, ...] = ()
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(lambda: self.preview_wanted.emit(self.request))
        self.name = labelled(QLineEdit(self), "Name")
        self.name.setPlaceholderText("the time when it begins")
        self.tasks = labelled(QLineEdit(self), "Tasks")
        self.tasks.setPlaceholderText("miniwob/click-*, tag:email, suite:shop, @FILE")
        self.tasks.setToolTip("Ids, patterns, tag:NAME, suite:NAME or @FILE, separated by commas")
        self.suites = key_button(
            "Suites", "Add a named selection of tasks", "Alt+U", self._offer_suites, self
        )
        self.selected = NoteLabel("dim", parent=self)
        self.seeds = labelled(
            QLineEdit("0-4", self), "Seeds", "Such as 0-19 or 1, 4, 7. All variants use the same seeds"
        )
        self.presets = TickList("Presets", self)
        self.llms = TickList("LLMs", self)
        self.exemplars = titled_box(_EXEMPLARS, "Exemplars", "Which exemplars the prompts show", self)
        self.times = labelled(
            QSpinBox(self, minimum=1, maximum=100, suffix=" ×"), "How many times each task at each seed"
        )
        self.at_once = labelled(
            QSpinBox(self, minimum=1, maximum=64),
            "Runs at once",
            "Up to four per processor core work well",
        )
        self.cost = labelled(NumberField(self, decimals=2, maximum=100_000), "Most cost")
        self.cost.setPrefix("$")
        self.cost.setSpecialValueText("no cost limit")
        self.cost.setToolTip(
            "Start no further run after this cost in US dollars, over all runs of the evaluation"
        )
        self.minutes = labelled(NumberField(self, decimals=1, maximum=100_000), "Most minutes")
        self.minutes.setSpecialValueText("no time limit")
        self.minutes.setSuffix(" min")
        self.minutes.setToolTip("End after this many minutes from now. You can resume it")
        self.total = NoteLabel("", parent=self)
        self.command = labelled(QLineEdit(self), "The equivalent command line")
        self.command.setReadOnly(True)
        self.command.setFont(theme.machine_font())
        self.copy_button = key_button("Copy", "Copy the command line", "Alt+C", self._on_copy, self)
        begin = "Resume" if mode == "resume" else "Begin"
        words = "Make the runs in a separate process"
        self.begin_button = key_button(begin, words, "Ctrl+Return", self._on_begin, self, accent=True)
        cancel = key_button("Cancel", "Begin nothing", "Esc", self.reject, self)
        buttons = in_row(None, 1, cancel, self.begin_button, spacing=8)
        in_column(self, self._form(), self.total, 1, buttons, margins=(14, 12, 14, 12), spacing=10)
        for line in (self.name, self.tasks, self.seeds):
            line.textChanged.connect(self._on_edited)
        for ticks in (self.presets, self.llms):
            ticks.changed.connect(self._on_edited)
        for number in (self.times, self.at_once, self.cost, self.minutes):
            number.valueChanged.connect(self._on_edited)
        self.exemplars.currentIndexChanged.connect(self._on_edited)
        theme.size_window(self, 640, 0)

    def _form(self) -> QFormLayout:
        form = QFormLayout()
        form.setSpacing(7)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        if self.mode == "resume":
            form.addRow("Evaluation", labelled(NoteLabel("", self._of, self), "Evaluation"))
        else:
            form.addRow("Name", self.name)
        if self.mode == "failures":
            form.addRow("Failures of", labelled(NoteLabel("", self._of, self), "Failures of"))
        if self.mode == "new":
            form.addRow("Tasks", in_row(None, (self.tasks, 1), self.suites, spacing=6))
        if self.mode != "resume":
            form.addRow("", self.selected)
        if self.mode == "new":
            form.addRow("Seeds", self.seeds)
            form.addRow("Each", self.times)
            form.addRow("Presets", self.presets)
            form.addRow("LLMs", self.llms)
            form.addRow("Exemplars", self.exemplars)
        form.addRow("At once", self.at_once)
        form.addRow("Limits", in_row(None, (self.cost, 1), (self.minutes, 1), spacing=6))
        if self.mode != "resume":
            form.addRow("Command line", in_row(None, (self.command, 1), self.copy_button, spacing=6))
        if self.mode != "new":
            for field in (
                self.tasks,
                self.suites,
                self.seeds,
                self.times,
                self.presets,
                self.llms,
                self.exemplars,
            ):
                field.hide()
        if self.mode == "resume":
            for other in (self.name, self.command, self.copy_button):
                other.hide()
        return form

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
        self.times.setValue(request.times)
        self.at_once.setValue(request.concurrency)
        self.cost.setValue(request.max_cost or 0.0)
        self.minutes.setValue(request.max_minutes or 0.0)
        self.exemplars.setCurrentIndex(max(0, self.exemplars.findData(",".join(request.exemplars))))
        self.presets.offer(catalogue.presets, request.preset or (preset,))
        offered = [one for one in catalogue.llms if one.name != "person"]
        self.llms.offer(offered, request.llm or (llm,))
        self._on_edited()

    @property
    def request(self) -> EvalRequest:
        """The request given by the fields."""
        limits = {
            "concurrency": self.at_once.value(),
            "max_cost": round(self.cost.value(), 2) or None,
            "max_minutes": round(self.minutes.value(), 1) or None,
        }
        if self.mode == "resume":
            return EvalRequest.model_validate({"name": self._of, **limits})
        name = self.name.text().strip()
        if self.mode == "failures":
            return EvalRequest.model_validate({"name": name, "failures_of": self._of, **limits})
        return EvalRequest.model_validate(
            {
                "name": name,
                "tasks": words_of(self.tasks.text()),
                "seeds": self.seeds.text(),
                "preset": self.presets.ticked,
                "llm": self.llms.ticked,
                "exemplars": words_of(self.exemplars.currentData()),
                "times": self.times.value(),
                **limits,
            }
        )

    @property
    def _unticked(self) -> str:
        """What still has to be checked, as a sentence."""
        if self.mode != "new":
            return ""
        if not self.presets.ticked:
            return "Select a preset."
        return "" if self.llms.ticked else "Select an LLM."

    def _on_edited(self) -> None:
        if self.mode == "resume":
            return
        self.begin_button.setEnabled(False)
        self._idle.start()

    @Slot(object)
    def show_preview(self, preview: RequestPreview) -> None:
        """Show what the request amounts to, if it is still the current one."""
        if preview.request != self.request:
            return
        self._preview = preview
        tasks = preview.tasks
        more = f" and {len(tasks) - _SHOWN_TASKS} more" if len(tasks) > _SHOWN_TASKS else ""
        self.selected.show_text(_few(tasks))
        self.selected.setToolTip(", ".join(tasks[:_SHOWN_TASKS]) + more)
        self.command.setText(preview.command)
        self.command.setCursorPosition(0)
        is_empty = self.mode == "new" and not preview.request.tasks
        problem = "" if is_empty else preview.problem or self._unticked
        self.total.show_text("Choose tasks." if is_empty else problem or _total(preview))
        set_tone(self.total, "bad" if problem else "dim" if is_empty else "")
        self.begin_button.setEnabled(not problem and not is_empty)

    def _on_begin(self) -> None:
        if self.begin_button.isEnabled():
            self.asked.emit(self.request)
            self.accept()

    def _offer_suites(self) -> None:
        entries = [
            MenuEntry(f"{one.name}: {one.title}", partial(self._add_suite, one.name)) for one in self._suites
        ]
        open_menu(self, entries, self.suites.mapToGlobal(self.suites.rect().bottomLeft()))

    def _add_suite(self, name: str) -> None:
        words = words_of(self.tasks.text())
        self.tasks.setText(", ".join(dict.fromkeys((*words, f"suite:{name}"))))

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.command.text())


def _few(tasks: tuple[str, ...]) -> str:
    if not tasks:
        return ""
    some = ", ".join(tasks[:3])
    return f"{count(len(tasks), 'task')}: {some}{', …' if len(tasks) > 3 else ''}"


def _total(preview: RequestPreview) -> str:
    words = f"{count(preview.runs, 'run')}: {count(len(preview.tasks), 'task')}, {count(preview.variants, 'variant')}."
    if preview.cost is None:
        return f"{words} The cost of a run is not known yet."
    known = (
        ""
        if preview.priced == preview.runs
        else f" for the {count(preview.priced, 'run')} whose price is known"
    )
    return f"{words} About {dollars(preview.cost)}{known}, based on the cost of such runs so far."
