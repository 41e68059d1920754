import pytest

from core.environments.airline.scenarios import KINDS, books, make
from core.environments.airline.timetable import outward_flights
from tests.core.environments.airline.client import (
    Client,
    chosen_flights,
    journey_form,
    passenger_asked_for,
    passenger_form,
    solution,
)


def client_of(airline, kind: str, seed: int = 3) -> tuple[Client, object]:
    """Return a visitor who has just opened the desk of a scenario, and the scenario."""
    scenario = make(seed, kind)
    client = Client(airline.server, scenario.id)
    assert client.get("desk")[0] == 200
    return client, scenario


def other_reference(scenario) -> str:
    return next(one.reference for one in books(scenario.id) if one.reference != scenario.reference)


@pytest.mark.parametrize("kind", KINDS)
def test_every_seed_can_be_solved_and_each_step_brings_progress(airline, kind):
    for seed in range(25):
        client, scenario = client_of(airline, kind, seed)
        before = client.evaluation()
        assert (before["success"], before["progress"], before["ended"]) == (False, 0, False)
        seen = [0.0]
        for step in solution(scenario):
            assert not client.evaluation()["ended"]
            step(client)
            seen.append(client.evaluation()["progress"])
        # The passenger of a draft is judged when it is saved, the flights when they are confirmed, and so on.
        assert seen == sorted(set(seen)), scenario
        after = client.evaluation()
        assert (after["success"], after["progress"], after["ended"], after["wrong"]) == (True, 1, True, [])
        assert all(step["reached"] for step in after["steps"])


def test_an_unknown_scenario_has_no_desk(airline):
    client = Client(airline.server, "a" * 20)
    assert client.get("desk")[0] == 404


def test_a_session_keeps_the_desks_of_several_scenarios_apart(airline):
    client, scenario = client_of(airline, "TASK_CANCEL_BOOKING")
    for step in solution(scenario):
        step(client)
    client.scenario = make(4, "TASK_CANCEL_BOOKING").id
    client.get("desk")
    assert client.evaluation()["progress"] == 0
    assert client.get(f"bookings/{scenario.reference}")[0] == 404
    client.scenario = scenario.id
    assert client.evaluation()["success"] is True


def test_a_booking_is_shown_only_after_it_was_looked_up(airline):
    client, scenario = client_of(airline, "TASK_FIND_BOOKING")
    assert client.get(f"bookings/{scenario.reference}")[0] == 404
    assert client.post(f"bookings/{scenario.reference}/open", part="cancel")[0] == 404
    assert client.post("lookups", reference="AAAAAA")[0] == 422
    assert not client.evaluation()["ended"]
    client.done("lookups", reference=scenario.reference.lower())
    assert client.get(f"bookings/{scenario.reference}")[1]["status"] == "confirmed"


def test_cancelling_needs_the_reference_typed_again(airline):
    client, scenario = client_of(airline, "TASK_CANCEL_BOOKING")
    ref = scenario.reference
    client.done("lookups", reference=ref)
    assert client.post(f"bookings/{ref}/cancellation", reference=ref)[0] == 409
    client.done(f"bookings/{ref}/open", part="cancel")
    assert client.post(f"bookings/{ref}/cancellation", reference=other_reference(scenario))[0] == 422
    client.done(f"bookings/{ref}/cancellation", reference=ref)
    assert client.get(f"bookings/{ref}")[1]["status"] == "cancelled"
    assert client.post(f"bookings/{ref}/open", part="modify")[0] == 409


def test_cancelling_another_booking_as_well_costs_success(airline):
    client, scenario = client_of(airline, "TASK_CANCEL_BOOKING")
    other = other_reference(scenario)
    client.find_and_open(other, "cancel")
    client.done(f"bookings/{other}/cancellation", reference=other)
    assert client.evaluation()["ended"] is True
    for step in solution(scenario):
        step(client)
    after = client.evaluation()
    assert (after["success"], after["progress"]) == (False, 1)
    assert other in after["wrong"][0]


def test_booking_twice_costs_success(airline):
    client, scenario = client_of(airline, "TASK_BOOK_FLIGHT")
    for _ in range(2):
        for step in solution(scenario):
            step(client)
    after = client.evaluation()
    assert (after["success"], after["progress"]) == (False, 1)
    assert "second booking" in after["wrong"][0]


def test_booking_another_flight_ends_it_without_credit_for_the_passenger(airline):
    client, scenario = client_of(airline, "TASK_BOOK_FLIGHT")
    number = client.search(scenario)
    flights = chosen_flights(scenario)
    other = next(one for one in outward_flights(scenario.journey) if one != scenario.outward)
    draft = client.done("drafts", search=number, **flights | {"outward": other.number})["draft"]
    client.done(f"drafts/{draft}/passenger", **passenger_form(scenario.passenger))
    client.done(f"drafts/{draft}/payment", **scenario.card.model_dump())
    after = client.evaluation()
    assert (after["success"], after["ended"]) == (False, True)
    assert [step["name"] for step in after["steps"] if step["reached"]][-1] == "return flight chosen"
    assert "outward flight chosen" in after["wrong"][0]


