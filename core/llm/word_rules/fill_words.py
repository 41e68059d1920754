"""Reading what is to be typed, and into which field."""

import re
from collections.abc import Callable

from core.llm.word_rules.intent import Intent, restore
from core.llm.word_rules.words import ordinal, stem

_INTO = re.compile(
    r"\s+(?:into|in|inside|to|as|for)\s+(?!all\b|upper|lower|capital)(?P<field>(?:both|each|all|the|a|an|your|this)\b.*|⟦.*)$",
    re.I,
)


def read_fill(clause: str, verb: str, rest: str, quotes: list[str]) -> list[Intent]:
    """Return a part for each field that a clause such as ``enter X into Y`` names, in the clause's order."""
    full = restore(clause, quotes)
    pairs = re.findall(r"(?:the\s+)?([\w ]+?)\s+⟦(\d+)⟧(?=\s*(?:,|and\b|into\b|in\b|$))", rest)
    field = ""
    if match := _INTO.search(rest):
        field, rest = restore(match["field"], quotes, marks=False), rest[: match.start()]
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
    spoken = restore(rest, quotes).strip()
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


def _changed_case(text: str) -> Callable[[str], str]:
    """Return how a text is to be written: in capitals, in small letters, or as it is."""
    if re.search(r"\b(?:upper\s*case|capital letters|capitals)\b", text, re.IGNORECASE):
        return str.upper
    if re.search(r"\blower\s*case\b", text, re.IGNORECASE):
        return str.lower
    return str
