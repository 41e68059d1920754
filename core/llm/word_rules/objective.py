"""Reading an objective: the ordered list of things it asks for, by its verbs, quotes and connecting words."""

import re

from core.llm.word_rules.fill_words import read_fill
from core.llm.word_rules.intent import Intent, Kind, Objective, restore
from core.llm.word_rules.roles import ROLE_WORDS, role_of, singular
from core.llm.word_rules.words import NUMBER, count_of, ordinal

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
    "scroll": "scroll",
    "wait": "wait",
    "focus": "focus",
    **dict.fromkeys(("find", "look", "locate", "search", "solve", "copy", "use", "open", "go"), "look"),
}
_QUOTED = re.compile(r'"((?:[^"]|"(?=\w))*?)"(?!\w)|“([^”]*)”')
_VERB_WORDS = "|".join(sorted(_VERBS, key=len, reverse=True))
_BOUNDARY = re.compile(
    r"(?:,?\s+and\s+then|,?\s+then|,?\s+and|,?\s+to(?=\s+find\s+and)|[,;.])\s+(?=(?:please\s+)?(?:"
    + _VERB_WORDS
    + r")\b(?!\s*(?:[,.]|$)))|(?<=[.;!?])\s+|,?\s+(?:and\s+)?(?=(?:hit|press|click)\s+(?:on\s+)?⟦?\w*submit)"
    r"|,?\s+and\s+(?=submit\b|search\b)",
    re.IGNORECASE,
)


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
        intents.extend(one.replace(subject=one.subject or subject) for one in found)
    return Objective(text=text, intents=tuple(intents), subject=subject)


def _read_clause(clause: str, quotes: list[str]) -> tuple[list[Intent], str]:
    """Return the clause's intents, and whom or what it names to look for."""
    about = ""
    clause = re.sub(r"^(?:please|now|you should|and|then)\s+", "", clause, flags=re.IGNORECASE)
    if match := re.match(
        r"(?:for|on)\s+the\s+(?:user|account|person)\s+([^,]+)(?:,\s*(.*))?$", clause, re.IGNORECASE
    ):
        about, clause = restore(match[1], quotes, marks=False), match[2] or ""
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
        return [Intent(kind="count", verb="count", text=restore(clause, quotes))], about
    if kind is None:
        return [], about
    if kind == "look":
        if match := re.match(r"(.*?)\s+to\s+(?:enter|type|search\s+for|find|write)\s+(⟦\d+⟧)", rest):
            value = restore(match[2], quotes, marks=False)
            return [
                Intent(kind="fill", verb="enter", text=restore(clause, quotes), field=match[1], value=value)
            ], about
        if verb == "search":
            return [
                Intent(kind="look", verb=verb, text=restore(rest, quotes), names=_names(rest, quotes))
            ], about
        named = re.match(
            r"(?:for\s+)?(?:the\s+)?(?:(?:e-?mail|message|post|contact|user|entry)s?\s+)?"
            r"(?:(?:by|from|of|to|named|called)\s+)?(⟦\d+⟧|@?[A-Z][\w-]*)",
            rest,
        )
        return [], restore(named[1], quotes, marks=False) if named else about
    if verb in ("order", "add", "buy") and (
        match := re.search(r"(?:items?|following|each)[^:]*:\s*(.+)$", rest)
    ):
        listed = _listed(match[1], quotes)
        return [Intent(kind="add", verb=verb, text=restore(clause, quotes), names=listed)], about
    if verb in ("order", "add", "buy") and (
        match := re.match(r"(\w+)\s+items?\s+(?:that|which)\s+\w+\s+(.+)$", rest)
    ):
        names = (restore(match[2], quotes, marks=False),)
        number = count_of(match[1])
        return [Intent(kind="add", verb=verb, text=restore(clause, quotes), names=names, count=number)], about
    if kind == "fill":
        return read_fill(clause, verb, rest, quotes), about
    if kind == "wait":
        amount = NUMBER.search(rest)
        return [Intent(kind="wait", verb=verb, text=clause, value=amount[0] if amount else "1")], about
    return [_target(kind, verb, clause, rest, quotes)], about


def _names(text: str, quotes: list[str]) -> tuple[str, ...]:
    quoted = tuple(quotes[int(number)] for number in re.findall(r"⟦(\d+)⟧", text))
    return quoted or ((text.strip(),) if text.strip() else ())


def _target(kind: Kind, verb: str, clause: str, rest: str, quotes: list[str]) -> Intent:
    full = restore(clause, quotes)
    subject = ""
    if match := re.search(r"\s+(?:by|from|of)\s+(⟦\d+⟧|@[\w-]+)", rest):
        subject = restore(match[1], quotes, marks=False)
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
    rest = restore(rest, quotes, marks=False)
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
    kept = [word for word in rest.split() if singular(word.casefold().strip(",.")) not in ROLE_WORDS]
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