def test_a_finished_draft_is_not_booked_again(airline):
    client, scenario = client_of(airline, "TASK_BOOK_FLIGHT")
    for step in solution(scenario):
        step(client)
    assert client.post("drafts/1/payment", **scenario.card.model_dump())[0] == 409


def test_a_draft_is_not_paid_before_the_passenger_is_known(airline):
    client, scenario = client_of(airline, "TASK_BOOK_FLIGHT")
    number = client.search(scenario)
    client.done("drafts", search=number, **chosen_flights(scenario))
    assert client.post("drafts/1/payment", **scenario.card.model_dump())[0] == 409


def test_changing_a_field_that_was_not_asked_costs_success(airline):
    client, scenario = client_of(airline, "TASK_MODIFY_PASSENGER")
    ref = scenario.reference
    client.find_and_open(ref, "modify")
    asked = passenger_form(passenger_asked_for(scenario)) | dict(scenario.changes)
    spoiled = asked | {"birth": "1999-09-09"}
    client.done(f"bookings/{ref}/passengers/{scenario.place}", **spoiled)
    after = client.evaluation()
    assert (after["success"], after["ended"], after["progress"]) == (False, True, 1)
    assert "date of birth" in after["wrong"][0]


def test_two_changes_may_be_saved_one_by_one(airline):
    seed = next(seed for seed in range(99) if len(make(seed, "TASK_MODIFY_PASSENGER").changes) == 2)
    client, scenario = client_of(airline, "TASK_MODIFY_PASSENGER", seed)
    client.find_and_open(scenario.reference, "modify")
    form = passenger_form(passenger_asked_for(scenario))
    for at, (field, value) in enumerate(scenario.changes):
        form |= {field: value}
        client.done(f"bookings/{scenario.reference}/passengers/{scenario.place}", **form)
        assert client.evaluation()["ended"] is (at == 1)
    assert client.evaluation()["success"] is True


def test_saving_nothing_new_is_refused_and_harmless(airline):
    client, scenario = client_of(airline, "TASK_MODIFY_PASSENGER")
    client.find_and_open(scenario.reference, "modify")
    form = passenger_form(passenger_asked_for(scenario))
    assert client.post(f"bookings/{scenario.reference}/passengers/{scenario.place}", **form)[0] == 409
    assert client.evaluation()["wrong"] == []


def test_a_wrong_search_ends_the_search_for_flights(airline):
    client, scenario = client_of(airline, "TASK_FIND_FLIGHT")
    wanted = journey_form(scenario)
    client.done("searches", **wanted | {"from": wanted["to"], "to": wanted["from"]})
    after = client.evaluation()
    assert (after["success"], after["ended"]) == (False, True)
    assert 0 < after["progress"] < 1


def test_a_search_that_the_form_refuses_ends_nothing(airline):
    client, scenario = client_of(airline, "TASK_FIND_FLIGHT")
    status, answer = client.post("searches", **journey_form(scenario) | {"from": "Nowhere"})
    assert status == 422
    assert list(answer["problems"]) == ["from"]
    assert client.evaluation()["ended"] is False


def test_the_last_lookup_counts(airline):
    client, scenario = client_of(airline, "TASK_FIND_BOOKING")
    client.done("lookups", reference=scenario.reference)
    client.done("lookups", reference=other_reference(scenario))
    assert client.evaluation()["success"] is False


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("searches", []),
        ("drafts", {"search": "1"}),
        ("drafts", {"search": True}),
        ("lookups", {"reference": {"a": 1}}),
        ("drafts/9/passenger", {}),
        ("nowhere", {}),
        ("bookings/ABCDEF/passengers/0", {}),
    ],
)
def test_nonsense_is_answered_with_a_sentence(airline, path, body):
    client, _ = client_of(airline, "TASK_FIND_FLIGHT")
    status, answer = client.request("POST", f"/api/{path}?scenario={client.scenario}", body)
    assert 400 <= status < 500
    assert answer["message"].endswith(".")


@pytest.mark.parametrize(
    "path", ["/", "/results", "/book/1/payment", "/bookings", "/bookings/ABC234/cancel", "/static/app.js"]
)
def test_every_place_of_the_page_can_be_opened_by_its_address(airline, path):
    assert Client(airline.server).request("GET", path)[0] == 200


def test_there_are_no_other_pages(airline):
    assert Client(airline.server).request("GET", "/admin")[0] == 404
