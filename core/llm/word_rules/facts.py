"""What an objective gives to fill in: dates, times, places, people, codes, cards, and words after a label.

Forms and the arguments of actions are filled from here, by the label of the
field or the name of the argument. What the objective does not give is None.
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import Literal

from core.llm.word_rules.dates import DATE, read_date
from core.llm.word_rules.words import alike, content_words, norm
from core.schema.record import Record

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
_QUOTED = re.compile(r'"[^"]*"')
_CARD = re.compile(r"\b(?:\d{4}[ -]?){3}\d{4}\b")
_EXPIRY = re.compile(r"(?<![\d/])(?:0[1-9]|1[0-2])/\d{2}(?![\d/])")
_SECURITY = re.compile(r"\b(?:cvc|cvv|security code)\D{0,5}(\d{3,4})\b", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
_MONEY = re.compile(
    r"(?:[$€£]\s?(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s?(?:dollars|euros|pounds|usd|bucks))", re.IGNORECASE
)
_PLACE = r"[A-Z][^,.;:()?]*?(?:\s*\([A-Z]{3,4}\))?"
_ROUTE = re.compile(
    rf"\bfrom\s+({_PLACE})\s+to\s+({_PLACE})"
    r"(?=\s+(?:on|in|at|for|with|leaving|departing|and|by)\b|\s*[,.;:?(]|\s*$)"
)
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
_NO_RETURN = re.compile(r"\b(?:no|without(?: a)?) return\b", re.IGNORECASE)

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("birth", r"\b(?:birth|born|birthday)\b"),
        ("back", r"\b(?:return|back|inbound)\b.*\b(?:date|day)\b"),
        ("out", r"\b(?:depart\w*|outward|outbound|leaving|travel)\b.*\b(?:date|day)\b"),
        ("expiry", r"\b(?:expir\w*|valid)\b"),
        ("security", r"\b(?:cvc|cvv|security)\b"),
        ("card", r"\bcard\b.*\bnumber\b|^card$"),
        ("origin", r"^(?:from|origin|leaving from|where from)\b"),
        ("destination", r"^(?:to|destination|going to|where to)\b"),
        ("first", r"\b(?:first|given) name\b"),
        ("last", r"\b(?:last|family) name\b|\bsurname\b"),
        ("title", r"^title$|\bsalutation\b"),
        ("mail", r"\be-?mail\b"),
        ("code", r"\b(?:reference|booking (?:code|number)|confirmation (?:code|number)|locator)\b"),
        ("price", r"\b(?:price|cost|budget|amount)\b"),
        ("day", r"^(?:date|day)$"),
    )
)


class Dated(Record):
    """A day or a time, with the way it is for."""

    text: str
    way: Way


class Facts:
    """What one objective gives."""

    def __init__(self, text: str) -> None:
        self.text = _with_iso_dates(text)
        born = [one for one in _ISO.finditer(self.text) if self._is_birth(one.start())]
        self.birth = born[0][0] if born else None
        births = {one.start() for one in born}
        self.dates = self._ways(
            [(one[0], one.start()) for one in _ISO.finditer(self.text) if one.start() not in births]
        )
        self.times = self._ways([(one[0].strip(), one.start()) for one in _TIME.finditer(self.text)])
        code = _CODE.search(_QUOTED.sub(" ", self.text))
        self.code = code[0] if code else None
        self.card = self._first(_CARD)
        self.expiry = self._first(_EXPIRY)
        self.mail = self._first(_MAIL)
        security = _SECURITY.search(self.text)
        self.security = security[1] if security else None
        money = _MONEY.search(self.text)
        self.price = (money[1] or money[2]) if money else None
        route = _ROUTE.search(self.text)
        self.route = (route[1].strip(), route[2].strip()) if route else None
        self.person = _PERSON.search(self.text)
        self.changes = {norm(one[1]): one[2].strip() for one in _CHANGE.finditer(self.text)}
        self.pairs = {norm(one[1]): one[2].strip() for one in _PAIR.finditer(self.text) if one[2].strip()}
        self.is_one_field = {"field", "value"} <= set(self.pairs)
        if self.is_one_field:
            self.pairs = {norm(self.pairs["field"]): self.pairs["value"]}

    @property
    def are_given(self) -> bool:
        """Whether there is something that only a form or an action with arguments can take."""
        return bool(self.code or self.card or self.route or self.is_one_field)

    def value(self, label: str) -> str | None:
        """Return what goes under a label; where the objective only changes things, nothing but the changes."""
        named = norm(label.replace("_", " "))
        if not named:
            return None
        for known, value in (self.changes or self.pairs).items():
            if alike(known, named) >= 0.75:
                return value
        if self.changes:
            return self.code if self._kind(named) == "code" else None
        return self._of_kind(self._kind(named))

    def takes(self, label: str) -> bool:
        """Tell whether a label is for a fact of some kind, given or not."""
        return bool(self._kind(norm(label.replace("_", " "))))

    def choice(self, label: str, options: Sequence[str]) -> str | None:
        """Return which of some options the objective means under a label, or None where it means none."""
        named = norm(label.replace("_", " "))
        given = self.value(label)
        if given is not None:
            return next((one for one in options if norm(one) == norm(given)), None)
        if self.changes:
            return None
        timed = [one for one in options if _TIME.search(one)]
        if len(timed) > 1 or (timed and len(timed) == len(options)):
            return self._at_its_time(timed, "back" if _BACK.search(named) else "out")
        for pattern, is_meant in ((_ONE_WAY, self.is_one_way), (_ROUND, not self.is_one_way)):
            fitting = [one for one in options if pattern.search(one)]
            if is_meant and fitting and len(options) == 2 and self.route is not None:
                return fitting[0]
        said = [one for one in options if len(one) > 2 and _says(self.text, one)]
        return max(said, key=len, default=None)

    def named(self, options: Sequence[str]) -> str | None:
        """Return the option whose words the objective has most of, new values not counted; the first of equals.

        None where it has none of any; the only option needs none.
        """
        text = self.text
        for value in self.changes.values():
            text = text.replace(value, " ")
        said = set(content_words(text))
        shares = [len(said & set(content_words(option))) for option in options]
        best = max(shares, default=0)
        return options[shares.index(best)] if best or len(options) == 1 else None

    @property
    def is_one_way(self) -> bool:
        """Whether only the way there is asked for."""
        if any(one.way == "back" for one in self.dates):
            return False
        text = _NO_RETURN.sub("single", self.text)
        return bool(_ONE_WAY.search(text)) or not _ROUND.search(text)

    # Reading

    def _first(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.search(self.text)
        return found[0] if found else None

    def _is_birth(self, at: int) -> bool:
        before = [one.end() for one in _ISO.finditer(self.text) if one.end() <= at]
        return _BORN.search(self.text, before[-1] if before else 0, at) is not None

    def _ways(self, found: list[tuple[str, int]]) -> tuple[Dated, ...]:
        """Return days or times with their ways: two are out and back, one is as the words before it say."""
        if len(found) == 2:
            return (Dated(text=found[0][0], way="out"), Dated(text=found[1][0], way="back"))
        return tuple(Dated(text=text, way=self._way_before(at)) for text, at in found)

    def _way_before(self, at: int) -> Way:
        start = max((one.end() for one in re.finditer(r"[.?!]\s", self.text) if one.end() <= at), default=0)
        out = max((one.start() for one in _OUT.finditer(self.text, start, at)), default=-1)
        back = max((one.start() for one in _BACK.finditer(self.text, start, at)), default=-1)
        return "back" if back > out else "out"

    @staticmethod
    def _kind(named: str) -> str:
        return next((kind for kind, pattern in _KINDS if pattern.search(named)), "")

    def _of_kind(self, kind: str) -> str | None:
        route = self.route or ("", "")
        person = self.person
        found = {
            "birth": self.birth,
            "back": self._day("back"),
            "out": self._day("out"),
            "day": self.dates[0].text if self.dates else None,
            "expiry": self.expiry,
            "security": self.security,
            "card": self.card,
            "origin": _short_place(route[0]),
            "destination": _short_place(route[1]),
            "first": person[2] if person else None,
            "last": person[3].strip() if person else None,
            "title": person[1] if person else None,
            "mail": self.mail,
            "code": self.code,
            "price": self.price,
        }
        return found.get(kind) or None

    def _day(self, way: Way) -> str | None:
        return next((one.text for one in self.dates if one.way == way), None)

    def _at_its_time(self, options: Sequence[str], way: Way) -> str | None:
        wanted = next((_plain_time(one.text) for one in self.times if one.way == way), None)
        for one in options:
            shown = _TIME.search(one)
            if shown and _plain_time(shown[0]) == wanted:
                return one
        return None


def search_words(text: str, filler: frozenset[str], most: int = 8) -> str:
    """Return the words of an objective that a search takes, without those about money."""
    plain = _MONEY.sub(" ", text)
    kept = [word for word in dict.fromkeys(content_words(plain)) if word not in filler and not word.isdigit()]
    return " ".join(kept[:most])


def _with_iso_dates(text: str) -> str:
    def iso(match: re.Match[str]) -> str:
        day: date | None = read_date(match[0])
        return day.isoformat() if day else match[0]

    return _BEFORE_DAY.sub("", DATE.sub(iso, text))


def _short_place(place: str) -> str:
    code = _BRACKETED.search(place)
    return code[1] if code else place


def _plain_time(text: str) -> str:
    return re.sub(r"\s", "", text).casefold()


def _says(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(norm(words))}(?!\w)", norm(text)) is not None
