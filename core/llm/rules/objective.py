"""Reading an objective: the ordered list of things it asks for, by its verbs, quotes and connecting words."""

import re
from typing import Any, Literal

from core.llm.rules.words import ROLE_WORDS, ordinal, place_in, read_date, role_of, singular, stem
from core.schema.record import Record

Kind = Literal["click", "fill", "select", "expand", "drag"]


class Intent(Record):
    """One thing the objective asks for."""

    kind: Kind
    verb: str = ""
    text: str = ""
    """The clause, quotes put back."""
    names: tuple[str, ...] = ()
    """What to act on, or what to choose: quoted names first, else the words that are left."""
    quoted: bool = False
    value: str = ""
    copies: bool = False
    """Whether the value is to be taken from the page."""
    field: str = ""
    """The field to type into, in the objective's words."""
    roles: tuple[str, ...] = ()
    role_word: str = ""
    place: int | None = None
    """Which one of several, from 1; -1 the last."""
    every: bool = False
    """Whether all fields are meant."""
    subject: str = ""
    """Whose, or in which part of the page."""
    suggests: bool = False
    """Whether the field will probably offer entries to choose from, which may come late."""


class Objective(Record):
    """An objective and what was read in it."""

    text: str
    intents: tuple[Intent, ...] = ()


def understand(text: str) -> Objective:
    """Return the parts of an objective, in the order they are to be carried out."""
    intents = _labelled_details(text) or _message_request(text) or _clauses(text)
    return Objective(text=text, intents=tuple(intents))


# Details with labels

_DETAIL = re.compile(r"\b(from|to):\s*(.+?)(?=\s+(?:to:|from:|on\s+\d)|$)", re.IGNORECASE)


def has_labelled_details(text: str) -> bool:
    """Return whether an objective gives fields as ``from: X to: Y on 12/23/2016``."""
    return len(_DETAIL.findall(text)) > 1


def _labelled_details(text: str) -> list[Intent]:
    if not has_labelled_details(text):
        return []
    intents = [
        Intent(
            kind="fill",
            verb="enter",
            field=name.casefold(),
            value=value.strip(" .,;"),
            text=text,
            suggests=True,
        )
        for name, value in _DETAIL.findall(text)
    ]
    if (day := read_date(text)) is not None:
        intents.append(Intent(kind="select", verb="select", names=(f"{day}",), text=f"Select {day}"))
    search = Intent(kind="click", verb="search", names=("search",), text="click search")
    return [*intents, search, Intent(kind="click", verb="book", names=("book",), text=text)]


# Clauses

_VERBS_BY_KIND: dict[Kind, str] = {
    "click": "click press push hit tap submit close buy book order delete star like share follow block retweet focus",
    "fill": "enter type write fill input paste put",
    "select": "select choose pick check set mark tick",
    "expand": "expand unfold switch navigate",
    "drag": "drag move",
}
_VERBS = {verb: kind for kind, verbs in _VERBS_BY_KIND.items() for verb in verbs.split()}
_LOOKING = ("find", "look", "locate", "search", "use", "open", "go", "copy")
_NAMED_BY_VERB = frozenset("submit close delete star like share buy book order".split())
"""Verbs that name the control which does it."""
_QUOTED = re.compile(r'"((?:[^"]|"(?=\w))*?)"(?!\w)|“([^”]*)”')
_VERB_WORDS = "|".join(sorted((*_VERBS, *_LOOKING), key=len, reverse=True))
_BOUNDARY = re.compile(
    r"(?:,?\s+and\s+then|,?\s+then|,?\s+and|,?\s+to(?=\s+find\s+and)|[,;.])\s+(?=(?:please\s+)?(?:"
    + _VERB_WORDS
    + r")\b(?!\s*(?:[,.]|$)))|(?<=[.;!?])\s+|,?\s+(?:and\s+)?(?=(?:hit|press|click)\s+(?:on\s+)?⟦?\w*submit)"
    r"|,?\s+and\s+(?=submit\b|search\b)",
    re.IGNORECASE,
)
_WHEN_DONE = re.compile(
    r",?\s+(?:when|once|after)\s+(?:\w+\s+)?(?:done|finished|complete|ready)\b.*$", re.IGNORECASE
)
_ABOUT = re.compile(r"(?:for|on)\s+the\s+(?:user|account|person)\s+([^,]+)(?:,\s*(.*))?$", re.IGNORECASE)
_SOUGHT = re.compile(
    r"(?:for\s+)?(?:the\s+)?(?:(?:e-?mail|message|post|contact|user|entry)s?\s+)?"
    r"(?:(?:by|from|of|to|named|called)\s+)?(⟦\d+⟧|@?[A-Z][\w-]*)"
)


