"""Words as the rules compare them: normal forms, numbers, dates, kinds of elements, and verbs."""

import re
from collections.abc import Iterable
from datetime import date

from core.schema.observation import Element

_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_STOP_WORDS = frozenset(
    "a an the of in on into onto to for from with by and or as at it its it's this that these those their his "
    "her your my is are be below above following labeled labelled named called marked please all any item items "
    "field fields".split()
)
_SYNONYMS = tuple(
    frozenset(group.split("|"))
    for group in (
        "x|close|×|✕,delete|trash|remove|bin|erase|discard,star|important|favourite|favorite,reply|respond|answer,"
        "share|repost,search|find|look,submit|send|ok|done,login|log in|sign in,more|menu|…|...,cancel|dismiss"
    ).split(",")
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


def stems(text: str) -> set[str]:
    """Return the stems of the words that say something."""
    return {stem(word) for word in content_words(text)}


def ordinal(word: str) -> int | None:
    """Return the place a word names, from 1; -1 for the last; None if it names none."""
    word = word.casefold()
    if match := re.fullmatch(r"(\d+)(?:st|nd|rd|th)", word):
        return int(match[1])
    return -1 if word == "last" else _ORDINALS.index(word) + 1 if word in _ORDINALS else None


def place_in(text: str) -> int | None:
    """Return the first place that a text names, as `ordinal` does."""
    return next((place for word in text.split() if (place := ordinal(word)) is not None), None)


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
    if any(one in group and other in group for group in _SYNONYMS):
        return 0.8
    mine, yours = ([stem(word) for word in content_words(text) or [text]] for text in (one, other))
    common = sum(1 for word in mine if word in yours)
    if common == len(mine) == len(yours):
        return 0.9
    if common == len(mine):
        return 0.7 + 0.15 * common / len(yours)
    if common == len(yours):
        return 0.6 + 0.15 * common / len(mine)
    return 0.5 * common / max(len(mine), len(yours))


def short(text: str, most: int = 60) -> str:
    """Return a text cut for a sentence."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


# Dates

MONTHS = "January February March April May June July August September October November December".split()
"""In English wherever this runs; the names of the standard library are those of the system's language."""
_MONTHS = {word.casefold(): at for at, name in enumerate(MONTHS, start=1) for word in (name, name[:3])}
_MONTH_FIRST = r"\b(?P<m1>\d{1,2})/(?P<d1>\d{1,2})/(?P<y1>\d{4})\b"
_ISO = r"\b(?P<y2>\d{4})-(?P<m2>\d{2})-(?P<d2>\d{2})\b"
_DAY_MONTH = r"\b(?P<d3>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m3>[A-Za-z]{3,9})\.?,?\s+(?P<y3>\d{4})\b"
_MONTH_DAY = r"\b(?P<m4>[A-Za-z]{3,9})\.?\s+(?P<d4>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y4>\d{4})\b"
DATE = re.compile("|".join((_MONTH_FIRST, _ISO, _DAY_MONTH, _MONTH_DAY)))
"""A date written 12/23/2016 (month first), 2016-12-23, 23 December 2016 or December 23, 2016."""


def read_date(text: str) -> date | None:
    """Return the first date of a text; None if it has none, or one that does not exist."""
    for match in DATE.finditer(text):
        form = next(number for number in "1234" if match[f"y{number}"])
        month = match[f"m{form}"]
        try:
            return date(
                int(match[f"y{form}"]),
                int(month) if month.isdecimal() else _MONTHS[month.casefold()],
                int(match[f"d{form}"]),
            )
        except (ValueError, KeyError):
            continue
    return None


def month_of(word: str) -> int | None:
    """Return the number of the month that a word names, from 1."""
    return _MONTHS.get(word.casefold())


# Kinds of elements

_TYPED = ("textbox", "searchbox", "spinbutton")
_ROLES: dict[str, tuple[str, ...]] = {
    **{word: (word,) for word in ("button", "link", "tab", "checkbox", "radio", "menu")},
    **dict.fromkeys(("textbox", "text box", "text field", "text input", "input", "field"), _TYPED),
    "check box": ("checkbox",),
    "radio button": ("radio",),
    "text": ("textbox", "searchbox"),
    **dict.fromkeys(("text area", "textarea"), ("textbox",)),
    "dropdown": ("combobox", "listbox"),
    "list": ("listbox", "combobox"),
    "spinner": ("spinbutton",),
    "icon": ("button", "img"),
    "image": ("img",),
    "date": ("textbox",),
}
_OTHER_ROLE_WORDS = (
    "item items box dialog widget element option section buttons card checkboxes result post posts word number "
    "file folder fields boxes links"
)
ROLE_WORDS = frozenset(" ".join((*_ROLES, _OTHER_ROLE_WORDS)).split())
"""Words for kinds of elements, which name none."""


def singular(word: str) -> str:
    """Return a role word without its plural ending; any other word as it is."""
    return {"checkboxes": "checkbox", "textboxes": "textbox", "boxes": "box"}.get(word) or (
        word[:-1] if word.endswith("s") and word[:-1] in ROLE_WORDS else word
    )


def roles_in(text: str) -> tuple[str, ...]:
    """Return the roles that the first role word of a text stands for."""
    lowered = " ".join(singular(word) for word in words(text))
    places = [
        (match.start(), -len(word), word) for word in _ROLES if (match := re.search(rf"\b{word}\b", lowered))
    ]
    return _ROLES[min(places)[2]] if places else ()


# Verbs that change something, as roots

_VERB_GROUPS = tuple(
    frozenset(group.split())
    for group in (
        "find look search show bring see locate view",
        "change modify move correct edit update rebook save",
        "cancel call annul",
        "book reserve pay purchase",
        "buy order purchase want need",
        "delete remove erase",
        "send submit",
    )
)
_CHANGING = frozenset().union(*_VERB_GROUPS[1:])
_WEAK = frozenset("want need call see view".split())
"""Verbs that ask for a change only next to another word."""
_NEUTRAL = frozenset(("save", "submit", "send"))
"""Verbs that end a form of any kind."""
_STATED = re.compile(
    r"\b(?:is|are|was|were|has been|have been)\s+(?:now\s+)?([a-z]+ed|paid|sent|bought)\b", re.IGNORECASE
)
_OPEN = re.compile(r"(?:what|which|how|if|once|when|until|before|after)\b", re.IGNORECASE)
"""How a text begins that names a change and does not say that it was made."""


def root(word: str) -> str:
    """Return a word as verbs are compared: cancelled is cancel, and a booking is not a verb."""
    if word in ("booking", "bookings"):
        return "booking"
    cut = stem(word)
    if len(cut) > 4 and cut[-1] == cut[-2] and cut != word:
        cut = cut[:-1]
    return next((one for one in (cut, cut + "e") if one in _CHANGING | _VERB_GROUPS[0]), cut)


def roots(text: str) -> set[str]:
    return {root(word) for word in content_words(text)}


def verbs_in(text: str) -> set[str]:
    """Return the verbs of an objective that change something, as roots."""
    found = roots(text) & _CHANGING
    strong = found - _WEAK
    if re.search(r"\bcall(?:s|ed|ing)?\s+off\b", text, re.IGNORECASE):
        strong.add("cancel")
    return strong or (found - {"call", "see", "view"})


def related(found: Iterable[str], wanted: set[str]) -> list[str]:
    """Return the roots that are among those wanted, or mean the same change as one of them."""
    meant = wanted.union(*(group for group in _VERB_GROUPS if group & wanted))
    return [one for one in found if one in meant]


def does_other(name: str, verbs: set[str]) -> bool:
    """Return whether a control of this name changes something in another way than these verbs ask for."""
    changes = roots(name) & (_CHANGING - _NEUTRAL)
    return len(related(changes, verbs)) < len(changes)


def said_done(elements: Iterable[Element], verbs: set[str]) -> Element | None:
    """Return the text that says that one of some changes has been made."""
    for element in elements:
        stated = () if _OPEN.match(element.name) else _STATED.findall(element.name)
        if related((root(word.casefold()) for word in stated), verbs):
            return element
    return None
