"""Permissible actions: the only actions allowed in this state of this page.

One list serves three readers: the LLM gets it as tool schemas, the window as
rows with numbered outlines, and the check that follows every reply and every
edit refuses what is not in it.
"""

from collections.abc import Iterable
from math import isfinite
from typing import Any, Literal

from pydantic import Field

from core.schema.action import Action, Named, RefTarget
from core.schema.argument import part_by_name, without_optional
from core.schema.observation import Ref
from core.schema.record import Record

ParameterType = Literal["string", "integer", "number", "boolean"]
OFFERED = 20
"""Values that a refusal lists at most."""


MOUSE = {"double_click": "double", "right_click": "right", "hover": "hover"}
"""Actions that a tool call writes as a click with this as its `HOW`."""
HOW = "how"
OF_ENTRIES = frozenset(
    {"name", "action", "actions", "tool_calls", "args", "arguments", "parameters", "thought"}
)
"""What entries of JSON replies have themselves: the arguments of an action with such a parameter stand apart."""


class Choice(Record):
    """One value that a parameter may take, with the words that explain it."""

    value: str
    label: str = ""
    detail: tuple[str, ...] = ()
    """What else the prompt tells of it, a line for each thing."""


class Parameter(Record):
    """An argument of a permissible action."""

    name: str
    type: ParameterType = "string"
    description: str = ""
    choices: tuple[Choice, ...] | None = None
    """The only values allowed; None if any will do."""
    choices_by_ref: dict[Ref, tuple[str, ...]] | None = None
    """For an argument whose values depend on the target: the values each target allows."""
    pattern: str = ""
    """A regular expression of the values that the schema offers; a reply is not checked by it."""
    required: bool = True
    default: bool | None = None
    """What leaving out a yes or no means here, if that is not what it means on any page."""

    def json_schema(self, *, patterns: bool = True) -> dict[str, Any]:
        """Return the JSON schema of the argument; where numbers of elements are all it takes, they say what it is."""
        schema: dict[str, Any] = {"type": self.type}
        if self.description and not (self.name == "target" and self.choices and self.type == "integer"):
            schema["description"] = self.description
        if self.default is not None:
            schema["default"] = self.default
        values = [choice.value for choice in self.choices or ()]
        if self.choices_by_ref is not None:
            values = list(dict.fromkeys(value for some in self.choices_by_ref.values() for value in some))
        if values:
            schema["enum"] = [int(value) for value in values] if self.type == "integer" else values
        elif self.pattern and patterns:
            schema["pattern"] = self.pattern
        return schema


