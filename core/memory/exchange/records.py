"""What was read of a foreign file: exemplars with their places, what was left out, and what is wrong."""

import json
from typing import Any

from pydantic import Field, ValidationError

from core.memory.exchange.values import is_sound
from core.schema.exemplar import Exemplar
from core.schema.record import Record
from core.settings.user_file import problem
from core.trace.imports.records import FaultyError, FileEntry

_NOT_CONTENT = {"id", "source", "tags", "note", "archived", "format"}


class ReadOptions(Record):
    """What whoever imports may choose."""

    family: str = ""
    """Given to all in place of their own."""
    least_reward: float = Field(default=1.0, allow_inf_nan=False)
    """What a trajectory that was judged must have got, to be an exemplar."""


class Candidate(Record):
    """An exemplar as a file has it."""

    position: str
    """Where it stands, such as ``book-flight.demo[2]`` or ``line 7``."""
    exemplar: Exemplar
    remarks: tuple[str, ...] = ()
    """What could not be said in this program's words, a sentence each."""
    has_own_id: bool = False
    """Whether the file itself gives the id; otherwise it was made up and may be changed."""


class Reading(Record):
    """All that was read of one file or folder."""

    candidates: tuple[Candidate, ...] = ()
    left_out: tuple[FileEntry, ...] = ()
    """Entries that are no exemplars, and are not meant to be."""
    faulty: tuple[FileEntry, ...] = ()
    """Entries that cannot be read; the others do not suffer."""


def content_of(exemplar: Exemplar) -> str:
    """Return what makes two exemplars the same, whatever they are called and wherever they came from."""
    return json.dumps(exemplar.model_dump(mode="json", exclude=_NOT_CONTENT), sort_keys=True)


def half_character(exemplar: Exemplar) -> str:
    """Return the key path of a text with half a character (a surrogate), which JSON can hold and no file can."""
    waiting: list[tuple[str, Any]] = [("", exemplar.model_dump())]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{key}" if path else str(key), one) for key, one in value.items()]
        elif isinstance(value, (list, tuple)):
            waiting += [(f"{path}[{number}]", one) for number, one in enumerate(value)]
        elif isinstance(value, str) and not is_sound(value):
            return path
    return ""


def made_exemplar(**values: Any) -> Exemplar:
    """Return the exemplar; raises FaultyError, in words that go after its position, for values that make none."""
    try:
        return Exemplar.model_validate(values)
    except ValidationError as error:
        raise FaultyError(problem(error, Exemplar).rstrip(".")) from error
