"""Where the airline flies: airports with the city they serve and how far apart they lie."""

import math

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
