"""Completion in an editor: the words of a file, made from its schema and from what is loaded, and which of them fit."""

import re
import types
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from core.debugger.breakpoints.names import Completion, help_of, in_quotes
from core.schema.action import ACTIONS
from core.schema.action_text import usage
from core.schema.exemplar import Draft

if TYPE_CHECKING:
    from core.agent.resources import AgentResources

_FAR = 1000
"""Characters before the cursor that are looked at in its line."""
_BEGUN = re.compile(r"[\w./-]*\Z")
_HEADER = re.compile(r"^[ \t]*\[\[?[ \t]*([A-Za-z_][\w.-]*)[ \t]*\]\]?[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"^[ \t]*([\w.-]+)[ \t]*=", re.MULTILINE)
_NAME = re.compile(r"^[ \t]*name[ \t]*=[ \t]*[\"'](\w+)[\"']", re.MULTILINE)
_LONG = re.compile(r"\"\"\"|'''")
_FRONT = re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE)


class Word(Completion):
    """A word that can be completed in some place of a text."""

    at: str = ""
    """Of a key: its table, such as ``state.action``. Of a value: the key that it is for, with or without its table;
    empty for any."""


# The words of a text


@cache
def keys_of(model: type[BaseModel], table: str = "") -> tuple[Word, ...]:
    """Return the keys of a TOML file and of its tables, and the values of those with a fixed choice."""
    return tuple(_keys(model, table))


def _keys(model: type[BaseModel], table: str) -> Iterator[Word]:
    helps = help_of(model)
    for name, field in model.model_fields.items():
        words = " ".join(helps.get(name, "").replace("``", "").split())
        yield Word(name=name, kind="key", doc=words, at=table)
        path = f"{table}.{name}" if table else name
        for part, inside in _parts(field.annotation, path):
            if get_origin(inside) is Literal:
                choices = (choice for choice in get_args(inside) if isinstance(choice, str))
                yield from _values(choices, f"A value of {name}.", part)
            else:
                yield from keys_of(inside, part)


