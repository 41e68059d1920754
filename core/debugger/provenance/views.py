"""The views of a text's provenance."""

from typing import Literal, get_args

from core.schema.observation import Ref
from core.schema.record import Record

SourceKind = Literal[
    "prompt",
    "page",
    "clean observation",
    "task",
    "exemplar",
    "plan",
    "remedy",
    "buffer",
    "policy",
    "earlier step",
]
SOURCES: tuple[SourceKind, ...] = get_args(SourceKind)
"""In the order in which they are shown."""
How = Literal[
    "element",  # it is the element that was meant
    "exact",
    "loose",  # but for case and white space
    "words",  # words of it in one line
]


class Lead(Record):
    """Where the window shows a place."""

    run: int = 0
    step: int = 0
    """The step whose panels have it."""
    call: int = 0
    part: str = ""
    """The part of the prompt panel, such as ``3.1`` for the second message of call 3."""
    ref: Ref | None = None
    exemplar: str = ""


class Source(Record):
    """One text that is searched."""

    kind: SourceKind
    title: str
    text: str
    lead: Lead = Lead()
    own: tuple[tuple[int, int], ...] = ()
    """Stretches of it that are the LLM's own words from a call before."""


class SourcePlace(Record):
    """A place where the text was found."""

    kind: SourceKind
    title: str
    how: How
    excerpt: str
    spans: tuple[tuple[int, int], ...] = ()
    """What matches, as stretches of the excerpt."""
    found: str = ""
    """What matches, as it stands there."""
    nth: int = 0
    """How many places with the same letters, whatever their case, stand before it in the same text."""
    words: tuple[int, int] = (0, 0)
    """For a match by words: how many of how many stand there."""
    more: int = 0
    """Further places in the same text that are not listed."""
    own: bool = False
    """Whether the LLM itself had said it in a call before."""
    lead: Lead = Lead()


class Offer(Record):
    """A text of a step that can be searched for."""

    label: str
    text: str
    ref: Ref | None = None


class WhyQuestion(Record):
    """What to search for in a step."""

    run: int
    step: int
    text: str = ""
    ref: Ref | None = None
    """The element that is meant, if it is one."""


class WhyView(WhyQuestion):
    """Where a text of a step was found."""

    offers: tuple[Offer, ...] = ()
    places: tuple[SourcePlace, ...] = ()
    """In the order of `SOURCES`."""
    verdict: str = ""
    """What they come to, in a sentence or two."""
    missing: tuple[str, ...] = ()
    """Words of the text that stand nowhere at all."""
    problem: str = ""
