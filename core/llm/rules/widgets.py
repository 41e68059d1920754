"""Choosing: options of lists, boxes to check, dates in calendars, spinners, and places in a list."""

import calendar
import re
from datetime import date

from core.llm.rules.clicks import click, find, reveal
from core.llm.rules.moves import Answer, Move, Scene, act, described
from core.llm.rules.objective import Intent
from core.llm.rules.page import RulesPage
from core.llm.rules.words import alike, content_words, month_of, norm, numbers, read_date, short, words
from core.schema.action import RefTarget
from core.schema.observation import Element, Option

_WAYS = {"up": -1, "left": -1, "down": 1, "right": 1}
_BOX_ROLES = frozenset(("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"))


def select(scene: Scene, intent: Intent) -> Answer:
    """Answer a part that asks to select, choose, check or set something."""
    if (day := read_date(intent.text)) is not None:
        return pick_date(scene, day)
    if intent.role_word == "spinner":
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
        option = _option(element, name)
        if option is None:
            continue
        if option.selected or _was_selected(scene, element, option):
            return "done"
        label = option.label or option.value
        if move := scene.move(
            "select", element, f'{described(element, first=True)} offers "{label}".', option=label
        ):
            return move
    boxes = [one for one in page.can("check") if one.role in _BOX_ROLES]
    box = page.best(name, boxes, least=0.85) or page.best(name, boxes) or _nearest(name, boxes)
    if box is not None:
        if "checked" in box.states:
            return "done"
        return scene.move("check", box, f"{described(box, first=True)} is to be checked.")
    found = find(scene, intent.replace(names=(name,), place=None))
    if found is None:
        return None
    if act("click", found) in [one.action for one in scene.history.of_part(scene.part)]:
        return "done"
    why = f"{described(found, first=True)} is to be chosen."
    return scene.move("click", found, why, finishes=len(intent.names) == 1)


def _option(element: Element, name: str) -> Option | None:
    offered = [option for option in element.options if not option.disabled]
    best = max(offered, key=lambda option: alike(name, option.label), default=None)
    return best if best is not None and alike(name, best.label) >= 0.8 else None


def _was_selected(scene: Scene, element: Element, option: Option) -> bool:
    if any(one.selected and one.label for one in element.options):
        return False
    done = (act("select", element, option=text) for text in (option.label, option.value) if text)
    return any(one.ok and one.action in done for one in scene.history.actions)


def _nearest(name: str, boxes: list[Element]) -> Element | None:
    """Return the box whose words share the beginning of the name's, where one does."""
    asked = {word[:5] for word in content_words(name) if len(word) >= 5}
    return next((box for box in boxes if asked & {word[:5] for word in content_words(box.name)}), None)


def drag(scene: Scene, intent: Intent) -> Answer:
    """Answer a part that asks to drag an item of a list to the place of another: the nth, or the next up or down."""
    items = [one for one in scene.page.can("drag") if one.name and one.role not in ("slider", "button")]
    spoken = words(intent.text)
    at = next((index for index, one in enumerate(items) if norm(one.name) in spoken), None)
    if at is None:
        return None
    way = next((step for word, step in _WAYS.items() if word in spoken), 0)
    goal = scene.page.nth(items, at + 1 + way if intent.place is None else intent.place)
    if goal is None or goal is items[at]:
        return None if goal is None else "done"
    why = f"{described(items[at], first=True)} is to go where {described(goal)} is."
    return scene.move("drag", items[at], why, finishes=True, to=RefTarget(ref=goal.ref))


# Dates

_NEXT = re.compile(r"^(?:next|forward|>|»|›|→)", re.IGNORECASE)
_PREVIOUS = re.compile(r"^(?:prev|previous|back|earlier|<|«|‹|←)", re.IGNORECASE)
_FOR_DATES = re.compile(r"date|calendar|depart|day|when|return|arriv", re.IGNORECASE)
_DAY_ROLES = frozenset("link button cell gridcell generic listitem".split())


def pick_date(scene: Scene, day: date, field: str = "") -> Answer:
    """Answer a part that asks for a date: by typing it, or through the calendar of a field."""
    shown = _shown_month(scene.page)
    if shown is not None:
        return _in_calendar(scene, day, shown)
    target = _date_field(scene.page, field)
    if target is None:
        return None
    if read_date(target.value) == day:
        return "done"
    text = day.isoformat() if target.detail.endswith("date") else day.strftime("%m/%d/%Y")
    typing = scene.move("type", target, f"{text} goes into {described(target)}.", text=text)
    return typing or scene.move("click", target, f"{described(target, first=True)} opens a calendar.")


def _shown_month(page: RulesPage) -> tuple[int, int] | None:
    """Return year and month of the calendar in the page, or None where there is none."""
    for index, one in enumerate(page.elements):
        parts = [] if one.options else norm(one.name).split()
        month = month_of(parts[0]) if 0 < len(parts) <= 3 else None
        if month is None:
            continue
        told = (*parts[1:][-1:], *(norm(other.name) for other in page.elements[index + 1 : index + 4]))
        year = next((text for text in told if re.fullmatch(r"\d{4}", text)), None)
        if year is not None:
            return int(year), month
    return None


def _date_field(page: RulesPage, wanted: str) -> Element | None:
    roles = ("textbox", "combobox")
    usable = [one for one in page.elements if page.may("click", one) or page.may("type", one)]
    fields = [one for one in usable if one.role in roles]
    dated = [one for one in fields if any(_FOR_DATES.search(label) for label in page.labels(one))]
    named = [
        one for one in dated if wanted and any(norm(wanted) in norm(label) for label in page.labels(one))
    ]
    readonly = [one for one in fields if "readonly" in one.states]
    return next(iter(named or dated or readonly or fields), None)


def _in_calendar(scene: Scene, day: date, shown: tuple[int, int]) -> Answer:
    clickable = scene.page.can("click")
    if shown == (day.year, day.month):
        for one in clickable:
            if norm(one.name) == str(day.day) and one.role in _DAY_ROLES:
                return Move(
                    act("click", one), f"{day:%d %B %Y} is in the month that is shown.", finishes=True
                )
        return None
    is_later = (day.year, day.month) > shown
    pattern, way = (_NEXT, "later") if is_later else (_PREVIOUS, "earlier")
    for one in clickable:
        if pattern.match(one.name.strip()) and one.role in ("link", "button", "generic"):
            month = f"{calendar.month_name[shown[1]]} {shown[0]}"
            return Move(act("click", one), f"{month} is shown; {day:%B %Y} lies {way}.")
    return None


def _set_spinner(scene: Scene, intent: Intent) -> Answer:
    """Type a number into a spinner, or reach it by the keys where typing did not take."""
    spinner = next((one for one in scene.page.elements if one.role == "spinbutton"), None)
    wanted = numbers(intent.text)
    if spinner is None or not wanted:
        return None
    text, shown = f"{wanted[0]:g}", numbers(spinner.value or "0")
    if spinner.value == text:
        return "done"
    if not scene.history.touched(spinner.ref, "type"):
        return scene.move("type", spinner, f"{text} goes into {described(spinner)}.", text=text)
    if "focused" not in spinner.states:
        return scene.move(
            "click", spinner, f"{described(spinner, first=True)} takes keys once it is clicked."
        )
    keys = "ArrowUp" if shown and wanted[0] > shown[0] else "ArrowDown"
    return scene.move("press", None, f"{spinner.value or 0} is shown and {text} wanted.", keys=keys)
