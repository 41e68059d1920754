"""An objective, read once: its parts in their order, by verbs, quotes and connecting words, and what it gives."""

import re
from functools import cached_property
from typing import Literal

from core.llm.rules.facts import Facts
from core.llm.rules.words import (
    ROLE_WORDS,
    content_words,
    ordinal,
    place_in,
    read_date,
    related,
    roles_in,
    root,
    roots,
    singular,
    stem,
    stems,
    verbs_in,
)
from core.schema.record import Record

Kind = Literal["click", "fill", "select", "expand"]
_GOAL = re.compile(
    r"\b(?:i|we)(?:\s+\w+)?\s+(?:want|need)\b|\b(?:i|we)(?:'d| would)\s+like\b|\blooking\s+for\b|\bfind\s+me\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\s*(?:how|what|which|who|when|where|is|are|does|do|tell|list|give me)\b|\?\s*$", re.IGNORECASE
)


class Intent(Record):
    """One thing the objective asks for."""

    kind: Kind
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
    place: int | None = None
    """Which one of several, from 1; -1 the last."""
    every: bool = False
    """Whether all fields are meant."""
    subject: str = ""
    """Whose, or in which part of the page."""
    suggests: bool = False
    """Whether the field will probably offer entries to choose from, which may come late."""


class Objective:
    """An objective and what can be read in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def intents(self) -> tuple[Intent, ...]:
        """The parts, in the order they are to be carried out."""
        return tuple(_labelled_details(self.text) or _message_request(self.text) or _clauses(self.text))

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.text)

    @cached_property
    def verbs(self) -> set[str]:
        """The verbs that change something, as roots."""
        return verbs_in(self.text)

    @cached_property
    def roots(self) -> set[str]:
        return roots(self.text)

    @cached_property
    def stems(self) -> set[str]:
        return stems(self.text)

    def share_of(self, text: str) -> float:
        """Return the share of a text's words that the objective says, in these words or related ones."""
        said = [root(word) for word in content_words(text)]
        return len(related(said, self.roots)) / max(len(said), 1)

    def nearness(self, name: str) -> float:
        """Return how near the name of a control or an action is to what is asked, verbs before other words."""
        return self.share_of(name) + len(related(map(root, content_words(name)), self.verbs))

    @property
    def is_purchase(self) -> bool:
        """Whether it describes a thing to be bought."""
        return _GOAL.search(self.text) is not None

    @property
    def is_question(self) -> bool:
        """Whether it asks for an answer."""
        return _ASKS.search(self.text) is not None

    @property
    def is_for_forms(self) -> bool:
        """Whether it gives what only a form or an action with arguments can take, and names no fields for it."""
        return self.facts.are_given and not self.is_purchase and len(_DETAIL.findall(self.text)) < 2


# Details with labels

_DETAIL = re.compile(r"\b(from|to):\s*(.+?)(?=\s+(?:to:|from:|on\s+\d)|$)", re.IGNORECASE)


def _labelled_details(text: str) -> list[Intent]:
    """Return the parts of an objective that gives fields as ``from: X to: Y on 12/23/2016``."""
    details = _DETAIL.findall(text)
    if len(details) < 2:
        return []
    intents = [
        Intent(kind="fill", field=name.casefold(), value=value.strip(" .,;"), text=text, suggests=True)
        for name, value in details
    ]
    if (day := read_date(text)) is not None:
        intents.append(Intent(kind="select", names=(f"{day}",), text=f"Select {day}"))
    search = Intent(kind="click", names=("search",), text="click search")
    return [*intents, search, Intent(kind="click", names=("book",), text=text)]


# Clauses

_VERBS_BY_KIND: dict[Kind, str] = {
    "click": "click press push hit tap submit close buy book order delete star like share follow block retweet focus",
    "fill": "enter type write fill input paste put",
    "select": "select choose pick check set mark tick",
    "expand": "expand unfold switch navigate",
}
_VERBS = {verb: kind for kind, verbs in _VERBS_BY_KIND.items() for verb in verbs.split()}
_LOOKING = ("find", "look", "locate", "search", "use", "open", "go", "copy")
_NAMED_BY_VERB = frozenset("submit close delete star like share buy book order".split())
"""Verbs that name the control which does it."""
_TAKES_PREPOSITION = frozenset("enter type search look switch navigate fill".split())
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
_WRITTEN_BY = re.compile(r"\b(?:e-?mail|message)s?\s+(?:by|from|of)\s+(⟦\d+⟧|@?[A-Z][\w-]*)")
_TYPED_BY = re.compile(r"(.*?)\s+to\s+(?:enter|type|search\s+for|find|write)\s+(⟦\d+⟧)")
"""How a clause such as ``use the textbox to enter "X"`` goes on."""


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

    def restore(self, text: str, form: str = "{}") -> str:
        """Put the quoted texts back, each as the form has it."""
        return re.sub(r"⟦(\d+)⟧", lambda match: form.format(self._texts[int(match[1])]), text)


