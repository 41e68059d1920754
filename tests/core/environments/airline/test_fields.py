from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.environments.airline.fields import (
    Problems,
    Wrong,
    read_card,
    read_date,
    read_journey,
    read_passenger,
)
from core.environments.airline.timetable import MONTHS, WEEKDAYS, long_date

SEARCH = {"trip": "return", "from": "OSL", "to": "LAX", "departure": "2027-04-22", "return": "2027-05-09"}
PERSON = {"title": "Dr", "first_name": "Ada", "last_name": "Engel", "gender": "Female", "birth": "1980-02-29"}


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)))
def test_dates_are_read_as_people_write_them(day):
    month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
    for text in (
        day.isoformat(),
        long_date(day),
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{weekday}, {day.day} {month[:3]} {day.year}",
        f"the {day.day}th of {month} {day.year}",
    ):
        assert read_date(text) == day


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7/8/2027",
        "2027-02-30",
        "July 2027",
        "7 7 2027",
        "soon",
        "31 June 2027",
        "1 July 20271111111111",
        pytest.param("1 July " + "9" * 5000, id="5000 digits"),
    ],
)
def test_a_date_that_is_none_or_doubtful_is_refused(text):
    with pytest.raises(Wrong):
        read_date(text)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"from": ""}, "from"),
        ({"from": "London"}, "from"),
        ({"to": "Atlantis"}, "to"),
        ({"to": "osl"}, "to"),
        ({"departure": "2026-12-31"}, "departure"),
        ({"departure": "2030-01-01"}, "departure"),
        ({"return": "2027-04-21"}, "return"),
        ({"return": ""}, "return"),
        ({"departure": 7}, "departure"),
    ],
)
def test_a_search_names_the_field_that_is_wrong(change, field):
    with pytest.raises(Problems) as caught:
        read_journey(SEARCH | change)
    assert list(caught.value.fields) == [field]


def test_one_way_needs_no_return_date():
    assert read_journey(SEARCH | {"trip": "one-way", "return": "nonsense"}).back is None


@pytest.mark.parametrize("field", list(PERSON))
def test_every_detail_of_a_passenger_is_needed(field):
    with pytest.raises(Problems) as caught:
        read_passenger(PERSON | {field: " "})
    assert list(caught.value.fields) == [field]


def test_a_card_number_with_a_wrong_digit_is_refused_and_spaces_are_not():
    good = {"number": "9197 3278 4717 5602", "expiry": "1/2028", "cvc": "201"}
    assert read_card(good).number == "9197327847175602"
    assert read_card(good).expiry == "01/28"
    for change, field in (
        ({"number": "9197 3278 4717 5603"}, "number"),
        ({"expiry": "13/28"}, "expiry"),
        ({"expiry": "01/27"}, "expiry"),
        ({"cvc": "12"}, "cvc"),
    ):
        with pytest.raises(Problems) as caught:
            read_card(good | change)
        assert list(caught.value.fields) == [field]
