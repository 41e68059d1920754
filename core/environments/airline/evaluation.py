"""How far a desk has come with its scenario: the steps of a gold solution, and mistakes.

The steps come in stages. Those of a stage count only when all stages before
it are complete, since a passenger entered for another flight is not progress.
"""

from core.environments.airline.desk import (
    Booked,
    BookingDraft,
    Cancelled,
    Change,
    DeskState,
    FlightsChanged,
    PassengerChanged,
    Search,
)
from core.environments.airline.fields import PASSENGER_FIELDS
from core.environments.airline.scenarios import Scenario
from core.environments.airline.timetable import Journey
from core.schema.record import Record

_FINDING = ("TASK_FIND_FLIGHT", "TASK_FIND_BOOKING")


class Step(Record):
    """One step of the gold solution."""

    name: str
    reached: bool


class DeskEvaluation(Record):
    """How well a scenario was solved."""

    success: bool
    progress: float
    """The share of steps that were reached, from 0 to 1."""
    ended: bool
    """Whether nothing that follows can make it better: solved, or something wrong was done to the books."""
    steps: tuple[Step, ...]
    wrong: tuple[str, ...]
    """What was done to the books that was not asked for."""


Stages = list[list[Step]]


def evaluate(scenario: Scenario, desk: DeskState) -> DeskEvaluation:
    """Judge a desk by what was done at it."""
    steps = _counted(_stages(scenario, desk))
    wrong = tuple(said for said in _wrong_changes(scenario, desk) if said)
    reached = sum(step.reached for step in steps)
    complete = reached == len(steps)
    if scenario.kind in _FINDING:
        # The last one counts: it is what the desk shows at the end.
        complete = complete and _last_is_right(scenario, desk)
        done = _new(desk) if scenario.kind == "TASK_FIND_FLIGHT" else desk.lookups
        ended = bool(done or wrong)
    else:
        ended = complete or bool(wrong)
    return DeskEvaluation(
        success=complete and not wrong,
        progress=round(reached / len(steps), 4),
        ended=ended,
        steps=steps,
        wrong=wrong,
    )


def _counted(stages: Stages) -> tuple[Step, ...]:
    open, steps = True, []
    for stage in stages:
        steps += [step.replace(reached=step.reached and open) for step in stage]
        open = open and all(step.reached for step in stage)
    return tuple(steps)


def _score(stages: Stages) -> int:
    return sum(step.reached for step in _counted(stages))


def _best(candidates: list[Stages]) -> Stages:
    """Return the furthest attempt, the latest of those that are equally far."""
    return max(reversed(candidates), key=_score)


def _stages(scenario: Scenario, desk: DeskState) -> Stages:
    match scenario.kind:
        case "TASK_FIND_FLIGHT":
            return _best([[_search_steps(scenario, one)] for one in (None, *_new(desk))])
        case "TASK_BOOK_FLIGHT":
            searches = [_booking_stages(scenario, one, None) for one in (None, *_new(desk))]
            drafts = [
                _booking_stages(scenario, desk.searches[draft.search - 1], draft) for draft in desk.drafts
            ]
            return _best(searches + drafts)
        case "TASK_FIND_BOOKING":
            return [_found(scenario, desk)]
        case "TASK_CANCEL_BOOKING":
            cancelled = Cancelled(reference=scenario.reference) in desk.changes
            return [
                _found(scenario, desk),
                [_opened(scenario, desk, "cancel")],
                [Step(name="the booking is cancelled", reached=cancelled)],
            ]
        case "TASK_MODIFY_PASSENGER":
            saved = _saved_fields(scenario, desk)
            steps = [
                Step(name=f"{_said(field)} is changed", reached=saved.get(field) == value)
                for field, value in scenario.changes
            ]
            return [_found(scenario, desk), [_opened(scenario, desk, "modify")], steps]
        case "TASK_MODIFY_FLIGHTS":
            own = [one for one in desk.searches if one.reference == scenario.reference]
            return [
                _found(scenario, desk),
                [_opened(scenario, desk, "modify")],
                _best([[_search_steps(scenario, one)] for one in (None, *own)])[0],
                _saved_flights(scenario, desk),
            ]


def _new(desk: DeskState) -> list[Search]:
    return [one for one in desk.searches if not one.reference]


def _like(now: Record | None, wanted: Record | None, names: dict[str, str]) -> list[Step]:
    """Return a step for each field of `names`, reached where `now` has in it what is wanted."""
    return [
        Step(name=name, reached=now is not None and getattr(now, field) == getattr(wanted, field))
        for field, name in names.items()
    ]


