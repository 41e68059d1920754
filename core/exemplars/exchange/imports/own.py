"""This program's own exemplars: JSON lines, a list of them in one document, or a single one."""

from core.exemplars.exchange.documents import Document
from core.exemplars.exchange.reading import Reading

_KEYS = {"id", "family", "task", "steps"}


def is_own(document: Document) -> bool:
    return any(len(_KEYS & set(value)) >= 3 for value in document.objects)


def read_own(reading: Reading) -> None:
    for record in reading.records():
        with reading.entry(record.position):
            reading.add(record.position, record.value, has_own_id=True)
