"""The base of all breakpoints: common fields, labels, and how texts are compared."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum, auto
from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field
from pydantic.fields import FieldInfo

from core.debugger.breakpoints.debug_event import DebugEvent
from core.debugger.breakpoints.expression import compile_expression, is_true
from core.debugger.breakpoints.subject import SubjectOf
from core.schema import formats
from core.schema.record import Record

_LONGEST = 300
"""Characters of a text that a sentence quotes."""


class TextKind(Enum):
    """How a text field of a breakpoint is read; an empty one matches everything."""

    NAME = auto()
    """A whole name, or a glob such as ``buy_*``."""
    PART = auto()
    """Looked for within the text, unless it holds ``*`` or ``?``."""
    EXPRESSION = auto()


Name: TypeAlias = Annotated[str, TextKind.NAME]
Part: TypeAlias = Annotated[str, TextKind.PART]
Expression: TypeAlias = Annotated[str, TextKind.EXPRESSION, Field(min_length=1)]
Limit: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class ChoiceWords:
    """The labels of a field's choices, if they differ from the values."""

    words: dict[Any, str]


class Breakpoint(Record, ABC):
    """A place to stop a run. A kind is a subclass with its fields, its test and its label.

    The window builds the editor of a kind from the class: from `title` and the docstring, and for each field
    from its annotation, title and description.
    """

    title: ClassVar[str]
    """What lists call the kind."""

    kind: str
    number: int = 0
    """Given by the list that it is added to."""
    enabled: bool = True
    then: Literal["stop", "log"] = "stop"
    condition: str = ""
    """A condition that must also be true. Optional."""
    ignore: int = Field(default=0, ge=0)
    """How many hits of each run are let pass before it stops."""

    @abstractmethod
    def label(self) -> str:
        """Return in words what it stops at, such as ``state item is entered``, without the condition."""

    @abstractmethod
    def hits(self, event: DebugEvent) -> str | None:
        """Return in a sentence why it hits at the event, or None if it does not.

        `enabled`, `condition` and `ignore` are not looked at. An occurrence
        hits once, at one event. Raises UsageError if an expression fails.
        """

    def reason(self, event: DebugEvent) -> str | None:
        """Return what `hits` does, or None if the condition is not true. Raises UsageError as `hits`."""
        sentence = self.hits(event)
        if sentence is None or not self.condition:
            return sentence
        return sentence if is_true(compile_expression(self.condition), SubjectOf(event)) else None

    @classmethod
    def own_fields(cls) -> dict[str, FieldInfo]:
        """Return the fields that the kind has besides those of every breakpoint."""
        return {name: one for name, one in cls.model_fields.items() if name not in Breakpoint.model_fields}

    @property
    def expressions(self) -> tuple[str, ...]:
        """The expressions that it holds, its own first."""
        own = [getattr(self, name) for name, one in self.own_fields().items() if is_expression(one)]
        return (*own, self.condition) if self.condition else tuple(own)


def is_expression(field: FieldInfo) -> bool:
    return TextKind.EXPRESSION in field.metadata


def fits(pattern: str, text: str, *, whole: bool = False) -> bool:
    """Return whether the text fits: the same where `whole`, else within it, or as a glob; case does not count."""
    if not pattern:
        return True
    wanted, given = pattern.casefold(), text.casefold()
    if "*" in wanted or "?" in wanted:
        return fnmatchcase(given, wanted.replace("[", "[[]"))
    return wanted == given if whole else wanted in given


def cut(text: str) -> str:
    """Return the text in one line, cut where it is long."""
    return formats.cut(" ".join(text.split()), _LONGEST)