def _search_steps(scenario: Scenario, search: Search | None) -> list[Step]:
    wanted = _wanted(scenario)
    names = {
        "origin": f"search from {wanted.origin}",
        "destination": f"search to {wanted.destination}",
        "departure": f"departure on {wanted.departure.isoformat()}",
        "back": f"return on {wanted.back.isoformat()}" if wanted.back else "one way",
    }
    return _like(search.journey if search else None, wanted, names)


def _flights(scenario: Scenario, now: BookingDraft | FlightsChanged | None, done: str) -> list[Step]:
    names = {"outward": f"outward flight {done}"}
    if scenario.back is not None:
        names["back"] = f"return flight {done}"
    return _like(now, scenario, names)


def _booking_stages(scenario: Scenario, search: Search | None, draft: BookingDraft | None) -> Stages:
    person, card = (draft.passenger, draft.card) if draft else (None, None)
    return [
        _search_steps(scenario, search),
        _flights(scenario, draft, "chosen"),
        _like(person, scenario.passenger, {name: f"passenger's {_said(name)}" for name in PASSENGER_FIELDS}),
        _like(card, scenario.card, {name: f"card's {name}" for name in ("number", "expiry", "cvc")}),
        [Step(name="booked", reached=draft is not None and bool(draft.reference))],
    ]


def _found(scenario: Scenario, desk: DeskState) -> list[Step]:
    return [Step(name=f"booking {scenario.reference} found", reached=scenario.reference in desk.lookups)]


def _opened(scenario: Scenario, desk: DeskState, part: str) -> Step:
    reached = any(one.reference == scenario.reference and one.part == part for one in desk.opened)
    return Step(name=f"{part} opened", reached=reached)


def _saved_fields(scenario: Scenario, desk: DeskState) -> dict[str, str]:
    """Return the fields of the passenger asked for that were saved, with their last values."""
    saved: dict[str, str] = {}
    for change in desk.changes:
        if (
            isinstance(change, PassengerChanged)
            and change.reference == scenario.reference
            and change.place == scenario.place
        ):
            saved |= dict(change.fields)
    return saved


def _saved_flights(scenario: Scenario, desk: DeskState) -> list[Step]:
    saved = (
        change
        for change in reversed(desk.changes)
        if isinstance(change, FlightsChanged) and change.reference == scenario.reference
    )
    return _flights(scenario, next(saved, None), "saved")


def _wrong_changes(scenario: Scenario, desk: DeskState) -> list[str]:
    """Return a sentence for each change that was not asked for; empty ones for those that were."""
    booked = [change for change in desk.changes if isinstance(change, Booked)]
    return [
        _wrong_booking(scenario, desk, change, again=change is not booked[0])
        if isinstance(change, Booked)
        else _wrong_change(scenario, change)
        for change in desk.changes
    ]


def _wrong_booking(scenario: Scenario, desk: DeskState, change: Booked, *, again: bool) -> str:
    if scenario.kind != "TASK_BOOK_FLIGHT":
        return f"Booking {change.reference} was made without being requested."
    if again:
        return f"A second booking was made: {change.reference}."
    draft = desk.drafts[change.draft - 1]
    search = desk.searches[draft.search - 1]
    missed = [
        step.name for stage in _booking_stages(scenario, search, draft) for step in stage if not step.reached
    ]
    return f"Booking {change.reference} is not as requested: {', '.join(missed)}." if missed else ""


def _wrong_change(scenario: Scenario, change: Change) -> str:
    right = change.reference == scenario.reference
    if isinstance(change, Cancelled):
        if right and scenario.kind == "TASK_CANCEL_BOOKING":
            return ""
        return f"Booking {change.reference} was cancelled without being requested."
    if isinstance(change, PassengerChanged):
        if not right or scenario.kind != "TASK_MODIFY_PASSENGER" or change.place != scenario.place:
            return f"A passenger of booking {change.reference} was changed without being requested."
        others = [field for field, value in change.fields if (field, value) not in scenario.changes]
        return (
            f"Changed to other values than requested: {', '.join(_said(other) for other in others)}."
            if others
            else ""
        )
    if isinstance(change, FlightsChanged):
        if not right or scenario.kind != "TASK_MODIFY_FLIGHTS":
            return f"The flights of booking {change.reference} were changed without being requested."
        as_asked = (change.outward, change.back) == (scenario.outward, scenario.back)
        return "" if as_asked else "The booking was moved to other flights than requested."
    return ""


def _last_is_right(scenario: Scenario, desk: DeskState) -> bool:
    if scenario.kind == "TASK_FIND_BOOKING":
        return desk.lookups[-1:] == (scenario.reference,)
    new = _new(desk)
    return bool(new) and new[-1].journey == _wanted(scenario)


def _wanted(scenario: Scenario) -> Journey:
    assert scenario.journey is not None
    return scenario.journey


def _said(field: str) -> str:
    return {"birth": "date of birth"}.get(field, field.replace("_", " "))
