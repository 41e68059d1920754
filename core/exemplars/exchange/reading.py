"""The engine that all readers of other programs' files share.

A reader says how a file is recognised, which records there are, and how the
fields of one become an exemplar. Everything else is here: fields are checked
by pydantic models, a fault is reported with its place and does not spoil the
other entries, and what is left out has its reason.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from core.exemplars.exchange.documents import Document, RawRecord
from core.exemplars.exchange.foreign import MisplacedError, is_sound
from core.exemplars.exchange.plan import Fate, PlannedEntry, ReadOptions
from core.exemplars.files import LONGEST_ID
from core.schema.exemplar import FOR_PEOPLE, Exemplar
from core.settings.user_file import problem
from core.trace.imports.records import FaultyError, first_reason

_NOT_CONTENT = {"id", "source", "review", "format", *FOR_PEOPLE}


class LeftOutError(Exception):
    """Why an entry is no exemplar, and is not meant to be."""


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
    if len(whole) <= LONGEST_ID:
        return whole
    # What is cut off still tells two long names apart.
    return f"{whole[: LONGEST_ID - 9]}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"
