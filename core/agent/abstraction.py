"""State abstraction: reduces a page to the parts that the task needs.

After Synapse (Zheng et al. 2024): explicit by pairs of state and observation, implicit by code that an LLM
writes (core/agent/abstraction_by_llm.py). This module does it without an LLM: it cuts the page to the size of
a prompt, or ranks its elements.

Ranking is a simple relative of the models that Mind2Web (Deng et al. 2023) and Synapse filter with: a word
weighs more if fewer elements contain it, a usable element gets half the score of the text next to it (such as
its label), and usable elements come before text.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from core.agent.general_space import usable_elements
from core.llm.costs import count_tokens
from core.schema.observation import CleanObservation, Element, Observation, Ref, one_line
from core.schema.step import Abstracted

TEXT_LINES = 400
"""Lines of plain text and structure shown at most."""
NAME_LENGTH = 300


def clean_of(observation: Observation) -> CleanObservation:
    """Return the observation as the prompt shows it.

    Keeps every usable element up to the cap (the same ones that are
    permissible) and, around them, text and structure; long names are cut.
    What is left out is counted and said in the text.
    """
    usable, _ = usable_elements(observation)
    wanted = {element.ref for element in usable}
    kept: list[Element] = []
    texts = 0
    for element in observation.elements:
        if element.ref not in wanted:
            if element.uses and "disabled" not in element.states:
                continue
            texts += 1
            if texts > TEXT_LINES:
                continue
        kept.append(_cut(element))
    unsaid = "({} more elements of the page are not shown; scroll to bring others into view.)"
    return _clean(observation, kept, _lines(kept, marked=True), unsaid)


OUT_OF_VIEW = "(out of view)"
BELOW = "(What follows is out of view.)"
ABOVE = "(What stands above is out of view.)"
_FEW = 2
"""So many elements out of view are marked each by itself."""


def _lines(elements: Sequence[Element], *, marked: bool = False) -> list[str]:
    """Return a line for each element with content, indented below its containers.

    Containers without own content have no line: a box without a name, or with the same name as its only
    child. Text that the first child repeats is written once. `marked` adds what is out of view, once for all
    elements at the beginning or end of the page.
    """
    first: dict[Ref | None, Element] = {}
    inside = Counter(element.parent for element in elements)
    for element in elements:
        first.setdefault(element.parent, element)
    in_view = [place for place, element in enumerate(elements) if element.in_viewport]
    begins, ends = (in_view[0], in_view[-1] + 1) if in_view else (0, len(elements))
    begins = begins if begins > _FEW else 0
    ends = ends if len(elements) - ends > _FEW else len(elements)
    depths: dict[Ref, int] = {}
    lines: list[str] = []
    for place, element in enumerate(elements):
        if marked and place == ends:
            lines.append(BELOW)
        if marked and place == begins and place:
            lines.append(ABOVE)
        depth = depths.get(element.parent, -1) + 1 if element.parent is not None else 0
        child = first.get(element.ref)
        if _says_nothing(element, child if inside[element.ref] == 1 else None):
            depths[element.ref] = depth - 1
            continue
        depths[element.ref] = depth
        line = _without_repeated(element, child).line()
        middle = marked and begins <= place < ends and not element.in_viewport
        lines.append("  " * min(depth, 8) + line + (f" {OUT_OF_VIEW}" if middle else ""))
    return lines


def _without_repeated(element: Element, first: Element | None) -> Element:
    """Return a box without the words of its name that the line of the first thing in it tells."""
    repeated = first is not None and len(first.name) >= 8 and element.name.startswith(f"{first.name} ")
    if first is None or not repeated or element.usable or not first.usable:
        return element
    return element.replace(name="…" + element.name[len(first.name) :])


def _says_nothing(element: Element, only: Element | None) -> bool:
    if element.usable or element.value or element.detail or element.options:
        return False
    if element.role not in _BOXES:
        return False
    if not element.name:
        return not element.states
    return only is not None and only.name == element.name


_BOXES = frozenset(
    "main banner contentinfo complementary navigation form group list listitem table rowgroup row generic presentation "
    "article section region figure paragraph".split()
)
"""Roles that group other things."""


def _clean(
    observation: Observation, kept: Sequence[Element], lines: list[str], unsaid: str
) -> CleanObservation:
    """Return the clean observation of these elements; `unsaid` tells how many are left out."""
    left_out = len(observation.elements) - len(kept) + observation.omitted
    return CleanObservation(
        url=observation.url,
        title=one_line(observation.title),
        elements=tuple(kept),
        text="\n".join([*lines, unsaid.format(left_out)] if left_out else lines),
        left_out=left_out,
    )


def _cut(element: Element) -> Element:
    if len(element.name) <= NAME_LENGTH:
        return element
    return element.replace(name=element.name[: NAME_LENGTH - 1] + "…")


def tokens_of(clean: CleanObservation) -> int:
    """Return the estimated tokens of the prompt's view of the page."""
    return count_tokens(clean.text)


# Ranking

KEEP = 40
"""Elements kept by default."""
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

    The texts are the task and, if there is one, the subtask; of equal elements the first in the page is kept.
    A page with at most `keep` elements is kept whole.
    """
    elements = observation.elements
    scores = _scores(elements, words_of)
    order = sorted(range(len(elements)), key=lambda place: (-scores[place], place))
    chosen = {elements[place].ref for place in order[: max(keep, 1)]}
    by_ref = {element.ref: element for element in elements}
    held = chosen | {ref for one in chosen for ref in _holders(by_ref[one], by_ref)}
    kept = tuple(element for element in elements if element.ref in held)
    return clean(observation, kept)


def ranked_page(observation: Observation, words_of: Sequence[str], *, keep: int = KEEP) -> Abstracted:
    """Return what `ranked` does as the record of the phase."""
    shown = ranked(observation, words_of, keep=keep)
    how = f"ranking by the words of the task, {keep} elements kept"
    return Abstracted(clean=shown, tokens=tokens_of(shown), how=how)


def clean(observation: Observation, kept: Sequence[Element]) -> CleanObservation:
    """Return the clean observation that shows these elements, with how many were left out."""
    lines = _lines(kept)
    unsaid = "({} elements that seem to have nothing to do with the task are not shown.)"
    return _clean(observation, kept, lines, unsaid)


def _scores(elements: Sequence[Element], words_of: Sequence[str]) -> list[float]:
    wanted = {word for text in words_of for word in telling_words(text)}
    found = [telling_words(_said(element)) for element in elements]
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


def telling_words(text: str) -> set[str]:
    """Return the words of a text that are not too common to tell anything, without a plural's s."""
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
