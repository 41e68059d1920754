"""The fields of the action form: one widget for each kind of argument."""

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, QStringListModel, Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QCompleter, QLineEdit, QWidget

from core.schema.action_space import Parameter
from core.schema.element_identity import called
from core.schema.observation import Element, Ref
from gui.theme.theme import Theme
from gui.widgets.layouts import in_row
from gui.widgets.words import labelled, set_flag

_NUMBERED = re.compile(r"\s*\[(\d+)\]")


class Field(QWidget):
    """One argument; `value` is its text as written in an action's brackets."""

    changed = Signal()

    parameter: Parameter
    """The argument that it edits."""

    def __init__(self, editor: QWidget) -> None:
        super().__init__()
        self._editor = editor
        in_row(self, editor)
        self.setFocusProxy(editor)

    def take(self, parameter: Parameter, elements: Sequence[Element]) -> None:
        """Edit an argument of a page with these elements; the caller sets the value afterwards."""
        self.parameter = parameter
        labelled(self._editor, parameter.name, parameter.description)

    @property
    @abstractmethod
    def value(self) -> str | bool:
        """The field's content as written in the action's text."""

    @abstractmethod
    def show_value(self, value: str | bool) -> None:
        """Set the content to `value` without emitting a change."""

    def show_wrong(self, wrong: bool) -> None:
        """Frame the field if it is invalid."""
        set_flag(self._editor, "wrong", wrong)


class TextField(Field):
    """Free text."""

    def __init__(self, theme: Theme) -> None:
        self.edit = QLineEdit()
        super().__init__(self.edit)
        self.edit.setFont(theme.machine_font())
        self.edit.textEdited.connect(lambda _text: self.changed.emit())

    def take(self, parameter: Parameter, elements: Sequence[Element]) -> None:
        super().take(parameter, elements)
        self.edit.setPlaceholderText(parameter.description or parameter.name)

    @property
    def value(self) -> str:
        return self.edit.text()

    def show_value(self, value: str | bool) -> None:
        if self.edit.text() != str(value):
            self.edit.setText(str(value))


class FlagField(Field):
    """Yes or no."""

    def __init__(self, _theme: Theme) -> None:
        self.check = QCheckBox()
        super().__init__(self.check)
        self.check.clicked.connect(lambda _on: self.changed.emit())

    def take(self, parameter: Parameter, elements: Sequence[Element]) -> None:
        super().take(parameter, elements)
        self.check.setText(parameter.description or parameter.name)

    @property
    def value(self) -> bool:
        return self.check.isChecked()

    def show_value(self, value: str | bool) -> None:
        self.check.setChecked(value is True or str(value).lower() in ("1", "true"))


class ChoiceBox(QComboBox):
    """A combo box for typing and searching. It fits the available space and leaves the mouse wheel to the panel."""

    def __init__(self) -> None:
        super().__init__()
        self.line = QLineEdit(self)
        self.setLineEdit(self.line)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.setMaxVisibleItems(16)
        self._texts = QStringListModel(self)
        self.setModel(self._texts)
        completer = QCompleter(self._texts, self, filterMode=Qt.MatchFlag.MatchContains, maxVisibleItems=12)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)

    def show_texts(self, texts: Sequence[str]) -> None:
        if self._texts.stringList() != list(texts):
            kept = self.currentText()
            with QSignalBlocker(self):
                self._texts.setStringList(list(texts))
                self.setEditText(kept)

    def begin_anew(self, texts: Sequence[str]) -> None:
        """Offer these texts, with none of them chosen, without emitting a change."""
        with QSignalBlocker(self):
            self.setEditText("")
        self.show_texts(texts)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class ChoiceField(Field):
    """One of several values, which may depend on the target."""

    def __init__(self, theme: Theme) -> None:
        self.box = ChoiceBox()
        super().__init__(self.box)
        self.box.setFont(theme.machine_font())
        self.box.editTextChanged.connect(lambda _text: self.changed.emit())

    def take(self, parameter: Parameter, elements: Sequence[Element]) -> None:
        super().take(parameter, elements)
        self.box.begin_anew([choice.value for choice in parameter.choices or ()])

    @property
    def value(self) -> str:
        return self.box.currentText()

    def show_value(self, value: str | bool) -> None:
        if self.box.currentText() != str(value):
            with QSignalBlocker(self.box):
                self.box.setEditText(str(value))

    def show_target(self, ref: Ref | None) -> None:
        """Offer the values that this target allows, if the choice depends on it."""
        allowed = self.parameter.choices_by_ref
        if allowed is not None:
            self.box.show_texts(allowed.get(ref, ()) if ref is not None else ())


class TargetField(Field):
    """The element to act on: a number, chosen by its text, or any target written in full."""

    def __init__(self, theme: Theme) -> None:
        self.box = ChoiceBox()
        super().__init__(self.box)
        self.box.setFont(theme.machine_font())
        self.box.line.setPlaceholderText("number, role and name, xpath=… or focus")
        self._entries: dict[str, str] = {}
        """The entry of each number, including those that are not offered."""
        self.box.editTextChanged.connect(lambda _text: self.changed.emit())

    def take(self, parameter: Parameter, elements: Sequence[Element]) -> None:
        super().take(parameter, elements)
        self._entries = {str(element.ref): _entry(element.ref, called(element)) for element in elements}
        if parameter.choices is None:
            offered = [self._entries[str(element.ref)] for element in elements if element.usable]
        else:
            self._entries |= {
                choice.value: _entry(choice.value, choice.label) for choice in parameter.choices
            }
            offered = [self._entries[choice.value] for choice in parameter.choices]
        self.box.begin_anew(offered)

    @property
    def value(self) -> str:
        text = self.box.currentText()
        match = _NUMBERED.match(text)
        return match[1] if match else text.strip()

    @property
    def ref(self) -> Ref | None:
        return int(self.value) if self.value.isascii() and self.value.isdigit() else None

    def show_value(self, value: str | bool) -> None:
        if self.value == str(value) and self.box.currentText():
            return
        with QSignalBlocker(self.box):
            self.box.setEditText(self._entries.get(str(value), str(value)))
        self.box.line.setCursorPosition(0)


def _entry(ref: Ref | str, label: str) -> str:
    return f"[{ref}] {label}".replace("\n", " ").rstrip()


def field_class(parameter: Parameter) -> Callable[[Theme], Field]:
    """Return the kind of field that fits an argument."""
    if parameter.name in ("target", "to"):
        return TargetField
    if parameter.type == "boolean":
        return FlagField
    if parameter.choices is not None or parameter.choices_by_ref is not None:
        return ChoiceField
    return TextField
