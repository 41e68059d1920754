"""Lists of a draft (pairs, contrasts) with one entry put in, changed, taken out or moved."""

from typing import TypeVar

T = TypeVar("T")


def put_in(items: tuple[T, ...], at: int, item: T) -> tuple[T, ...]:
    return (*items[:at], item, *items[at:])


def replaced(items: tuple[T, ...], at: int, item: T) -> tuple[T, ...]:
    return (*items[:at], item, *items[at + 1 :])


def taken_out(items: tuple[T, ...], at: int) -> tuple[T, ...]:
    return (*items[:at], *items[at + 1 :])


def moved_by(items: tuple[T, ...], at: int, offset: int) -> tuple[T, ...]:
    """Return them with one entry further on, or back; as they are where it would leave the list."""
    to = at + offset
    if not 0 <= to < len(items):
        return items
    return put_in(taken_out(items, at), to, items[at])
