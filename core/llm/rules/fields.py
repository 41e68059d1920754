"""Filling in and choosing: texts into fields, options of lists, boxes to check, dates in calendars, and spinners."""

import re
from datetime import date
from itertools import pairwise

from core.llm.rules.clicks import click, find, reveal
from core.llm.rules.moves import Answer, Move, Scene, act, described, first
from core.llm.rules.objective import Intent
from core.llm.rules.page import RulesPage
from core.llm.rules.words import (
    MONTHS,
    ROLE_WORDS,
    alike,
    content_words,
    month_of,
    norm,
    numbers,
    ordinal,
    read_date,
    short,
    singular,
    words,
)
from core.schema.observation import Element, is_hidden

# Options and boxes

_BOX_ROLES = frozenset(("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"))


def select(scene: Scene, intent: Intent) -> Answer:
    """Answer a part that asks to select, choose, check or set something."""
    if (day := read_date(intent.text)) is not None:
        return pick_date(scene, day)
    if intent.roles == ("spinbutton",):
        return _set_spinner(scene, intent)
    if not intent.names:
        return click(scene, intent) if intent.roles else "done"
    missing: list[str] = []
    for name in intent.names:
        answer = _choose(scene, name, intent)
        if isinstance(answer, Move):
            return answer
        if answer is None:
            missing.append(name)
    return reveal(scene, short(", ".join(missing))) if missing else "done"


def _choose(scene: Scene, name: str, intent: Intent) -> Answer:
    """Choose one name: an option of a list, a box, else whatever answers to it."""
    page = scene.page
    for element in page.can("select"):
        labels = [option.label for option in element.options if not option.disabled]
        label = max(labels, key=lambda label: alike(name, label), default="")
        if alike(name, label) < 0.8:
            continue
        chosen = [option.label for option in element.options if option.selected and option.label]
        choice = act("select", element, option=label)
        if label in chosen or (
            not chosen and any(action.ok and action.action == choice for action in scene.history.actions)
        ):
            return "done"
        why = f'{described(element, first=True)} offers "{label}".'
        if move := scene.move("select", element, why, option=label):
            return move
    boxes = [one for one in page.can("check") if one.role in _BOX_ROLES]
    box = page.best(name, boxes, least=0.85) or page.best(name, boxes) or _nearest(name, boxes)
    if box is not None:
        why = f"{described(box, first=True)} has to be checked."
        return "done" if "checked" in box.states else scene.move("check", box, why)
    element_named = find(scene, intent.replace(names=(name,), place=None))
    if element_named is None:
        return None
    if act("click", element_named) in [one.action for one in scene.history.of_part(scene.part)]:
        return "done"
    return scene.click([element_named], "{} has to be chosen.", finishes=len(intent.names) == 1)


def _nearest(name: str, boxes: list[Element]) -> Element | None:
    """Return the box whose words share the beginning of the name's, if one does."""
    asked = {word[:5] for word in content_words(name) if len(word) >= 5}
    return next((box for box in boxes if asked & {word[:5] for word in content_words(box.name)}), None)


# Dates

_NEXT = re.compile(r"^(?:next|forward|>|»|›|→)", re.IGNORECASE)
_PREVIOUS = re.compile(r"^(?:prev|previous|back|earlier|<|«|‹|←)", re.IGNORECASE)
_FOR_DATES = re.compile(r"date|calendar|depart|day|when|return|arriv", re.IGNORECASE)
_DAY_ROLES = frozenset("link button cell gridcell generic listitem".split())


def pick_date(scene: Scene, day: date) -> Answer:
    """Answer a part that asks for a date: by typing it, or through the calendar of a field."""
    shown = _shown_month(scene.page)
    if shown is not None:
        return _in_calendar(scene, day, shown)
    target = _date_field(scene.page)
    if target is None:
        return None
    if read_date(target.value) == day:
        return "done"
    text = day.isoformat() if target.detail.endswith("date") else day.strftime("%m/%d/%Y")
    typing = scene.move("type", target, f"{text} goes into {described(target)}.", text=text)
    return typing or scene.move("click", target, f"{described(target, first=True)} opens a calendar.")


def _shown_month(page: RulesPage) -> tuple[int, int] | None:
    """Return year and month of the calendar in the page, or None if there is none."""
    text = " ".join(norm(element.name) for element in page.elements if not element.options)
    shown = ((int(year), month_of(word)) for word, year in re.findall(r"\b([a-z]{3,9}),? (\d{4})\b", text))
    return next(((year, month) for year, month in shown if month is not None), None)


def _date_field(page: RulesPage) -> Element | None:
    usable = {element.ref: element for action in ("click", "type") for element in page.can(action)}
    fields = [
        element
        for element in page.elements
        if element.ref in usable and element.role in ("textbox", "combobox")
    ]
    dated = [field for field in fields if any(_FOR_DATES.search(label) for label in page.labels(field))]
    return next(iter((*dated, *fields)), None)


