"""Keeps what was read on earlier pages of a candidate, such as an item.

A page that shows one part at a time replaces the part before. The state-space file says what is kept
(`keeps`) and which action shows it (`reads`).
"""

from collections.abc import Iterable

from core.agent.spaces.file import SpaceState
from core.agent.spaces.recognition import values_of
from core.llm.costs import count_tokens
from core.schema.observation import Element, Observation, Ref
from core.schema.pattern import Pattern, matching, parse_pattern
from core.schema.progress import CandidateDetail, SpaceMemory

KEPT_TOKENS = 300
"""Tokens kept of one text at most."""
_BETWEEN = " / "
"""Parts one text from the next, such as two reviews, where all of it is one line."""


def noticed(
    memory: SpaceMemory, here: SpaceState, observation: Observation, html: str, *, step: int
) -> SpaceMemory:
    """Return the memory with what this page of the state tells of its candidate.

    Where the state says how the page names its candidate, that goes before
    what was remembered: a person may have opened the page of another one.
    """
    if not here.candidate:
        return memory
    if here.candidate_from is not None:
        named = next(iter(values_of(here.candidate_from, observation, html)), None)
        without = {name: value for name, value in memory.remembered.items() if name != here.candidate}
        memory = memory.replace(remembered=without).knowing(here.candidate if named else "", named or "")
    candidate = memory.remembered.get(here.candidate, "")
    for name, pattern in here.keeps.items() if candidate else ():
        if text := text_of(parse_pattern(pattern), observation):
            short, cut = cut_to(text, KEPT_TOKENS)
            memory = memory.keeping(
                CandidateDetail(candidate=candidate, name=name, text=short, step=step, cut=cut)
            )
    return memory


def unseen(memory: SpaceMemory, here: SpaceState, page: str) -> tuple[CandidateDetail, ...]:
    """Return what is kept of the candidate in view and not all on the page, given as the prompt shows it."""
    candidate = memory.remembered.get(here.candidate, "") if here.candidate else ""
    return tuple(
        one
        for one in memory.kept_of(candidate)
        if one.cut or not all(part in page for part in one.text.split(_BETWEEN))
    )


def text_of(pattern: Pattern, observation: Observation) -> str:
    """Return the text of matching elements and their content in one line.

    For an expression, the group ``value`` is the text. A heading that repeats the name of its container, and
    repeated text of a paragraph, are written once.
    """
    found: list[str] = []
    for element in matching(pattern, observation):
        fit = pattern.fits(element)
        value = None if isinstance(fit, bool) else fit.named.get("value")
        found += [value] if value else _said(element, observation)
    return _BETWEEN.join(part for part in (" ".join(text.split()) for text in found) if part)


def _said(holder: Element, observation: Observation) -> Iterable[str]:
    names: dict[Ref, str] = {holder.ref: holder.name}
    parts: list[str] = []
    for element in observation.elements:
        if element.parent not in names:
            continue
        above = names[element.parent]
        names[element.ref] = f"{above}\n{element.name}"
        said = [element.name] if element.name and element.name not in above else []
        said += [element.value] if element.value and element.value != element.name else []
        parts += said
    return parts or [holder.name]


def cut_to(text: str, tokens: int) -> tuple[str, int]:
    """Return the text, cut after a word to about so many tokens, and about how many were cut off."""
    whole = count_tokens(text)
    if whole <= tokens:
        return text, 0
    words = text.split(" ")
    least, most = 0, len(words)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (
            (middle, most) if count_tokens(" ".join(words[:middle])) <= tokens else (least, middle - 1)
        )
    short = " ".join(words[:least])
    return short, whole - count_tokens(short)
