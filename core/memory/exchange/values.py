"""Parts of foreign documents, taken out with a check: what is wrong is told with its place in the file."""

from typing import Any

from core.trace.imports.records import FaultyError

_KINDS = {
    str: "a text",
    dict: "an object",
    list: "a list",
    int: "a number",
    float: "a number",
    bool: "yes or no",
}


class MisplacedError(FaultyError):
    """Something wrong at a place inside an entry; `position` is that place."""

    def __init__(self, position: str, why: str) -> None:
        super().__init__(why)
        self.position = position


def text_at(values: dict[str, Any], name: str, position: str, *, without: str | None = None) -> str:
    """Return a text; `without` is what a missing one is, where it may be missing. Raises MisplacedError."""
    found = values.get(name)
    if found is None and without is not None:
        return without
    if not isinstance(found, str):
        why = "is missing" if name not in values else f"has to be a text, not {kind_of(found)}"
        raise MisplacedError(f"{position}.{name}" if position else name, f"it {why}")
    if not is_sound(found):
        raise MisplacedError(
            f"{position}.{name}" if position else name, "it holds half a character (a surrogate)"
        )
    return found


def list_at(values: dict[str, Any], name: str, position: str, *, optional: bool = False) -> list[Any]:
    """Return a list; raises MisplacedError."""
    found = values.get(name)
    if found is None and optional:
        return []
    if not isinstance(found, list):
        why = "is missing" if name not in values else f"has to be a list, not {kind_of(found)}"
        raise MisplacedError(f"{position}.{name}" if position else name, f"it {why}")
    return found


def object_of(value: object, position: str) -> dict[str, Any]:
    """Return an object; raises MisplacedError."""
    if not isinstance(value, dict):
        raise MisplacedError(position, f"it has to be an object, not {kind_of(value)}")
    return value


def kind_of(value: object) -> str:
    return "null" if value is None else _KINDS.get(type(value), "something else")


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


def cut(text: str, length: int = 80) -> str:
    """Return the text in one line, cut."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
