"""Filling fields: which field is meant, what goes in, and where the page itself tells it."""

import re
from datetime import date
from itertools import pairwise

from core.llm.rules.clicks import reveal
from core.llm.rules.moves import Answer, Move, Scene, act, described, first
from core.llm.rules.objective import Intent
from core.llm.rules.page import matching
from core.llm.rules.widgets import pick_date
from core.llm.rules.words import ROLE_WORDS, alike, norm, ordinal, read_date, short, singular, words
from core.schema.observation import Element

_FILLER = frozenset(
    "the a an your into in both all each text of input form following field fields this number".split()
)
_PARTIAL = re.compile(r'starts? with "([^"]*)"(?: and ends? with "([^"]*)")?')


def fill(scene: Scene, intent: Intent) -> Answer:
    """Answer a part that asks to type something."""
    if match := _PARTIAL.search(intent.text):
        return _fill_by_suggestion(scene, intent, match[1], match[2] or "")
    value = _copied(scene) if intent.copies else intent.value
    if value is None:
        return None
    day = read_date(value)
    targets = _fields_for(scene, intent)
    if not targets:
        return pick_date(scene, day, intent.field) if day else reveal(scene, intent.field or value)
    typing = first(
        scene.move("type", one, f'"{short(text)}" goes into {described(one)}.', text=text)
        for one in targets
        if not _holds(scene, one, text := _in_form(one, value, day))
    )
    if move := typing or _suggestion(scene, value):
        return move
    last = scene.history.actions[-1] if scene.history.actions else None
    if intent.suggests and last is not None and last.action.name == "type" and last.part == scene.part:
        return Move(act("wait", seconds=1.0), "The field may suggest entries in a moment.")
    return "done"


def _in_form(element: Element, value: str, day: date | None) -> str:
    """Return a value as a field of that type takes it."""
    kind = element.detail.split(", ")[-1]
    if day is not None and kind == "date":
        return day.isoformat()
    if kind == "time" and (match := re.fullmatch(r"\s*(\d{1,2}):(\d{2})\s*([AaPp])\.?[Mm]\.?\s*", value)):
        return f"{int(match[1]) % 12 + (12 if match[3] in 'Pp' else 0):02d}:{match[2]}"
    return value


def _holds(scene: Scene, element: Element, value: str) -> bool:
    """Tell whether a field holds a value; what was typed is trusted where the field shows it in another form."""
    if element.value == value:
        return True
    if element.value and set(element.value) == {"•"}:
        return len(element.value) == len(value) and scene.history.touched(element.ref, "type") > 0
    if not element.value and element.role != "generic":
        return False
    return any(one.ok and one.action == act("type", element, text=value) for one in scene.history.actions)


def _fields_for(scene: Scene, intent: Intent) -> list[Element]:
    """Return the fields meant, in page order: one, or all where the part says both or all."""
    page = scene.page
    fields = page.fields()
    if intent.every:
        return fields
    if intent.place is not None:
        found = page.nth(fields, intent.place)
        return [found] if found else []
    spoken = " ".join(
        word
        for word in words(intent.field)
        if word not in _FILLER
        and singular(word) not in ROLE_WORDS
        and ordinal(word) is None
        and any(char.isalnum() for char in word)
    )
    if spoken and fields:
        scores = [max((alike(spoken, label) for label in page.labels(one)), default=0.0) for one in fields]
        if max(scores) >= 0.5:
            return [fields[scores.index(max(scores))]]
    is_open = [not one.value or scene.history.touched(one.ref, "type") > 0 for one in fields]
    return [one for one, is_free in zip(fields, is_open, strict=True) if is_free or len(fields) == 1][
        :1
    ] or fields[:1]


# What a field suggests while it is typed into


def _suggestions(scene: Scene) -> list[Element]:
    roles = ("option", "menuitem", "listitem")
    return [one for one in scene.page.can("click") if one.role in roles and one.name]


def _suggestion(scene: Scene, value: str) -> Move | None:
    """Return a click on the suggestion that fits what was just typed."""
    recent = [one.action.name for one in scene.history.actions[-2:]]
    if recent[-1:] != ["type"] and recent != ["type", "wait"]:
        return None
    wanted = norm(value)
    fitting = [one for one in _suggestions(scene) if wanted in norm(one.name) or norm(one.name) in wanted]
    return first(
        scene.move("click", one, f"{described(one, first=True)} is the suggestion that fits.")
        for one in sorted(fitting, key=lambda one: -alike(value, one.name))
    )


def _fill_by_suggestion(scene: Scene, intent: Intent, begin: str, end: str) -> Answer:
    """Type the beginning and choose the suggestion with that beginning and end."""
    fields = _fields_for(scene, intent)
    if not fields:
        return reveal(scene, intent.field or begin)
    field = fields[0]

    def fits(text: str) -> bool:
        plain = text.strip().casefold()
        return plain.startswith(begin.casefold()) and plain.endswith(end.casefold())

    picking = first(
        scene.move("click", one, f"{described(one, first=True)} begins and ends as asked.", finishes=True)
        for one in _suggestions(scene)
        if fits(one.name)
    )
    if picking is not None:
        return picking
    if field.value != begin or not scene.history.touched(field.ref, "type"):
        return scene.move("type", field, f'Typing "{begin}" brings up what begins so.', text=begin)
    return scene.move("wait", None, "The suggestions have not come yet.", seconds=1.0)


# Values that the page tells


def looked_up(scene: Scene, label: str) -> str | None:
    """Return what the page says of a label: what stands after it, in its row or at its level."""
    for one, following in pairwise(scene.page.elements):
        is_beside = following.parent == one.parent or one.role in ("text", "term", "rowheader")
        if is_beside and following.name and alike(norm(one.name), norm(label)) >= 0.9:
            return following.name
    return None


def _copied(scene: Scene) -> str | None:
    """Return the word or text of the page that the objective says to take from it."""
    match = re.search(r"\b(\w+)\s+word\b", scene.objective.text)
    place = ordinal(match[1]) if match else None
    if place is not None:
        roles = ("paragraph", "text", "textbox")
        told = [one.value or one.name for one in scene.page.elements if one.role in roles]
        found = max(told, key=len, default="").split()
        at = place - 1 if place > 0 else len(found) - 1
        return found[at].strip(".,;:!?\"'()") if 0 <= at < len(found) else None
    boxes = [one for one in scene.page.fields() if one.value and not scene.history.touched(one.ref, "type")]
    return boxes[0].value if boxes else None


def counted(scene: Scene) -> int | None:
    """Return how many of the drawn things that the objective describes the page shows."""
    found = matching(scene.page, scene.objective.text)
    return None if found is None else len(found)
