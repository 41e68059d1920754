"""The fields of a kind of breakpoint, made from its class."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QComboBox, QCompleter, QDoubleSpinBox, QLineEdit, QWidget

from core.debugger.breakpoints.kinds.breakpoint import Breakpoint, ChoiceWords, TextKind, is_expression
from core.schema.record import Record
from gui.panels.breakpoints.expression_field import ExpressionField
from gui.theme.theme import Theme

_NAME_HELP = "A name is a whole one, or a pattern with * and ?, such as buy_*."
_PART_HELP = "Other text is looked for within, unless it holds * or ?."
_ANY_HELP = "Case does not count, and what is empty fits all."
_EXPRESSION_HELP = (
    "Names are offered while you type, all of them with Ctrl+Space. Stops where it becomes true."
)


class Offers(Record):
    """Names that the step in view knows, to choose from."""

    state: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    action: tuple[str, ...] = ()


@dataclass(frozen=True)
class BreakpointField:
    """A widget for one field of a model, and what stands beside and below it."""

    label: str
    help: str
    widget: QWidget
    read: Callable[[], Any]
    is_expression: bool = False


def help_of_texts(kind: type[Breakpoint]) -> str:
    """Return how the texts of a kind are compared; nothing where it has none."""
    found = [part for field in kind.own_fields().values() for part in field.metadata]
    named = _NAME_HELP if TextKind.NAME in found else ""
    within = _PART_HELP if TextKind.PART in found else ""
    return " ".join(part for part in (named, within, _ANY_HELP) if part) if named or within else ""


def make_field(theme: Theme, name: str, model: FieldInfo, value: Any, offers: Offers) -> BreakpointField:
    """Return the widget for a field, filled with `value`; None takes its default."""
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
        plain = QLineEdit(value or "")
        plain.setPlaceholderText("any")
        known = getattr(offers, name, ())
        if known:
            completer = QCompleter(list(known), plain)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            plain.setCompleter(completer)
        widget, read = plain, lambda: plain.text().strip()
    widget.setAccessibleName(label)
    described = _EXPRESSION_HELP if expression else model.description or ""
    return BreakpointField(label=label, help=described, widget=widget, read=read, is_expression=expression)


class NumberField(QDoubleSpinBox):
    """A number from 0 on, without noughts at its end."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLocale(QLocale.c())
        self.setDecimals(4)
        self.setRange(0, 1e9)

    def textFromValue(self, value: float) -> str:
        return f"{value:.4f}".rstrip("0").rstrip(".")


def _choices(model: FieldInfo) -> tuple[tuple[Any, str], ...]:
    """Return the values of a fixed choice, each with its words; nothing where there is none."""
    words = {None: "any"}
    for part in model.metadata:
        if isinstance(part, ChoiceWords):
            words |= part.words
    return tuple((one, words.get(one, str(one))) for one in _alternatives(model.annotation))


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    if annotation is bool:
        return (True, False)
    alternatives = get_args(annotation)
    if get_origin(annotation) is Literal:
        return alternatives
    if type(None) in alternatives:
        return (None, *_alternatives(next(one for one in alternatives if one is not type(None))))
    return ()
