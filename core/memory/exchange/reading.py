"""The engine that all readers of other programs' files share.

A reader says how a file is recognised, which records there are, and how the
fields of one become an exemplar. Everything else is here: fields are checked
by pydantic models, a fault is reported with its place and does not spoil the
other entries, and what is left out has its reason.
"""

import hashlib
import json
import re
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from core.memory.exchange.documents import Document, RawRecord
from core.memory.exchange.plan import Fate, PlannedEntry, ReadOptions
from core.schema.exemplar import Exemplar
from core.settings.user_file import problem
from core.trace.imports.records import FaultyError, first_reason

LONGEST = 120
_NOT_CONTENT = {"id", "source", "tags", "note", "archived", "format"}
_HALF = "it contains half a character (a surrogate)"
_KINDS = {str: "a text", dict: "an object", list: "a list", int: "a number", float: "a number"}
_KINDS |= {bool: "yes or no", type(None): "null"}
_WANTED = {"string": "a text", "list": "a list", "dict": "an object", "model": "an object"}
_WANTED |= {"float": "a number", "finite": "a number that is not infinite"}
AnyModel = TypeVar("AnyModel", bound=BaseModel)


def is_sound(text: str) -> bool:
    """Return whether no character of the text is half of one, which JSON can hold and no file can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain(value: object) -> str:
    """Return a text where it is one, and nothing else."""
    return value if isinstance(value, str) and is_sound(value) else ""


def finite(value: object) -> float | None:
    """Return a number where it is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 10**300:
        return None
    return float(value)


AnyNumber = Annotated[float | None, BeforeValidator(finite)]
"""A number, or anything else, which counts as none."""


def _sound(text: str) -> str:
    if not is_sound(text):
        raise ValueError(_HALF)
    return text


def kind_of(value: object) -> str:
    return _KINDS.get(type(value), "something else")


class Foreign(BaseModel):
    """A record of another program: the fields that are looked at, with what they must be."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", defer_build=True)


Text = Annotated[str, AfterValidator(_sound)]
MaybeText = Annotated[Text, BeforeValidator(lambda value: "" if value is None else value)]
"""A text that may be null."""
MaybeList = Annotated[list[Any], BeforeValidator(lambda value: [] if value is None else value)]
MaybeObject = Annotated[dict[str, Any], BeforeValidator(lambda value: {} if value is None else value)]
AnyObject = Annotated[dict[str, Any], BeforeValidator(lambda value: value if isinstance(value, dict) else {})]
"""An object, or anything else, which counts as an empty one."""
AnyText = Annotated[str, BeforeValidator(plain)]
"""A text, or anything else, which counts as none."""
AnyTexts = Annotated[
    list[str], BeforeValidator(lambda value: list(filter(plain, value)) if isinstance(value, list) else [])
]
"""The texts of a list; anything else counts as none."""


class LeftOutError(Exception):
    """Why an entry is no exemplar, and is not meant to be."""


class MisplacedError(FaultyError):
    """Something wrong inside an entry; `position` is where."""

    def __init__(self, position: str, inside: str, why: str) -> None:
        """`inside` is the key path from the entry at `position`."""
        is_line = position.startswith("line ")
        super().__init__(f"{inside}: {why}" if is_line and inside else why)
        self.position = position if is_line else f"{position}.{inside}".strip(".").replace(".[", "[")


def parsed(model: type[AnyModel], value: object, position: str) -> AnyModel:
    """Return the value as a model; raises MisplacedError for the first field that is missing or wrong."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if isinstance(first["input"], FaultyError):  # It stands for a value that could not be worked out.
            raise first["input"] from error
        inside = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        why = str(first["msg"]).removeprefix("Value error, ")
        if first["type"] == "missing":
            why = "it is missing"
        elif first["type"] == "literal_error":
            why = f"it must be {first['ctx']['expected']}"
        elif wanted := _WANTED.get(first["type"].partition("_")[0]):
            why = f"it must be {wanted}, not {kind_of(first['input'])}"
        raise MisplacedError(position, inside.strip("."), why) from error


