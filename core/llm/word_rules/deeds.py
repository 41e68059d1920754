"""Deeds: the verbs of an objective that change something, and whether a control or a text is about them."""

import re
from collections.abc import Iterable

from core.llm.word_rules.words import content_words, stem
from core.schema.observation import Element

_KIN = (
    frozenset("find look search show bring see locate view".split()),
    frozenset("change modify move correct edit update rebook save".split()),
    frozenset("cancel call annul".split()),
    frozenset("book reserve pay purchase".split()),
    frozenset("buy order purchase want need".split()),
    frozenset("delete remove erase".split()),
    frozenset("send submit".split()),
)
_LOOKING = _KIN[0]
_DEEDS = frozenset(word for group in _KIN[1:] for word in group)
_WEAK = frozenset("want need call see view".split())
"""Words that name a deed only beside another word."""
_NEUTRAL = frozenset(("save", "submit", "send"))
"""Words that end a form of any kind."""
_STATED = re.compile(
    r"\b(?:is|are|was|were|has been|have been)\s+(?:now\s+)?([a-z]+ed|paid|sent|bought)\b", re.IGNORECASE
)
_OPEN = re.compile(r"(?:what|which|how|if|once|when|until|before|after)\b", re.IGNORECASE)
"""How a text begins that names a deed and does not say that it was done."""
_NO_DEED = frozenset(("refused", "needed", "required", "expected", "offered", "limited", "used"))


def said_done(elements: Iterable[Element], asked: set[str]) -> Element | None:
    """Return the text that says that one of some deeds has been done."""
    for one in elements:
        if _OPEN.match(one.name):
            continue
        for match in _STATED.finditer(one.name):
            word = match[1].casefold()
            if word not in _NO_DEED and any(are_kin(root(word), deed) for deed in asked):
                return one
    return None


def deeds(text: str) -> set[str]:
    """Return the verbs of an objective that change something, as roots."""
    found = {root(word) for word in content_words(text)} & _DEEDS
    strong = found - _WEAK
    if re.search(r"\bcall(?:s|ed|ing)?\s+off\b", text, re.IGNORECASE):
        strong.add("cancel")
    return strong or (found - {"call", "see", "view"})


def root(word: str) -> str:
    """Return a word as deeds are compared: cancelled is cancel, a booking is no deed."""
    if word in ("booking", "bookings"):
        return "booking"
    cut = stem(word)
    if len(cut) > 4 and cut[-1] == cut[-2] and cut != word:
        cut = cut[:-1]
    return next((known for known in (cut, cut + "e") if known in _DEEDS | _LOOKING), cut)


def roots(text: str) -> set[str]:
    """Return the words of a text as deeds are compared."""
    return {root(word) for word in content_words(text)}


def does_other(name: str, asked: set[str]) -> bool:
    """Tell whether a control of this name does a deed that is not among those asked for."""
    return any(not any(are_kin(one, deed) for deed in asked) for one in roots(name) & (_DEEDS - _NEUTRAL))


def are_kin(one: str, other: str) -> bool:
    return one == other or any(one in group and other in group for group in _KIN)
