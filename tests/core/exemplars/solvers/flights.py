"""Booking a flight: two suggestion lists, a calendar and a list to compare."""

import datetime
import re

from core.debugger.exemplars.scripted import Look, Script
from core.schema.observation import Element, Observation
from tests.core.exemplars.solvers.page import all_of, between, click, the, write


def book_flight(instruction: str, page: Observation) -> Script:
    wish = between(instruction, "the ", " one-way")
    start, goal = between(instruction, "from: ", " to: "), between(instruction, " to: ", " on ")
    day = datetime.datetime.strptime(instruction.rsplit(" on ", 1)[1].strip("."), "%m/%d/%Y").date()
    page = yield Look(
        thought=f"The airport must be taken from the list that typing {start} brings up.",
        actions=(write(the(page, "textbox", "From:"), start), "wait [2]"),
    )
    page = yield Look(
        thought=f"That is the place to start from; now the list for {goal}.",
        actions=(click(_airport(page, start)), write(the(page, "textbox", "To:"), goal), "wait [2]"),
    )
    date_field = next(one for one in all_of(page, "textbox") if "readonly" in one.states)
    page = yield Look(
        thought="Take the goal; the date can only be chosen in the calendar that its field opens.",
        actions=(click(_airport(page, goal)), click(date_field)),
    )
    while (shown := _month(page)).strftime("%B %Y") != day.strftime("%B %Y"):
        page = yield Look(
            thought=f"The calendar shows {shown:%B}, and {day:%B} lies before it.",
            actions=(click(the(page, "generic", "Prev")),),
            needs=tuple(one.ref for one in page.elements if one.name in (f"{shown:%B}", f"{shown:%Y}")),
        )
    page = yield Look(
        thought=f"{day:%B} is shown: choose day {day.day}, and with all three fields filled, search.",
        actions=(click(the(page, "link", str(day.day))), click(the(page, "button", "Search"))),
        needs=tuple(one.ref for one in page.elements if one.name in (f"{day:%B}", f"{day:%Y}")),
    )
    flights = [one for one in all_of(page, "button") if one.name.startswith("Book flight")]
    times = [one for one in all_of(page, "text") if re.fullmatch(r"(\d+h ?)?(\d+m)?", one.name)]
    if wish == "cheapest":
        number = min(range(len(flights)), key=lambda place: _price(flights[place]))
        thought = f"The lowest price is ${_price(flights[number])}."
    else:
        number = min(range(len(flights)), key=lambda place: _minutes(times[place]))
        thought = f"The shortest flight takes {times[number].name}."
    compared = flights if wish == "cheapest" else [*flights, *times]
    yield Look(thought=thought, actions=(click(flights[number]),), needs=tuple(one.ref for one in compared))


def _airport(page: Observation, wanted: str) -> Element:
    """Return the suggestion that is the airport of this city or code; raises StopIteration."""
    fits = (f"({wanted})", f"{wanted} (")
    return next(one for one in all_of(page, "listitem") if any(part in one.name for part in fits))


def _month(page: Observation) -> datetime.date:
    """Return the first day of the month that the calendar shows; raises StopIteration."""
    year = next(one for one in all_of(page, "text") if re.fullmatch(r"20\d\d", one.name))
    month = page.elements[page.elements.index(year) - 1]
    return datetime.datetime.strptime(f"{month.name} {year.name}", "%B %Y").date()


def _price(button: Element) -> int:
    return int(button.name.rsplit("$", 1)[1])


def _minutes(element: Element) -> int:
    hours, minutes = re.search(r"(?:(\d+)h)? ?(?:(\d+)m)?", element.name).groups("0")
    return int(hours) * 60 + int(minutes)
