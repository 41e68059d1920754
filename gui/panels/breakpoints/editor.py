"""The dialog that creates or changes a breakpoint; it closes only when the breakpoint was accepted."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from core.debugger.breakpoints.expression import compile_expression
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint, ChoiceWords, TextKind, is_expression
from core.debugger.breakpoints.kinds.registry import all_groups
from core.schema.errors import UsageError
from core.schema.record import Record
from gui.panels.breakpoints.expression_field import ExpressionField
from gui.theme.theme import Theme
from gui.widgets.completion import ENTER
from gui.widgets.item_views import RowMenu
from gui.widgets.layouts import in_column, in_row, scrolled
from gui.widgets.number_field import NumberField
from gui.widgets.words import NoteLabel, labelled, set_flag

_TEXT_HELPS = {
    TextKind.NAME: "A name matches whole, or as a pattern with * and ?, such as buy_*.",
    TextKind.PART: "Other text matches anywhere, unless it contains * or ?.",
}
_ANY_HELP = "Case is ignored. An empty field matches everything."
_EXPRESSION_HELP = (
    "Names are suggested as you type; Ctrl+Space lists all. Stops when the expression becomes true."
)
_KIND = Qt.ItemDataRole.UserRole
_THEN = (("stop", "the run stops"), ("log", "only the Log tells"))
_EMPTY = "Enter an expression that becomes true, such as state.name == 'item'."
_CONDITION_HELP = "A condition that must also be true. Optional."
_IGNORE_HELP = "Number of hits in each run to ignore before it stops."


class Offers(Record):
    """Names in the step in view, offered as choices."""

    state: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    action: tuple[str, ...] = ()


@dataclass(frozen=True)
class BreakpointField:
    """A widget for one field of a model, with the texts next to it and below it."""

    label: str
    help: str
    widget: QWidget
    read: Callable[[], Any]
    is_expression: bool = False


class EnterForField(QObject):
    """Passes Enter to the field if completion has nothing to add: no name is selected, or it is already typed."""

    def __init__(self, completer: QCompleter, field: QLineEdit) -> None:
        super().__init__(field)
        popup = completer.popup()
        assert popup is not None
        self._popup, self._field = popup, field
        popup.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        chosen = self._popup.currentIndex()
        written = self._field.text()[: self._field.cursorPosition()]
        if event.key() not in ENTER or (chosen.isValid() and not written.endswith(chosen.data())):
            return False
        self._popup.hide()
        QApplication.sendEvent(self._field, event)
        return True


def help_of_texts(kind: type[Breakpoint]) -> str:
    """Return how the texts of a kind are compared; empty if it has none."""
    found = [part for field in kind.own_fields().values() for part in field.metadata]
    helps = [words for part, words in _TEXT_HELPS.items() if part in found]
    return " ".join([*helps, _ANY_HELP]) if helps else ""


def make_field(theme: Theme, name: str, model: FieldInfo, value: Any, offers: Offers) -> BreakpointField:
    """Return the widget for a field, filled with `value`; None uses its default."""
    if value is None and not model.is_required():
        value = model.default
    label = model.title or name.capitalize()
    expression = is_expression(model)
    widget: QWidget
    read: Callable[[], Any]
    choices = _choices(model)
    if expression:
        line = ExpressionField(theme, label)
        line.setText(value or "")
        line.setPlaceholderText("state.name == 'item' and step.number > 3")
        widget, read = line, lambda: line.text().strip()
    elif choices:
        box = QComboBox()
        for choice, words in choices:
            box.addItem(words, choice)
        box.setCurrentIndex(max(0, box.findData(value)))
        widget, read = box, box.currentData
    elif model.annotation is float:
        number = NumberField()
        number.setValue(value or 0.0)
        widget, read = number, number.value
    else:
        plain = QLineEdit(value or "", placeholderText="any")
        known = getattr(offers, name, ())
        if known:
            completer = QCompleter(list(known), plain, caseSensitivity=Qt.CaseSensitivity.CaseInsensitive)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            plain.setCompleter(completer)
            EnterForField(completer, plain)
        widget, read = plain, lambda: plain.text().strip()
    widget.setAccessibleName(label)
    described = _EXPRESSION_HELP if expression else model.description or ""
    return BreakpointField(label=label, help=described, widget=widget, read=read, is_expression=expression)


def _choices(model: FieldInfo) -> tuple[tuple[Any, str], ...]:
    """Return the values of a fixed choice, each with its label; empty if the field is not a choice."""
    words = {None: "any"}
    for part in model.metadata:
        if isinstance(part, ChoiceWords):
            words |= part.words
    return tuple(
        (alternative, words.get(alternative, str(alternative)))
        for alternative in _alternatives(model.annotation)
    )


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    if annotation is bool:
        return (True, False)
    alternatives = get_args(annotation)
    if get_origin(annotation) is Literal:
        return alternatives
    if type(None) in alternatives:
        return (
            None,
            *_alternatives(
                next(alternative for alternative in alternatives if alternative is not type(None))
            ),
        )
    return ()


class BreakpointEditor(QDialog):
    """Edits one breakpoint and emits the complete breakpoint; the kind can be changed."""

    breakpoint_wanted = Signal(object)
    """A `Breakpoint`, new if its number is 0; answered through `show_answer`."""

    def __init__(
        self,
        theme: Theme,
        breakpoint: Breakpoint | None = None,
        offers: Offers = Offers(),  # noqa: B008
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._edited = breakpoint
        self._offers = offers
        self._waits = False
        self.fields: dict[str, BreakpointField] = {}
        self.setWindowTitle(f"Breakpoint {breakpoint.number}" if breakpoint else "New breakpoint")
        self._build()
        self._fill(breakpoint)
        theme.size_window(self, 740, 590)

    @property
    def kind(self) -> type[Breakpoint]:
        """The class of the selected kind."""
        kind: type[Breakpoint] = self.kinds.currentItem().data(_KIND)
        return kind

    @Slot(str)
    def show_answer(self, problem: str) -> None:
        """Close if there is no problem; otherwise show it below the invalid field."""
        self._wait(False)
        if not problem:
            self.accept()
            return
        self._note_at_fault().show_text(f"✗ {problem}")

    def send(self) -> None:
        """Request the breakpoint given by the fields; obvious errors are shown at once."""
        if self._waits:
            return
        self._forget_problems()
        own = self._expression
        if own is not None and not own.read():
            self._problem_of_own.show_text(f"✗ {_EMPTY}")
            own.widget.setFocus()
            return
        self._wait(True)
        self.breakpoint_wanted.emit(self.kind.model_validate(self._values()))

    @property
    def _expression(self) -> BreakpointField | None:
        """The field for the kind's own expression."""
        return next((field for field in self.fields.values() if field.is_expression), None)

    def _values(self) -> dict[str, Any]:
        return {
            "number": self._edited.number if self._edited else 0,
            "enabled": self._edited.enabled if self._edited else True,
            "then": self.then.currentData(),
            "condition": self.condition.text().strip(),
            "ignore": self.ignore.value(),
            **{name: field.read() for name, field in self.fields.items()},
        }

    def _build(self) -> None:
        theme = self._theme
        self.kinds = labelled(QListWidget(self), "What it stops at")
        RowMenu(self.kinds)
        self.kinds.setFixedWidth(theme.scaled(218))
        self.kinds.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for group, kinds in all_groups().items():
            heading = QListWidgetItem(group, self.kinds)
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            heading.setFont(theme.small_font(bold=True))
            for kind in kinds:
                QListWidgetItem(kind.title, self.kinds).setData(_KIND, kind)
        self.title = QLabel(self)
        self.title.setFont(theme.text_font(bold=True))
        self.about = NoteLabel()
        self._own = QWidget()
        self._own_form = _form(self._own)
        self._texts = NoteLabel()
        self._problem_of_own = NoteLabel("bad")
        line = QFrame()
        line.setProperty("line", True)
        common = QWidget()
        form = _form(common)
        self.condition = ExpressionField(theme, "Only if")
        self.condition.setPlaceholderText("step.number > 3")
        self._problem_of_condition = NoteLabel("bad")
        self.ignore = labelled(QSpinBox(minimum=0, maximum=1_000_000), "Let pass")
        self.then = labelled(QComboBox(), "Then")
        for value, words in _THEN:
            self.then.addItem(words, value)
        _add(form, "Only if", self.condition, _CONDITION_HELP, self._problem_of_condition)
        _add(form, "Let pass", self.ignore, _IGNORE_HELP)
        _add(form, "Then", self.then, "")
        self._problem = NoteLabel("bad")
        own = (self.title, self.about, self._own, self._texts, self._problem_of_own)
        inside = scrolled("Breakpoint", *own, line, common, self._problem)
        content = inside.widget()
        column = content.layout() if content is not None else None
        assert column is not None
        column.setSpacing(8)
        column.setContentsMargins(4, 0, 10, 6)
        both = in_row(None, self.kinds, (inside, 1), spacing=14)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self._cancel = buttons.button(QDialogButtonBox.StandardButton.Cancel)
        self._cancel.setAutoDefault(False)
        self.save_button = buttons.addButton(
            "Save" if self._edited else "Add", QDialogButtonBox.ButtonRole.ApplyRole
        )
        self.save_button.setToolTip("Save the breakpoint; it takes effect at once (Enter)")
        self.save_button.setDefault(True)
        set_flag(self.save_button, "accent", True)
        self.save_button.clicked.connect(self.send)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addLayout(both, 1)
        layout.addWidget(buttons)
        self.kinds.currentItemChanged.connect(self._on_kind)

    def _fill(self, breakpoint: Breakpoint | None) -> None:
        items = [self.kinds.item(row) for row in range(self.kinds.count())]
        kinds = [item for item in items if item.data(_KIND) is not None]
        current = next((item for item in kinds if item.data(_KIND) is type(breakpoint)), kinds[0])
        self.kinds.setCurrentItem(current)
        if breakpoint is not None:
            self.condition.setText(breakpoint.condition)
            self.ignore.setValue(breakpoint.ignore)
            self.then.setCurrentIndex(self.then.findData(breakpoint.then))
            first = next(iter(self.fields.values()), None)
            (first.widget if first else self.condition).setFocus()

    def _on_kind(self) -> None:
        """Show the fields of the kind, filled with fitting values of the edited breakpoint or typed before."""
        typed = {name: field.read() for name, field in self.fields.items()}
        edited = dict(self._edited) if type(self._edited) is self.kind else {}
        while self._own_form.rowCount():
            self._own_form.removeRow(0)
        self.title.setText(self.kind.title)
        self.about.show_text(self.kind.__doc__ or "")
        self.fields = {}
        for name, model in self.kind.own_fields().items():
            value = typed.get(name) if isinstance(typed.get(name), str) else edited.get(name)
            field = make_field(self._theme, name, model, value, self._offers)
            self.fields[name] = field
            _add(self._own_form, field.label, field.widget, field.help)
        self._own.setVisible(bool(self.fields))
        self._order_by_tab()
        self._texts.show_text(help_of_texts(self.kind))
        self._forget_problems()

    def _order_by_tab(self) -> None:
        own = (field.widget for field in self.fields.values())
        order = [self.kinds, *own, self.condition, self.ignore, self.then, self.save_button, self._cancel]
        for first, second in pairwise(order):
            self.setTabOrder(first, second)

    def _note_at_fault(self) -> NoteLabel:
        """Return the label for an error: below the expression that cannot be parsed, or else below all fields."""
        own = self._expression
        if own is not None and not _readable(own.read()):
            own.widget.setFocus()
            return self._problem_of_own
        if not _readable(self.condition.text()):
            self.condition.setFocus()
            return self._problem_of_condition
        return self._problem

    def _forget_problems(self) -> None:
        for note in (self._problem_of_own, self._problem_of_condition, self._problem):
            note.show_text("")

    def _wait(self, waits: bool) -> None:
        self._waits = waits
        self.save_button.setEnabled(not waits)


def _readable(text: str) -> bool:
    try:
        if text.strip():
            compile_expression(text)
    except UsageError:
        return False
    return True


def _form(parent: QWidget) -> QFormLayout:
    form = QFormLayout(parent, horizontalSpacing=12, verticalSpacing=9)
    form.setContentsMargins(0, 0, 0, 0)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return form


def _add(
    form: QFormLayout, label: str, widget: QWidget, described: str, problem: NoteLabel | None = None
) -> None:
    """Add a row: the widget, its help below it, and its error below that."""
    around = QWidget()
    column = in_column(around, widget, spacing=3)
    if described:
        column.addWidget(NoteLabel("dim", described))
        widget.setAccessibleDescription(described)
    if problem is not None:
        column.addWidget(problem)
    name = QLabel(label)
    name.setBuddy(widget)
    name.setMinimumWidth(74)
    form.addRow(name, around)
