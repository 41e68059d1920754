"""How exemplars are chosen, and what came of it; apart from the index, which takes long to load."""

from typing import Literal

from pydantic import Field

from core.schema.exemplar import Exemplar
from core.schema.record import Record

REACH = 0.3
"""Without a bound, two exemplars from anywhere outvote the only one of a family, however near it is."""


class RecallSettings(Record):
    """How to choose."""

    by: Literal["family", "exemplars"] = "family"
    """Prompt with all of the family that is voted for, or with the nearest exemplars alone."""
    votes: int = Field(default=3, ge=1, le=50)
    """How many of the nearest vote, or go in."""
    reach: float = Field(default=REACH, ge=0, le=2)
    """How much farther than the nearest one may be to have a vote for the family; 2 lets all vote."""
    most: int = Field(default=8, ge=1, le=50)
    """Exemplars prompted with at the most."""
    threshold: float | None = Field(default=None, ge=0, le=2)
    """A distance of the nearest beyond which memory is not used."""
    other_environments: bool = True
    """Whether exemplars of other environments count."""


class Retrieved(Record):
    """One exemplar that was looked at."""

    id: str
    family: str
    task: str
    distance: float
    voted: bool = False
    used: bool = False


class Recall(Record):
    """What was asked of the memory, and what came of it."""

    query: str = ""
    embedding: str = ""
    family: str = ""
    """The family that was voted for."""
    votes: dict[str, int] = {}
    retrieved: tuple[Retrieved, ...] = ()
    """Used ones first, then the nearest that were not, each the nearest first."""
    used: tuple[Exemplar, ...] = ()
    """In the order they are prompted with: the nearest last, next to the task."""
    why: str = ""
    """Why memory was used as it was, or not."""
