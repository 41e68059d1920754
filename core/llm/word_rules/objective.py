"""Reading an objective: the ordered list of things it asks for, by its verbs, quotes and connecting words."""

import re
from typing import Literal

from core.llm.word_rules.words import NUMBER, colour, count_of, ordinal, stem, words
from core.model import Record

Kind = Literal[
    "click",
    "fill",
    "select",
    "expand",
    "drag",
    "scroll",
    "wait",
    "focus",
    "look",
    "count",
    "until",
    "guess",
    "add",
]
Source = Literal["", "answer", "copy", "that"]

_VERBS: dict[str, Kind] = {
    **dict.fromkeys(
        ("click", "press", "push", "hit", "tap", "submit", "close", "buy", "book", "order"), "click"
    ),
    **dict.fromkeys(
        ("delete", "star", "like", "share", "follow", "block", "retweet", "play", "agree"), "click"
    ),
    **dict.fromkeys(("enter", "type", "write", "fill", "input", "paste", "put"), "fill"),
    **dict.fromkeys(("select", "choose", "pick", "check", "set", "mark", "tick"), "select"),
    **dict.fromkeys(("expand", "unfold", "switch", "navigate"), "expand"),
    **dict.fromkeys(("drag", "move", "sort", "arrange"), "drag"),
    **dict.fromkeys(("generate", "roll", "draw"), "until"),
    "guess": "guess",
    "scroll": "scroll",
    "wait": "wait",
    "focus": "focus",
    **dict.fromkeys(("find", "look", "locate", "search", "solve", "copy", "use", "open", "go"), "look"),
}
_ROLES: dict[str, tuple[str, ...]] = {
    "button": ("button",),
    "link": ("link",),
    "tab": ("tab",),
    "checkbox": ("checkbox",),
    "check box": ("checkbox",),
    "radio": ("radio",),
    "radio button": ("radio",),
    "textbox": ("textbox", "searchbox", "spinbutton"),
    "text box": ("textbox", "searchbox", "spinbutton"),
    "text field": ("textbox", "searchbox", "spinbutton"),
    "text input": ("textbox", "searchbox", "spinbutton"),
    "input": ("textbox", "searchbox", "spinbutton"),
    "field": ("textbox", "searchbox", "spinbutton"),
    "text": ("textbox", "searchbox"),
    "textarea": ("textbox",),
    "text area": ("textbox",),
    "dropdown": ("combobox", "listbox"),
    "list": ("listbox", "combobox"),
    "slider": ("slider",),
    "spinner": ("spinbutton",),
    "menu": ("menu",),
    "icon": ("button", "img"),
    "image": ("img",),
    "date": ("textbox",),
}
ROLE_WORDS = frozenset(word for phrase in _ROLES for word in phrase.split()) | {
    "item", "items", "box", "dialog", "widget", "element", "option", "section", "buttons", "checkboxes", "card",
    "result", "post", "posts", "word", "number", "area", "file", "folder", "fields", "boxes", "links",
}  # fmt: skip
_QUOTED = re.compile(r'"((?:[^"]|"(?=\w))*?)"(?!\w)|“([^”]*)”')
_VERB_WORDS = "|".join(sorted(_VERBS, key=len, reverse=True))
_BOUNDARY = re.compile(
    r"(?:,?\s+and\s+then|,?\s+then|,?\s+and|,?\s+to(?=\s+find\s+and)|[,;.])\s+(?=(?:please\s+)?(?:"
    + _VERB_WORDS
    + r")\b(?!\s*(?:[,.]|$)))|(?<=[.;!?])\s+|,?\s+(?:and\s+)?(?=(?:hit|press|click)\s+(?:on\s+)?⟦?\w*submit)"
    r"|,?\s+and\s+(?=submit\b|search\b)",
    re.IGNORECASE,
)


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
    """What to type; empty where `source` says where to take it from."""
    source: Source = ""
    field: str = ""
    """The field to type into, in the objective's words."""
    roles: tuple[str, ...] = ()
    role_word: str = ""
    place: int | None = None
    """Which one of several, from 1; -1 the last."""
    every: bool = False
    count: int | None = None
    subject: str = ""
    """Whose, or in which part of the page."""
    suggests: bool = False
    """Whether the field will probably offer entries to choose from, which may come late."""


class Objective(Record):
    """An objective and what was read in it."""

    text: str
    intents: tuple[Intent, ...] = ()
    subject: str = ""
    """Who or what it is about, found before anything is done to it."""


def read_objective(text: str) -> Objective:
    """Return the intents of an objective, in the order they are to be carried out."""
    quotes: list[str] = []

    def keep(match: re.Match[str]) -> str:
        quotes.append(match[1] if match[1] is not None else match[2])
        return f"⟦{len(quotes) - 1}⟧"

    bare = _QUOTED.sub(keep, " ".join(text.split()))
    subject = ""
    intents: list[Intent] = []
    for clause in _BOUNDARY.split(bare):
        clause = re.sub(
            r",?\s+(?:when|once|after)\s+(?:\w+\s+)?(?:done|finished|complete|ready)\b.*$",
            "",
            clause or "",
            flags=re.I,
        )
        clause = clause.strip(" .,;")
        if not clause:
            continue
        found, about = _read_clause(clause, quotes)
        subject = about or subject
        intents.extend(one.model_copy(update={"subject": one.subject or subject}) for one in found)
    return Objective(text=text, intents=tuple(intents), subject=subject)