def _in_calendar(scene: Scene, day: date, shown: tuple[int, int]) -> Answer:
    clickable = [element for element in scene.page.can("click") if element.role in _DAY_ROLES]
    if shown == (day.year, day.month):
        days = [one for one in clickable if norm(one.name) == str(day.day)]
        why = f"{day} is in the month that is shown."
        return Move(act("click", days[0]), why, finishes=True) if days else None
    pattern, way = (_NEXT, "later") if (day.year, day.month) > shown else (_PREVIOUS, "earlier")
    turning = next((one for one in clickable if pattern.match(one.name.strip())), None)
    why = f"{MONTHS[shown[1] - 1]} {shown[0]} is shown; {day} lies {way}."
    return Move(act("click", turning), why) if turning is not None else None


def _set_spinner(scene: Scene, intent: Intent) -> Answer:
    """Type a number into a spinner, or reach it by the keys where typing did not take."""
    spinner = next((element for element in scene.page.elements if element.role == "spinbutton"), None)
    wanted = numbers(intent.text)
    if spinner is None or not wanted:
        return None
    text, shown = f"{wanted[0]:g}", numbers(spinner.value or "0")
    if spinner.value == text:
        return "done"
    if not scene.history.touched(spinner.ref, "type"):
        return scene.move("type", spinner, f"{text} goes into {described(spinner)}.", text=text)
    keys = "ArrowUp" if shown and wanted[0] > shown[0] else "ArrowDown"
    return scene.move("press", None, f"{spinner.value or 0} is shown and {text} wanted.", keys=keys)


# Texts into fields

_FILLER = frozenset("the a an your into in both all each of this following text input form number".split())
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
        return pick_date(scene, day) if day else reveal(scene, intent.field or value)
    typing = first(
        scene.move("type", target, f'"{short(text)}" goes into {described(target)}.', text=text)
        for target in targets
        if not _holds(scene, target, text := _in_form(target, value, day))
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
    """Return whether a field holds a value; what was typed is trusted where the field shows it in another form."""
    if is_hidden(element.value):
        return len(element.value) == len(value) and scene.history.touched(element.ref, "type") > 0
    typing = act("type", element, text=value)
    is_shown = element.value != "" or element.role == "generic"
    was_typed = any(action.ok and action.action == typing for action in scene.history.actions)
    return element.value == value or (is_shown and was_typed)


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
        and word.isalnum()
    )
    named = {
        field.ref: max((alike(spoken, label) for label in page.labels(field)), default=0.0)
        for field in fields
    }
    if spoken and max(named.values(), default=0.0) >= 0.5:
        return [max(fields, key=lambda field: named[field.ref])]
    free = (field for field in fields if not field.value or scene.history.touched(field.ref, "type"))
    return [next(free, fields[0])] if fields else []


# What a field suggests while it is typed into


def _suggestions(scene: Scene) -> list[Element]:
    roles = ("option", "menuitem", "listitem")
    return [element for element in scene.page.can("click") if element.role in roles and element.name]


def _suggestion(scene: Scene, value: str) -> Move | None:
    """Return a click on the suggestion that fits what was just typed."""
    recent = [action.action.name for action in scene.history.actions[-2:]]
    if recent[-1:] != ["type"] and recent != ["type", "wait"]:
        return None
    wanted = norm(value)
    fitting = [
        suggestion
        for suggestion in _suggestions(scene)
        if wanted in norm(suggestion.name) or norm(suggestion.name) in wanted
    ]
    return scene.click(
        sorted(fitting, key=lambda one: -alike(value, one.name)), "{} is the suggestion that fits."
    )


def _fill_by_suggestion(scene: Scene, intent: Intent, begin: str, end: str) -> Answer:
    """Type the beginning and choose the suggestion with that beginning and end."""
    fields = _fields_for(scene, intent)
    if not fields:
        return reveal(scene, intent.field or begin)
    field = fields[0]
    fitting = [
        suggestion
        for suggestion in _suggestions(scene)
        if norm(suggestion.name).startswith(norm(begin)) and norm(suggestion.name).endswith(norm(end))
    ]
    if picking := scene.click(fitting, "{} begins and ends as asked.", finishes=True):
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
    if place is None:
        boxes = (field for field in scene.page.fields() if not scene.history.touched(field.ref, "type"))
        return next((box.value for box in boxes if box.value), None)
    roles = ("paragraph", "text", "textbox")
    texts = [element.value or element.name for element in scene.page.elements if element.role in roles]
    said = max(texts, key=len, default="").split()
    at = place - 1 if place > 0 else len(said) - 1
    return said[at].strip(".,;:!?\"'()") if 0 <= at < len(said) else None
