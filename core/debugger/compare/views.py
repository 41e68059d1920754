"""The views of a comparison of two runs."""

import re
from typing import Literal

from core.schema.record import Record
from core.trace.records import RunRow, StepRow

PartName = Literal[
    "state",
    "thought",
    "action",
    "outcome",
    "plan",
    "retrieval",
    "page",
    "clean observation",
    "prompt",
    "reply",
]
StepKey = tuple[int, int]
"""A run and the number of a step in it."""
_LOOPBACK = re.compile(r"127\.0\.0\.1:\d+")
_REF = re.compile(r"(?m)^(\s*)\[\d+\](?= )")


class Part(Record):
    """One part of two steps, side by side."""

    name: PartName
    left: str = ""
    right: str = ""

    @property
    def same(self) -> bool:
        return comparable(self.left) == comparable(self.right)


class AlignedPair(Record):
    """Two steps that belong together, or one that has no counterpart."""

    left: StepRow | None = None
    right: StepRow | None = None
    shared: bool = False
    """Whether it is one step of both: what two branches have in common."""
    differs: tuple[PartName, ...] = ()
    """What of page, action and outcome is not the same."""

    @property
    def same(self) -> bool:
        return self.left is not None and self.right is not None and not self.differs


class Compared(Record):
    """Two runs, step by step."""

    left: RunRow
    right: RunRow
    pairs: tuple[AlignedPair, ...] = ()

    @property
    def first_difference(self) -> int | None:
        """The position of the first pair that is not the same, from 0; None if there is none."""
        return next((position for position, pair in enumerate(self.pairs) if not pair.same), None)


class ComparedView(Record):
    """The comparison of two runs, and its progress."""

    left: int
    right: int
    compared: Compared | None = None
    """None while the runs are read, and where they could not be."""
    problem: str = ""


class PairView(Record):
    """Two steps side by side with all their parts."""

    left: StepKey | None = None
    right: StepKey | None = None
    parts: tuple[Part, ...] = ()
    left_picture: bytes = b""
    """The page of the left step; empty if none was taken."""
    right_picture: bytes = b""
    problem: str = ""
    """In place of the rest: why they cannot be shown."""


def comparable(text: str) -> str:
    """Return the text without parts that always differ: ports of bundled sites, and refs of elements."""
    return _REF.sub(r"\1[]", _LOOPBACK.sub("127.0.0.1", text))
