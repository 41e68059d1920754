"""Permissible actions: what may be done in this state of this page, and nothing else.

One list serves three readers: the LLM gets it as tool schemas, the window as
rows with numbered outlines, and the check that follows every reply and every
edit refuses what is not in it.
"""

from typing import Any, Literal

from core.action import Action, RefTarget
from core.model import Record
from core.observation import Ref

ParameterType = Literal["string", "integer", "number", "boolean"]
OFFERED = 20
"""Values that a refusal lists at the most."""


class Choice(Record):
    """One value that a parameter may take, with the words that explain it."""

    value: str
    label: str = ""


class Parameter(Record):
    """An argument of a permissible action."""

    name: str
    type: ParameterType = "string"
    description: str = ""
    choices: tuple[Choice, ...] | None = None
    """The only values allowed; None where any will do."""
    choices_by_ref: dict[Ref, tuple[str, ...]] | None = None
    """For an argument whose values depend on the target: the values each target allows."""
    required: bool = True

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the argument."""
        schema: dict[str, Any] = {"type": self.type}
        if self.description:
            schema["description"] = self.description
        values = [choice.value for choice in self.choices or ()]
        if self.choices_by_ref is not None:
            values = list(dict.fromkeys(value for some in self.choices_by_ref.values() for value in some))
        if values:
            schema["enum"] = [int(value) for value in values] if self.type == "integer" else values
        return schema


class PermissibleAction(Record):
    """One kind of action that is allowed now, with the targets and values it allows."""

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    cannot_be_undone: bool = False

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of its arguments, as a tool's `parameters`."""
        return {
            "type": "object",
            "properties": {parameter.name: parameter.json_schema() for parameter in self.parameters},
            "required": [parameter.name for parameter in self.parameters if parameter.required],
            "additionalProperties": False,
        }

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


class PermissibleRow(Record):
    """One line of the list a person chooses from: an action with its target filled in."""

    name: str
    ref: Ref | None = None
    label: str = ""
    """What it acts on, such as ``button "Save"``."""
    text: str
    """The action as text; parts still to be given are empty brackets."""
    cannot_be_undone: bool = False


class Permissible(Record):
    """Everything that may be done now."""

    actions: tuple[PermissibleAction, ...] = ()
    left_out: int = 0
    """Usable elements beyond the cap, which the prompt says."""

    def action(self, name: str) -> PermissibleAction | None:
        return next((action for action in self.actions if action.name == name), None)

    def rows(self) -> tuple[PermissibleRow, ...]:
        """Return one row per action and target, actions in order, targets in page order."""
        rows: list[PermissibleRow] = []
        for action in self.actions:
            target = action.parameter("target")
            others = sum(1 for p in action.parameters if p.required and p.name != "target")
            blanks = " []" * others
            if target is None or target.choices is None:
                rows.append(
                    PermissibleRow(
                        name=action.name,
                        label=action.description,
                        text=action.name + blanks,
                        cannot_be_undone=action.cannot_be_undone,
                    )
                )
                continue
            rows.extend(
                PermissibleRow(
                    name=action.name,
                    ref=int(choice.value),
                    label=choice.label,
                    text=f"{action.name} [{choice.value}]{blanks}",
                    cannot_be_undone=action.cannot_be_undone,
                )
                for choice in target.choices
            )
        return tuple(rows)

    def problem(self, action: Action) -> str | None:
        """Return why `action` is not permissible, in a sentence for the LLM, or None if it is."""
        allowed = self.action(action.kind)
        if allowed is None:
            names = ", ".join(one.name for one in self.actions)
            return f"{action.kind} is not permissible here; permissible are: {names}."
        for name in (*action.fields, *action.flags):
            if problem := _problem_of(action, name, allowed.parameter(name)):
                return problem
        return None


def _problem_of(action: Action, name: str, parameter: Parameter | None) -> str | None:
    """Return why what the action has under `name` is not among the values that are allowed."""
    value = getattr(action, name)
    if parameter is None:
        default = type(action).model_fields[name].default
        return f"{action.kind} takes no {name} here." if value not in (None, default) else None
    if value is None:
        return None
    if name in ("target", "to"):
        return _problem_of_target(action.kind, name, value, parameter)
    values = None if parameter.choices is None else [choice.value for choice in parameter.choices]
    target = getattr(action, "target", None)
    if parameter.choices_by_ref is not None and isinstance(target, RefTarget):
        values = list(parameter.choices_by_ref.get(target.ref, ()))
    if values is not None and str(value) not in values:
        offered = " | ".join(values[:OFFERED]) + (" | …" if len(values) > OFFERED else "")
        return f'"{value}" is not on offer for {name}; there are: {offered or "none"}.'
    return None


def _problem_of_target(kind: str, name: str, target: object, parameter: Parameter) -> str | None:
    if not isinstance(target, RefTarget):
        if parameter.type == "integer":
            return f'{kind} wants the number of an element as its {name}, not "{target}".'
        return None
    if parameter.choices is None or any(choice.value == str(target.ref) for choice in parameter.choices):
        return None
    return f"{kind} is not permissible on [{target.ref}]; choose one of its listed targets."
