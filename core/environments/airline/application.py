"""The desk as a site: the page for every place in it, and the JSON that the page works with.

A request names its scenario in the query, which chooses the books; the
session chooses the branch.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from core.environments.airline import desk as work
from core.environments.airline.bookings import GENDERS, TITLES, Booking, Passenger, price
from core.environments.airline.desk import AirlineState, BookingDraft, DeskRefused, DeskState, Search
from core.environments.airline.evaluation import DeskEvaluation, evaluate
from core.environments.airline.fields import Problems
from core.environments.airline.scenarios import by_id, known
from core.environments.airline.timetable import (
    AIRLINE,
    AIRPORTS,
    BY_CODE,
    LAST_DAY,
    TODAY,
    Flight,
    Journey,
    clock,
    long_date,
    outward_flights,
    return_flights,
)
from core.environments.sites import SiteAnswer, SiteRequest
from core.schema.record import Record
from core.storage.resources import RESOURCES

STATIC = RESOURCES / "sites" / "airline"

_REFERENCE = r"([A-Z0-9]{6})"
_PAGES = re.compile(
    rf"/|/results|/book/\d+/(passenger|payment)|/bookings(/{_REFERENCE}(/(modify|cancel|flights|results))?)?"
)


class AirlineDesk:
    """The application that `SiteServer` serves."""

    name = "airline"
    state_type = AirlineState

    def answer(self, request: SiteRequest, state: AirlineState) -> tuple[SiteAnswer, AirlineState]:
        if request.path.startswith("/api/"):
            return self._api(request, state)
        if request.method == "GET" and _PAGES.fullmatch(request.path):
            return SiteAnswer(body=(STATIC / "index.html").read_bytes()), state
        return _json({"message": "There is no such page."}, 404), state

    def _api(self, request: SiteRequest, state: AirlineState) -> tuple[SiteAnswer, AirlineState]:
        id = request.query.get("scenario", "")
        if id and known(id) is None:
            return _json(
                {"message": "This desk does not exist, because its scenario is unknown."}, 404
            ), state
        form = request.json_body if isinstance(request.json_body, dict) else {}
        if request.method == "POST" and not isinstance(request.json_body, dict):
            return _json({"message": "The body must be a JSON object."}, 400), state
        desk = state.desk(id)
        try:
            answer, after = self._operation(request, form, desk)
        except Problems as problems:
            return _json({"message": "Check the form.", "problems": problems.fields}, 422), state
        except DeskRefused as refused:
            return _json({"message": str(refused)}, refused.status), state
        return _json(answer), state.with_desk(after)

    @staticmethod
    def _operation(
        request: SiteRequest, form: dict[str, Any], desk: DeskState
    ) -> tuple[dict[str, Any], DeskState]:
        if (request.method, request.path) == ("GET", "/api/desk"):
            return desk_view(), desk
        for method, pattern, operate in _OPERATIONS:
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                found, after = operate(desk, form, *match.groups())
                return _VIEWS[type(found)](found), after
        raise DeskRefused("This is not available at the desk.", 404)


def evaluation_of(id: str, state: AirlineState) -> DeskEvaluation:
    """Judge a session's desk of a scenario."""
    return evaluate(by_id(id), state.desk(id))


def _json(data: Any, status: int = 200) -> SiteAnswer:
    body = json.dumps(data, ensure_ascii=False).encode()
    return SiteAnswer(body=body, kind="application/json; charset=utf-8", status=status)


# What the page is told: plain data, with times and dates as they are shown


def desk_view() -> dict[str, Any]:
    """Return what every page of the desk shows, and what its forms offer."""
    return {
        "airline": AIRLINE,
        "today": long_date(TODAY),
        "last_day": long_date(LAST_DAY),
        "airports": [
            {"code": airport.code, "label": airport.label, "name": airport.name, "country": airport.country}
            for airport in AIRPORTS
        ],
        "titles": TITLES,
        "genders": GENDERS,
    }


