"""Reads what was typed into the desk's forms; each reader raises `Wrong` with a sentence for the field."""

import re
from datetime import date
from typing import Any

from pydantic import ValidationError

from core.environments.airline.bookings import GENDERS, TITLES, Card, Passenger, passes_check
from core.environments.airline.timetable import LAST_DAY, MONTHS, TODAY, Journey, is_route, long_date, named

PASSENGER_FIELDS = ("title", "first_name", "last_name", "gender", "birth")
_HINT = "write it as 2027-07-07 or 7 July 2027"


class Wrong(ValueError):
    """What is wrong with one field."""


class Problems(ValueError):
    """What is wrong with a form, field by field."""

    def __init__(self, fields: dict[str, str]) -> None:
        super().__init__("; ".join(fields.values()))
        self.fields = fields


def text(form: dict[str, Any], name: str) -> str:
    """Return a field without needless spaces; nothing if it is missing or no text."""
    value = form.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


def read_date(value: str) -> date:
    """Read ``2027-07-07``, ``7 July 2027``, ``Jul 7th, 2027`` and the like.

    Dates such as 7/8/2027 are refused: people disagree on which number is the day.
    """
    if not value:
        raise Wrong(f"Enter a date; {_HINT}.")
    found = re.fullmatch(r"(\d{4})-(\d{1,2})-(\d{1,2})", value)
    if found:
        year, month, day = (int(part) for part in found.groups())
    else:
        words = [word for word in re.findall(r"[A-Za-z]+|\d{1,4}", value) if word.lower() not in _FILLERS]
        months = [at for at, word in enumerate(words) if _month(word)]
        numbers = [int(word) for word in words if word.isdigit()]
        if len(words) != 3 or len(months) != 1 or len(numbers) != 2 or months[0] == 2:
            raise Wrong(f'"{value}" is not a date the desk can read; {_HINT}.')
        month, (day, year) = _month(words[months[0]]), numbers
    try:
        return date(year, month, day)
    except ValueError:
        raise Wrong(f'There is no day "{value}"; check day, month and year.') from None


def read_journey(form: dict[str, Any]) -> Journey:
    """Read a search form; raises Problems."""
    problems: dict[str, str] = {}
    codes = {"from": "", "to": ""}
    for name in codes:
        try:
            codes[name] = _airport(text(form, name))
        except Wrong as wrong:
            problems[name] = str(wrong)
    if not problems and not is_route(codes["from"], codes["to"]):
        same = codes["from"] == codes["to"]
        problems["to"] = "Choose two different airports." if same else "There are no flights on this route."
    two_way = form.get("trip") != "one-way"
    days: dict[str, date] = {}
    for name in ("departure", "return") if two_way else ("departure",):
        try:
            days[name] = _travel_day(text(form, name))
        except Wrong as wrong:
            problems[name] = str(wrong)
    if len(days) == 2 and days["return"] < days["departure"]:
        problems["return"] = "The return date is before the departure date."
    if problems:
        raise Problems(problems)
    return Journey(
        origin=codes["from"],
        destination=codes["to"],
        departure=days["departure"],
        back=days.get("return"),
    )


def read_passenger(form: dict[str, Any]) -> Passenger:
    """Read the details of a passenger; raises Problems."""
    values: dict[str, Any] = {name: text(form, name) for name in PASSENGER_FIELDS}
    problems: dict[str, str] = {}
    if values["title"] not in TITLES:
        problems["title"] = "Choose a title."
    if values["gender"] not in GENDERS:
        problems["gender"] = "Choose a gender."
    for name, said in (("first_name", "first name"), ("last_name", "last name")):
        if not values[name]:
            problems[name] = f"Enter the {said}."
        elif len(values[name]) > 60 or any(sign.isdigit() for sign in values[name]):
            problems[name] = f"The {said} must be letters, 60 at most."
    try:
        values["birth"] = read_date(values["birth"])
        if not date(1900, 1, 1) <= values["birth"] <= TODAY:
            problems["birth"] = "The date of birth must be between 1900 and today."
    except Wrong as wrong:
        problems["birth"] = str(wrong)
    if problems:
        raise Problems(problems)
    try:
        return Passenger.model_validate(values)
    except ValidationError as error:
        raise Problems({"last_name": error.errors()[0]["msg"]}) from error


def read_card(form: dict[str, Any]) -> Card:
    """Read a payment card; raises Problems."""
    problems: dict[str, str] = {}
    number = re.sub(r"[ -]", "", text(form, "number"))
    if not re.fullmatch(r"[0-9]{16}", number):
        problems["number"] = "Enter the 16 digits of the card number."
    elif not passes_check(number):
        problems["number"] = "This is not a valid card number: a digit is wrong."
    found = re.fullmatch(r"(0?[1-9]|1[0-2]) ?/ ?(?:20)?([0-9]{2})", text(form, "expiry"))
    expiry = ""
    if not found:
        problems["expiry"] = "Enter the expiry date as MM/YY."
    else:
        expiry = f"{int(found[1]):02d}/{found[2]}"
        if (2000 + int(found[2]), int(found[1])) < (TODAY.year, TODAY.month):
            problems["expiry"] = "The card has expired."
    cvc = text(form, "cvc")
    if not re.fullmatch(r"[0-9]{3}", cvc):
        problems["cvc"] = "Enter the 3 digits of the security code."
    if problems:
        raise Problems(problems)
    return Card(number=number, expiry=expiry, cvc=cvc)


def read_reference(form: dict[str, Any]) -> str:
    """Return a booking reference in capitals; raises Problems if it cannot be one."""
    value = text(form, "reference").upper()
    if not re.fullmatch(r"[A-Z0-9]{6}", value):
        raise Problems({"reference": "A booking reference has 6 letters and digits."})
    return value


_FILLERS = {
    *("st", "nd", "rd", "th", "the", "of"),
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
}


def _month(word: str) -> int:
    """Return the number of a month by its name or its first letters, three at least, or 0."""
    if len(word) < 3:
        return 0
    return next((at for at, name in enumerate(MONTHS, 1) if name.lower().startswith(word.lower())), 0)


def _airport(value: str) -> str:
    if not value:
        raise Wrong("Enter a city or an airport code.")
    found = named(value)
    if not found:
        raise Wrong(f'No airport is called "{value}"; enter a city or a three-letter code.')
    if len(found) > 1:
        raise Wrong(f'"{value}" may be {" or ".join(one.label for one in found[:4])}; choose one.')
    return found[0].code


def _travel_day(value: str) -> date:
    day = read_date(value)
    if not TODAY <= day <= LAST_DAY:
        raise Wrong(f"Flights are sold from {long_date(TODAY)} to {long_date(LAST_DAY)}.")
    return day
