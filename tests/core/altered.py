"""Values changed in one place, for what reads files of others."""

from collections.abc import Iterator
from typing import Any

Place = tuple[Any, ...]
"""The keys and indices that lead to a value."""


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """Yield where something is in a value, the whole of it first."""
    yield path
    if isinstance(value, dict):
        entries = list(value.items())
    else:
        entries = list(enumerate(value)) if isinstance(value, (list, tuple)) else []
    for key, one in entries:
        yield from places(one, (*path, key))


def changed(value: Any, path: Place, new: Any) -> Any:
    """Return a copy of a value with `new` at a place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy
