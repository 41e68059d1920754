"""How a customer's wish is put into a sentence, in wordings that the scenario's seed chooses."""

import random
from datetime import date

from core.environments.airline.bookings import Card, Passenger
from core.environments.airline.scenarios import Scenario, books
from core.environments.airline.timetable import BY_CODE, MONTHS, WEEKDAYS, Flight, Journey, clock

_FIELDS = {
    "title": "title",
    "first_name": "first name",
    "last_name": "last name",
    "gender": "gender",
    "birth": "date of birth",
}


def instruction(scenario: Scenario) -> str:
    """Return what the agent is told; the same scenario is always told in the same words."""
    words = _Words(random.Random(f"words {scenario.id}"))
    text = _TELLERS[scenario.kind](scenario, words)
    return text[0].upper() + text[1:]


class _Words:
    """Chooses one way of writing dates and keeps to it; all else again each time."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._style = chance.randrange(5)

    def one(self, *choices: str) -> str:
        return self._chance.choice(choices)

    def date(self, day: date) -> str:
        month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
        return (
            f"{day.day} {month} {day.year}",
            f"{month} {day.day}, {day.year}",
            f"{weekday}, {day.day} {month} {day.year}",
            f"the {day.day}{_ordinal(day.day)} of {month} {day.year}",
            f"{month[:3]} {day.day}, {day.year}",
        )[self._style]

    def route(self, journey: Journey) -> str:
        return f"from {BY_CODE[journey.origin].label} to {BY_CODE[journey.destination].label}"

    def passenger(self, person: Passenger) -> str:
        born = self.date(person.birth)
        return self.one(
            f"{person.name}, {person.gender.lower()}, born on {born}",
            f"{person.name} (gender: {person.gender.lower()}; date of birth: {born})",
        )

    def card(self, card: Card) -> str:
        number = " ".join(card.number[at : at + 4] for at in range(0, 16, 4))
        return self.one(
            f"the test card {number}, expiry {card.expiry}, CVC {card.cvc}",
            f"test card number {number} (valid to {card.expiry}, security code {card.cvc})",
        )

    def leaving(self, flight: Flight) -> str:
        at = clock(flight.departs)
        return self.one(f"the {at} flight", f"the flight at {at}", f"the flight that departs at {at}")


def _find_flight(scenario: Scenario, words: _Words) -> str:
    journey = scenario.journey
    assert journey is not None
    route, out = words.route(journey), words.date(journey.departure)
    if journey.back is None:
        return words.one(
            f"find one-way flights {route} on {out}.",
            f"a customer wants to fly {route} on {out}, one way. Search for the flights.",
            f"which one-way flights go {route} on {out}? Look them up at the desk.",
            f"search for a single flight (no return) {route}, leaving on {out}.",
        )
    back = words.date(journey.back)
    return words.one(
        f"find return flights {route}, going out on {out} and coming back on {back}.",
        f"a customer wants to fly {route} on {out} and return on {back}. Search for the flights.",
        f"search for a round trip {route}: departure {out}, return {back}.",
        f"look up flights {route} on {out}, with the flight back on {back}.",
    )


def _book_flight(scenario: Scenario, words: _Words) -> str:
    journey, outward, person, card = scenario.journey, scenario.outward, scenario.passenger, scenario.card
    assert journey is not None
    assert outward is not None
    assert person is not None
    assert card is not None
    route, out = words.route(journey), words.date(journey.departure)
    who, pay = words.passenger(person), words.card(card)
    if journey.back is None or scenario.back is None:
        trip = words.one(
            f"a one-way flight {route} on {out}, {words.leaving(outward)}",
            f"{words.leaving(outward)} on {out} {route}, one way",
        )
    else:
        back = words.date(journey.back)
        trip = words.one(
            f"a return trip {route}: out on {out} with {words.leaving(outward)}, "
            f"back on {back} with {words.leaving(scenario.back)}",
            f"flights {route} on {out} ({words.leaving(outward)}) and back on {back} "
            f"({words.leaving(scenario.back)})",
        )
    return words.one(
        f"book {trip}. The passenger is {who}. Pay with {pay}.",
        f"a customer wants {trip}. Book it for {who}, and pay with {pay}.",
        f"please book this for {who}: {trip}. Payment is by {pay}.",
    )


def _find_booking(scenario: Scenario, words: _Words) -> str:
    ref = scenario.reference
    return words.one(
        f"find the booking {ref}.",
        f"a customer asks about booking {ref}. Bring it up on the desk.",
        f"look up the booking with the reference {ref}.",
        f"open booking reference {ref} so that we can see it.",
    )


def _cancel_booking(scenario: Scenario, words: _Words) -> str:
    ref = scenario.reference
    return words.one(
        f"cancel the booking {ref}.",
        f"the customer with booking reference {ref} cannot travel. Cancel the booking.",
        f"please call off the journey booked under {ref}: cancel that booking and confirm the cancellation.",
        f"find booking {ref} and cancel it.",
    )


def _change_passenger(scenario: Scenario, words: _Words) -> str:
    booking = next(booked for booked in books(scenario.id) if booked.reference == scenario.reference)
    person, ref = booking.passengers[scenario.place], scenario.reference
    name = f"{person.first_name} {person.last_name}"
    parts = []
    for field, value in scenario.changes:
        shown = words.date(date.fromisoformat(value)) if field == "birth" else value
        parts.append(f"the {_FIELDS[field]} to {shown}")
    new = " and ".join(parts)
    return words.one(
        f"in booking {ref}, change {new} for the passenger {name}.",
        f"the details of {name} in booking {ref} are wrong. Change {new}, and nothing else.",
        f"correct passenger {name} of booking {ref}: change {new}.",
        f"please open booking {ref} and, for {name}, change {new}.",
    )


def _change_flights(scenario: Scenario, words: _Words) -> str:
    journey, outward, back = scenario.journey, scenario.outward, scenario.back
    assert journey is not None
    assert outward is not None
    booking = next(booked for booked in books(scenario.id) if booked.reference == scenario.reference)
    out = f"{words.leaving(outward)} on {words.date(journey.departure)}"
    ref = scenario.reference
    if back is None or journey.back is None:
        return words.one(
            f"change booking {ref} to {out}; the route stays the same.",
            f"the customer of booking {ref} wants to travel on another day. Move the booking to {out}.",
        )
    home = f"{words.leaving(back)} on {words.date(journey.back)}"
    if back == booking.back:
        return words.one(
            f"change the outward flight of booking {ref} to {out}. The return flight stays as it is.",
            f"in booking {ref}, move only the outward flight: the customer now takes {out}.",
        )
    if outward == booking.outward:
        return words.one(
            f"change the return flight of booking {ref} to {home}. The outward flight stays as it is.",
            f"in booking {ref}, move only the flight back: the customer now takes {home}.",
        )
    return words.one(
        f"change both flights of booking {ref}: outward to {out}, return to {home}.",
        f"the journey of booking {ref} is put off. Rebook the outward flight to {out} "
        f"and the return flight to {home}.",
    )


def _ordinal(day: int) -> str:
    return "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


_TELLERS = {
    "TASK_FIND_FLIGHT": _find_flight,
    "TASK_BOOK_FLIGHT": _book_flight,
    "TASK_FIND_BOOKING": _find_booking,
    "TASK_CANCEL_BOOKING": _cancel_booking,
    "TASK_MODIFY_PASSENGER": _change_passenger,
    "TASK_MODIFY_FLIGHTS": _change_flights,
}
