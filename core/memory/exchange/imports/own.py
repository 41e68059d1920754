"""This program's own exemplars: JSON lines, a list of them in one document, or a single one."""

from core.memory.exchange.documents import Document
from core.memory.exchange.reading import Reading

_KEYS = {"id", "family", "task", "steps"}


def is_own(document: Document) -> bool:
    return any(len(_KEYS & set(one)) >= 3 for one in document.objects)


def read_own(reading: Reading) -> None:
    for entry in reading.records():
        with reading.entry(entry.position):
            reading.add(entry.position, entry.value, has_own_id=True)
