"""Scenarios: what a customer wants and which books the desk has, made from a seed.

A scenario's id holds its kind and its seed, so every desk on every machine
knows every scenario by its id and none needs to be kept.
"""

import base64
import binascii
import hashlib
import random
from datetime import timedelta
from functools import lru_cache
from typing import Any, Literal, get_args

from core.environments.airline.bookings import (
    LAST_NAMES,
    Booking,
    Card,
    Passenger,
    all_bookings,
    birth_date,
    card,
    first_names,
    journey,
    passenger,
    titles,
)
from core.environments.airline.timetable import TODAY, Flight, Journey, outward_flights, return_flights
from core.schema.errors import DataError
from core.schema.record import Record

Kind = Literal[
    "TASK_FIND_FLIGHT",
    "TASK_BOOK_FLIGHT",
    "TASK_FIND_BOOKING",
    "TASK_CANCEL_BOOKING",
    "TASK_MODIFY_PASSENGER",
    "TASK_MODIFY_FLIGHTS",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
HIGHEST_SEED = 2**53 - 1


class Scenario(Record):
    """What the customer wants; which fields are set depends on the kind."""

    id: str
    kind: Kind
    journey: Journey | None = None
    """To find, to book or to change to."""
    outward: Flight | None = None
    back: Flight | None = None
    passenger: Passenger | None = None
    """Who is to fly in a new booking."""
    card: Card | None = None
    reference: str = ""
    """The booking that is asked for."""
    place: int = 0
    """Which of its passengers is to be changed, from 0."""
    changes: tuple[tuple[str, str], ...] = ()
    """Fields of that passenger with their new values."""


def scenario_id(kind: Kind, seed: int) -> str:
    """Return the id: twenty lower-case letters and digits that look like nothing in particular."""
    plain = (seed * len(KINDS) + KINDS.index(kind)).to_bytes(8, "big")
    check = hashlib.sha256(b"airline desk" + plain).digest()[:4]
    return base64.b32encode(check + _veiled(plain, check)).decode().rstrip("=").lower()


def known(id: str) -> tuple[Kind, int] | None:
    """Return kind and seed of a scenario's id, or None if it is none."""
    if len(id) != 20 or id != id.lower():
        return None
    try:
        raw = base64.b32decode(id.upper() + "====")
    except (binascii.Error, ValueError):
        return None
    number = int.from_bytes(_veiled(raw[4:], raw[:4]), "big")
    seed, kind = divmod(number, len(KINDS))
    if seed > HIGHEST_SEED or scenario_id(KINDS[kind], seed) != id:
        return None
    return KINDS[kind], seed


def make(seed: int, kind: Kind) -> Scenario:
    """Return the scenario of this kind and seed."""
    return by_id(scenario_id(kind, seed))


@lru_cache(maxsize=512)
def by_id(id: str) -> Scenario:
    """Return the scenario of that id; raises DataError if there is none."""
    found = known(id)
    if found is None:
        raise DataError(f"The airline desk has no scenario {id!r}.")
    kind, seed = found
    chance = random.Random(f"{kind} {seed}")
    scenario = Scenario(id=id, kind=kind)
    if kind in ("TASK_FIND_FLIGHT", "TASK_BOOK_FLIGHT"):
        return _new_journey(scenario, chance)
    booking = chance.choice(books(id))
    scenario = scenario.replace(reference=booking.reference)
    if kind == "TASK_MODIFY_PASSENGER":
        place = chance.randrange(len(booking.passengers))
        changes = _passenger_changes(booking.passengers[place], chance)
        return scenario.replace(place=place, changes=changes)
    if kind == "TASK_MODIFY_FLIGHTS":
        return _other_flights(scenario, booking, chance)
    return scenario


@lru_cache(maxsize=512)
def books(id: str) -> tuple[Booking, ...]:
    """Return the bookings at the start of a scenario; the empty id has books of its own."""
    return all_bookings(id)


def _new_journey(scenario: Scenario, chance: random.Random) -> Scenario:
    wanted = journey(chance, two_way=chance.random() < 0.6)
    update: dict[str, Any] = {
        "journey": wanted,
        "outward": chance.choice(outward_flights(wanted)),
        "back": chance.choice(return_flights(wanted)) if wanted.back else None,
    }
    if scenario.kind == "TASK_BOOK_FLIGHT":
        update |= {"passenger": passenger(chance, TODAY), "card": card(chance, TODAY)}
    return scenario.replace(**update)


def _passenger_changes(now: Passenger, chance: random.Random) -> tuple[tuple[str, str], ...]:
    """Return one or two fields with values that differ from those of now."""
    birth = birth_date(chance, TODAY)
    choices = {
        "title": [title for title in titles(now.gender) if title != now.title],
        "first_name": [name for name in first_names(now.gender) if name != now.first_name],
        "last_name": [name for name in LAST_NAMES if name != now.last_name],
        "gender": [one for one in ("Female", "Male", "Non-binary") if one != now.gender],
        "birth": [(birth if birth != now.birth else birth + timedelta(days=1)).isoformat()],
    }
    fields = [name for name in choices if choices[name]]
    asked = chance.sample(fields, chance.choice((1, 1, 2)))
    return tuple((name, chance.choice(choices[name])) for name in fields if name in asked)


def _other_flights(scenario: Scenario, booking: Booking, chance: random.Random) -> Scenario:
    """Ask for other days: of the outward flight, of the return flight, or of both."""
    now = booking.journey
    legs = chance.choice(("outward", "back", "both")) if booking.back else "outward"
    departure, back = now.departure, now.back
    if legs != "back":
        # Where the return stays as it is, two days are left between: flights may land on the next day.
        room = (back - departure).days - 2 if legs == "outward" and back else 14
        steps = [days for days in range(-7, min(room, 14) + 1) if days]
        departure += timedelta(days=chance.choice(steps))
    if legs != "outward" and back is not None:
        back = (max(back, departure) if legs == "both" else back) + timedelta(days=chance.randrange(2, 15))
    wanted = now.replace(departure=departure, back=back)
    outward = booking.outward if legs == "back" else chance.choice(outward_flights(wanted))
    later = None
    if booking.back is not None:
        later = booking.back if legs == "outward" else chance.choice(return_flights(wanted))
    return scenario.replace(journey=wanted, outward=outward, back=later)


def _veiled(data: bytes, key: bytes) -> bytes:
    """Cover or uncover eight bytes."""
    cover = hashlib.sha256(b"cover" + key).digest()
    return bytes(one ^ other for one, other in zip(data, cover, strict=False))
