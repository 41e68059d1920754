"""Where the airline flies and when: airports and a timetable, the same for everybody and on every machine."""

import math
import random
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from core.schema.record import Record

SHORTEST_ROUTE = 200
"""Kilometres; nobody flies less far."""


class Airport(Record):
    """One airport of the network."""

    code: str
    """Three capital letters."""
    city: str
    name: str
    """What tells it from others of the same city; may be empty."""
    country: str
    latitude: float
    longitude: float
    offset: int
    """Hours that its clocks are ahead of UTC; summer time is not kept."""

    @property
    def label(self) -> str:
        """City and code, as in ``New York (JFK)``."""
        return f"{self.city} ({self.code})"


def _airport(line: str) -> Airport:
    code, city, name, country, latitude, longitude, offset = (part.strip() for part in line.split("|"))
    return Airport(
        code=code,
        city=city,
        name=name,
        country=country,
        latitude=float(latitude),
        longitude=float(longitude),
        offset=int(offset),
    )


_LINES = """
AMS | Amsterdam       |           | Netherlands    | 52.31 |    4.76 |  1
ARN | Stockholm       |           | Sweden         | 59.65 |   17.92 |  1
ATH | Athens          |           | Greece         | 37.94 |   23.94 |  2
ATL | Atlanta         |           | United States  | 33.64 |  -84.43 | -5
BOS | Boston          |           | United States  | 42.36 |  -71.01 | -5
CDG | Paris           |           | France         | 49.01 |    2.55 |  1
CPH | Copenhagen      |           | Denmark        | 55.62 |   12.66 |  1
DEN | Denver          |           | United States  | 39.86 | -104.67 | -7
DFW | Dallas          |           | United States  | 32.90 |  -97.04 | -6
DUB | Dublin          |           | Ireland        | 53.42 |   -6.27 |  0
FCO | Rome            |           | Italy          | 41.80 |   12.25 |  1
FLL | Fort Lauderdale |           | United States  | 26.07 |  -80.15 | -5
HEL | Helsinki        |           | Finland        | 60.32 |   24.96 |  2
JFK | New York        | Kennedy   | United States  | 40.64 |  -73.78 | -5
LAX | Los Angeles     |           | United States  | 33.94 | -118.41 | -8
LGA | New York        | LaGuardia | United States  | 40.78 |  -73.87 | -5
LGW | London          | Gatwick   | United Kingdom | 51.15 |   -0.18 |  0
LHR | London          | Heathrow  | United Kingdom | 51.47 |   -0.45 |  0
LIS | Lisbon          |           | Portugal       | 38.77 |   -9.13 |  0
MAD | Madrid          |           | Spain          | 40.47 |   -3.56 |  1
MDW | Chicago         | Midway    | United States  | 41.79 |  -87.75 | -6
MIA | Miami           |           | United States  | 25.79 |  -80.29 | -5
ORD | Chicago         | O'Hare    | United States  | 41.98 |  -87.90 | -6
OSL | Oslo            |           | Norway         | 60.19 |   11.10 |  1
PHX | Phoenix         |           | United States  | 33.43 | -112.01 | -7
SEA | Seattle         |           | United States  | 47.45 | -122.31 | -8
SFO | San Francisco   |           | United States  | 37.62 | -122.38 | -8
VIE | Vienna          |           | Austria        | 48.11 |   16.57 |  1
YVR | Vancouver       |           | Canada         | 49.19 | -123.18 | -8
YYZ | Toronto         |           | Canada         | 43.68 |  -79.63 | -5
ZRH | Zurich          |           | Switzerland    | 47.46 |    8.55 |  1
"""

AIRPORTS: tuple[Airport, ...] = tuple(_airport(line) for line in _LINES.strip().splitlines())
BY_CODE: dict[str, Airport] = {airport.code: airport for airport in AIRPORTS}


def kilometres(origin: str, destination: str) -> int:
    """Return the distance between two airports along a great circle."""
    one, other = BY_CODE[origin], BY_CODE[destination]
    a, b = math.radians(one.latitude), math.radians(other.latitude)
    turn = math.radians(other.longitude - one.longitude)
    cosine = math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(turn)
    return round(6371 * math.acos(max(-1.0, min(1.0, cosine))))


def is_route(origin: str, destination: str) -> bool:
    """Return whether the airline flies from one to the other."""
    return kilometres(origin, destination) >= SHORTEST_ROUTE


def named(text: str) -> tuple[Airport, ...]:
    """Return the airports that `text` may mean: a code, a city, ``City (CODE)`` or a part of a name.

    One that it means exactly is returned alone.
    """
    wanted = " ".join(text.split()).casefold()
    if not wanted:
        return ()
    for airport in AIRPORTS:
        exact = (
            airport.code,
            airport.label,
            f"{airport.city} {airport.code}",
            f"{airport.city}, {airport.code}",
        )
        if wanted in (form.casefold() for form in exact):
            return (airport,)
    by_city = tuple(airport for airport in AIRPORTS if airport.city.casefold() == wanted)
    if by_city:
        return by_city
    return tuple(
        airport
        for airport in AIRPORTS
        if wanted in f"{airport.city} {airport.name} {airport.code}".casefold()
    )


# Flights

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
    """Return the flights of a day by time of departure; none if there is no such route or sale."""
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
