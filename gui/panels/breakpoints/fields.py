"""The fields of a kind of breakpoint, made from its model, and what the window calls kinds and fields."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QComboBox, QCompleter, QDoubleSpinBox, QLineEdit, QWidget

from core.debugger.breakpoints.kinds import BREAKPOINTS
from core.debugger.breakpoints.shapes import shape_of
from core.schema.record import Record
from gui.panels.breakpoints.expression_field import ExpressionField
from gui.theme.theme import Theme

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Where the run is", ("state entered", "state left", "policy pushed", "policy popped")),
    ("What is done", ("action", "permissible", "loop", "request")),
    ("What goes wrong", ("error", "not aligned", "remedy fired", "plan revised")),
    ("Calls and figures", ("call", "retrieval distance", "figure")),
    ("Your own", ("condition",)),
)
TITLES = {
    "state entered": "A state is entered",
    "state left": "A state is left",
    "policy pushed": "A policy is called",
    "policy popped": "A policy returns",
    "action": "An action is due",
    "permissible": "An action is permissible",
    "loop": "The same action again",
    "request": "The page sends something",
    "error": "Something fails",
    "not aligned": "A step is not aligned",
    "remedy fired": "A remedy is fired",
    "plan revised": "The plan is revised",
    "call": "An LLM call",
    "retrieval distance": "No near exemplar",
    "figure": "A figure passes a value",
    "condition": "A condition becomes true",
}
_COMMON = ("kind", "number", "enabled", "then", "condition", "ignore")
_LABELS = {"url": "URL", "contains": "Permissible", "of": "What fails", "above": "More than"}
_NAMES = ("state", "policy", "action")
_NAME_HELP = "A name is a whole one, or a pattern with * and ?, such as buy_*."
_PART_HELP = "Other text is looked for within, unless it holds * or ?."
_ANY_HELP = "Case does not count, and what is empty fits all."
_CHOICE_WORDS = {"any": "anything"}


class Offers(Record):
    """Names that the step in view knows, to choose from."""

    state: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    action: tuple[str, ...] = ()


@dataclass(frozen=True)
class Field:
    """A widget for one field of a model, and what stands beside and below it."""

    name: str
    label: str
    help: str
    widget: QWidget
    read: Callable[[], Any]


def own_fields(kind: str) -> tuple[str, ...]:
    """Return the fields that a kind has beside those of every breakpoint."""
    return tuple(name for name in BREAKPOINTS[kind].model_fields if name not in _COMMON)


def help_of_kind(kind: str) -> str:
    return _plain(BREAKPOINTS[kind].__doc__ or "")


def help_of_texts(kind: str) -> str:
    """Return how the texts of a kind are compared; nothing where it has none."""
    texts = [
        name
        for name in own_fields(kind)
        if BREAKPOINTS[kind].model_fields[name].annotation is str and name != "expression"
    ]
    if not texts:
        return ""
    named = _NAME_HELP if set(texts) & set(_NAMES) else ""
    within = _PART_HELP if set(texts) - set(_NAMES) else ""
    return " ".join(part for part in (named, within, _ANY_HELP) if part)


def make_field(theme: Theme, kind: str, name: str, value: Any, offers: Offers) -> Field:
    """Return the widget for a field, filled with `value`; None leaves what the model has."""
    model = BREAKPOINTS[kind].model_fields[name]
    if value is None and not model.is_required():
        value = model.default
    label = _LABELS.get(name, name.capitalize())
    told = _plain(shape_of(BREAKPOINTS[kind]).help(name))
    widget: QWidget
    read: Callable[[], Any]
    choices = _choices(model.annotation)
    if name == "expression":
        line = ExpressionField(theme, label)
        line.setText(value or "")
        line.setPlaceholderText("state.name == 'item' and step.number > 3")
        told = "Names are offered while you type, all of them with Ctrl+Space. Stops where it becomes true."
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
    return Field(name=name, label=label, help=told, widget=widget, read=read)


class NumberField(QDoubleSpinBox):
    """A number from 0 on, without noughts at its end."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLocale(QLocale.c())
        self.setDecimals(4)
        self.setRange(0, 1e9)

    def textFromValue(self, value: float) -> str:
        return f"{value:.4f}".rstrip("0").rstrip(".")


def _choices(annotation: Any) -> tuple[tuple[Any, str], ...]:
    """Return the values of a fixed choice, each with its words; nothing where there is none."""
    if annotation is bool:
        return ((True, "comes to be"), (False, "is no longer, or not"))
    alternatives = get_args(annotation)
    if get_origin(annotation) is Literal:
        return tuple((one, _CHOICE_WORDS.get(one, one)) for one in alternatives)
    if type(None) in alternatives:
        rest = next(one for one in alternatives if one is not type(None))
        return ((None, "any"), *_choices(rest))
    return ()


def _plain(text: str) -> str:
    return text.replace("``", "")
