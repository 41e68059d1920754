"""Abstraction by ranking: the elements that have to do with the task, found by its words, without an LLM.

A simple relative of the ranking models that Mind2Web (Deng et al. 2023) and
Synapse filter with: a word counts the more the fewer elements have it, an
element that can be used takes over half of what the text beside it counts (its
label, say), and what can be used goes before what can only be read.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from core.schema.observation import CleanObservation, Element, Observation, Ref

KEEP = 40
"""Elements kept, unless told otherwise."""
_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset(
    "a an and are as at be by click do enter find for from go has have if in into is it its of on or press select "
    "task that the then this to type use using was were what when which who with you your".split()
)
_HOLDERS = (
    "dialog",
    "alertdialog",
    "form",
    "list",
    "table",
    "grid",
    "region",
    "tabpanel",
    "menu",
    "row",
    "listitem",
)
"""What says where in the page an element is."""


def ranked(observation: Observation, words_of: Sequence[str], *, keep: int = KEEP) -> CleanObservation:
    """Return the `keep` elements that fit the texts of `words_of` best, in page order, with what holds them.

    The texts are the task and, where there is one, the subtask; of equal ones
    the first in the page is kept. A page with no more elements is kept whole.
    """
    elements = observation.elements
    scores = _scores(elements, words_of)
    order = sorted(range(len(elements)), key=lambda place: (-scores[place], place))
    chosen = {elements[place].ref for place in order[: max(keep, 1)]}
    by_ref = {element.ref: element for element in elements}
    held = chosen | {ref for one in chosen for ref in _holders(by_ref[one], by_ref)}
    kept = tuple(element for element in elements if element.ref in held)
    return clean(observation, kept)


def clean(observation: Observation, kept: Sequence[Element]) -> CleanObservation:
    """Return the clean observation that shows these elements, with how many were left out."""
    left_out = len(observation.elements) - len(kept) + observation.omitted
    lines = ["  " * min(element.depth, 8) + element.line() for element in kept]
    if left_out:
        lines.append(f"({left_out} elements that seem to have nothing to do with the task are not shown.)")
    return CleanObservation(
        url=observation.url,
        title=observation.title,
        elements=tuple(kept),
        text="\n".join(lines),
        left_out=left_out,
    )


def _scores(elements: Sequence[Element], words_of: Sequence[str]) -> list[float]:
    wanted = {word for text in words_of for word in _words(text)}
    found = [_words(_said(element)) for element in elements]
    common = Counter(word for words in found for word in words & wanted)
    own = [
        sum(math.log(1 + len(elements) / common[word]) for word in sorted(words & wanted))
        / (1 + 0.02 * len(words))
        for words in found
    ]
    scores: list[float] = []
    for place, element in enumerate(elements):
        score = own[place] + (_beside(place, elements, own) if element.usable else 0.0)
        score += 1.0 if element.usable else 0.0
        score += 0.6 if element.in_viewport else 0.0
        score += 0.8 if element.role in ("dialog", "alertdialog", "alert", "status") else 0.0
        score += (
            0.5
            if element.value or {"focused", "checked", "selected", "expanded"} & set(element.states)
            else 0.0
        )
        score += 0.3 if element.role == "heading" else 0.0
        scores.append(score)
    return scores


def _beside(place: int, elements: Sequence[Element], own: Sequence[float]) -> float:
    """Return what the text before or after adds: a label mostly stands before its field."""
    before = own[place - 1] if place and not elements[place - 1].usable else 0.0
    after = own[place + 1] if place + 1 < len(own) and not elements[place + 1].usable else 0.0
    return max(0.5 * before, 0.25 * after)


def _said(element: Element) -> str:
    options = " ".join(option.label for option in element.options[:50])
    return f"{element.name} {element.value} {element.detail} {options}"


def _words(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text.lower())} - _COMMON


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _holders(element: Element, by_ref: dict[Ref, Element]) -> list[Ref]:
    """Return what holds the element, as far as it says where in the page that is."""
    found: list[Ref] = []
    seen = {element.ref}
    parent = element.parent
    while parent is not None and parent in by_ref and parent not in seen:
        seen.add(parent)
        holder = by_ref[parent]
        if holder.role in _HOLDERS and (holder.name or holder.role in ("dialog", "alertdialog")):
            found.append(parent)
        parent = holder.parent
    return found
