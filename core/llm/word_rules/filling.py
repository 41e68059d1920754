"""Filling fields: which field is meant, what goes in, and in which form the field wants it."""

import re
from datetime import date

from core.llm.word_rules.answering import computed, copied, looked_up
from core.llm.word_rules.dates import pick_date, read_date
from core.llm.word_rules.intent import Intent
from core.llm.word_rules.move import Answer, Move, Scene, act, said
from core.llm.word_rules.revealing import reveal
from core.llm.word_rules.roles import ROLE_WORDS, singular
from core.llm.word_rules.words import alike, norm, ordinal, short, words
from core.schema.observation import Element

_FILLER = frozenset(
    "the a an your into in both all each text of input form following field fields this number".split()
)


def fill(scene: Scene, intent: Intent) -> Answer:
    """Answer a part that asks to type something."""
    if intent.source == "copy" and re.search(r"each|correspond", intent.text):
        return _fill_by_labels(scene)
    if match := re.search(r'starts? with "([^"]*)"(?: and ends? with "([^"]*)")?', intent.text):
        return _fill_by_suggestion(scene, intent, match[1], match[2] or "")
    value = intent.value
    if intent.source:
        found = computed(scene) if intent.source == "answer" else copied(scene)
        if found is None:
            return None
        value = found
    day = read_date(value) if re.search(r"date|day|when", intent.field) or read_date(value) else None
    targets = fields_for(scene, intent)
    if not targets and day is not None:
        return pick_date(scene, day, intent.field)
    if not targets:
        return reveal(scene, intent.field or value)
    for element in targets:
        wanted = in_form(element, value, day)
        if holds(scene, element, wanted):
            continue
        move = Move(act("type", element, text=wanted), f'"{short(wanted)}" goes into {said(element)}.')
        if scene.allowed(move):
            return move
    if (chosen := picked_suggestion(scene, value)) is not None:
        return chosen
    last = scene.past.actions[-1] if scene.past.actions else None
    if (
        intent.suggests
        and last is not None
        and last[1].kind == "type"
        and last[0] in [one[0] for one in scene.past.of_part(scene.part)]
    ):
        return Move(act("wait", seconds=1.0), "The field may suggest entries in a moment.")
    return "done"


def in_form(element: Element, value: str, day: date | None = None) -> str:
    """Return a value as a field of that type takes it."""
    kind = element.detail.split(", ")[-1]
    if day is not None and kind == "date":
        return day.isoformat()
    if kind == "time" and (match := re.fullmatch(r"\s*(\d{1,2}):(\d{2})\s*([AaPp])\.?[Mm]\.?\s*", value)):
        hour = int(match[1]) % 12 + (12 if match[3].casefold() == "p" else 0)
        return f"{hour:02d}:{match[2]}"
    return value


def holds(scene: Scene, element: Element, value: str) -> bool:
    """Tell whether a field holds a value; a password's bullets are trusted once it was typed."""
    if element.value == value:
        return True
    if element.value and set(element.value) == {"•"}:
        return len(element.value) == len(value) and scene.past.touched(element.ref, "type") > 0
    typed = any(
        ok and action.kind == "type" and str(getattr(action, "text", "")) == value
        for _, action, ok in scene.past.actions
        if any(getattr(target, "ref", None) == element.ref for target in action.targets)
    )
    return typed and (bool(element.value) or element.role == "generic")


def fields_for(scene: Scene, intent: Intent) -> list[Element]:
    """Return the fields meant, in page order: one, or all where the part says both or all."""
    page = scene.page
    fields = page.fields()
    if not fields:
        return []
    if intent.every:
        return fields
    spoken = [
        word for word in words(intent.field) if word not in _FILLER and singular(word) not in ROLE_WORDS
    ]
    spoken = [word for word in spoken if ordinal(word) is None and any(char.isalnum() for char in word)]
    if intent.place is not None:
        found = page.nth(fields, intent.place)
        return [found] if found else []
    if spoken:
        scored = [
            (max((alike(" ".join(spoken), label) for label in page.labels(one)), default=0.0), one)
            for one in fields
        ]
        top = max(score for score, _ in scored)
        if top >= 0.5:
            return [next(one for score, one in scored if score == top)]
    source = [one for one in fields if one.value and not scene.past.touched(one.ref, "type")]
    open_fields = [one for one in fields if one not in source or len(fields) == 1] or fields
    return open_fields[:1]


def _fill_by_labels(scene: Scene) -> Answer:
    """Fill every field with what the page says of its label."""
    for element in scene.page.fields():
        label = next(iter(scene.page.labels(element)), "")
        value = looked_up(scene, label, but=element)
        if value is None or holds(scene, element, value):
            continue
        move = Move(act("type", element, text=value), f'The page gives "{short(value)}" for {short(label)}.')
        if scene.allowed(move):
            return move
    return "done"


def suggestions(scene: Scene) -> list[Element]:
    """Return what a field suggests while it is typed into."""
    return [
        one for one in scene.page.can("click") if one.role in ("option", "menuitem", "listitem") and one.name
    ]


def picked_suggestion(scene: Scene, value: str) -> Move | None:
    """Return a click on the suggestion that fits what was just typed."""
    recent = [action.kind for _, action, _ in scene.past.actions[-2:]]
    if not recent or (recent[-1] != "type" and recent != ["type", "wait"]):
        return None
    fitting = [
        one for one in suggestions(scene) if norm(value) in norm(one.name) or norm(one.name) in norm(value)
    ]
    for one in sorted(fitting, key=lambda one: -alike(value, one.name)):
        move = Move(act("click", one), f"{said(one, first=True)} is the suggestion that fits.")
        if scene.allowed(move):
            return move
    return None


def _fill_by_suggestion(scene: Scene, intent: Intent, begin: str, end: str) -> Answer:
    """Type the beginning and choose the suggestion with that beginning and end."""
    fields = fields_for(scene, intent)
    if not fields:
        return reveal(scene, intent.field or begin)
    field = fields[0]

    def fits(text: str) -> bool:
        plain = text.strip().casefold()
        return plain.startswith(begin.casefold()) and plain.endswith(end.casefold())

    if field.value and fits(field.value) and field.value != begin:
        return "done"
    for one in suggestions(scene):
        if fits(one.name):
            move = Move(
                act("click", one), f"{said(one, first=True)} begins and ends as asked.", finishes=True
            )
            if scene.allowed(move):
                return move
    if field.value != begin or not scene.past.touched(field.ref, "type"):
        move = Move(act("type", field, text=begin), f'Typing "{begin}" brings up what begins so.')
        if scene.allowed(move):
            return move
    if field.value == begin and scene.past.actions and scene.past.actions[-1][1].kind == "type":
        move = Move(act("wait", seconds=1.0), "The suggestions have not come yet.")
        if scene.allowed(move):
            return move
    down = Move(act("press", keys="ArrowDown"), "The arrow key brings up the suggestions.")
    return down if scene.past.times(down.action) < 3 and scene.allowed(down) else None
