"""The action editor: a form, and below it the same action as a line of text."""

from collections.abc import Callable, Sequence

from pydantic import ValidationError
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QFrame, QLabel, QLineEdit, QWidget

from core.schema.action import ACTION, ACTIONS, Action, Named, parse_target
from core.schema.action_space import Parameter, Permissible, PermissibleAction, PermissibleRow
from core.schema.action_text import parse_action, usage
from core.schema.errors import ActionSyntaxError
from core.schema.observation import Element, Ref
from gui.panels.action.fields import ChoiceField, Field, FlagField, TargetField, field_class
from gui.theme.theme import Theme
from gui.widgets.words import NoteLabel, labelled, set_flag, set_tone


def same_action(one: str, other: str) -> bool:
    """Return whether two texts are the same action, regardless of notation."""
    if one.strip() == other.strip():
        return True
    try:
        return parse_action(one) == parse_action(other)
    except ActionSyntaxError:
        return False


class ActionForm(QFrame):
    """Edits one action in two places that always agree.

    A change in a field rewrites the line; a line that parses as an action fills the fields. `problem` is the reason
    why the action cannot be accepted, and is empty if it can.
    """

    changed = Signal()
    """The person changed the action."""
    problem_shown = Signal()
    """The note below the form reports a problem."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._allowed: tuple[PermissibleAction, ...] = ()
        self._elements: tuple[Element, ...] = ()
        self._fields: dict[str, Field] = {}
        self._rows: list[Field] = []
        """The fields in the form; hidden while there is no action."""
        self._kind = ""
        self._action: Action | None = None
        self.problem = ""
        """Why the action cannot be accepted; empty if it can."""
        self.proposed = ""
        """The proposed action, which may be accepted unchanged even if its name is not offered."""
        self.setProperty("card", True)
        self.kinds = labelled(QComboBox(self), "Action")
        self.kinds.setFont(theme.machine_font())
        self.kinds.currentTextChanged.connect(self._on_kind)
        same = "The same action as text; change it here or in the fields"
        self.line = labelled(QLineEdit(self, placeholderText="click [12]"), "The action as text", same)
        self.line.setFont(theme.machine_font())
        self.line.textEdited.connect(self._on_line)
        self.note = NoteLabel("bad", parent=self)
        self._layout = QFormLayout(self, verticalSpacing=5, horizontalSpacing=10)
        self._layout.setContentsMargins(9, 8, 9, 8)
        self._layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._layout.addRow(self._label("action"), self.kinds)
        self._layout.addRow(self._label("as text"), self.line)
        self._layout.addRow(self.note)

    @property
    def text(self) -> str:
        return self.line.text()

    def field(self, name: str) -> Field | None:
        return self._fields.get(name)

    def show_options(self, allowed: tuple[PermissibleAction, ...], elements: Sequence[Element]) -> None:
        """Offer these actions from now on; the edited action stays."""
        if allowed == self._allowed and tuple(elements) == self._elements:
            return
        self._allowed, self._elements = allowed, tuple(elements)
        text = self.text
        names = [action.name for action in allowed] or list(ACTIONS)
        with QSignalBlocker(self.kinds):
            self.kinds.clear()
            self.kinds.addItems(names)
            for at, one in enumerate(allowed):
                self.kinds.setItemData(at, one.description, Qt.ItemDataRole.ToolTipRole)
            self.kinds.setCurrentIndex(-1)
        self._kind = ""
        self.show_text(text)

    def show_text(self, text: str) -> None:
        """Show this action without emitting a change."""
        if self.line.text() != text:
            self.line.setText(text)
            self.line.setCursorPosition(0)
        self._read_line()

    def show_row(self, row: PermissibleRow) -> bool:
        """Start the action of a row of the list; return whether nothing is left to fill in."""
        if row.name in self._own:
            self.show_text(row.text)
            return self._begun()
        self._show_kind(row.name)
        for field in self._fields.values():
            if isinstance(field, TargetField) and row.ref is not None and field.parameter.name == "target":
                field.show_value(str(row.ref))
            elif not isinstance(field, FlagField):
                field.show_value("")
        self._offer_for_target()
        self._write_line()
        return self._begun()

    def _begun(self) -> bool:
        """Emit the change and focus the first blank argument; return whether there is none."""
        blank = self._first_blank()
        if blank is not None:
            blank.setFocus()
        self.changed.emit()
        return blank is None

    def show_target(self, ref: Ref) -> bool:
        """Put the element that was pointed at into the action; start a click if there is no action.

        If there are two targets, the empty one gets it, or else the first. Returns whether the action has a target.
        """
        if not self._kind:
            self._show_kind("click")
        fields = [field for field in self._fields.values() if isinstance(field, TargetField)]
        if not fields:
            return False
        field = next((one for one in fields if not one.value), fields[0])
        field.show_value(str(ref))
        self._on_field()
        return True

    def _label(self, text: str) -> QLabel:
        label = QLabel(text, self)
        set_tone(label, "dim")
        return label

    @property
    def _own(self) -> dict[str, PermissibleAction]:
        """The actions with custom names: those that the state offers, and policies."""
        return {one.name: one for one in self._allowed if one.origin != "page"}

    def _parameters(self, kind: str) -> tuple[Parameter, ...]:
        if own := self._own.get(kind):
            return own.parameters
        cls = ACTIONS.get(kind)
        if cls is None:
            return ()
        allowed = next((one for one in self._allowed if one.name == kind), None)
        if allowed is not None:
            known = [parameter for parameter in allowed.parameters if parameter.name in cls.model_fields]
            if {parameter.name for parameter in known} >= {
                n for n in cls.fields if cls.model_fields[n].is_required()
            }:
                return tuple(known)
        fields = [Parameter(name=name, required=cls.model_fields[name].is_required()) for name in cls.fields]
        options = [
            Parameter(name=name, type="boolean" if cls.is_flag(name) else "string", required=False)
            for name in cls.options
        ]
        return (*fields, *options)

    def _show_kind(self, kind: str) -> None:
        if kind == self._kind:
            return
        kept = {name: field.value for name, field in self._fields.items()}
        self._kind = kind
        with QSignalBlocker(self.kinds):
            self.kinds.setCurrentIndex(self.kinds.findText(kind))
        parameters = self._parameters(kind)
        self._have_rows([field_class(one) for one in parameters])
        self._fields = {}
        for parameter, field in zip(parameters, self._rows, strict=False):
            name = parameter.name
            self._fields[name] = field
            field.take(parameter, self._elements)
            is_flag, default = isinstance(field, FlagField), _default(kind, name)
            field.show_value(default is True if is_flag else kept.get(name, _as_text(default)))
            label = self._layout.labelForField(field)
            assert isinstance(label, QLabel)
            label.setText("" if is_flag else name)
        self._offer_for_target()

    def _have_rows(self, wanted: list[Callable[[Theme], Field]]) -> None:
        """Make sure there is a row for each of these kinds of field; existing rows are reused."""
        if wanted and wanted != [type(row) for row in self._rows]:
            while self._layout.rowCount() > 3:
                self._layout.removeRow(1)
            self._rows = [made(self._theme) for made in wanted]
            for field in self._rows:
                field.changed.connect(self._on_field)
                self._layout.insertRow(self._layout.rowCount() - 2, self._label(""), field)
        for field in self._rows:
            self._layout.setRowVisible(field, bool(wanted))

    def _offer_for_target(self) -> None:
        target = self._fields.get("target")
        ref = target.ref if isinstance(target, TargetField) else None
        for field in self._fields.values():
            if isinstance(field, ChoiceField):
                field.show_target(ref)

    def _first_blank(self) -> Field | None:
        """Return the first argument that is still missing."""
        fields = self._fields.values()
        return next((field for field in fields if field.parameter.required and field.value == ""), None)

    def _on_kind(self, kind: str) -> None:
        self._show_kind(kind)
        self._on_field()

    def _on_field(self) -> None:
        self._offer_for_target()
        self._write_line()
        self.changed.emit()

    def _on_line(self) -> None:
        self._read_line()
        self.changed.emit()

    def _write_line(self) -> None:
        """Write the fields as text and validate them."""
        if self._kind in self._own:
            self._write_own()
            return
        cls = ACTIONS.get(self._kind)
        if cls is None:
            return
        values = {name: field.value for name, field in self._fields.items()}
        given = {
            name: value
            for name, value in values.items()
            if value != "" or cls.model_fields[name].is_required()
        }
        wrong = ""
        self._action, problem = None, ""
        try:
            for name in ("target", "to"):
                if name in given:
                    wrong = name
                    given[name] = parse_target(str(given[name]))  # type: ignore[assignment]
            wrong = ""
            self._action = ACTION.validate_python({"kind": self._kind, **given})
        except ActionSyntaxError as error:
            problem = f"Choose an element for {wrong}." if not given[wrong] else str(error)
        except ValidationError as error:
            first = error.errors()[0]
            wrong = str(first["loc"][-1]) if first["loc"] else ""
            value = values.get(wrong, "")
            missing = f"Enter a value for {wrong}."
            problem = missing if value == "" else f'{wrong} cannot be "{value}" ({first["msg"]}).'
        # A missing argument is an empty bracket.
        text = str(self._action) if self._action is not None else cls.written(self._kind, values)
        if self.line.text() != text:
            self.line.setText(text)
        self._judge(problem, wrong)

    def _write_own(self) -> None:
        """Write the fields of an action with a custom name, with its arguments in their places."""
        texts = [_argument(field.value) for field in self._fields.values()]
        missing = self._first_blank()
        while texts and not texts[-1]:
            texts.pop()
        written = Named(name=self._kind, arguments=tuple(texts))
        self._action = written if missing is None else None
        if self.line.text() != str(written):
            self.line.setText(str(written))
        name = missing.parameter.name if missing is not None else ""
        self._judge(f"Enter a value for {name}." if name else "", name)

    def _read_line(self) -> None:
        """Parse the text into the fields and validate it."""
        text = self.line.text()
        self._action = None
        if not text.strip():
            self._show_kind("")
            self._judge("", "")
            return
        try:
            action = parse_action(text, self._own)
        except ActionSyntaxError as error:
            kind = text.split(maxsplit=1)[0]
            if kind in ACTIONS or kind in self._own:
                self._show_kind(kind)
            self._judge(str(error), "")
            return
        self._action = action
        self._show_kind(action.name)
        given = self._own[action.name].arguments(action) if isinstance(action, Named) else {}
        for name, field in self._fields.items():
            value = given.get(name) if isinstance(action, Named) else getattr(action, name, None)
            field.show_value(value if isinstance(value, bool) else "" if value is None else str(value))
        self._offer_for_target()
        self._judge("", "")

    def _judge(self, problem: str, wrong: str) -> None:
        if self.text and self.text == self.proposed:
            problem = wrong = ""
        elif not problem and self._action is not None and self._allowed:
            problem = Permissible(actions=self._allowed).problem(self._action) or ""
        for name, field in self._fields.items():
            if not isinstance(field, FlagField):
                field.show_wrong(name == wrong)
        self.problem = problem
        self.show_problem(problem)

    def show_problem(self, problem: str) -> None:
        """Show what is wrong with the action in its current form, for example why the session refused it."""
        set_flag(self.line, "wrong", bool(problem))
        self.note.show_text(problem)
        self.note.setAccessibleName(problem)
        if problem:
            self.problem_shown.emit()
        self.line.setToolTip(
            f"As text: {usage(self._kind)}" if self._kind in ACTIONS else "The action as text"
        )


def _argument(value: str | bool) -> str:
    """Return the value of a field as the text of an argument; an unchecked box is left out."""
    if isinstance(value, bool):
        return "true" if value else ""
    return value


def _default(kind: str, name: str) -> object:
    return ACTIONS[kind].model_fields[name].default if kind in ACTIONS else ""


def _as_text(default: object) -> str:
    return str(default) if isinstance(default, (str, int, float)) else ""