class Reading:
    """What is read of one document: an entry for each exemplar, and for what is left out or faulty."""

    def __init__(self, document: Document, options: ReadOptions, label: str = "") -> None:
        """`label` stands before all places."""
        self.document = document
        self.name = document.path.stem
        self.entries: list[PlannedEntry] = []
        self._options = options
        self._label = label

    def records(self) -> Iterator[RawRecord]:
        """Give the records of the document; those that are no JSON are reported."""
        for record in self.document.records:
            if record.fault:
                self.fault(record.position, record.fault)
            else:
                yield record

    @contextmanager
    def entry(self, position: str) -> Iterator[None]:
        """Report what is raised inside as what is wrong with the entry, or as why it is left out."""
        try:
            yield
        except LeftOutError as error:
            self.leave_out(position, str(error))
        except FaultyError as error:
            place = error.position if isinstance(error, MisplacedError) else position
            self.fault(place, str(error))
        except ValidationError as error:
            self.fault(position, first_reason(error))

    def leave_out(self, position: str, why: str) -> None:
        self._report(position, "left out", why=why)

    def fault(self, position: str, why: str) -> None:
        self._report(position if is_sound(position) else repr(position), "faulty", why=why)

    def judge(self, reward: float) -> None:
        """Raise LeftOutError for a trajectory with too small a reward."""
        if not reward >= self._options.least_reward:
            raise LeftOutError(f"its reward is {reward:.3g}, less than {self._options.least_reward:g}")

    def add(
        self, position: str, values: object, remarks: Iterable[str] = (), *, has_own_id: bool = False
    ) -> None:
        """Add the exemplar of these values; raises FaultyError for values that make none."""
        try:
            exemplar = Exemplar.model_validate(values)
        except ValidationError as error:
            raise FaultyError(problem(error, Exemplar).rstrip(".")) from error
        if self._options.family:
            exemplar = exemplar.replace(family=self._options.family)
        if half := _half_character(exemplar):
            raise FaultyError(f"{half} contains half a character (a surrogate)")
        self._report(position, "new", exemplar=exemplar, remarks=tuple(remarks), has_own_id=has_own_id)

    def _report(self, position: str, fate: Fate, **values: Any) -> None:
        place = place_of(self._label, position)
        self.entries.append(PlannedEntry(position=place, fate=fate, **values))


def place_of(*parts: str) -> str:
    return ": ".join(dict.fromkeys(part for part in parts if part))


def _half_character(exemplar: Exemplar) -> str:
    """Return the key path of a text with half a character."""
    waiting: list[tuple[str, Any]] = [("", exemplar.model_dump())]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{key}" if path else str(key), part) for key, part in value.items()]
        elif isinstance(value, (list, tuple)):
            waiting += [(f"{path}[{number}]", part) for number, part in enumerate(value)]
        elif isinstance(value, str) and not is_sound(value):
            return path
    return ""


def content_of(exemplar: Exemplar) -> str:
    """Return what makes two exemplars the same, whatever they are called and wherever they came from."""
    return json.dumps(exemplar.model_dump(mode="json", exclude=_NOT_CONTENT), sort_keys=True)


def id_of(*parts: object) -> str:
    """Return an id made of these parts, such as ``synapse/book-flight/0``; what no id may hold becomes ``-``."""
    usable = (re.sub(r"[^a-z0-9._]+", "-", str(part).lower()).strip("-._") for part in parts)
    whole = "/".join(part for part in usable if part) or "exemplar"
    if len(whole) <= LONGEST:
        return whole
    # What is cut off still tells two long names apart.
    return f"{whole[: LONGEST - 9]}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def free_id(wanted: str, taken: Container[str]) -> str:
    """Return the id, with a number where it is taken."""
    number, id = 2, wanted
    while id in taken:
        id = f"{wanted[: LONGEST - 8].rstrip('/')}-{number}"
        number += 1
    return id