class _Quotes:
    """The quoted texts of an objective, for which ``⟦0⟧`` and so on stand."""

    def __init__(self, text: str) -> None:
        self._texts: list[str] = []
        self.bare = _QUOTED.sub(self._keep, " ".join(text.split()))

    def _keep(self, match: re.Match[str]) -> str:
        self._texts.append(match[1] if match[1] is not None else match[2])
        return f"⟦{len(self._texts) - 1}⟧"

    def within(self, text: str) -> tuple[str, ...]:
        """Return the quoted texts that stand in a part of the objective."""
        return tuple(self._texts[int(number)] for number in re.findall(r"⟦(\d+)⟧", text))

    def restore(self, text: str, *, marks: bool = True) -> str:
        """Put the quoted texts back, with their quotation marks or without."""
        form = '"{}"' if marks else "{}"
        return re.sub(r"⟦(\d+)⟧", lambda match: form.format(self._texts[int(match[1])]), text)


def _clauses(text: str) -> list[Intent]:
    quotes = _Quotes(text)
    subject = ""
    intents: list[Intent] = []
    for clause in _BOUNDARY.split(quotes.bare):
        found, about = _read_clause(_WHEN_DONE.sub("", clause or "").strip(" .,;"), quotes)
        subject = about or subject
        intents.extend(one.replace(subject=one.subject or subject) for one in found)
    return intents


def _read_clause(clause: str, quotes: _Quotes) -> tuple[list[Intent], str]:
    """Return the clause's intents, and whom or what it names to look for."""
    about = ""
    clause = re.sub(r"^(?:please|now|you should|and|then)\s+", "", clause, flags=re.IGNORECASE)
    if match := _ABOUT.match(clause):
        about, clause = quotes.restore(match[1], marks=False), match[2] or ""
    match = re.match(r"(\w+)(?:\s+(?:on|in|into|onto))?\b\s*(.*)", clause)
    if match is None:
        return [], about
    verb, rest = match[1].casefold(), match[2]
    if verb in ("enter", "type", "search", "look", "switch", "navigate", "fill"):
        rest = clause[len(verb) :].strip()
    text = quotes.restore(clause)
    if verb not in _LOOKING:
        kind = _VERBS.get(verb)
        if kind == "fill":
            return _read_fill(clause, verb, rest, quotes), about
        return [_target(kind, verb, text, rest, quotes)] if kind else [], about
    if match := re.match(r"(.*?)\s+to\s+(?:enter|type|search\s+for|find|write)\s+(⟦\d+⟧)", rest):
        value = quotes.restore(match[2], marks=False)
        return [Intent(kind="fill", verb="enter", text=text, field=match[1], value=value)], about
    sought = _SOUGHT.match(rest)
    return [], quotes.restore(sought[1], marks=False) if sought else about


def _target(kind: Kind, verb: str, text: str, rest: str, quotes: _Quotes) -> Intent:
    spoken = re.sub(r"⟦\d+⟧", " ", rest)
    roles, role_word = role_of(spoken)
    quoted = quotes.within(rest)
    names = quoted or (_listed(rest) if kind == "select" else _plain_names(verb, rest))
    return Intent(
        kind=kind,
        verb=verb,
        text=text,
        names=names,
        quoted=bool(quoted),
        roles=roles,
        role_word=role_word,
        place=place_in(spoken),
    )


_TRAIL = re.compile(
    r"\s+(?:from|with|in|on|inside|within|as|using|into|of)\s+(?:the|a|an|your|their)\s+[\w\s#-]+$",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:on\s+|in\s+|at\s+|to\s+)?(?:the\s+|a\s+|an\s+|their\s+|his\s+|her\s+|your\s+)?"
    r"(?:words?\s+similar\s+to\s+|options?\s+)?",
    re.IGNORECASE,
)
_PURPOSE = re.compile(
    r"\s+(?:to|so that|in order to|by)\s+(?:\w+ing\s+)?(?:delete|mark|open|close|see|view|it)\b.*$"
)


