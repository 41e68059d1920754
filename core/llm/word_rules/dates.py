"""Dates: read in an objective, found and reached in a calendar."""

import calendar
import re
from datetime import date

from core.llm.word_rules.move import Answer, Move, Scene, act, said
from core.llm.word_rules.page import Page
from core.llm.word_rules.words import norm
from core.schema.observation import Element

_MONTHS = {name.casefold(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.casefold(): number for number, name in enumerate(calendar.month_abbr) if name}
DATE = re.compile(
    r"\b\d{1,2}/\d{1,2}/\d{4}\b|\b\d{4}-\d{2}-\d{2}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?[A-Za-z]{3,9}\.?,?\s+\d{4}\b"
    r"|\b[A-Za-z]{3,9}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}\b"
)
"""A date in any of the ways that `read_date` reads."""
_NEXT = re.compile(r"^(?:next|forward|>|»|›|→)", re.IGNORECASE)
_BEFORE = re.compile(r"^(?:prev|previous|back|earlier|<|«|‹|←)", re.IGNORECASE)
_FIELD = re.compile(r"date|calendar|depart|day|when|return|arriv", re.IGNORECASE)


def read_date(text: str) -> date | None:
    """Return the first date of a text, written 12/23/2016 (month first), 2016-12-23 or 23 December 2016."""
    if match := re.search(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b", text):
        return _date(int(match[3]), int(match[1]), int(match[2]))
    if match := re.search(r"\b(\d{4})-(\d{2})-(\d{2})\b", text):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    if match := re.search(r"\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?([A-Za-z]{3,9})\.?,?\s+(\d{4})\b", text):
        month = _MONTHS.get(match[2].casefold())
        return _date(int(match[3]), month, int(match[1])) if month else None
    if match := re.search(r"\b([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b", text):
        month = _MONTHS.get(match[1].casefold())
        return _date(int(match[3]), month, int(match[2])) if month else None
    return None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def shown_month(page: Page) -> tuple[int, int] | None:
    """Return year and month of the calendar in the page, or None where there is none."""
    elements = page.elements
    for index, one in enumerate(elements):
        if one.options:
            continue
        parts = norm(one.name).split()
        if not parts or len(parts) > 3 or parts[0] not in _MONTHS:
            continue
        month = _MONTHS[parts[0]]
        if len(parts) > 1 and re.fullmatch(r"\d{4}", parts[-1]):
            return int(parts[-1]), month
        for other in elements[index + 1 : index + 4]:
            if re.fullmatch(r"\d{4}", norm(other.name)):
                return int(norm(other.name)), month
    return None


def pick_date(scene: Scene, day: date, field: str = "") -> Answer:
    """Answer a part that asks for a date: by typing it, or through the calendar of a field."""
    page = scene.page
    target = _field(scene, field)
    if target is not None and read_date(target.value) == day and shown_month(page) is None:
        return "done"
    shown = shown_month(page)
    if shown is not None:
        return _in_calendar(scene, day, shown)
    if target is None:
        return None
    if target in page.can("type"):
        text = day.isoformat() if target.detail.endswith("date") else day.strftime("%m/%d/%Y")
        move = Move(act("type", target, text=text), f"{text} goes into {said(target)}.")
        if scene.allowed(move):
            return move
    if read_date(target.value) == day:
        return "done"
    move = Move(act("click", target), f"{said(target, first=True)} opens a calendar.")
    return move if scene.allowed(move) else None


def _field(scene: Scene, wanted: str) -> Element | None:
    page = scene.page
    fields = [
        one
        for one in page.elements
        if one.role in ("textbox", "combobox") and (page.may("click", one) or page.may("type", one))
    ]
    dated = [one for one in fields if any(_FIELD.search(label) for label in page.labels(one))]
    if wanted:
        named = [one for one in dated if any(norm(wanted) in norm(label) for label in page.labels(one))]
        dated = named or dated
    readonly = [one for one in fields if "readonly" in one.states]
    return next(iter(dated or readonly or fields), None)


def _in_calendar(scene: Scene, day: date, shown: tuple[int, int]) -> Answer:
    page = scene.page
    clickable = page.can("click")
    if shown == (day.year, day.month):
        for one in clickable:
            if norm(one.name) == str(day.day) and one.role in (
                "link",
                "button",
                "cell",
                "gridcell",
                "generic",
                "listitem",
            ):
                return Move(
                    act("click", one), f"{day:%d %B %Y} is in the month that is shown.", finishes=True
                )
        return None
    later = (day.year, day.month) > shown
    pattern = _NEXT if later else _BEFORE
    for one in clickable:
        if pattern.match(one.name.strip()) and one.role in ("link", "button", "generic"):
            month = f"{calendar.month_name[shown[1]]} {shown[0]}"
            return Move(
                act("click", one), f"{month} is shown; {day:%B %Y} lies {'later' if later else 'earlier'}."
            )
    return None
