"""The desk as a site: the page for every place in it, and the JSON that the page works with.

A request names its scenario in the query, which chooses the books; the
session chooses the branch. ``/generate-random-scenario`` and ``/evaluate``
are for experiments, and the page never uses them.
"""

import json
import re
import secrets
import threading
from collections.abc import Callable
from typing import Any

from core.environments.airline import desk as work
from core.environments.airline.airports import AIRPORTS
from core.environments.airline.bookings import Booking
from core.environments.airline.desk import DeskRefused
from core.environments.airline.evaluation import DeskEvaluation, evaluate
from core.environments.airline.fields import Problems
from core.environments.airline.flights import AIRLINE, LAST_DAY, TODAY, long_date
from core.environments.airline.people import GENDERS, TITLES
from core.environments.airline.scenarios import HIGHEST_SEED, KINDS, by_id, known, make
from core.environments.airline.state import AirlineState, DeskState
from core.environments.airline.views import booking_view, draft_view, search_view
from core.environments.airline.wording import details
from core.environments.sites.application import SiteAnswer, SiteRequest
from core.schema.errors import DataError
from core.storage.resources import RESOURCES

STATIC = RESOURCES / "sites" / "airline"
MOST_REMEMBERED = 2_000

_REFERENCE = r"([A-Z0-9]{6})"
_PAGES = re.compile(
    rf"/|/results|/book/\d+/(passenger|payment)|/bookings(/{_REFERENCE}(/(modify|cancel|flights|results))?)?"
)
Result = tuple[dict[str, Any], DeskState]


class AirlineDesk:
    """The application that `SiteServer` serves.

    `origin` gives the address of the server, for the links of new scenarios.
    Of the sessions it remembers one thing only: for each scenario the desk
    that was worked on last, so that ``/evaluate`` can be asked from outside the
    browser.
    """

    name = "airline"
    state_type = AirlineState

    def __init__(self, origin: Callable[[], str]) -> None:
        self._origin = origin
        self._last: dict[str, DeskState] = {}
        self._lock = threading.Lock()

    def fresh(self) -> AirlineState:
        return AirlineState()

    def answer(self, request: SiteRequest, state: AirlineState) -> tuple[SiteAnswer, AirlineState]:
        if request.path == "/generate-random-scenario" and request.method == "GET":
            return self._generate(request.query), state
        if request.path == "/evaluate" and request.method == "GET":
            return self._evaluate(request.query.get("scenario", ""), state), state
        if request.path.startswith("/api/"):
            return self._api(request, state)
        if request.method == "GET" and _PAGES.fullmatch(request.path):
            return SiteAnswer(body=(STATIC / "index.html").read_bytes()), state
        return _json({"message": "There is no such page."}, 404), state

    def remember(self, desk: DeskState) -> None:
        """Take `desk` as the one of its scenario that was worked on last."""
        with self._lock:
            self._last.pop(desk.scenario, None)
            self._last[desk.scenario] = desk
            if len(self._last) > MOST_REMEMBERED:
                del self._last[next(iter(self._last))]

    def _generate(self, query: dict[str, str]) -> SiteAnswer:
        given = query.get("seed", "")
        if given and (not re.fullmatch(r"[0-9]{1,16}", given) or int(given) > HIGHEST_SEED):
            return _json({"message": f"seed must be a whole number from 0 to {HIGHEST_SEED}."}, 400)
        wanted = query.get("scenario", "")
        kind = next((one for one in KINDS if one == wanted), None)
        if wanted and kind is None:
            return _json({"message": f"scenario must be one of {', '.join(KINDS)}."}, 400)
        scenario = make(int(given) if given else secrets.randbelow(HIGHEST_SEED + 1), kind)
        return _json(
            {
                "scenario": scenario.kind,
                "id": scenario.id,
                "url": f"{self._origin()}/?scenario={scenario.id}",
                "details": details(scenario),
            }
        )

    def _evaluate(self, id: str, state: AirlineState) -> SiteAnswer:
        """Judge this session's desk; for a visitor who never was at it, the one worked on last."""
        try:
            scenario = by_id(id)
        except DataError as error:
            return _json({"message": str(error)}, 404)
        desk = next((one for one in state.desks if one.scenario == id), None)
        if desk is None:
            with self._lock:
                desk = self._last.get(id) or DeskState(scenario=id)
        return _json(evaluate(scenario, desk).model_dump(mode="json"))

    def _api(self, request: SiteRequest, state: AirlineState) -> tuple[SiteAnswer, AirlineState]:
        id = request.query.get("scenario", "")
        if id and known(id) is None:
            return _json({"message": "This desk does not exist: the scenario is unknown."}, 404), state
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
        if after != desk:
            self.remember(after)
        return _json(answer), state.with_desk(after)

    def _operation(self, request: SiteRequest, form: dict[str, Any], desk: DeskState) -> Result:
        for method, pattern, operate in _OPERATIONS:
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                return operate(desk, form, *match.groups())
        raise DeskRefused("There is no such thing at the desk.", 404)


