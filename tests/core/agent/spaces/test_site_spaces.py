"""The spaces of the bundled sites against the sites themselves, in a real browser."""

import pytest

from core.agent.spaces.file import Spaces
from core.environments.airline.environment import KINDS
from core.environments.airline.scenarios import make
from core.environments.shop.goals import bundled_goals
from tests.core.agent.spaces.walking import Walk
from tests.core.environments.airline.client import passenger_asked_for

pytestmark = pytest.mark.browser

BOTTLE = "shop/goal-000"


@pytest.fixture(scope="module")
def spaces():
    return Spaces()


@pytest.fixture
def walk(stage, spaces):
    def begin(task: str, seed: int = 0) -> Walk:
        return Walk(stage, spaces.get(task.split("/")[0]), task, seed)

    return begin


def test_the_spaces_of_the_sites_can_be_read_and_are_found_by_their_environment(spaces):
    assert spaces.problems() == ()
    for environment in ("shop", "airline"):
        found = spaces.for_page(environment, "http://127.0.0.1:1/")
        assert found is not None
        assert found.name == environment
    assert spaces.for_page("web", "http://127.0.0.1:1/") is None


# The shop


def test_every_action_of_every_page_of_the_shop_leads_where_it_says(walk):
    shop = walk(BOTTLE)
    assert shop.state == "search"
    assert shop.do("search", keywords="!!!", max_price="-1") == "search"
    # The price that was refused is not sent again where none is given.
    assert shop.do("search", keywords="steel water bottle") == "results"
    assert shop.do("next_page") == "results"
    assert shop.do("previous_page") == "results"
    assert shop.do("back_to_search") == "search"
    assert shop.do("search", keywords="steel water bottle", max_price="30") == "results"
    assert "max_price=30" in shop.page.url
    first = shop.values("select_item", "item_id")[0]
    assert shop.do("select_item", item_id=first) == "item"
    for tab in ("description", "features", "reviews"):
        assert shop.do(tab) == "item"
        assert tab not in shop.offered
    assert "overview" not in shop.offered
    assert [one.name for one in shop.memory.kept_of(first)] == [
        "price",
        "overview",
        "description",
        "features",
        "reviews",
    ]
    assert shop.do("choose_options", **shop.first_values("choose_options")) == "item"
    assert shop.do("back_to_results") == "results"
    assert shop.go(f"/item/{first}") == "item"
    assert shop.do("back_to_search") == "search"
    assert shop.do("search", keywords="steel water bottle") == "results"
    second = shop.values("select_item", "item_id")[1]
    assert shop.go(f"/item/{second}/features") == "item"
    assert shop.do("overview") == "item"
    for path, state in (("/orders", "orders"), ("/nowhere", "not_found")):
        assert shop.go(path) == state
        assert shop.do("back_to_search") == "search"
    assert shop.do("search", keywords="steel water bottle") == "results"
    assert shop.do("select_item", item_id=first) == "item"
    assert shop.do("buy_now", **shop.first_values("buy_now")) == "order"
    assert shop.walked == shop.all_actions()
    assert shop.go("/orders") == "orders"


