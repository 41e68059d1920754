import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.environments.airline.bookings import BOOKINGS, passes_check
from core.environments.airline.scenarios import HIGHEST_SEED, KINDS, books, by_id, known, make, scenario_id
from core.environments.airline.timetable import (
    AIRPORTS,
    BY_CODE,
    clock,
    flights_on,
    is_route,
    named,
    outward_flights,
    return_flights,
)
from core.environments.airline.wording import instruction
from core.schema.errors import DataError

SEEDS = st.integers(0, HIGHEST_SEED)
ALL = [(kind, seed) for kind in KINDS for seed in range(60)]


@given(SEEDS, st.sampled_from(KINDS))
def test_an_id_holds_its_kind_and_seed(seed, kind):
    id = scenario_id(kind, seed)
    assert re.fullmatch(r"[a-z2-7]{20}", id)
    assert known(id) == (kind, seed)


@given(st.text(max_size=24))
def test_any_other_text_is_no_id(text):
    assert known(text) is None
    with pytest.raises(DataError, match="has no scenario"):
        by_id(text)


def test_the_same_seed_gives_the_same_scenario_on_every_machine():
    booked = make(3, "TASK_BOOK_FLIGHT")
    assert booked.id == "z3tnqm5kaqfvpyu2kzua"
    assert instruction(booked) == (
        "Book flights from Oslo (OSL) to Los Angeles (LAX) on April 22, 2027 (the flight that departs at 12:15 pm) "
        "and back on May 9, 2027 (the flight at 1:05 pm). The passenger is Dr Pavel Rossi (gender: male; "
        "date of birth: July 26, 1983). Pay with the test card 9197 3278 4717 5602, expiry 01/28, CVC 201."
    )
    assert make(3, "TASK_CANCEL_BOOKING").reference == "94MZVT"


@pytest.mark.parametrize("kind", KINDS)
def test_seeds_differ_in_what_is_asked_and_in_how_it_is_said(kind):
    texts = [instruction(make(seed, kind)) for seed in range(60)]
    assert len(set(texts)) > 55
    without_data = {re.sub(r"[A-Z0-9][\w.'/:-]*|\d+", "#", text) for text in texts}
    assert len(without_data) >= 4


def test_every_wish_can_be_had_from_the_timetable_and_the_books():
    for kind, seed in ALL:
        wish = make(seed, kind)
        if wish.journey is not None:
            assert wish.outward in outward_flights(wish.journey)
            assert (wish.back is None) == (wish.journey.back is None)
        if wish.back is not None:
            assert wish.back in return_flights(wish.journey)
            assert wish.back.departs > wish.outward.arrives
        if wish.reference:
            assert wish.reference in [one.reference for one in books(wish.id)]


def test_a_change_asks_for_something_that_is_not_so_yet():
    for seed in range(60):
        wish = make(seed, "TASK_MODIFY_PASSENGER")
        booking = next(one for one in books(wish.id) if one.reference == wish.reference)
        now = booking.passengers[wish.place]
        assert wish.changes
        assert all(str(getattr(now, field)) != value for field, value in wish.changes)
        other = make(seed, "TASK_MODIFY_FLIGHTS")
        booking = next(one for one in books(other.id) if one.reference == other.reference)
        assert (booking.outward, booking.back) != (other.outward, other.back)
        assert (booking.back is None) == (other.back is None)


def test_the_instruction_holds_all_that_is_needed():
    for kind, seed in ALL:
        wish = make(seed, kind)
        text = instruction(wish)
        needed = [wish.reference]
        if kind in ("TASK_FIND_FLIGHT", "TASK_BOOK_FLIGHT"):
            days = [wish.journey.departure, wish.journey.back]
            needed += [BY_CODE[wish.journey.origin].label, BY_CODE[wish.journey.destination].label]
            needed += [str(day.year) for day in days if day]
        if kind == "TASK_BOOK_FLIGHT":
            number = wish.card.number
            needed += [
                " ".join(number[at : at + 4] for at in range(0, 16, 4)),
                wish.card.expiry,
                wish.card.cvc,
            ]
            needed += [wish.passenger.name, wish.passenger.gender.lower(), clock(wish.outward.departs)]
        needed += [value for field, value in wish.changes if field != "birth"]
        assert [one for one in needed if one not in text] == [], text


def test_references_in_the_books_are_all_different():
    for seed in range(60):
        references = [one.reference for one in books(make(seed, "TASK_FIND_BOOKING").id)]
        assert len(set(references)) == BOOKINGS


def test_cards_pass_the_check_and_belong_to_no_network():
    numbers = [make(seed, "TASK_BOOK_FLIGHT").card.number for seed in range(60)]
    assert all(passes_check(number) and number[0] == "9" for number in numbers)


@given(st.sampled_from(AIRPORTS), st.sampled_from(AIRPORTS), st.dates(date(2027, 2, 1), date(2028, 1, 27)))
def test_the_flights_of_a_day_are_told_apart_by_number_and_by_time(one, other, day):
    flights = flights_on(one.code, other.code, day)
    assert bool(flights) is is_route(one.code, other.code)
    assert len({flight.number for flight in flights}) == len(flights)
    assert len({flight.departs for flight in flights}) == len(flights)
    assert [flight.departs for flight in flights] == sorted(flight.departs for flight in flights)
    assert all(flight.departs.date() == day and flight.price > 0 for flight in flights)


@given(st.sampled_from(AIRPORTS))
def test_an_airport_answers_to_its_code_and_its_label_in_any_case(airport):
    for text in (
        airport.code,
        airport.code.lower(),
        airport.label.upper(),
        f" {airport.city}  {airport.code}",
    ):
        assert named(text) == (airport,)


def test_a_city_with_two_airports_is_not_decided_by_itself():
    assert {one.code for one in named("London")} == {"LGW", "LHR"}
