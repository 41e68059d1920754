"""Fuzzy matching: whether the letters of some words occur in a text in order, how well, and where."""

import re
from dataclasses import dataclass
from functools import lru_cache

_START = 10.0
"""For a letter at the start of a word."""
_NEXT = 6.0
"""For a letter directly after the previous match."""
_LETTER = 1.0
_FIRST = 4.0
"""For a match at the start of the text."""
_WHOLE = 12.0
"""For a word that occurs literally."""
_GAP = 0.15
"""Subtracted for each letter skipped between two matched ones."""
_WIDEST_GAP = 20
_LOOKED_AT = 160
"""Maximum number of characters of a text that are matched."""


@dataclass(frozen=True)
class Match:
    """How well words match a text, and the matched characters."""

    score: float
    places: tuple[int, ...] = ()


def match(words: str, text: str) -> Match | None:
    """Return the best match of all words in a text, in any order; None if a word is not in it."""
    parts = lowered(words).split()
    if not all(_letters_of(part).match(text) for part in parts):
        return None
    text = text[:_LOOKED_AT]
    lower = lowered(text)
    score = 0.0
    places: set[int] = set()
    for part in parts:
        found = _match_word(part, text, lower)
        if found is None:
            return None
        score += found.score
        places.update(found.places)
    # Of two equal matches, the shorter text is closer to what was meant.
    return Match(score - len(text) * 0.01, tuple(sorted(places)))


def lowered(text: str) -> str:
    """Return a text in lower case, with each letter at its place: the few that would become longer stay."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _match_word(word: str, text: str, lower: str) -> Match | None:
    if not _letters_of(word).match(lower):  # The earlier check may have covered more text.
        return None
    return _as_it_is(word, text, lower) or _by_letters(word, text, lower)


@lru_cache(maxsize=256)
def _letters_of(word: str) -> re.Pattern[str]:
    """Return a value for a fast check whether a text contains the letters of a word in order."""
    return re.compile(
        "".join(f"[^{re.escape(one)}]*{re.escape(one)}" for one in word), re.DOTALL | re.IGNORECASE
    )


def _as_it_is(word: str, text: str, lower: str) -> Match | None:
    """Return a match of the whole word if it occurs, preferably at the start of a word."""
    first = at = lower.find(word)
    while at >= 0 and not _starts_word(text, at):
        at = lower.find(word, at + 1)
    best = at if at >= 0 else first
    if best < 0:
        return None
    score = _WHOLE + len(word) * (_LETTER + _NEXT)
    score += _START if _starts_word(text, best) else 0.0
    score += _FIRST if best == 0 else 0.0
    return Match(score, tuple(range(best, best + len(word))))


def _by_letters(word: str, text: str, lower: str) -> Match | None:
    """Return the best way to find the letters one after the other."""
    rows: list[dict[int, tuple[float, int]]] = []
    """For each letter, by its position in the text: the score so far and the position of the previous letter."""
    for number, letter in enumerate(word):
        row: dict[int, tuple[float, int]] = {}
        at = lower.find(letter, number)
        while at >= 0:
            own = _LETTER + (_START if _starts_word(text, at) else 0.0)
            if number == 0:
                row[at] = (own + (_FIRST if at == 0 else 0.0), -1)
            else:
                reached = [
                    (
                        score + own + (_NEXT if at == before + 1 else -_GAP * min(at - before, _WIDEST_GAP)),
                        before,
                    )
                    for before, (score, _) in rows[-1].items()
                    if before < at
                ]
                if reached:
                    row[at] = max(reached)
            at = lower.find(letter, at + 1)
        if not row:  # The check before also takes letters for equal that are not in lower case, such as a long s and s.
            return None
        rows.append(row)
    at, (score, before) = max(rows[-1].items(), key=lambda item: item[1][0])
    places = [at]
    for row in reversed(rows[:-1]):
        places.append(before)
        before = row[before][1]
    return Match(score, tuple(reversed(places)))


def _starts_word(text: str, at: int) -> bool:
    """Return whether a letter is the first of a word, or a capital after a lower-case letter."""
    if not text[at].isalnum():
        return False
    if at == 0:
        return True
    before = text[at - 1]
    return not before.isalnum() or (before.islower() and text[at].isupper())
