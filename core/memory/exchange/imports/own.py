"""This program's own JSON lines; a list of the same objects in one JSON document is read too."""

import json
from collections.abc import Iterator
from typing import Any

from core.memory.exchange.records import Candidate, Document, Reading, ReadOptions
from core.memory.files import exemplar_of
from core.schema.errors import DataError
from core.trace.imports.records import FileEntry

_KEYS = {"id", "family", "task", "steps"}


def is_own(document: Document) -> bool:
    values = document.value if isinstance(document.value, list) else [one.value for one in document.lines]
    return any(isinstance(one, dict) and len(_KEYS & set(one)) >= 3 for one in values)


def read_own(document: Document, beside: Document | None, options: ReadOptions) -> Reading:
    """Read the exemplars; each line stands or falls alone."""
    found: list[Candidate] = []
    faulty: list[FileEntry] = []
    for position, text, fault in _entries(document):
        if fault:
            faulty.append(FileEntry(position=position, why=fault))
            continue
        try:
            exemplar = exemplar_of(text, position)
        except DataError as error:
            why = str(error).removeprefix(f"{position}: ").rstrip(".")
            faulty.append(FileEntry(position=position, why=why))
            continue
        if options.family:
            exemplar = exemplar.replace(family=options.family)
        found.append(Candidate(position=position, exemplar=exemplar, has_own_id=True))
    return Reading(candidates=tuple(found), faulty=tuple(faulty))


def _entries(document: Document) -> Iterator[tuple[str, str, str]]:
    for line in document.lines:
        yield f"line {line.number}", line.text, line.fault
    values: list[Any] = document.value if isinstance(document.value, list) else []
    for number, value in enumerate(values):
        yield f"[{number}]", json.dumps(value), ""
