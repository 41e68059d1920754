"""The timetable: which flights go on a day, the same for everybody and on every machine."""

import random
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from core.environments.airline.airports import BY_CODE, is_route, kilometres
from core.schema.record import Record

AIRLINE = "Greylag Air"
CARRIER = "GLG"
TODAY = date(2027, 2, 1)
"""The day it always is at the desk."""
LAST_DAY = TODAY + timedelta(days=360)
"""The last day for which flights are sold."""


class Flight(Record):
    """One flight of one day."""

    number: str
    """As in ``GLG 412``; no two flights of a route and a day share it."""
    origin: str
    destination: str
    departs: datetime
    """By the clocks of the origin."""
    arrives: datetime
    """By the clocks of the destination."""
    minutes: int
    """How long it takes."""
    price: int
    """For one passenger, in dollars."""


class Journey(Record):
    """What a search asks for."""

    origin: str
    destination: str
    departure: date
    back: date | None = None
    """The day of the return flight; None for one way."""


@lru_cache(maxsize=4096)
def flights_on(origin: str, destination: str, day: date) -> tuple[Flight, ...]:
    """Return the flights of a day by time of departure; none where there is no such route or sale."""
    if not TODAY <= day <= LAST_DAY or not is_route(origin, destination):
        return ()
    chance = random.Random(f"{CARRIER} {origin} {destination} {day.isoformat()}")
    far = kilometres(origin, destination)
    count = chance.randrange(3, 7)
    slots = sorted(chance.sample(range(22), count))
    numbers = chance.sample(range(101, 999), count)
    lead = BY_CODE[destination].offset - BY_CODE[origin].offset
    found = []
    for slot, number in zip(slots, numbers, strict=True):
        # Slots of 40 minutes from 6:00 on, each used a little late, so that no two leave at one time.
        start = datetime.combine(day, time(6)) + timedelta(minutes=slot * 40 + 5 * chance.randrange(7))
        minutes = 40 + far // 14 + 5 * chance.randrange(5)
        found.append(
            Flight(
                number=f"{CARRIER} {number}",
                origin=origin,
                destination=destination,
                departs=start,
                arrives=start + timedelta(minutes=minutes, hours=lead),
                minutes=minutes,
                price=45 + far // 25 + chance.randrange(5, 160),
            )
        )
    return tuple(found)


def flight(origin: str, destination: str, day: date, number: str) -> Flight | None:
    """Return one flight by its number, or None."""
    return next((one for one in flights_on(origin, destination, day) if one.number == number), None)


def outward_flights(journey: Journey) -> tuple[Flight, ...]:
    return flights_on(journey.origin, journey.destination, journey.departure)


def return_flights(journey: Journey) -> tuple[Flight, ...]:
    """Return the flights back on the day of the return; none for a journey one way."""
    if journey.back is None:
        return ()
    return flights_on(journey.destination, journey.origin, journey.back)


def clock(moment: datetime) -> str:
    """Return a time as the desk shows it: ``7:05 pm``."""
    return f"{moment.hour % 12 or 12}:{moment.minute:02d} {'am' if moment.hour < 12 else 'pm'}"


def long_date(day: date) -> str:
    """Return a date as the desk shows it: ``Wed 7 July 2027``."""
    return f"{WEEKDAYS[day.weekday()][:3]} {day.day} {MONTHS[day.month - 1]} {day.year}"


MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
