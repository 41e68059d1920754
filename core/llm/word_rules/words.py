"""Words as they are compared: normalised, numbered, coloured, and how alike two of them are."""

import re
from difflib import SequenceMatcher

_ORDINAL_WORDS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "last": -1,
}
_COUNT_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}
_COLOURS = {
    "aqua": "cyan",
    "turquoise": "cyan",
    "teal": "cyan",
    "gray": "grey",
    "silver": "grey",
    "lime": "green",
    "olive": "yellow",
    "khaki": "yellow",
    "tomato": "red",
    "salmon": "red",
    "fuchsia": "magenta",
    "violet": "magenta",
    "indigo": "purple",
    "navy": "blue",
    "maroon": "red",
    "crimson": "red",
    "gold": "yellow",
    **{
        name: name
        for name in ("red orange yellow green cyan blue purple magenta pink brown black white grey".split())
    },
}
_NEAR_COLOURS = {
    "red": ("red", "pink"),
    "blue": ("blue", "cyan"),
    "magenta": ("magenta", "purple", "pink"),
    "brown": ("brown", "red", "orange"),
    "purple": ("purple", "magenta"),
}
_STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        "a an the of in on into onto to for from with by and or as at it its it's this that these those "
        "their his her your my is are be below above following labeled labelled named called marked please "
        "all any item items field fields",
    )
)
_SAME = (
    ("x", "close", "×", "✕"),
    ("delete", "trash", "remove", "bin", "erase", "discard"),
    ("star", "important", "favourite", "favorite"),
    ("reply", "respond", "answer"),
    ("share", "repost"),
    ("search", "find", "look"),
    ("submit", "send", "ok", "done"),
    ("login", "log in", "sign in"),
    ("more", "menu", "…", "..."),
    ("cancel", "dismiss"),
    ("underline", "underlined"),
    ("bold", "strong"),
    ("italic", "italics"),
)
_WORD = re.compile(r"[@#$€£]?[\w]+(?:[.'’/:-][\w]+)*%?|[^\w\s]")
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


def norm(text: str) -> str:
    """Return text as names are compared: case and outer punctuation dropped, blanks made single."""
    return " ".join(text.casefold().split()).strip(" .,;:!?\"'“”‘’*()[]")


def words(text: str) -> list[str]:
    """Return the words in their order, in lower case, single signs among them."""
    return [word.casefold() for word in _WORD.findall(text)]


def content_words(text: str) -> list[str]:
    """Return the words that say something: no articles, prepositions or signs."""
    return [word for word in words(text) if word not in _STOP_WORDS and any(c.isalnum() for c in word)]


def stem(word: str) -> str:
    """Return a word without the ending of its number or tense, roughly."""
    if word.endswith("ies") and len(word) > 5:
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "zes", "ches", "shes")) and len(word) > 4:
        return word[:-2]
    for ending in ("ing", "ed", "s"):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def ordinal(word: str) -> int | None:
    """Return the place a word names, from 1; -1 for the last; None where it names none."""
    word = word.casefold()
    if match := re.fullmatch(r"(\d+)(?:st|nd|rd|th)", word):
        return int(match[1])
    return _ORDINAL_WORDS.get(word)


def count_of(word: str) -> int | None:
    """Return a small whole number given in digits or as a word."""
    word = word.casefold()
    return int(word) if word.isdecimal() else _COUNT_WORDS.get(word)


def colour(word: str) -> str | None:
    """Return the plain name of a colour, or None where the word is none."""
    return _COLOURS.get(word.casefold())


def shades(word: str) -> tuple[str, ...]:
    """Return the plain colours that count as shades of a colour."""
    plain = colour(word) or word
    return _NEAR_COLOURS.get(plain, (plain,))


def same_meaning(first: str, second: str) -> bool:
    """Tell whether two words commonly name the same control."""
    return any(first in group and second in group for group in _SAME)


def numbers(text: str) -> list[float]:
    """Return the numbers in a text, in their order."""
    return [float(found.replace(",", "")) for found in NUMBER.findall(text.replace("−", "-"))]


def alike(first: str, second: str) -> float:
    """Return how alike two texts are, from 0 to 1; only equal ones reach 1."""
    if first == second:
        return 1.0
    one, other = norm(first), norm(second)
    if not one or not other:
        return 0.0
    if one == other:
        return 0.98 if first.casefold() == second.casefold() else 0.96
    if same_meaning(one, other):
        return 0.8
    mine, yours = content_words(one) or [one], content_words(other) or [other]
    stems, others = [stem(word) for word in mine], [stem(word) for word in yours]
    common = sum(1 for word in stems if word in others)
    if common == len(stems) and len(stems) == len(others):
        return 0.9
    if common == len(stems):
        return 0.7 + 0.15 * common / len(others)
    if common == len(others):
        return 0.6 + 0.15 * common / len(stems)
    ratio = SequenceMatcher(None, one, other).ratio() if min(len(one), len(other)) > 3 else 0.0
    return max(0.55 * ratio if ratio > 0.8 else 0.0, 0.5 * common / max(len(stems), len(others)))


def short(text: str, most: int = 60) -> str:
    """Return a text cut for a sentence."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
