"""Something that is wrong with an exemplar, or might be, and where."""

from typing import Literal

from core.schema.record import Record
from core.settings.toml_layout import Location

Level = Literal["stops", "fault", "note"]
Kind = Literal[
    "missing",
    "action",
    "element",
    "page",
    "secret",
    "private",
    "orders",
    "contradiction",
    "family",
    "parser",
    "length",
    "run",
    "replay",
    "line",
]
_TABLES = {"steps": "look", "contrasts": "contrast", "abstraction": "pair"}


class Problem(Record):
    """Something that is wrong with an exemplar, or might be."""

    id: str
    """Empty for a line of a file that is none."""
    kind: Kind
    at: Location = ()
    """The part that it is about, such as ``("steps", 1, "actions", 0)``; empty for the whole."""
    text: str
    level: Level = "fault"
    """``stops``: it cannot be stored. ``fault``: it can, and should not stay so. ``note``: it may be meant so."""

    @property
    def where(self) -> str:
        """The part in words, such as ``look 2, action 1``; empty for the whole."""
        match self.at:
            case (str() as table, int() as number, *inside):
                whole = f"{_TABLES.get(table, table)} {number + 1}"
                match inside:
                    case ["actions", int() as place]:
                        return f"{whole}, action {place + 1}"
                    case [part, *_]:
                        return f"{whole}, {part}"
                return whole
            case (name, *_):
                return str(name)
        return ""
