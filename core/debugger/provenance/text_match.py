"""Finds a text in others: exactly, else ignoring case and white space, else word by word.

These functions are pure. `core.debugger.provenance.service` collects the texts of a step.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from core.debugger.provenance.views import SOURCES, How, Source, SourcePlace
from core.schema.record import Record

_LONGEST = 20_000
"""Characters of a text that are looked for."""
_PLACES = 5
"""Places in one text that are listed."""
_AROUND = 70
"""Characters shown before and after a match."""
_SHOWN = 240
"""Characters of a match that are shown."""
_SHARE = 0.5
"""What part of the words must stand in a line."""
_MOST_WORDS = 200
_WITHOUT_SPACES = "\u2e80"
"""From here on lie the scripts of Chinese and Japanese."""
_SHORT = 3
"""Below this many letters a match must stand by itself, not inside a longer word."""


class TextMatch(Record):
    """The result of a search."""

    places: tuple[SourcePlace, ...] = ()
    missing: tuple[str, ...] = ()
    """Words that stand in none of the texts; only where no text has the whole."""


def find(text: str, sources: Iterable[Source]) -> TextMatch:
    """Return where `text` stands, ordered by kind of source, then as the sources were given.

    In each source, the strictest match counts. Single words are searched only if no source contains the whole text.
    """
    sources = tuple(sources)
    wanted = text.strip()[:_LONGEST]
    if not wanted:
        return TextMatch()
    whole = [place for source in sources for place in _whole(wanted, source)]
    if whole:
        return TextMatch(places=_ordered(whole))
    words = tuple(dict.fromkeys(_words(wanted)))[:_MOST_WORDS]
    if not words:
        return TextMatch()
    known: set[str] = set()
    found: list[SourcePlace] = []
    for source in sources:
        places, there = _by_words(words, source)
        found += places
        known |= there
    return TextMatch(places=_ordered(found), missing=tuple(word for word in words if word not in known))


def _ordered(places: Sequence[SourcePlace]) -> tuple[SourcePlace, ...]:
    return tuple(sorted(places, key=lambda place: (SOURCES.index(place.kind), place.own, -place.words[0])))


def _whole(wanted: str, source: Source) -> list[SourcePlace]:
    exact = list(_exact(wanted, source.text))
    how: How = "exact" if exact else "loose"
    spans = exact or list(_loose(wanted, source.text))
    places = [_place(source, (span,), how) for span in spans[:_PLACES]]
    if len(spans) > _PLACES:
        places[-1] = places[-1].replace(more=len(spans) - _PLACES)
    return places


def _exact(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(wanted)
    while at >= 0:
        span = at, at + len(wanted)
        if _stands(wanted, text, span):
            yield span
        at = text.find(wanted, at + len(wanted))


def _loose(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    pattern = re.compile(r"\s+".join(re.escape(part) for part in wanted.split()), re.IGNORECASE)
    for match in pattern.finditer(text):
        if match.end() > match.start() and _stands(wanted, text, match.span()):
            yield match.span()


def _stands(wanted: str, text: str, span: tuple[int, int]) -> bool:
    """Return whether a short word, or a number, is a word of its own there."""
    if len(wanted) >= _SHORT and not wanted.isdecimal():
        return True
    before, after = text[: span[0]][-1:], text[span[1] : span[1] + 1]
    return not (_joined(before, wanted[0]) or _joined(wanted[-1], after))


def _joined(one: str, other: str) -> bool:
    """Return whether two letters make one word; scripts that part no words by spaces are left out."""
    return one.isalnum() and other.isalnum() and max(one, other) < _WITHOUT_SPACES


def _place(source: Source, spans: Sequence[tuple[int, int]], how: How) -> SourcePlace:
    """Return the place of a match, which may be in several stretches of one line."""
    start, end = spans[0][0], spans[-1][1]
    excerpt, moved = _excerpt(source.text, start, end, spans)
    found = source.text[slice(*spans[0])]
    return SourcePlace(
        kind=source.kind,
        title=source.title,
        how=how,
        excerpt=excerpt,
        spans=moved,
        found=found,
        nth=_before(source.text, found, start),
        own=any(first <= start and end <= last for first, last in source.own),
        lead=source.lead,
    )


def _before(text: str, found: str, start: int) -> int:
    """Return how many places a search for `found`, regardless of case, meets before `start`."""
    lower, needle = text.lower(), found.lower()
    if len(lower) != len(text) or not needle:
        lower, needle = text, found
    count, at = 0, lower.find(needle)
    while 0 <= at < start:
        count, at = count + 1, lower.find(needle, at + len(needle))
    return count


def _excerpt(
    text: str, start: int, end: int, spans: Iterable[tuple[int, int]]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return what is shown around a match, with the stretches in it; line ends are single spaces."""
    first, last = max(start - _AROUND, 0), min(min(end, start + _SHOWN) + _AROUND, len(text))
    lead = "…" if first else ""
    shown = re.sub(r"[\x00-\x1f\x7f\u2028\u2029]", " ", text[first:last])
    excerpt = f"{lead}{shown}{'…' if last < len(text) else ''}"
    moved = [(max(a, first) - first + len(lead), min(b, last) - first + len(lead)) for a, b in spans]
    return excerpt, tuple((a, b) for a, b in moved if b > a)


# Word by word


def _words(text: str) -> Iterator[str]:
    """Yield words that may tell something: two letters or more, or a number."""
    for match in re.finditer(r"\w+", text):
        if len(match[0]) > 1 or match[0].isdecimal():
            yield match[0].casefold()


def _by_words(words: Sequence[str], source: Source) -> tuple[list[SourcePlace], set[str]]:
    """Return the lines that have most of the words, and which words the text has at all."""
    wanted = set(words)
    there: set[str] = set()
    lines: list[tuple[int, int, int]] = []
    at = 0
    for line in source.text.splitlines(keepends=True):
        has = wanted.intersection(_words(line))
        there |= has
        if has:
            lines.append((len(has), at, at + len(line.rstrip("\r\n"))))
        at += len(line)
    most = max((count for count, _, _ in lines), default=0)
    if most < _SHARE * len(words):
        return [], there
    best = [(start, end) for count, start, end in lines if count == most]
    places = []
    for start, end in best[:2]:
        spans = [
            (start + match.start(), start + match.end())
            for match in re.finditer(r"\w+", source.text[start:end])
            if match[0].casefold() in wanted
        ]
        places.append(_place(source, spans, "words").replace(words=(most, len(words))))
    if len(best) > 2:
        places[-1] = places[-1].replace(more=len(best) - 2)
    return places, there
