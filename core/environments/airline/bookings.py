"""Who flies, how they pay, and the bookings that the desk finds in its books when a scenario begins."""

import random
from datetime import date, timedelta
from typing import Literal, get_args

from core.environments.airline.timetable import (
    AIRPORTS,
    TODAY,
    Flight,
    Journey,
    is_route,
    outward_flights,
    return_flights,
)
from core.schema.record import Record

Title = Literal["Mr", "Mrs", "Ms", "Mx", "Dr"]
Gender = Literal["Female", "Male", "Non-binary"]
TITLES: tuple[str, ...] = get_args(Title)
GENDERS: tuple[str, ...] = get_args(Gender)

YEAR = timedelta(days=365)


class Passenger(Record):
    """What the desk keeps of a passenger."""

    title: Title
    first_name: str
    last_name: str
    gender: Gender
    birth: date

    @property
    def name(self) -> str:
        return f"{self.title} {self.first_name} {self.last_name}"


class Card(Record):
    """A payment card that no bank ever issued: its number begins with 9."""

    number: str
    """Sixteen digits that pass the check sum of card numbers."""
    expiry: str
    """As in ``04/29``."""
    cvc: str


_WOMEN = "Ada Beatriz Carmen Dalia Elin Freya Greta Hanna Ines Jana Katarina Leila Maren Nadia Olivia Petra"
_MEN = "Anton Bruno Cedric Dario Emil Felix Gustav Hugo Ivan Jonas Karim Leon Mateo Nils Oscar Pavel"
_BOTH = "Alexis Charlie Kim Robin Sasha Toni"
LAST_NAMES = (
    "Abbott Bergström Castellan Delacroix Engel Farrow Grünwald Haddad Ibsen Jankowski Keller Lindqvist Moreau "
    "Nakamura Okafor Pereira Quist Rossi Sandoval Thorne Ueda Valdez Whitlock Yildiz Zeller O'Brien"
).split()


def first_names(gender: str) -> list[str]:
    return {"Female": _WOMEN, "Male": _MEN}.get(gender, _BOTH).split()


def titles(gender: str) -> list[str]:
    """Return the titles that people of this gender mostly bear."""
    return {"Female": ["Mrs", "Ms", "Dr"], "Male": ["Mr", "Dr"]}.get(gender, ["Mx", "Dr"])


def birth_date(chance: random.Random, today: date) -> date:
    """Return when an adult was born."""
    return today - 20 * YEAR - timedelta(days=chance.randrange(50 * 365))


def passenger(chance: random.Random, today: date) -> Passenger:
    gender = chance.choice(("Female", "Female", "Female", "Male", "Male", "Male", "Non-binary"))
    return Passenger.model_validate(
        {
            "title": chance.choice(titles(gender)),
            "first_name": chance.choice(first_names(gender)),
            "last_name": chance.choice(LAST_NAMES),
            "gender": gender,
            "birth": birth_date(chance, today),
        }
    )


def card(chance: random.Random, today: date) -> Card:
    head = "9" + "".join(str(chance.randrange(10)) for _ in range(14))
    last = next(digit for digit in "0123456789" if passes_check(head + digit))
    return Card(
        number=head + last,
        expiry=f"{chance.randrange(1, 13):02d}/{(today.year + chance.randrange(1, 5)) % 100:02d}",
        cvc=f"{chance.randrange(1000):03d}",
    )


def passes_check(number: str) -> bool:
    """Return whether the last digit fits the others, as on payment cards (every second digit doubled)."""
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


# Bookings

BOOKINGS = 12
"""How many there are at the start."""

_SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""No I, O, 0 and 1, which are easily taken for one another."""


class Booking(Record):
    """One journey of one or more passengers."""

    reference: str
    """Six capital letters and digits."""
    status: Literal["confirmed", "cancelled"] = "confirmed"
    outward: Flight
    back: Flight | None = None
    passengers: tuple[Passenger, ...]
    price: int
    """What was paid for all passengers, in dollars."""
    card_ending: str
    """The last four digits of the card."""

    @property
    def journey(self) -> Journey:
        return Journey(
            origin=self.outward.origin,
            destination=self.outward.destination,
            departure=self.outward.departs.date(),
            back=self.back.departs.date() if self.back else None,
        )


def price(outward: Flight, back: Flight | None, passengers: int) -> int:
    return (outward.price + (back.price if back else 0)) * passengers


def reference(chance: random.Random) -> str:
    """Return a reference with at least one letter and one digit, so that it looks like nothing else."""
    signs = [chance.choice(_SIGNS) for _ in range(6)]
    signs[chance.randrange(1, 3)] = chance.choice(_SIGNS[24:])
    signs[chance.randrange(3, 6)] = chance.choice(_SIGNS[:24])
    return "".join(signs)


def journey(chance: random.Random, *, two_way: bool) -> Journey:
    """Return a journey on a route of the network in the next ten months."""
    while True:
        origin, destination = chance.sample(AIRPORTS, 2)
        if is_route(origin.code, destination.code):
            break
    departure = TODAY + timedelta(days=chance.randrange(9, 290))
    back = departure + timedelta(days=chance.randrange(2, 22)) if two_way else None
    return Journey(origin=origin.code, destination=destination.code, departure=departure, back=back)


def booking(chance: random.Random, ref: str, *, two_way: bool) -> Booking:
    planned = journey(chance, two_way=two_way)
    outward = chance.choice(outward_flights(planned))
    back = chance.choice(return_flights(planned)) if two_way else None
    first = passenger(chance, TODAY)
    people = [first]
    if chance.random() < 0.45:
        # Most who travel together bear one name.
        people.append(passenger(chance, TODAY).replace(last_name=first.last_name))
        if people[1].first_name == first.first_name:
            people.pop()
    return Booking(
        reference=ref,
        outward=outward,
        back=back,
        passengers=tuple(people),
        price=price(outward, back, len(people)),
        card_ending=f"{chance.randrange(10_000):04d}",
    )


def all_bookings(seed: str) -> tuple[Booking, ...]:
    """Return the books for this seed, by reference."""
    chance = random.Random(f"bookings {seed}")
    references: dict[str, None] = {}
    while len(references) < BOOKINGS:
        references[reference(chance)] = None
    found = [booking(chance, ref, two_way=chance.random() < 0.6) for ref in references]
    return tuple(sorted(found, key=lambda one: one.reference))
