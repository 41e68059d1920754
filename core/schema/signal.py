"""Signals of core: a plain list of listeners, called in the sender's thread."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Signal(Generic[T]):
    """Calls all listeners with each value sent, in the order in which they were added.

    A listener runs in the sender's thread and must return at once. One that
    raises stops the send: listeners are our own code, so that is our mistake.
    """

    def __init__(self) -> None:
        self._listeners: list[Callable[[T], None]] = []

    def connect(self, listener: Callable[[T], None]) -> None:
        self._listeners.append(listener)

    def disconnect(self, listener: Callable[[T], None]) -> None:
        """Forget `listener`; raises ValueError if it was never connected."""
        self._listeners.remove(listener)

    def send(self, value: T) -> None:
        for listener in tuple(self._listeners):
            listener(value)
