"""The colours of the window, light and dark, by meaning."""

from dataclasses import asdict, dataclass
from typing import Literal

from core.schema.step import Origin

Scheme = Literal["light", "dark"]
ORIGIN_SHAPES: dict[Origin, str] = {"agent": "●", "person": "◆", "remedy": "▲", "replay": "■"}
"""The shape next to an origin's colour."""


@dataclass(frozen=True)
class Tokens:
    """One colour for each meaning, as ``#rrggbb``.

    `faint` is only for text that may be missed. An origin or a verdict is never shown by its colour alone, but
    together with a shape or a word.
    """

    window: str
    panel: str
    raised: str
    line: str
    text: str
    dim: str
    faint: str
    agent: str
    person: str
    remedy: str
    good: str
    bad: str
    selected: str
    on_accent: str
    """Text on `agent`, `person`, `remedy`, `good` and `bad`."""
    found: str
    """Background of search matches."""
    code_key: str
    """In editors: names, keys and headings. The other colours of code are also readable on highlighted lines."""
    code_text: str
    code_word: str
    code_number: str
    code_comment: str

    def of(self, origin: Origin) -> str:
        """Return the colour of an origin; a replay has no colour of its own and is `dim`."""
        return {"agent": self.agent, "person": self.person, "remedy": self.remedy}.get(origin, self.dim)

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


DARK = Tokens(
    window="#1b1d22",
    panel="#22252b",
    raised="#2a2e36",
    line="#343943",
    text="#e3e6eb",
    dim="#98a1b0",
    faint="#6b7484",
    agent="#5aa2ff",
    person="#c58bff",
    remedy="#f2b34c",
    good="#53c58a",
    bad="#ff6b6b",
    selected="#2d3b52",
    on_accent="#10131a",
    found="#57491f",
    code_key="#86bbff",
    code_text="#79d8a6",
    code_word="#d5aeff",
    code_number="#f2b34c",
    code_comment="#a9b2c0",
)
LIGHT = Tokens(
    window="#f3f4f6",
    panel="#ffffff",
    raised="#eef0f4",
    line="#d9dde4",
    text="#1d2129",
    dim="#596273",
    faint="#8a93a3",
    agent="#1f6feb",
    person="#8440d1",
    remedy="#945e00",
    good="#177a48",
    bad="#c62828",
    selected="#dbe8fd",
    on_accent="#ffffff",
    found="#ffe9a8",
    code_key="#0b4fb3",
    code_text="#0b6136",
    code_word="#7430bd",
    code_number="#7a4c00",
    code_comment="#505a6b",
)
SCHEMES: dict[Scheme, Tokens] = {"light": LIGHT, "dark": DARK}