def search_view(search: Search) -> dict[str, Any]:
    return {
        "search": search.number,
        "booking": search.reference,
        **journey_view(search.journey),
        "outward_flights": [flight_view(flight) for flight in outward_flights(search.journey)],
        "return_flights": [flight_view(flight) for flight in return_flights(search.journey)],
    }


def journey_view(journey: Journey) -> dict[str, Any]:
    """Return a journey with the values that fill the search form."""
    return {
        "trip": "return" if journey.back else "one-way",
        "from": BY_CODE[journey.origin].label,
        "to": BY_CODE[journey.destination].label,
        "departure": journey.departure.isoformat(),
        "return": journey.back.isoformat() if journey.back else "",
        "departure_shown": long_date(journey.departure),
        "return_shown": long_date(journey.back) if journey.back else "",
    }


def flight_view(flight: Flight) -> dict[str, Any]:
    days = (flight.arrives.date() - flight.departs.date()).days
    return {
        "number": flight.number,
        "from": BY_CODE[flight.origin].label,
        "to": BY_CODE[flight.destination].label,
        "date": long_date(flight.departs.date()),
        "departs": clock(flight.departs),
        "arrives": clock(flight.arrives),
        "next_day": days > 0,
        "duration": f"{flight.minutes // 60} h {flight.minutes % 60:02d} min",
        "price": flight.price,
    }


def passenger_view(passenger: Passenger) -> dict[str, Any]:
    return {
        **passenger.model_dump(mode="json"),
        "name": passenger.name,
        "birth_shown": long_date(passenger.birth),
    }


def draft_view(draft: BookingDraft) -> dict[str, Any]:
    return {
        "draft": draft.number,
        "search": draft.search,
        "outward": flight_view(draft.outward),
        "return": flight_view(draft.back) if draft.back else None,
        "passenger": passenger_view(draft.passenger) if draft.passenger else None,
        "price": price(draft.outward, draft.back, 1),
        "reference": draft.reference,
    }


def booking_view(booking: Booking) -> dict[str, Any]:
    return {
        "reference": booking.reference,
        "status": booking.status,
        "outward": flight_view(booking.outward),
        "return": flight_view(booking.back) if booking.back else None,
        "passengers": [passenger_view(passenger) for passenger in booking.passengers],
        "price": booking.price,
        "card_ending": booking.card_ending,
        "journey": journey_view(booking.journey),
    }


# The operations, as the page asks for them

_VIEWS: dict[type[Record], Callable[..., dict[str, Any]]] = {
    Search: search_view,
    BookingDraft: draft_view,
    Booking: booking_view,
}
_OPERATIONS: tuple[tuple[str, str, Callable[..., tuple[Record, DeskState]]], ...] = (
    ("POST", r"/api/searches", work.search_flights),
    ("GET", r"/api/searches/(\d{1,6})", lambda desk, form, id: (work.search_numbered(desk, int(id)), desk)),
    ("POST", r"/api/drafts", work.confirm_flights),
    ("GET", r"/api/drafts/(\d{1,6})", lambda desk, form, id: (work.draft_numbered(desk, id), desk)),
    ("POST", r"/api/drafts/(\d{1,6})/passenger", work.save_draft_passenger),
    ("POST", r"/api/drafts/(\d{1,6})/payment", work.pay),
    ("POST", r"/api/lookups", work.look_up),
    ("GET", rf"/api/bookings/{_REFERENCE}", lambda desk, form, ref: (work.seen_booking(desk, ref), desk)),
    ("POST", rf"/api/bookings/{_REFERENCE}/open", work.open_part),
    ("POST", rf"/api/bookings/{_REFERENCE}/cancellation", work.cancel),
    ("POST", rf"/api/bookings/{_REFERENCE}/passengers/(\d{{1,2}})", work.change_passenger),
    ("POST", rf"/api/bookings/{_REFERENCE}/flights", work.change_flights),
)
"""What the page asks for, with the parts of the address that the operation takes."""