def _restore(text: str, quotes: list[str], *, marks: bool = True) -> str:
    return re.sub(r"⟦(\d+)⟧", lambda m: f'"{quotes[int(m[1])]}"' if marks else quotes[int(m[1])], text)


def _read_clause(clause: str, quotes: list[str]) -> tuple[list[Intent], str]:
    """Return the clause's intents, and whom or what it names to look for."""
    about = ""
    clause = re.sub(r"^(?:please|now|you should|and|then)\s+", "", clause, flags=re.IGNORECASE)
    if match := re.match(
        r"(?:for|on)\s+the\s+(?:user|account|person)\s+([^,]+)(?:,\s*(.*))?$", clause, re.IGNORECASE
    ):
        about, clause = _restore(match[1], quotes, marks=False), match[2] or ""
    if match := re.match(r"(?:using|with)\s+[^,]+,\s*(.*)", clause, re.IGNORECASE):
        clause = match[1]
    if match := re.match(r"(\w+)(?:\s+(?:on|in|into|onto))?\b\s*(.*)", clause):
        verb, rest = match[1].casefold(), match[2]
        if match[1].casefold() in ("enter", "type", "search", "look", "scroll", "switch", "navigate", "fill"):
            rest = clause[len(match[1]) :].strip()
    else:
        return [], about
    kind = _VERBS.get(verb)
    if re.match(r"how\s+many\b", clause, re.IGNORECASE):
        return [Intent(kind="count", verb="count", text=_restore(clause, quotes))], about
    if kind is None:
        return [], about
    if kind == "look":
        if match := re.match(r"(.*?)\s+to\s+(?:enter|type|search\s+for|find|write)\s+(⟦\d+⟧)", rest):
            value = _restore(match[2], quotes, marks=False)
            return [
                Intent(kind="fill", verb="enter", text=_restore(clause, quotes), field=match[1], value=value)
            ], about
        if verb == "search":
            return [
                Intent(kind="look", verb=verb, text=_restore(rest, quotes), names=_names(rest, quotes))
            ], about
        named = re.match(
            r"(?:for\s+)?(?:the\s+)?(?:(?:e-?mail|message|post|contact|user|entry)s?\s+)?"
            r"(?:(?:by|from|of|to|named|called)\s+)?(⟦\d+⟧|@?[A-Z][\w-]*)",
            rest,
        )
        return [], _restore(named[1], quotes, marks=False) if named else about
    if verb in ("order", "add", "buy") and (
        match := re.search(r"(?:items?|following|each)[^:]*:\s*(.+)$", rest)
    ):
        listed = _listed(match[1], quotes)
        return [Intent(kind="add", verb=verb, text=_restore(clause, quotes), names=listed)], about
    if kind in ("until", "guess"):
        return [Intent(kind=kind, verb=verb, text=_restore(clause, quotes))], about
    if kind == "fill":
        return _fills(clause, verb, rest, quotes), about
    if kind == "wait":
        amount = NUMBER.search(rest)
        return [Intent(kind="wait", verb=verb, text=clause, value=amount[0] if amount else "1")], about
    return [_target(kind, verb, clause, rest, quotes)], about


def _names(text: str, quotes: list[str]) -> tuple[str, ...]:
    quoted = tuple(quotes[int(number)] for number in re.findall(r"⟦(\d+)⟧", text))
    return quoted or ((text.strip(),) if text.strip() else ())


def _target(kind: Kind, verb: str, clause: str, rest: str, quotes: list[str]) -> Intent:
    full = _restore(clause, quotes)
    subject = ""
    if match := re.search(r"\s+(?:by|from|of)\s+(⟦\d+⟧|@[\w-]+)", rest):
        subject = _restore(match[1], quotes, marks=False)
        rest = rest[: match.start()] + rest[match.end() :]
    every = bool(re.search(r"\b(?:all|every|each|both)\b", rest, re.IGNORECASE))
    count = None
    if match := re.search(r"\b(?:on\s+)?(\w+)\s+(?:posts?|times?|items?)\b", rest):
        count = count_of(match[1])
    spoken = re.sub(r"⟦\d+⟧", " ", rest)
    place = next((found for word in spoken.split() if (found := ordinal(word)) is not None), None)
    roles, role_word = role_of(spoken)
    quoted = tuple(quotes[int(number)] for number in re.findall(r"⟦(\d+)⟧", rest))
    if quoted and kind != "drag":
        names = quoted
    elif kind == "select":
        names = _listed(rest, quotes)
    else:
        names = _plain_names(verb, rest)
    return Intent(
        kind=kind,
        verb=verb,
        text=full,
        names=names,
        quoted=bool(quoted),
        roles=roles,
        role_word=role_word,
        place=place,
        every=every,
        count=count,
        subject=subject,
    )