def test_what_a_goal_asks_for_is_bought_by_the_spaces_actions_for_the_full_reward(walk):
    shop = walk(BOTTLE)
    goal = next(one.goal for one in bundled_goals() if BOTTLE.endswith(one.name))
    words = f"{' '.join(goal.attributes)} {goal.type}"
    shop.do("search", keywords=words, max_price=str(goal.price_limit // 100))
    while goal.product not in shop.values("select_item", "item_id"):
        shop.do("next_page")
    shop.do("select_item", item_id=goal.product)
    options = shop.first_values("buy_now") | goal.options
    assert shop.do("buy_now", **options) == "order"
    assert shop.space.state_named("order").stops
    verdict = shop.verdict()
    assert (verdict.success, verdict.reward) == (True, 1.0)


def test_only_what_the_page_of_the_shop_has_is_offered_and_an_item_that_was_left_is_in_the_buffer(walk):
    shop = walk(BOTTLE)
    shop.do("search", keywords="bottle", max_price="0.5")
    assert shop.state == "results"
    assert list(shop.offered) == ["back_to_search"]
    shop.do("back_to_search")
    shop.do("search", keywords="steel water bottle", max_price="30")
    assert list(shop.offered) == ["select_item", "next_page", "back_to_search"]
    ids = shop.values("select_item", "item_id")
    assert len(ids) == 10
    assert all(f"Item {one} " in shop.page.lines() for one in ids)
    shop.do("select_item", item_id=ids[0])
    assert list(shop.offered) == [
        "description",
        "features",
        "reviews",
        "choose_options",
        "back_to_results",
        "buy_now",
    ]
    assert all(one.required and one.choices for one in shop.offered["buy_now"].parameters)
    shop.do("features")
    shop.do("back_to_results")
    (kept,) = shop.memory.buffer
    assert kept.candidate == ids[0]
    assert f"/item/{ids[0]}/features" in kept.url
    assert shop.memory.remembered["keywords"] == "steel water bottle"
    choices = shop.offered["select_item"].parameter("item_id").choices
    assert [choice.value for choice in choices if "looked at already" in choice.label] == [ids[0]]
    assert "Item" not in choices[0].label


# The airline desk


def test_every_action_of_every_page_of_the_desk_leads_where_it_says(walk):
    desk = walk("airline/book-flight", 3)
    card = make(3, KINDS["book-flight"]).card
    person = {
        "title": "Ms",
        "first_name": "Ada",
        "last_name": "O'Byrne",
        "gender": "Female",
        "date_of_birth": "1990-02-11",
    }
    route = {"origin": "OSL", "destination": "LAX", "departure_date": "2027-05-02"}
    paid = {"card_number": card.number, "expiry_date": card.expiry, "security_code": card.cvc}

    assert desk.state == "find_flights"
    assert desk.do("search_return", **{**route, "origin": "nowhere"}, return_date="soon") == "find_flights"
    assert desk.do("search_one_way", **route) == "choose_flights"
    assert [one.name for one in desk.offered["confirm_flights"].parameters] == ["outward_flights"]
    assert desk.do("change_search") == "find_flights"
    assert desk.do("go_to_find_booking") == "find_booking"
    assert desk.do("go_to_find_flights") == "find_flights"
    assert desk.do("search_return", **route, return_date="2027-05-09") == "choose_flights"
    flights = desk.first_values("confirm_flights")
    assert list(flights) == ["outward_flights", "return_flights"]
    assert desk.do("confirm_flights", **flights) == "passenger"
    assert desk.do("choose_other_flights") == "choose_flights"
    assert desk.do("go_to_find_booking") == "find_booking"
    desk.do("go_to_find_flights")
    desk.do("search_return", **route, return_date="2027-05-09")
    desk.do("confirm_flights", **flights)
    payment = desk.page.url.replace("passenger", "payment").removeprefix(desk.origin)
    assert desk.go(payment) == "payment"
    assert list(desk.offered) == ["change_passenger_details"]
    assert desk.do("change_passenger_details") == "passenger"
    assert desk.do("save_passenger", **{**person, "date_of_birth": "yesterday"}) == "passenger"
    assert desk.do("save_passenger", **person) == "payment"
    assert desk.do("pay", card_number="1234", expiry_date="1", security_code="x") == "payment"
    assert desk.do("pay", **paid) == "booking"

    assert desk.go(payment) == "already_booked"
    assert desk.do("go_to_find_flights") == "find_flights"
    assert desk.go(payment) == "already_booked"
    assert desk.do("show_booking") == "booking"
    heading = next(one.name for one in desk.page.elements if one.name.startswith("Booking "))
    reference = heading.removeprefix("Booking ")
    assert desk.do("go_to_find_flights") == "find_flights"
    desk.do("go_to_find_booking")
    assert desk.do("find_booking", reference="???") == "find_booking"
    assert desk.do("find_booking", reference=reference) == "booking"
    assert desk.do("go_to_find_booking") == "find_booking"
    desk.do("find_booking", reference=reference)

    assert desk.do("modify_booking") == "modify"
    assert desk.do("back_to_booking") == "booking"
    desk.do("modify_booking")
    assert desk.values("save_passenger", "passenger") == ["Ms Ada O'Byrne"]
    wrong = {"passenger": "Ms Ada O'Byrne", "last_name": "7"}
    assert desk.do("save_passenger", **wrong) == "modify"
    desk.do("back_to_booking")
    desk.do("modify_booking")
    new = {
        "title": "Dr",
        "first_name": 'Eve "Evi" [E]',
        "gender": "Non-binary",
        "date_of_birth": "1990-03-12",
    }
    assert desk.do("save_passenger", passenger="Ms Ada O'Byrne", **new) == "booking"
    assert any('Dr Eve "Evi" [E] O\'Byrne' in one.name for one in desk.page.elements)
    desk.do("modify_booking")
    assert desk.do("change_flights") == "change_flights"
    assert desk.do("back_to_modifying") == "modify"
    desk.do("change_flights")
    assert desk.do("search_other_flights", departure_date="never") == "change_flights"
    other = {"departure_date": "2027-05-01", "return_date": "2027-05-10"}
    assert desk.do("search_other_flights", **other) == "choose_other_flights"
    assert desk.do("change_search") == "change_flights"
    assert desk.do("search_other_flights") == "choose_other_flights"
    assert desk.do("save_flights", **desk.first_values("save_flights")) == "booking"
    assert desk.do("cancel_booking") == "cancel"
    assert desk.do("keep_booking") == "booking"
    desk.do("cancel_booking")
    assert desk.values("confirm_cancellation", "reference") == [reference]
    assert desk.do("confirm_cancellation", reference=reference) == "booking"
    assert list(desk.offered) == ["go_to_find_booking", "go_to_find_flights"]

    assert desk.go("/bookings/ZZZZZZ") == "cannot_be_shown"
    assert desk.do("go_to_find_booking") == "find_booking"
    assert desk.go("/book/99/passenger") == "cannot_be_shown"
    assert desk.do("go_to_find_flights") == "find_flights"
    assert desk.walked == desk.all_actions()


def flight_of(desk: Walk, action: str, parameter: str, number: str) -> str:
    return next(value for value in desk.values(action, parameter) if value.startswith(f"{number}, "))


def flights_of(desk: Walk, action: str, scenario) -> dict[str, str]:
    found = {"outward_flights": flight_of(desk, action, "outward_flights", scenario.outward.number)}
    if scenario.back is not None:
        found["return_flights"] = flight_of(desk, action, "return_flights", scenario.back.number)
    return found


def find_flight(desk: Walk, scenario) -> None:
    journey = scenario.journey
    route = {"origin": journey.origin, "destination": journey.destination}
    if journey.back is None:
        desk.do("search_one_way", **route, departure_date=journey.departure.isoformat())
    else:
        days = {"departure_date": journey.departure.isoformat(), "return_date": journey.back.isoformat()}
        desk.do("search_return", **route, **days)


def book_flight(desk: Walk, scenario) -> None:
    find_flight(desk, scenario)
    desk.do("confirm_flights", **flights_of(desk, "confirm_flights", scenario))
    person, card = scenario.passenger, scenario.card
    desk.do(
        "save_passenger",
        title=person.title,
        first_name=person.first_name,
        last_name=person.last_name,
        gender=person.gender,
        date_of_birth=person.birth.isoformat(),
    )
    desk.do("pay", card_number=card.number, expiry_date=card.expiry, security_code=card.cvc)


def find_booking(desk: Walk, scenario) -> None:
    desk.do("go_to_find_booking")
    desk.do("find_booking", reference=scenario.reference)


def cancel_booking(desk: Walk, scenario) -> None:
    find_booking(desk, scenario)
    desk.do("cancel_booking")
    desk.do("confirm_cancellation", reference=scenario.reference)


def change_passenger(desk: Walk, scenario) -> None:
    find_booking(desk, scenario)
    desk.do("modify_booking")
    changes = {{"birth": "date_of_birth"}.get(field, field): value for field, value in scenario.changes}
    desk.do("save_passenger", passenger=passenger_asked_for(scenario).name, **changes)


def change_flights(desk: Walk, scenario) -> None:
    find_booking(desk, scenario)
    desk.do("modify_booking")
    desk.do("change_flights")
    days = {"departure_date": scenario.journey.departure.isoformat()}
    if scenario.journey.back is not None:
        days["return_date"] = scenario.journey.back.isoformat()
    else:
        assert desk.offered["search_other_flights"].parameter("return_date") is None
    desk.do("search_other_flights", **days)
    desk.do("save_flights", **flights_of(desk, "save_flights", scenario))


WAYS = {
    "book-flight": book_flight,
    "cancel-booking": cancel_booking,
    "change-passenger": change_passenger,
    "change-flights": change_flights,
}


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("book-flight", 3),
        ("cancel-booking", 0),
        ("change-passenger", 4),  # Two details.
        ("change-flights", 1),  # One way.
    ],
)
def test_a_scenario_of_the_desk_is_solved_by_the_spaces_actions(walk, name, seed):
    desk = walk(f"airline/{name}", seed)
    WAYS[name](desk, make(seed, KINDS[name]))
    verdict = desk.verdict()
    assert (verdict.success, verdict.reward) == (True, 1.0)
