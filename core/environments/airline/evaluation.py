"""How far a desk has come with its scenario: the steps of a gold solution, and what went wrong beside them.

The steps come in stages. Those of a stage count only when all stages before
it are complete, since a passenger entered for another flight is no progress.
"""

from core.environments.airline.fields import PASSENGER_FIELDS
from core.environments.airline.flights import Journey
from core.environments.airline.scenarios import Kind, Scenario
from core.environments.airline.state import (
    Booked,
    BookingDraft,
    Cancelled,
    Change,
    DeskState,
    FlightsChanged,
    PassengerChanged,
    Search,
)
from core.schema.record import Record

_FINDING = ("TASK_FIND_FLIGHT", "TASK_FIND_BOOKING")


class Step(Record):
    """One step of the gold solution."""

    name: str
    reached: bool


class DeskEvaluation(Record):
    """What ``/evaluate`` answers."""

    scenario: str
    """The id."""
    task: Kind
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
        scenario=scenario.id,
        task=scenario.kind,
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
            drafts = [_booking_stages(scenario, desk.searches[one.search - 1], one) for one in desk.drafts]
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


def _search_steps(scenario: Scenario, search: Search | None) -> list[Step]:
    wanted = _wanted(scenario)
    journey = search.journey if search else None
    back = f"return on {wanted.back.isoformat()}" if wanted.back else "one way"
    return [
        Step(
            name=f"search from {wanted.origin}",
            reached=journey is not None and journey.origin == wanted.origin,
        ),
        Step(
            name=f"search to {wanted.destination}",
            reached=journey is not None and journey.destination == wanted.destination,
        ),
        Step(
            name=f"departure on {wanted.departure.isoformat()}",
            reached=journey is not None and journey.departure == wanted.departure,
        ),
        Step(name=back, reached=journey is not None and journey.back == wanted.back),
    ]


def _booking_stages(scenario: Scenario, search: Search | None, draft: BookingDraft | None) -> Stages:
    chosen = [
        Step(name="outward flight chosen", reached=draft is not None and draft.outward == scenario.outward)
    ]
    if scenario.back is not None:
        chosen.append(
            Step(name="return flight chosen", reached=draft is not None and draft.back == scenario.back)
        )
    person, card = draft.passenger if draft else None, draft.card if draft else None
    passenger = [
        Step(
            name=f"passenger's {_said(name)}",
            reached=person is not None and getattr(person, name) == getattr(scenario.passenger, name),
        )
        for name in PASSENGER_FIELDS
    ]
    payment = [
        Step(
            name=f"card's {name}",
            reached=card is not None and getattr(card, name) == getattr(scenario.card, name),
        )
        for name in ("number", "expiry", "cvc")
    ]
    booked = Step(name="booked", reached=draft is not None and bool(draft.reference))
    return [_search_steps(scenario, search), chosen, passenger, payment, [booked]]


def _found(scenario: Scenario, desk: DeskState) -> list[Step]:
    return [
        Step(name=f"booking {scenario.reference} found", reached=scenario.reference in desk.lookups),
    ]


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
    saved = [
        one for one in desk.changes if isinstance(one, FlightsChanged) and one.reference == scenario.reference
    ]
    last = saved[-1] if saved else None
    steps = [Step(name="outward flight saved", reached=last is not None and last.outward == scenario.outward)]
    if scenario.back is not None:
        steps.append(
            Step(name="return flight saved", reached=last is not None and last.back == scenario.back)
        )
    return steps


def _wrong_changes(scenario: Scenario, desk: DeskState) -> list[str]:
    """Return a sentence for each change that was not asked for; empty ones for those that were."""
    said, booked = [], 0
    for change in desk.changes:
        if isinstance(change, Booked):
            booked += 1
            again = booked > 1
            said.append(_wrong_booking(scenario, desk, change, again=again))
        else:
            said.append(_wrong_change(scenario, change))
    return said


def _wrong_booking(scenario: Scenario, desk: DeskState, change: Booked, *, again: bool) -> str:
    if scenario.kind != "TASK_BOOK_FLIGHT":
        return f"Booking {change.reference} was made, which nobody asked for."
    if again:
        return f"A second booking was made: {change.reference}."
    draft = desk.drafts[change.draft - 1]
    search = desk.searches[draft.search - 1]
    missed = [
        step.name for stage in _booking_stages(scenario, search, draft) for step in stage if not step.reached
    ]
    return f"Booking {change.reference} is not as asked: {', '.join(missed)}." if missed else ""


def _wrong_change(scenario: Scenario, change: Change) -> str:
    right = change.reference == scenario.reference
    if isinstance(change, Cancelled):
        if right and scenario.kind == "TASK_CANCEL_BOOKING":
            return ""
        return f"Booking {change.reference} was cancelled, which nobody asked for."
    if isinstance(change, PassengerChanged):
        if not right or scenario.kind != "TASK_MODIFY_PASSENGER" or change.place != scenario.place:
            return f"A passenger of booking {change.reference} was changed, which nobody asked for."
        others = [field for field, value in change.fields if (field, value) not in scenario.changes]
        return f"Changed otherwise than asked: {', '.join(_said(one) for one in others)}." if others else ""
    if isinstance(change, FlightsChanged):
        if not right or scenario.kind != "TASK_MODIFY_FLIGHTS":
            return f"The flights of booking {change.reference} were changed, which nobody asked for."
        as_asked = (change.outward, change.back) == (scenario.outward, scenario.back)
        return "" if as_asked else "The booking was moved to other flights than asked."
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
