"""The bookings that the desk finds in its books when a scenario begins."""

import random
from datetime import timedelta
from typing import Literal

from core.environments.airline.airports import AIRPORTS, is_route
from core.environments.airline.flights import TODAY, Flight, Journey, outward_flights, return_flights
from core.environments.airline.people import Passenger, passenger
from core.schema.record import Record

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
