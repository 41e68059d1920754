"""The desk as a visitor with one session meets it over HTTP, and a solution of every kind of scenario."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from core.environments.airline.application import evaluation_of
from core.environments.airline.bookings import Passenger
from core.environments.airline.desk import AirlineState
from core.environments.airline.scenarios import Scenario, books
from core.environments.sites import SiteServer


class Client:
    """Keeps the cookie of its session, as a browser does."""

    def __init__(self, server: "SiteServer[AirlineState]", scenario: str = "") -> None:
        self._server = server
        self._host = urlsplit(server.origin).netloc
        self.scenario = scenario
        self.cookie = ""

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return status and JSON (or text) of an answer."""
        connection = http.client.HTTPConnection(self._host, timeout=10)
        headers = {"Cookie": self.cookie} if self.cookie else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        given = answer.getheader("Set-Cookie")
        if given:
            self.cookie = given.split(";")[0]
        connection.close()
        is_json = (answer.getheader("Content-Type") or "").startswith("application/json")
        return answer.status, json.loads(text) if is_json else text

    def get(self, path: str) -> tuple[int, Any]:
        return self.request("GET", f"/api/{path}?scenario={self.scenario}")

    def post(self, path: str, **body: Any) -> tuple[int, Any]:
        return self.request("POST", f"/api/{path}?scenario={self.scenario}", body)

    def done(self, path: str, **body: Any) -> Any:
        """Post what must be accepted."""
        status, answer = self.post(path, **body)
        assert status == 200, answer
        return answer

    def evaluation(self) -> dict[str, Any]:
        state = self._server.sessions.state(self.cookie.partition("=")[2])
        return evaluation_of(self.scenario, state).model_dump(mode="json")

    # What a person does at the desk

    def search(self, scenario: Scenario, **more: Any) -> int:
        return self.done("searches", **journey_form(scenario), **more)["search"]

    def find_and_open(self, reference: str, part: str) -> None:
        self.done("lookups", reference=reference)
        self.done(f"bookings/{reference}/open", part=part)


def journey_form(scenario: Scenario) -> dict[str, str]:
    journey = scenario.journey
    assert journey is not None
    return {
        "trip": "return" if journey.back else "one-way",
        "from": journey.origin,
        "to": journey.destination,
        "departure": journey.departure.isoformat(),
        "return": journey.back.isoformat() if journey.back else "",
    }


def chosen_flights(scenario: Scenario) -> dict[str, str]:
    assert scenario.outward is not None
    return {"outward": scenario.outward.number} | ({"return": scenario.back.number} if scenario.back else {})


def passenger_form(passenger: Passenger) -> dict[str, str]:
    return passenger.model_dump(mode="json")


def passenger_asked_for(scenario: Scenario) -> Passenger:
    """Return the passenger to be changed, as it is at the start."""
    booking = next(one for one in books(scenario.id) if one.reference == scenario.reference)
    return booking.passengers[scenario.place]


def solution(scenario: Scenario) -> list:
    """Return the steps of a solution, each a function of the client."""
    ref, kept = scenario.reference, {}

    def search(client: Client) -> None:
        kept["search"] = client.search(scenario)

    def search_other(client: Client) -> None:
        kept["search"] = client.search(scenario, booking=ref)

    def confirm(client: Client) -> None:
        kept["draft"] = client.done("drafts", search=kept["search"], **chosen_flights(scenario))["draft"]

    def passenger(client: Client) -> None:
        client.done(f"drafts/{kept['draft']}/passenger", **passenger_form(scenario.passenger))

    def pay(client: Client) -> None:
        client.done(f"drafts/{kept['draft']}/payment", **scenario.card.model_dump())

    def find(client: Client) -> None:
        client.done("lookups", reference=ref)

    def opened(part: str):
        return lambda client: client.done(f"bookings/{ref}/open", part=part)

    def cancel(client: Client) -> None:
        client.done(f"bookings/{ref}/cancellation", reference=ref)

    def save_passenger(client: Client) -> None:
        form = passenger_form(passenger_asked_for(scenario)) | dict(scenario.changes)
        client.done(f"bookings/{ref}/passengers/{scenario.place}", **form)

    def save_flights(client: Client) -> None:
        client.done(f"bookings/{ref}/flights", search=kept["search"], **chosen_flights(scenario))

    return {
        "TASK_FIND_FLIGHT": [search],
        "TASK_BOOK_FLIGHT": [search, confirm, passenger, pay],
        "TASK_FIND_BOOKING": [find],
        "TASK_CANCEL_BOOKING": [find, opened("cancel"), cancel],
        "TASK_MODIFY_PASSENGER": [find, opened("modify"), save_passenger],
        "TASK_MODIFY_FLIGHTS": [find, opened("modify"), search_other, save_flights],
    }[scenario.kind]