class PermissibleAction(Record):
    """One kind of action that is allowed now, with the targets and values it allows."""

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    cannot_be_undone: bool = False
    origin: Literal["page", "state", "policy"] = "page"
    """Whether every page has it, the state it is in offers it, or it calls a policy."""

    @property
    def stands_apart(self) -> bool:
        """Whether an entry of a JSON reply has its arguments in an object of their own, ``arguments``."""
        return any(parameter.name in OF_ENTRIES for parameter in self.parameters)

    def json_schema(self, *, thinks: bool = False) -> dict[str, Any]:
        """Return the JSON schema of its arguments, as a tool's `parameters`; with `thinks`, a thought comes first."""
        thought = {"thought": {"type": "string"}} if thinks else {}
        return {
            "type": "object",
            "properties": thought
            | {parameter.name: parameter.json_schema(patterns=False) for parameter in self.parameters},
            "required": list(dict.fromkeys((*thought, *_required(self.parameters)))),
            "additionalProperties": False,
        }

    def entry_schemas(self) -> tuple[dict[str, Any], ...]:
        """Return the JSON schemas of a JSON reply's entry for it, one for each target whose values are its own."""
        if self.stands_apart:
            called = {"name": {"type": "string", "enum": [self.name]}, "arguments": self.json_schema()}
            return (
                {
                    "type": "object",
                    "properties": called,
                    "required": list(called),
                    "additionalProperties": False,
                },
            )
        return tuple(
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "enum": [self.name]},
                    **{parameter.name: parameter.json_schema() for parameter in parameters},
                },
                "required": ["name", *_required(parameters)],
                "additionalProperties": False,
            }
            for parameters in self._by_target()
        )

    def _by_target(self) -> tuple[tuple[Parameter, ...], ...]:
        """Return the parameters, once for each target where the values of another one depend on it."""
        target = self.parameter("target")
        depending = [one for one in self.parameters if one.choices_by_ref is not None]
        if target is None or not depending:
            return (self.parameters,)
        refs = dict.fromkeys(ref for one in depending for ref in one.choices_by_ref or {})

        def only(parameter: Parameter, ref: Ref) -> Parameter:
            if parameter is target:
                return parameter.replace(choices=(Choice(value=str(ref)),))
            if parameter.choices_by_ref is None:
                return parameter
            return parameter.replace(choices_by_ref={ref: parameter.choices_by_ref.get(ref, ())})

        return tuple(tuple(only(one, ref) for one in self.parameters) for ref in refs)

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @property
    def defaults(self) -> dict[str, bool]:
        """What leaving out an argument means here, if that is not what it means on any page."""
        return {
            parameter.name: parameter.default
            for parameter in self.parameters
            if parameter.default is not None
        }

    def placed(self, action: Named) -> Named:
        """Return the action with its arguments in their places; those that have their name with them go by it."""
        names = [parameter.name for parameter in self.parameters]
        by_name = [part_by_name(argument, names) for argument in action.arguments]
        values = {given.name: given.value for given in by_name if given is not None}
        free = [name for name in names if name not in values]
        others = [
            without_optional(argument)
            for argument, given in zip(action.arguments, by_name, strict=True)
            if given is None
        ]
        values |= dict(zip(free, others, strict=False))
        arguments = [values.get(name, "") for name in names]
        while arguments and not arguments[-1]:
            arguments.pop()
        return action.replace(arguments=(*arguments, *others[len(free) :]))

    def arguments(self, action: Named) -> dict[str, str]:
        """Return what `action` gives for each argument, by its name; what is left out is not in it."""
        given = zip(self.parameters, action.arguments, strict=False)
        return {parameter.name: value for parameter, value in given if value}


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
    """The actions that are permissible now."""

    actions: tuple[PermissibleAction, ...] = ()
    left_out: int = 0
    """Usable elements beyond the cap, which the prompt says."""
    not_now: dict[str, str] = Field(default_factory=dict)
    """Why policies that could be called otherwise cannot be called now, by their names."""

    def action(self, name: str) -> PermissibleAction | None:
        return next((action for action in self.actions if action.name == name), None)

    def meant(self, action: Action) -> Action:
        """Return a written action with what leaving out an argument means here."""
        allowed = self.action(action.name)
        if allowed is None:
            return action
        left_out: dict[str, Any] = {
            name: is_on for name, is_on in allowed.defaults.items() if name not in action.model_fields_set
        }
        return action.replace(**left_out) if left_out else action

    def written(self, action: Action) -> str:
        """Return an action as text that means here what it means on any page."""
        allowed = self.action(action.name)
        text = str(action)
        for name in allowed.defaults if allowed is not None else ():
            if getattr(action, name) == type(action).model_fields[name].default:
                text += f" [{name}={int(getattr(action, name))}]"
        return text

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names of actions that not every page has: what the state offers, and policies, also those not now."""
        return (*(action.name for action in self.actions if action.origin != "page"), *self.not_now)

    def as_tools(self) -> tuple[PermissibleAction, ...]:
        """Return the actions as they are offered as tools: what the mouse does with the same elements is one tool.

        A tool lists all elements that it takes; of a long page, four equal lists would be most of the prompt.
        """
        click = self.action("click")
        target = click.parameter("target") if click is not None else None
        ways = {
            MOUSE[one.name]: one
            for one in self.actions
            if one.name in MOUSE and target is not None and one.parameter("target") == target
        }
        if click is None or not ways or click.parameter("keys") is not None:
            return self.actions
        how = Parameter(
            name=HOW,
            description="If not a plain click; hover only moves the mouse there.",
            choices=tuple(map(Choice.model_validate, ({"value": way} for way in ways))),
            required=False,
        )
        merged = click.replace(parameters=(*click.parameters, how))
        return tuple(merged if one is click else one for one in self.actions if one not in ways.values())

    def reply_schema(self, most: int | None = None, *, thinks: bool = True) -> dict[str, Any]:
        """Return the JSON schema of a reply in JSON: a thought, and one action or up to `most` (None: any number)."""
        entries = [schema for action in self.actions for schema in action.entry_schemas()]
        actions: dict[str, Any] = {"type": "array", "items": {"anyOf": entries}, "minItems": 1}
        if most is not None:
            actions["maxItems"] = most
        return {
            "type": "object",
            "properties": {**({"thought": {"type": "string"}} if thinks else {}), "actions": actions},
            "required": [*(("thought",) if thinks else ()), "actions"],
            "additionalProperties": False,
        }

    def rows(self) -> tuple[PermissibleRow, ...]:
        """Return one row per action and target, actions in order, targets in page order.

        An action with a name of its own whose one required argument has
        choices is a row for each of them.
        """
        rows: list[PermissibleRow] = []
        for action in self.actions:
            if action.origin != "page":
                rows.extend(_own_rows(action))
                continue
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
        allowed = self.action(action.name)
        if allowed is None:
            if why := self.not_now.get(action.name):
                return why
            names = ", ".join(one.name for one in self.actions)
            return f"{action.name} is not permissible here; permissible are: {names}."
        if isinstance(action, Named):
            return _problem_of_named(action, allowed)
        for name in (*action.fields, *action.options):
            if problem := _problem_of(action, name, allowed.parameter(name)):
                return problem
        return None


def _required(parameters: Iterable[Parameter]) -> list[str]:
    return [parameter.name for parameter in parameters if parameter.required]


def _own_rows(action: PermissibleAction) -> tuple[PermissibleRow, ...]:
    """Return the rows of an action with a name of its own."""

    def row(label: str, *arguments: str) -> PermissibleRow:
        return PermissibleRow(
            name=action.name,
            label=label,
            text=str(Named(name=action.name, arguments=arguments)),
            cannot_be_undone=action.cannot_be_undone,
        )

    required = [parameter for parameter in action.parameters if parameter.required]
    first = action.parameters[0] if action.parameters else None
    if first is not None and required == [first] and first.choices:
        return tuple(row(f"{choice.value} {choice.label}".strip(), choice.value) for choice in first.choices)
    return (row(action.description, *("" for _ in required)),)


def _problem_of_named(action: Named, allowed: PermissibleAction) -> str | None:
    """Return why the arguments are not those that the permissible action takes, each in its place."""
    if len(action.arguments) > len(allowed.parameters):
        takes = ", ".join(parameter.name for parameter in allowed.parameters) or "no arguments"
        return f"{action.name} has too many arguments: it takes {takes}."
    for place, parameter in enumerate(allowed.parameters):
        value = action.arguments[place] if place < len(action.arguments) else ""
        if not value.strip():
            if parameter.required:
                return f"{action.name} lacks {parameter.name}; give it."
            continue
        if parameter.choices is not None and value not in (choice.value for choice in parameter.choices):
            return _not_on_offer(value, parameter.name, [choice.value for choice in parameter.choices])
        if parameter.type in ("integer", "number") and not _is_number(value, parameter.type):
            wanted = "a whole number" if parameter.type == "integer" else "a number"
            return f'{action.name} wants {wanted} as its {parameter.name}, not "{value}".'
        if parameter.type == "boolean" and value not in ("true", "false"):
            return f'{action.name} wants true or false as its {parameter.name}, not "{value}".'
    return None


def _is_number(value: str, wanted: ParameterType) -> bool:
    # Python also reads 1_000 and the digits of other scripts.
    try:
        number = int(value) if wanted == "integer" else float(value)
        return value.isascii() and "_" not in value and isfinite(number)
    except (ValueError, OverflowError):
        return False


def _not_on_offer(value: object, name: str, values: list[str]) -> str:
    offered = " | ".join(values[:OFFERED]) + (" | …" if len(values) > OFFERED else "")
    return f'"{value}" is not on offer for {name}; there are: {offered or "none"}.'


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
        return _not_on_offer(value, name, values)
    return None


def _problem_of_target(kind: str, name: str, target: object, parameter: Parameter) -> str | None:
    if not isinstance(target, RefTarget):
        if parameter.type == "integer":
            return f'{kind} wants the number of an element as its {name}, not "{target}".'
        return None
    if parameter.choices is None or any(choice.value == str(target.ref) for choice in parameter.choices):
        return None
    return f"{kind} is not permissible on [{target.ref}]; choose one of its listed targets."
