"""Searches and forms given by labelled details: which field takes which word of the objective."""

import re

from core.llm.word_rules.dates import read_date
from core.llm.word_rules.intent import Intent, Objective
from core.llm.word_rules.move import Answer, Move, Scene, act, said
from core.llm.word_rules.page import is_submit
from core.llm.word_rules.words import content_words, norm, short, stem, words
from core.schema.observation import Element

_DETAIL = re.compile(r"\b(from|to):\s*(.+?)(?=\s+(?:to:|from:|on\s+\d)|$)", re.IGNORECASE)


def read_details(text: str) -> Objective | None:
    """Return the parts of an objective that gives fields as ``from: X to: Y on 12/23/2016``."""
    found = _DETAIL.findall(text)
    if len(found) < 2:
        return None
    intents = [
        Intent(
            kind="fill",
            verb="enter",
            field=name.casefold(),
            value=value.strip(" .,;"),
            text=text,
            suggests=True,
        )
        for name, value in found
    ]
    if (day := read_date(text)) is not None:
        intents.append(
            Intent(kind="select", verb="select", names=(day.isoformat(),), text=f"Select {day.isoformat()}")
        )
    intents.append(Intent(kind="click", verb="search", names=("search",), text="click search"))
    intents.append(Intent(kind="click", verb="book", names=("book",), text=text))
    return Objective(text=text, intents=tuple(intents))


def search(scene: Scene, intent: Intent) -> Answer:
    """Answer a search in free words: its words go into the fields whose labels they belong to."""
    fields = scene.page.fields()
    if not fields:
        return None
    wanted = assigned(scene, fields, " ".join(intent.names) or intent.text)
    for element, value in wanted:
        if element.value == value:
            continue
        move = Move(act("type", element, text=value), f'"{short(value)}" goes into {said(element)}.')
        if scene.allowed(move):
            return move
    for one in scene.page.can("click"):
        if is_submit(one) and not scene.past.touched(one.ref, "click"):
            return Move(act("click", one), f"{said(one, first=True)} starts the search.", finishes=True)
    return "done"


def assigned(scene: Scene, fields: list[Element], text: str) -> list[tuple[Element, str]]:
    """Return for each field the words of a text that it takes; a single field takes them all."""
    text = re.sub(r"^(?:for|the)\s+", "", text.strip(" ."))
    labelled = [(one, next(iter(scene.page.labels(one)), "")) for one in fields]
    if len(fields) == 1:
        return [(fields[0], text)]
    found: dict[int, str] = {}
    spoken = words(text)
    original = re.findall(r"\S+", text)
    used: set[int] = set()
    for one, label in labelled:
        for index, word in enumerate(spoken):
            if not any(_kin(word, part) for part in content_words(label)):
                continue
            at = _value_after(original, index)
            if at is not None:
                found[one.ref] = original[at].strip(".,;")
                used |= {index, at}
                break
    left = [one for one, _ in labelled if one.ref not in found]
    free = [word for index, word in enumerate(original) if index not in used and content_words(word)]
    for one, word in zip(left, free, strict=False):
        found[one.ref] = word.strip(".,;")
    return [(one, found[one.ref]) for one in fields if one.ref in found]


def _kin(word: str, label: str) -> bool:
    """Tell whether a word belongs to a label: direct, directed, director."""
    first, second = stem(word), stem(label)
    if {first, second} <= {"year", "date", "releas", "when"}:
        return True
    length = min(len(first), len(second), 6)
    return (length >= 4 and first[:length] == second[:length]) or norm(word) == norm(label)


def _value_after(original: list[str], index: int) -> int | None:
    at = index + 1
    while at < len(original) and original[at].casefold() in (
        "by",
        "in",
        "is",
        "of",
        "the",
        "from",
        ":",
        "year",
    ):
        at += 1
    return at if at < len(original) else None