def _parts(annotation: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the models and fixed choices in an annotation, each with its path."""
    origin = get_origin(annotation)
    if origin is Literal or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        yield path, annotation
    elif origin is dict:
        yield from _parts(get_args(annotation)[1], f"{path}.*")
    elif origin in (Annotated, Union, types.UnionType, tuple):
        for argument in get_args(annotation)[: 1 if origin is Annotated else None]:
            yield from _parts(argument, path)


def _values(names: Iterable[str], doc: str, at: str = "") -> tuple[Word, ...]:
    return tuple(Word(name=name, kind="value", doc=doc, at=at) for name in names if name)


def words_of_actions(names: Iterable[str] = ACTIONS, at: str = "") -> tuple[Word, ...]:
    """Return the names of actions, each with how it is written if any page has it."""
    told = {name: usage(name) if name in ACTIONS else "An action of this step." for name in names}
    return tuple(Word(name=name, kind="value", doc=doc, at=at) for name, doc in told.items())


def words_of_exemplar(families: Iterable[str]) -> tuple[Word, ...]:
    """Return the words of an exemplar."""
    actions = (word for key in ("actions", "tried", "right") for word in words_of_actions(at=key))
    return (*keys_of(Draft), *actions, *_values(families, "A family of the library.", "family"))


def words_of_file(kind: str, text: str, resources: "AgentResources") -> tuple[Word, ...]:
    """Return the words of a file of an agent, by the folder of its kind."""
    # The window, which needs the rest of this module, starts without the agent.
    from core.agent.policies.file import EXAMPLE_PARTS, SECTIONS, PolicyHead
    from core.agent.presets import ANY_SPACE, PresetFile
    from core.agent.prompts import VALUES
    from core.agent.spaces.file import SpaceFile

    match kind:
        case "policies":
            policies = _values(sorted(resources.policies.callable_names()), "A policy.", "policies")
            heads = [("# ", SECTIONS), ("### ", EXAMPLE_PARTS)]
            return (
                *keys_of(PolicyHead),
                Word(name="permitted", kind="function", doc="Whether an action is permissible."),
                *words_of_actions(at="actions"),
                *policies,
                *(Word(name=name, kind="heading", at=mark) for mark, names in heads for name in names),
            )
        case "presets":
            spaces = (*ANY_SPACE, *resources.spaces.names())
            return (
                *keys_of(PresetFile),
                *_values(spaces, "A state space.", "space"),
                *_values(sorted(resources.policies.callable_names()), "A policy.", "policies.top"),
                *_values(resources.prompts.names(), "A prompt.", "prompts.*"),
                *words_of_actions(at="actions"),
            )
        case "state_spaces":
            own = _values(dict.fromkeys(_NAME.findall(text)), "A name in this file.")
            return (*keys_of(SpaceFile), *own, *words_of_actions(at="does"))
        case "prompts":
            functions = (Word(name=name, kind="function", doc="A function.") for name in ("usage", "written"))
            values = (Word(name=name, kind="variable", doc="A value of prompts.") for name in VALUES)
            return (*values, *functions, *_values(resources.prompts.names(), "A prompt."))
    return ()


# Which of them fit


def fitting(words: Iterable[Word], language: str, before: str, *, asked: bool = False) -> tuple[Word, ...]:
    """Return the words that may stand at the end of `before` and begin with what is written there.

    With nothing written, and in the prose of Markdown, only if the person has `asked`.
    """
    line = before[before.rfind("\n") + 1 :][-_FAR:]
    begun = _BEGUN.findall(line)[0]
    if not begun and not asked:
        return ()
    if language == "markdown" and len(_FRONT.findall(before)) == 1:
        language = "toml"
    fits: Iterable[Word]
    match language:
        case "toml":
            fits = _of_toml(words, before, line)
        case "jinja" | "markdown":
            fits = _of_template(words, before, line, asked=asked)
        case _:
            fits = words if line == begun else ()
    start = begun.casefold()
    found = tuple(word for word in fits if word.name.casefold().startswith(start))
    return found if any(word.name != begun for word in found) else ()


def _of_toml(words: Iterable[Word], before: str, line: str) -> Iterator[Word]:
    """Yield what fits in TOML: keys where a line begins, tables after a bracket, values in quotes."""
    if len(_LONG.findall(before)) % 2:
        return
    headers = _HEADER.findall(before[: len(before) - len(line)])
    table = headers[-1] if headers else ""
    if re.fullmatch(r"[ \t]*[\w-]*", line):
        yield from (word for word in words if word.kind == "key" and fnmatchcase(table, word.at))
    elif re.fullmatch(r"[ \t]*\[\[?[\w.-]*", line):
        tables = dict.fromkeys(word.at for word in words if word.kind == "key" and word.at)
        yield from (Word(name=name, kind="key", doc="A table.") for name in tables if "*" not in name)
    elif in_quotes(line) and (keys := _KEY.findall(before)):
        path = f"{table}.{keys[-1]}" if table else keys[-1]
        for word in words:
            if word.kind == "value" and (word.at in ("", keys[-1]) or fnmatchcase(path, word.at)):
                yield word


def _of_template(words: Iterable[Word], before: str, line: str, *, asked: bool) -> Iterator[Word]:
    """Yield what fits in a prompt or a policy: headings, what a Jinja tag may name, and names in prose."""
    if heading := re.fullmatch(r"(#+ )[\w-]*", line):
        yield from (word for word in words if word.kind == "heading" and word.at == heading[1])
        return
    opened = max(before.rfind("{{"), before.rfind("{%"))
    if opened > max(before.rfind("}}"), before.rfind("%}"), before.rfind("{#")):
        kinds = ("value",) if in_quotes(before[opened:]) else ("variable", "function")
        yield from (word for word in words if word.kind in kinds and word.at in ("", "actions"))
    elif asked:
        yield from (word for word in words if word.kind == "value" and word.at)