def role_of(text: str) -> tuple[tuple[str, ...], str]:
    """Return the roles that the first role word of a text stands for, and that word."""
    lowered = " ".join(stem_plural(word) for word in words(text))
    places = [
        (match.start(), -len(phrase), phrase)
        for phrase in _ROLES
        if (match := re.search(rf"\b{phrase}\b", lowered))
    ]
    if not places:
        return (), ""
    phrase = min(places)[2]
    return _ROLES[phrase], phrase


def stem_plural(word: str) -> str:
    return {"checkboxes": "checkbox", "textboxes": "textbox", "boxes": "box"}.get(word) or (
        word[:-1] if word.endswith("s") and word[:-1] in ROLE_WORDS else word
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


def _listed(rest: str, quotes: list[str]) -> tuple[str, ...]:
    """Return the names of a list such as ``A, B and C from the list``."""
    rest = _restore(rest, quotes, marks=False)
    while match := _TRAIL.search(rest):
        rest = rest[: match.start()]
    rest = _LEAD.sub("", rest).strip(" .")
    if rest.casefold() in ("nothing", "none", "no items", "nothing at all"):
        return ()
    return tuple(part.strip() for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", rest) if part.strip())


def _plain_names(verb: str, rest: str) -> tuple[str, ...]:
    """Return the words of a target without role words, such as ``Tab #2`` or ``cancel``."""
    rest = re.sub(
        r"\s+(?:to|so that|in order to|by)\s+(?:\w+ing\s+)?(?:delete|mark|open|close|see|view|it)\b.*$",
        "",
        rest,
    )
    rest = _LEAD.sub("", rest).strip(" .")
    kept = [word for word in rest.split() if stem_plural(word.casefold().strip(",.")) not in ROLE_WORDS]
    kept = [word for word in kept if ordinal(word) is None]
    name = " ".join(kept) if len(kept) < len(rest.split()) else rest
    if rest.casefold().startswith("tab ") and any(char.isdigit() for char in rest):
        name = rest
    if not name and verb in (
        "submit",
        "close",
        "delete",
        "star",
        "like",
        "share",
        "buy",
        "book",
        "order",
        "agree",
    ):
        name = verb
    return (name,) if name else ()


_INTO = re.compile(
    r"\s+(?:into|in|inside|to|as|for)\s+(?!all\b|upper|lower|capital)(?P<field>(?:both|each|all|the|a|an|your|this)\b.*|⟦.*)$",
    re.I,
)


def _fills(clause: str, verb: str, rest: str, quotes: list[str]) -> list[Intent]:
    full = _restore(clause, quotes)
    pairs = re.findall(r"(?:the\s+)?([\w ]+?)\s+⟦(\d+)⟧(?=\s*(?:,|and\b|into\b|in\b|$))", rest)
    field = ""
    if match := _INTO.search(rest):
        field, rest = _restore(match["field"], quotes, marks=False), rest[: match.start()]
    place = next((found for word in field.split() if (found := ordinal(word)) is not None), None)
    every = bool(re.search(r"\b(?:both|all|each)\b", field))
    common = {"kind": "fill", "verb": verb, "text": full, "place": place, "every": every}
    plain = [
        (name, number)
        for name, number in pairs
        if stem(name.split()[-1].casefold()) not in ("number", "text", "word", "item")
    ]
    plain = [(re.sub(r"^(?:and|the)\s+", "", name.strip()), number) for name, number in plain]
    if plain and not re.search(r"starts with|ends with", full):
        # Names before values are the fields' own; "both fields" is where they are said to be.
        return [
            Intent(
                **{**common, "place": place}, field=name if not every else field, value=quotes[int(number)]
            )
            for name, number in plain
        ]
    changed = _changed_case(full)
    values = [quotes[int(number)] for number in re.findall(r"⟦(\d+)⟧", rest)]
    if values and not re.search(r"starts? with|ends? with", full):
        value = changed(values[0])
        return [Intent(**common, field=field, value=value)]
    spoken = _restore(rest, quotes).strip()
    if re.search(r"\byour (?:answer|result|solution)\b|\btotal\b|\bthe answer\b", full, re.IGNORECASE):
        return [Intent(**common, field=field, source="answer")]
    if re.match(r"(?:that|it|them)\b", spoken) or verb == "paste":
        return [Intent(**common, field=field, source="that")]
    if re.search(r"\bthe (?:text|word|value|phrase)s?\b", spoken) or re.search(
        r"starts? with|ends? with", full
    ):
        return [Intent(**common, field=field, source="copy")]
    value = re.sub(r"^(?:the\s+)?(?:number|text|word|date|time|value)\s+", "", spoken)
    return [Intent(**common, field=field, value=changed(value))]


def _changed_case(text: str):  # type: ignore[no-untyped-def]
    if re.search(r"\b(?:upper\s*case|capital letters|capitals)\b", text, re.IGNORECASE):
        return str.upper
    if re.search(r"\blower\s*case\b", text, re.IGNORECASE):
        return str.lower
    return str


def colour_in(text: str) -> str | None:
    """Return the plain name of the first colour that a text names."""
    return next((found for word in words(text) if (found := colour(word))), None)