def evaluation_of(id: str, state: AirlineState) -> DeskEvaluation:
    """Judge a session's desk of a scenario."""
    return evaluate(by_id(id), state.desk(id))


def _json(data: Any, status: int = 200) -> SiteAnswer:
    body = json.dumps(data, ensure_ascii=False).encode()
    return SiteAnswer(body=body, kind="application/json; charset=utf-8", status=status)


# The operations, as the page asks for them


def _desk(desk: DeskState, form: dict[str, Any]) -> Result:
    return {
        "airline": AIRLINE,
        "today": long_date(TODAY),
        "last_day": long_date(LAST_DAY),
        "airports": [
            {"code": one.code, "label": one.label, "name": one.name, "country": one.country}
            for one in AIRPORTS
        ],
        "titles": TITLES,
        "genders": GENDERS,
    }, desk


def _search(desk: DeskState, form: dict[str, Any]) -> Result:
    search, after = work.search_flights(desk, form)
    return search_view(search), after


def _search_again(desk: DeskState, form: dict[str, Any], number: str) -> Result:
    return search_view(work.search_numbered(desk, int(number))), desk


def _confirm(desk: DeskState, form: dict[str, Any]) -> Result:
    draft, after = work.confirm_flights(desk, form)
    return draft_view(draft), after


def _draft(desk: DeskState, form: dict[str, Any], number: str) -> Result:
    return draft_view(work.draft_numbered(desk, int(number))), desk


def _draft_passenger(desk: DeskState, form: dict[str, Any], number: str) -> Result:
    draft, after = work.save_draft_passenger(desk, int(number), form)
    return draft_view(draft), after


def _pay(desk: DeskState, form: dict[str, Any], number: str) -> Result:
    return _saved(work.pay(desk, int(number), form))


def _look_up(desk: DeskState, form: dict[str, Any]) -> Result:
    return _saved(work.look_up(desk, form))


def _booking(desk: DeskState, form: dict[str, Any], ref: str) -> Result:
    return booking_view(work.seen_booking(desk, ref)), desk


def _open(desk: DeskState, form: dict[str, Any], ref: str) -> Result:
    return _saved(work.open_part(desk, ref, form.get("part")))


def _cancel(desk: DeskState, form: dict[str, Any], ref: str) -> Result:
    return _saved(work.cancel(desk, ref, form))


def _change_passenger(desk: DeskState, form: dict[str, Any], ref: str, place: str) -> Result:
    return _saved(work.change_passenger(desk, ref, int(place), form))


def _change_flights(desk: DeskState, form: dict[str, Any], ref: str) -> Result:
    return _saved(work.change_flights(desk, ref, form))


def _saved(result: tuple[Booking, DeskState]) -> Result:
    return booking_view(result[0]), result[1]


_OPERATIONS: tuple[tuple[str, str, Callable[..., Result]], ...] = (
    ("GET", r"/api/desk", _desk),
    ("POST", r"/api/searches", _search),
    ("GET", r"/api/searches/(\d{1,6})", _search_again),
    ("POST", r"/api/drafts", _confirm),
    ("GET", r"/api/drafts/(\d{1,6})", _draft),
    ("POST", r"/api/drafts/(\d{1,6})/passenger", _draft_passenger),
    ("POST", r"/api/drafts/(\d{1,6})/payment", _pay),
    ("POST", r"/api/lookups", _look_up),
    ("GET", rf"/api/bookings/{_REFERENCE}", _booking),
    ("POST", rf"/api/bookings/{_REFERENCE}/open", _open),
    ("POST", rf"/api/bookings/{_REFERENCE}/cancellation", _cancel),
    ("POST", rf"/api/bookings/{_REFERENCE}/passengers/(\d{{1,2}})", _change_passenger),
    ("POST", rf"/api/bookings/{_REFERENCE}/flights", _change_flights),
)