def _clauses(text: str) -> list[Intent]:
    quotes = _Quotes(text)
    subject = ""
    intents: list[Intent] = []
    for clause in _BOUNDARY.split(quotes.bare):
        clause = re.sub(r"^(?:please|now|you should|and|then)\s+", "", clause.strip(" .,;"), flags=re.I)
        clause = _WHEN_DONE.sub("", clause).strip(" .,;")
        if match := _ABOUT.match(clause):
            subject, clause = quotes.restore(match[1]), match[2] or ""
        match = re.match(r"(\w+)(?:\s+(?:on|in|into|onto))?\b\s*(.*)", clause)
        if match is None:
            continue
        verb = match[1].casefold()
        rest = clause[len(verb) :].strip() if verb in _TAKES_PREPOSITION else match[2]
        is_sought = verb in _LOOKING and not _TYPED_BY.match(rest)
        if sought := (_SOUGHT.match(rest) if is_sought else None) or _WRITTEN_BY.search(rest):
            subject = quotes.restore(sought[1])
        intents.extend(part.replace(subject=subject) for part in _read_clause(clause, verb, rest, quotes))
    return intents


def _read_clause(clause: str, verb: str, rest: str, quotes: _Quotes) -> list[Intent]:
    text = quotes.restore(clause, '"{}"')
    kind = _VERBS.get(verb)
    if kind == "fill":
        return _read_fill(text, verb, rest, quotes)
    if verb in _LOOKING and (match := _TYPED_BY.match(rest)):
        return [Intent(kind="fill", text=text, field=match[1], value=quotes.restore(match[2]))]
    if kind is None:
        return []
    spoken = re.sub(r"⟦\d+⟧", " ", rest)
    quoted = quotes.within(rest)
    if quoted and quoted[0] in ROLE_WORDS:
        # A quoted kind, as in: a "checkbox" widget.
        return [Intent(kind=kind, text=text, roles=roles_in(quoted[0]), place=place_in(spoken))]
    names = quoted or (_listed(rest) if kind == "select" else _plain_names(verb, rest))
    roles = roles_in(spoken)
    return [
        Intent(kind=kind, text=text, names=names, quoted=bool(quoted), roles=roles, place=place_in(spoken))
    ]


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


def _read_fill(text: str, verb: str, rest: str, quotes: _Quotes) -> list[Intent]:
    """Return a part for each field that a clause such as ``enter X into Y`` names, in the clause's order."""
    pairs = _NAMED_VALUE.findall(rest)
    field = ""
    if match := _INTO.search(rest):
        field, rest = quotes.restore(match["field"]), rest[: match.start()]
    every = bool(re.search(r"\b(?:both|all|each)\b", field))
    part = Intent(kind="fill", text=text, field=field, place=place_in(field), every=every)
    spoken = quotes.restore(rest, '"{}"').strip()
    if verb == "paste" or _PARTIAL.search(text):
        return [part.replace(copies=True)]
    named = [
        (re.sub(r"^(?:and|the)\s+", "", name.strip()), quotes.restore(value))
        for name, value in pairs
        if stem(name.split()[-1].casefold()) not in ("number", "text", "word", "item")
    ]
    if named:
        # Names before values are the fields' own; "both fields" is where they are said to be.
        return [part.replace(field=field if every else name, value=value) for name, value in named]
    if values := quotes.within(rest):
        return [part.replace(value=values[0])]
    if _FROM_PAGE.search(spoken):
        return [part.replace(copies=True)]
    value = re.sub(r"^(?:the\s+)?(?:number|text|word|date|time|value)\s+", "", spoken)
    return [part.replace(value=value)]


# Requests about messages

_NAME = r"@?[A-Z][\w-]+"
_MESSAGE = re.compile(
    rf"\b(?:by|from)\s+(?P<writer>{_NAME})\s+and\s+(?P<verb>forward|reply)\b"
    rf"(?:(?:[^.,;]|,(?=\s+to\b))*?\bto\s+(?P<receiver>{_NAME})|.*?(?P<words>⟦\d+⟧))"
)
"""As in ``the email by Ann and forward it to Bob``."""
_NAMES = rf"{_NAME}(?: [A-Z][\w-]+)*"
_MESSAGE_LAST = re.compile(
    r"(?i:^(?:please\s+)?(?P<verb>forward|reply)\b[^.,;]*?\b(?:e-?mail|message)s?)\s+"
    rf"(?:by|from)\s+(?P<writer>{_NAMES})(?:\s+to\s+(?P<receiver>{_NAMES})|[^.,;]*?(?P<words>⟦\d+⟧))"
)
"""As in ``Forward the email from Ann to Bob``."""


def _message_request(text: str) -> list[Intent]:
    """Return what a request to answer or forward a message asks for; empty for any other."""
    quotes = _Quotes(text)
    match = _MESSAGE.search(quotes.bare) or _MESSAGE_LAST.search(quotes.bare)
    if match is None:
        return []
    verb = match["verb"].casefold()
    field, value = ("to", match["receiver"]) if match["receiver"] else ("message", match["words"])
    return [
        Intent(kind="click", names=(verb,), text=text, subject=match["writer"]),
        Intent(kind="fill", field=field, value=quotes.restore(value), text=text),
        Intent(kind="click", names=("send",), text=text),
    ]