def _listed(rest: str) -> tuple[str, ...]:
    """Return the names of a list such as ``A, B and C from the list``."""
    while match := _TRAIL.search(rest):
        rest = rest[: match.start()]
    rest = _LEAD.sub("", rest).strip(" .")
    if rest.casefold() in ("nothing", "none", "no items", "nothing at all"):
        return ()
    return tuple(part.strip() for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", rest) if part.strip())


def _plain_names(verb: str, rest: str) -> tuple[str, ...]:
    """Return the words of a target without role words, such as ``Tab #2`` or ``cancel``."""
    rest = _LEAD.sub("", _PURPOSE.sub("", rest)).strip(" .")
    kept = [word for word in rest.split() if singular(word.casefold().strip(",.")) not in ROLE_WORDS]
    name = " ".join(word for word in kept if ordinal(word) is None)
    if rest.casefold().startswith("tab ") and any(char.isdigit() for char in rest):
        name = rest
    name = name or (verb if verb in _NAMED_BY_VERB else "")
    return (name,) if name else ()


# What is to be typed

_INTO = re.compile(
    r"\s+(?:into|in|inside|to|as|for)\s+(?!all\b|upper|lower|capital)"
    r"(?P<field>(?:both|each|all|the|a|an|your|this)\b.*|⟦.*)$",
    re.IGNORECASE,
)
_NAMED_VALUE = re.compile(r"(?:the\s+)?([\w ]+?)\s+(⟦\d+⟧)(?=\s*(?:,|and\b|into\b|in\b|$))")
_PARTIAL = re.compile(r"starts? with|ends? with")
_FROM_PAGE = re.compile(r"^(?:that|it|them|your)\b|\bthe (?:text|word|value|phrase)s?\b")


def _read_fill(clause: str, verb: str, rest: str, quotes: _Quotes) -> list[Intent]:
    """Return a part for each field that a clause such as ``enter X into Y`` names, in the clause's order."""
    text = quotes.restore(clause)
    pairs = _NAMED_VALUE.findall(rest)
    field = ""
    if match := _INTO.search(rest):
        field, rest = quotes.restore(match["field"], marks=False), rest[: match.start()]
    every = bool(re.search(r"\b(?:both|all|each)\b", field))

    def part(**more: Any) -> Intent:
        values = {"field": field, "place": place_in(field), "every": every, **more}
        return Intent(kind="fill", verb=verb, text=text, **values)

    is_partial = _PARTIAL.search(text) is not None
    named = [
        (re.sub(r"^(?:and|the)\s+", "", name.strip()), quotes.restore(value, marks=False))
        for name, value in pairs
        if stem(name.split()[-1].casefold()) not in ("number", "text", "word", "item")
    ]
    if named and not is_partial:
        # Names before values are the fields' own; "both fields" is where they are said to be.
        return [part(field=field if every else name, value=value) for name, value in named]
    values = quotes.within(rest)
    if values and not is_partial:
        return [part(value=values[0])]
    spoken = quotes.restore(rest).strip()
    if _FROM_PAGE.search(spoken) or verb == "paste" or is_partial:
        return [part(copies=True)]
    value = re.sub(r"^(?:the\s+)?(?:number|text|word|date|time|value)\s+", "", spoken)
    return [part(value=value)]


# Requests about messages

_MESSAGE = re.compile(r"\b(?:e-?mails?|mails?|messages?|inbox|conversation|letter|note)\b", re.IGNORECASE)
_DEALINGS = tuple(
    (verb, re.compile(pattern, re.IGNORECASE))
    for verb, pattern in (
        ("delete", r"\b(?:delete[ds]?|trash|remove[ds]?|erase[ds]?|discard|get rid|bin|junk|dispose)\b"),
        ("forward", r"\bforward"),
        ("reply", r"\b(?:reply|respond|response|answer|write back)\b"),
        ("star", r"\b(?:star(?:red)?|important|favou?rite|importance|flag)\b"),
    )
)
_NAME = r"@?[A-Z][\w-]+"


def _message_request(text: str) -> list[Intent]:
    """Return what a request about a message asks for; empty if it is not about one."""
    quoted = re.search(r'"(.*)"|“(.*)”', text)
    bare = text.replace(quoted[0], "") if quoted else text
    sender = re.search(rf"\b(?:from|by)\s+({_NAME})", bare) or re.search(
        rf"\b(?:to\s+)?({_NAME})['’]s\b|\bto\s+({_NAME})", bare
    )
    verb = next((verb for verb, pattern in _DEALINGS if pattern.search(bare)), "")
    if not verb or not sender or not _MESSAGE.search(bare):
        return []
    subject = next(filter(None, sender.groups()))
    intents = [Intent(kind="click", verb=verb, names=(verb,), text=text, subject=subject)]
    value = (quoted[1] or quoted[2]) if quoted else ""
    if verb == "forward":
        receiver = re.search(rf"\bto\s+(?!{re.escape(subject)}\b)({_NAME})", bare)
        value = receiver[1] if receiver else ""
    if verb in ("reply", "forward") and value:
        field = "to" if verb == "forward" else "message"
        intents.append(Intent(kind="fill", verb="enter", field=field, value=value, text=text))
        intents.append(Intent(kind="click", verb="send", names=("send",), text=text))
    return intents
