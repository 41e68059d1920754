"""What an objective gives to fill in: dates, times, places, people, codes, cards, and words after a label.

Forms and the arguments of actions are filled from here, by the label of the
field or the name of the argument. What the objective does not give is None.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal

from core.llm.rules.words import DATE, alike, content_words, norm, read_date
from core.schema.action_space import Parameter

Way = Literal["out", "back"]

_BEFORE_DAY = re.compile(
    r"\b(?:the\s+|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,?\s+)(?=\d{4}-\d{2}-\d{2})", re.IGNORECASE
)
_ISO = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_TIME = re.compile(r"\b\d{1,2}:\d{2}\s?(?:am|pm)?(?!\d)", re.IGNORECASE)
_OUT = re.compile(r"\b(?:out|outward|outbound|leaving|going|departure)\b", re.IGNORECASE)
_BACK = re.compile(r"\b(?:back|return|returning|coming|home|inbound)\b", re.IGNORECASE)
_BORN = re.compile(r"\b(?:born|birth|birthday)\b", re.IGNORECASE)
_CODE = re.compile(
    r"\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,10}\b|"
    r"(?<=\bbooking )[A-Z0-9]{5,10}\b|(?<=\breference )[A-Z0-9]{5,10}\b|(?<=\bunder )[A-Z0-9]{5,10}\b"
)
_CARD = re.compile(r"\b(?:\d{4}[ -]?){3}\d{4}\b")
_EXPIRY = re.compile(r"(?<![\d/])(?:0[1-9]|1[0-2])/\d{2}(?![\d/])")
_SECURITY = re.compile(r"\b(?:cvc|cvv|security code)\D{0,5}(\d{3,4})\b", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
_MONEY = re.compile(
    r"(?:[$€£]\s?(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s?(?:dollars|euros|pounds|usd|bucks))", re.IGNORECASE
)
_PLACE = r"[A-Z][^,.;:()?]*?(?:\s*\([A-Z]{3,4}\))?"
_ROUTE = re.compile(
    rf"\bfrom\s+(?!(?:(?!\sto\s)[^,.;:()?])*\sfrom\s)({_PLACE})\s+to\s+({_PLACE})"
    r"(?=\s+(?:on|in|at|for|with|leaving|departing|and|by)\b|\s*[,.;:?(]|\s*$)"
)
_MESSAGE = re.compile(r"\b(?:e-?mail|message|post)s?\s+$", re.IGNORECASE)
"""What stands before the writer of a message, who is no place."""
_BRACKETED = re.compile(r"\(([A-Z]{3,4})\)\s*$")
_PERSON = re.compile(
    r"\b(Mr|Mrs|Ms|Miss|Mx|Dr|Prof)\.?\s+([A-ZÀ-Þ][\w'’-]*)"
    r"((?:\s+(?:(?:van|von|de|del|della|da|di|la|le|al|ten|der|den|du|dos)\s+)*[A-ZÀ-Þ][\w'’-]*)+)"
)
_CHANGE = re.compile(
    r"\b(?:the|his|her|their|its)\s+([a-z][a-z ]{2,24}?)\s+to\s+(?!the\b)(\S.*?)"
    r"(?=\s+and\s+the\s+[a-z ]+?\s+to\s|,?\s+and\s+nothing\b|\s+for\s+(?:the\s+[a-z]|[A-Z])|[,;]\s|\.(?:\s|$)|\s*$)"
)
_PAIR = re.compile(
    r"(?:^|[(;,\n])\s*([A-Za-z][A-Za-z ]{1,24}?)\s*:\s*([^;,()\n]*?(?:\([^()\n]*\))?)\s*(?=[;,)\n]|\.?\s*$)"
)
_ONE_WAY = re.compile(r"\b(?:one[ -]way|single)\b", re.IGNORECASE)
_ROUND = re.compile(r"\b(?:return|round[ -]trip|there and back)\b", re.IGNORECASE)
_CODE_LABEL = r"\b(?:reference|booking (?:code|number)|confirmation (?:code|number)|locator)\b"
_Value = Callable[["Facts"], str | None]
_KINDS: tuple[tuple[re.Pattern[str], _Value], ...] = tuple(
    (re.compile(label), value)
    for label, value in (
        (r"\b(?:birth|born|birthday)\b", lambda facts: facts.birth),
        (r"\b(?:return|back|inbound)\b.*\b(?:date|day)\b", lambda facts: facts.day("back")),
        (
            r"\b(?:depart\w*|outward|outbound|leaving|travel)\b.*\b(?:date|day)\b",
            lambda facts: facts.day("out"),
        ),
        (r"\b(?:expir\w*|valid)\b", lambda facts: facts.first(_EXPIRY)),
        (r"\b(?:cvc|cvv|security)\b", lambda facts: facts.first(_SECURITY)),
        (r"\bcard\b.*\bnumber\b|^card$", lambda facts: facts.card),
        (r"^(?:from|origin|leaving from|where from)\b", lambda facts: facts.place(0)),
        (r"^(?:to|destination|going to|where to)\b", lambda facts: facts.place(1)),
        (r"\b(?:first|given) name\b", lambda facts: facts.of_person(2)),
        (r"\b(?:last|family) name\b|\bsurname\b", lambda facts: facts.of_person(3)),
        (r"^title$|\bsalutation\b", lambda facts: facts.of_person(1)),
        (r"\be-?mail\b", lambda facts: facts.first(_MAIL)),
        (_CODE_LABEL, lambda facts: facts.code),
        (r"\b(?:price|cost|budget|amount)\b", lambda facts: facts.price),
        (r"^(?:date|day)$", lambda facts: facts.days[0][0] if facts.days else None),
    )
)
"""What goes under a label, by its words in lower case."""


class Facts:
    """What one objective gives."""

    def __init__(self, text: str) -> None:
        self.text = _BEFORE_DAY.sub("", DATE.sub(lambda match: str(read_date(match[0]) or match[0]), text))
        days = list(_ISO.finditer(self.text))
        ends = [0, *(match.end() for match in days)]
        births = [
            match
            for match, end in zip(days, ends, strict=False)
            if _BORN.search(self.text, end, match.start())
        ]
        self.birth = births[0][0] if births else None
        self.days = self._ways([match for match in days if match not in births])
        """Dates as year, month and day, each with the way it is for."""
        self.times = self._ways(list(_TIME.finditer(self.text)))
        self.code = _first(_CODE, re.sub(r'"[^"]*"', " ", self.text))
        self.card = self.first(_CARD)
        self.price = self.first(_MONEY)
        routes = _ROUTE.finditer(self.text)
        route = next((one for one in routes if not _MESSAGE.search(self.text, 0, one.start())), None)
        self.route = (route[1].strip(), route[2].strip()) if route else None
        self.person = _PERSON.search(self.text)
        self.changes = {norm(match[1]): match[2].strip() for match in _CHANGE.finditer(self.text)}
        pairs = {norm(match[1]): match[2].strip() for match in _PAIR.finditer(self.text)}
        self._labelled = self.changes or {label: value for label, value in pairs.items() if value}

    def first(self, pattern: re.Pattern[str]) -> str | None:
        return _first(pattern, self.text)

    def day(self, way: Way) -> str | None:
        return next((day for day, its_way in self.days if its_way == way), None)

    def place(self, end: int) -> str | None:
        """Return where the route begins (0) or ends (1), by its code if it has one."""
        return (_first(_BRACKETED, self.route[end]) or self.route[end]) if self.route else None

    def of_person(self, group: int) -> str | None:
        return self.person[group].strip() if self.person else None

    @property
    def are_given(self) -> bool:
        """Whether there is something that only a form or an action with arguments can take."""
        return bool(self.code or self.card or self.route)

    def takes(self, label: str) -> bool:
        """Return whether a label is for a fact of some kind, given or not."""
        return _kind(label) is not None

    def value(self, label: str) -> str | None:
        """Return what goes under a label; where the objective only changes things, nothing but the changes."""
        named = _named(label)
        for known, value in self._labelled.items():
            if named and alike(known, named) >= 0.75:
                return value
        if self.changes:
            return self.code if re.search(_CODE_LABEL, named) else None
        kind = _kind(label)
        return (kind(self) or None) if kind is not None else None

    def choice(self, label: str, options: Sequence[str]) -> str | None:
        """Return which of some options the objective means under a label, or None if it means none."""
        given = self.value(label)
        if given is not None:
            return next((option for option in options if norm(option) == norm(given)), None)
        if self.changes:
            return None
        timed = [option for option in options if _TIME.search(option)]
        if len(timed) > 1 or (timed and len(timed) == len(options)):
            way = "back" if _BACK.search(_named(label)) else "out"
            wanted = next((_plain_time(time) for time, one in self.times if one == way), None)
            return next((one for one in timed if _plain_time(one) == wanted), None)
        if len(options) == 2 and self.route is not None:
            pattern = _ROUND if self.day("back") else _ONE_WAY
            if (fitting := next((option for option in options if pattern.search(option)), None)) is not None:
                return fitting
        said = [
            option
            for option in options
            if len(option) > 2 and re.search(rf"(?<!\w){re.escape(norm(option))}(?!\w)", norm(self.text))
        ]
        return max(said, key=len, default=None)

    def for_parameter(self, parameter: Parameter) -> str | None:
        """Return what goes into an argument of an action, by its name."""
        if parameter.choices is None:
            return self.value(parameter.name)
        return self.choice(parameter.name, [choice.value for choice in parameter.choices])

    def named(self, options: Sequence[str]) -> str | None:
        """Return the option whose words the objective has most of, new values not counted; the first of equals.

        None if it has none of any; the only option needs none.
        """
        text = self.text
        for value in self.changes.values():
            text = text.replace(value, " ")
        said = set(content_words(text))
        shares = [len(said & set(content_words(option))) for option in options]
        best = max(shares, default=0)
        return options[shares.index(best)] if best or len(options) == 1 else None

    def _ways(self, found: list[re.Match[str]]) -> tuple[tuple[str, Way], ...]:
        """Return days or times with their ways: two are out and back, one is as the words before it say."""
        if len(found) == 2:
            return (found[0][0], "out"), (found[1][0], "back")
        return tuple((one[0].strip(), self._way_before(one.start())) for one in found)

    def _way_before(self, at: int) -> Way:
        start = max((one.end() for one in re.finditer(r"[.?!]\s", self.text) if one.end() <= at), default=0)
        out, back = (
            max((one.start() for one in pattern.finditer(self.text, start, at)), default=-1)
            for pattern in (_OUT, _BACK)
        )
        return "back" if back > out else "out"


def search_words(text: str, filler: frozenset[str]) -> str:
    """Return the words of an objective that a search takes, eight at most, without those about money."""
    found = [word for word in dict.fromkeys(content_words(_MONEY.sub(" ", text))) if not word.isdigit()]
    return " ".join([word for word in found if word not in filler][:8])


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the first match, or the group of it that matched where the pattern has groups."""
    found = pattern.search(text)
    return None if found is None else next(filter(None, found.groups()), found[0])


def _named(label: str) -> str:
    return norm(label.replace("_", " "))


def _kind(label: str) -> _Value | None:
    return next((value for pattern, value in _KINDS if pattern.search(_named(label))), None)


def _plain_time(text: str) -> str:
    found = _TIME.search(text)
    return re.sub(r"\s", "", found[0]).casefold() if found else ""
