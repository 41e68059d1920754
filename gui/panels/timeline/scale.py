"""The line of time as it is drawn: seconds to pixels, with waits folded, zoomed and moved."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

_WAITS = 0.22
"""What part of the bar the folded waits take at most, all together."""
_CLOSEST = 4000.0
"""Pixels of a second at the closest zoom."""


class FoldedWait(NamedTuple):
    begun: float
    ended: float


class _Piece(NamedTuple):
    time: float
    length: float
    at: float
    """In units of the bar: seconds, where they are not folded."""
    width: float


class TimeScale:
    """Where each moment lies in a bar of a width; waits are drawn short while they are folded."""

    def __init__(self) -> None:
        self._begun = self._ended = 0.0
        self._waits: tuple[FoldedWait, ...] = ()
        self._folded = True
        self._pieces: list[_Piece] = []
        self._times: list[float] = []
        self._places: list[float] = []
        self._units = 0.0
        self._width = 1.0
        self._zoom = 1.0
        self._left = 0.0
        """Pixels of the zoomed bar that lie left of the view."""

    @property
    def zoom(self) -> float:
        """1 where all of it fits."""
        return self._zoom

    @property
    def left(self) -> float:
        return self._left

    @property
    def length(self) -> float:
        """Pixels of the whole bar at this zoom."""
        return self._width * self._zoom

    @property
    def folded(self) -> bool:
        return self._folded

    def show(self, begun: float, ended: float, waits: Sequence[FoldedWait], *, folded: bool) -> None:
        """Take another time; zoom and place stay as far as they can."""
        self._begun, self._ended = begun, max(ended, begun + 1e-3)
        self._waits = tuple(wait for wait in waits if wait.ended > wait.begun)
        self._folded = folded
        self._lay_out()
        self._keep_inside()

    def resize(self, width: float) -> None:
        self._width = max(width, 1.0)
        self._keep_inside()

    def fit(self) -> None:
        self._zoom, self._left = 1.0, 0.0

    def zoom_by(self, factor: float, x: float) -> None:
        """Zoom so that the moment at `x` stays there."""
        place = (self._left + x) / self.length
        self._zoom = min(max(self._zoom * factor, 1.0), self._closest())
        self._left = place * self.length - x
        self._keep_inside()

    def move_by(self, pixels: float) -> None:
        self._left += pixels
        self._keep_inside()

    def move_to(self, left: float) -> None:
        self._left = left
        self._keep_inside()

    def reveal(self, begun: float, ended: float) -> None:
        """Move as little as brings this time into view, its beginning first."""
        left, right = self.x(begun), self.x(ended)
        if right > self._width:
            self.move_by(min(right - self._width + 8, left - 8))
        if self.x(begun) < 0:
            self.move_by(self.x(begun) - 8)

    def x(self, time: float) -> float:
        """Return where a moment lies in the view, in pixels; outside of it where it is out of view."""
        return self._unit(time) / self._units * self.length - self._left if self._units else 0.0

    def time(self, x: float) -> float:
        """Return the moment at a place of the view."""
        if not self._units:
            return self._begun
        unit = min(max((self._left + x) / self.length * self._units, 0.0), self._units)
        piece = self._pieces[max(bisect_right(self._places, unit) - 1, 0)]
        return piece.time + (unit - piece.at) / piece.width * piece.length if piece.width else piece.time

    def _closest(self) -> float:
        return max(1.0, _CLOSEST * self._units / self._width)

    def _keep_inside(self) -> None:
        self._zoom = min(max(self._zoom, 1.0), self._closest())
        self._left = min(max(self._left, 0.0), self.length - self._width)

    def _unit(self, time: float) -> float:
        time = min(max(time, self._begun), self._ended)
        piece = self._pieces[max(bisect_right(self._times, time) - 1, 0)]
        if not piece.length:
            return piece.at
        return piece.at + min((time - piece.time) / piece.length, 1.0) * piece.width

    def _lay_out(self) -> None:
        held = sum(wait.ended - wait.begun for wait in self._waits)
        active = max(self._ended - self._begun - held, 1e-3)
        most = active * _WAITS / max(len(self._waits), 1)
        self._pieces = []
        at, place = self._begun, 0.0
        for wait in self._waits:
            place = self._add(at, wait.begun - at, place, wait.begun - at)
            length = wait.ended - wait.begun
            place = self._add(wait.begun, length, place, min(length, most) if self._folded else length)
            at = wait.ended
        self._units = self._add(at, self._ended - at, place, self._ended - at)
        self._times = [piece.time for piece in self._pieces]
        self._places = [piece.at for piece in self._pieces]

    def _add(self, time: float, length: float, place: float, width: float) -> float:
        if length > 0 or not self._pieces:
            self._pieces.append(_Piece(time, max(length, 0.0), place, max(width, 0.0)))
        return place + max(width, 0.0)
