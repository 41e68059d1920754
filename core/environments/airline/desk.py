"""What a session has done at the desk, and what can be done: an operation takes the desk and returns it as it is then.

The state is what is taken down, copied and put back. The order of a real desk
is kept: no passenger without chosen flights, no look at a booking that was not
looked up, no cancelling without the reference typed once more.
"""

import random
from typing import Annotated, Any, Literal

from pydantic import Field

from core.environments.airline import fields
from core.environments.airline.bookings import Booking, Card, Passenger, price, reference
from core.environments.airline.fields import PASSENGER_FIELDS, Problems
from core.environments.airline.scenarios import books
from core.environments.airline.timetable import Flight, Journey, outward_flights, return_flights
from core.schema.record import Record


class Search(Record):
    """A search for flights that the desk answered."""

    number: int
    """From 1, in the order they were made."""
    journey: Journey
    reference: str = ""
    """The booking whose flights are to be changed; empty for a new one."""


class BookingDraft(Record):
    """A new booking on its way."""

    number: int
    search: int
    outward: Flight
    back: Flight | None = None
    passenger: Passenger | None = None
    card: Card | None = None
    reference: str = ""
    """Of the booking it became."""


class Booked(Record):
    kind: Literal["booked"] = "booked"
    draft: int
    reference: str


class Cancelled(Record):
    kind: Literal["cancelled"] = "cancelled"
    reference: str


class PassengerChanged(Record):
    kind: Literal["passenger"] = "passenger"
    reference: str
    place: int
    fields: tuple[tuple[str, str], ...]
    """Those that differ from before, with their new values."""


class FlightsChanged(Record):
    kind: Literal["flights"] = "flights"
    reference: str
    outward: Flight
    back: Flight | None = None


Change = Annotated[Booked | Cancelled | PassengerChanged | FlightsChanged, Field(discriminator="kind")]
"""What was done to the books; it cannot be undone at the desk."""


class OpenedBooking(Record):
    """A part of a booking that was gone into."""

    reference: str
    part: Literal["modify", "cancel"]


class DeskState(Record):
    """One scenario as a session has left it."""

    scenario: str = ""
    """Its id; empty for a desk without a customer."""
    searches: tuple[Search, ...] = ()
    drafts: tuple[BookingDraft, ...] = ()
    lookups: tuple[str, ...] = ()
    """References that were found, each time again."""
    opened: tuple[OpenedBooking, ...] = ()
    changes: tuple[Change, ...] = ()
    altered: tuple[Booking, ...] = ()
    """Bookings that are new or no longer as in the scenario's books."""

    def booking(self, reference: str) -> Booking | None:
        """Return a booking as it is now, or None."""
        everything = (*self.altered, *books(self.scenario))
        return next((one for one in everything if one.reference == reference), None)

    def with_booking(self, booking: Booking) -> "DeskState":
        others = tuple(one for one in self.altered if one.reference != booking.reference)
        return self.replace(altered=(*others, booking))


class AirlineState(Record):
    """A session: one desk for each scenario that it has opened."""

    desks: tuple[DeskState, ...] = ()

    def desk(self, scenario: str) -> DeskState:
        """Return the desk of a scenario, as it was left or as it begins."""
        return next((desk for desk in self.desks if desk.scenario == scenario), DeskState(scenario=scenario))

    def with_desk(self, desk: DeskState) -> "AirlineState":
        others = tuple(one for one in self.desks if one.scenario != desk.scenario)
        return self.replace(desks=(*others, desk))


# What can be done


class DeskRefused(Exception):
    """Something that the desk does not do; its text is a sentence for the person at the desk."""

    def __init__(self, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.status = status


def search_flights(desk: DeskState, form: dict[str, Any]) -> tuple[Search, DeskState]:
    """Search for flights, for a new booking or to change one; raises Problems or DeskRefused."""
    ref = fields.text(form, "booking")
    journey = fields.read_journey(form)
    if ref:
        booking = confirmed(desk, ref)
        if (journey.back is None) != (booking.back is None):
            kind = "one way" if booking.back is None else "a return trip"
            raise Problems({"trip": f"Booking {ref} is {kind} and stays so."})
    search = Search(number=len(desk.searches) + 1, journey=journey, reference=ref)
    return search, desk.replace(searches=(*desk.searches, search))


def search_numbered(desk: DeskState, number: object) -> Search:
    """Return a search of this desk; raises DeskRefused."""
    if isinstance(number, int) and 1 <= number <= len(desk.searches):
        return desk.searches[number - 1]
    raise DeskRefused("This search has expired. Search again.", 404)


def confirm_flights(desk: DeskState, form: dict[str, Any]) -> tuple[BookingDraft, DeskState]:
    """Begin a new booking with chosen flights; raises Problems or DeskRefused."""
    search = search_numbered(desk, form.get("search"))
    if search.reference:
        raise DeskRefused(f"These flights were searched for booking {search.reference}.")
    outward, back = _chosen(search, form)
    draft = BookingDraft(number=len(desk.drafts) + 1, search=search.number, outward=outward, back=back)
    return draft, desk.replace(drafts=(*desk.drafts, draft))


def draft_numbered(desk: DeskState, number: str) -> BookingDraft:
    """Return a new booking on its way; raises DeskRefused."""
    if 1 <= int(number) <= len(desk.drafts):
        return desk.drafts[int(number) - 1]
    raise DeskRefused("This booking was not begun. Search for flights first.", 404)


def save_draft_passenger(
    desk: DeskState, form: dict[str, Any], number: str
) -> tuple[BookingDraft, DeskState]:
    """Say who is to fly; raises Problems or DeskRefused."""
    draft = _unfinished(desk, number)
    draft = draft.replace(passenger=fields.read_passenger(form))
    return draft, _with_draft(desk, draft)


def pay(desk: DeskState, form: dict[str, Any], number: str) -> tuple[Booking, DeskState]:
    """Take the card and book; raises Problems or DeskRefused."""
    draft = _unfinished(desk, number)
    if draft.passenger is None:
        raise DeskRefused("Save the passenger's details first.")
    card = fields.read_card(form)
    chance = random.Random(f"reference {desk.scenario} {number}")
    ref = reference(chance)
    while desk.booking(ref) is not None:
        ref = reference(chance)
    booking = Booking(
        reference=ref,
        outward=draft.outward,
        back=draft.back,
        passengers=(draft.passenger,),
        price=price(draft.outward, draft.back, 1),
        card_ending=card.number[-4:],
    )
    desk = _with_draft(desk, draft.replace(card=card, reference=ref)).with_booking(booking)
    change = Booked(draft=draft.number, reference=ref)
    return booking, desk.replace(changes=(*desk.changes, change))


def look_up(desk: DeskState, form: dict[str, Any]) -> tuple[Booking, DeskState]:
    """Find a booking; raises Problems for a reference that is none or is not in the books."""
    ref = fields.read_reference(form)
    booking = desk.booking(ref)
    if booking is None:
        raise Problems({"reference": f"There is no booking {ref}. Check the reference."})
    return booking, desk.replace(lookups=(*desk.lookups, ref))


def seen_booking(desk: DeskState, ref: str) -> Booking:
    """Return a booking that was looked up or made at this desk; raises DeskRefused."""
    made = any(draft.reference == ref for draft in desk.drafts)
    booking = desk.booking(ref) if made or ref in desk.lookups else None
    if booking is None:
        raise DeskRefused("Look the booking up by its reference first.", 404)
    return booking


def confirmed(desk: DeskState, ref: str) -> Booking:
    """Return a seen booking that can be worked on; raises DeskRefused for a cancelled one."""
    booking = seen_booking(desk, ref)
    if booking.status == "cancelled":
        raise DeskRefused(f"Booking {ref} is cancelled and cannot be changed.")
    return booking


def open_part(desk: DeskState, form: dict[str, Any], ref: str) -> tuple[Booking, DeskState]:
    """Go into modifying or cancelling a booking; a second time changes nothing. Raises DeskRefused."""
    part = form.get("part")
    if part not in ("modify", "cancel"):
        raise DeskRefused("A booking can be modified or cancelled.", 400)
    kind: Literal["modify", "cancel"] = "modify" if part == "modify" else "cancel"
    booking = confirmed(desk, ref)
    opened = OpenedBooking(reference=ref, part=kind)
    if opened in desk.opened:
        return booking, desk
    return booking, desk.replace(opened=(*desk.opened, opened))


def cancel(desk: DeskState, form: dict[str, Any], ref: str) -> tuple[Booking, DeskState]:
    """Cancel a booking whose reference was typed again; raises Problems or DeskRefused."""
    booking = _opened(desk, ref, "cancel")
    if fields.text(form, "reference").upper() != ref:
        raise Problems({"reference": f"To cancel, type the reference of this booking: {ref}."})
    booking = booking.replace(status="cancelled")
    desk = desk.with_booking(booking)
    return booking, desk.replace(changes=(*desk.changes, Cancelled(reference=ref)))


def change_passenger(
    desk: DeskState, form: dict[str, Any], ref: str, number: str
) -> tuple[Booking, DeskState]:
    """Save a passenger's details; raises Problems, or DeskRefused if nothing differs."""
    booking, place = _opened(desk, ref, "modify"), int(number)
    if place >= len(booking.passengers):
        raise DeskRefused(f"Booking {ref} has no such passenger.", 404)
    new = fields.read_passenger(form)
    old = booking.passengers[place]
    differing = changed_fields(old, new)
    if not differing:
        raise DeskRefused(f"Nothing was changed for {old.name}.")
    people = (*booking.passengers[:place], new, *booking.passengers[place + 1 :])
    booking = booking.replace(passengers=people)
    change = PassengerChanged(reference=ref, place=place, fields=differing)
    desk = desk.with_booking(booking)
    return booking, desk.replace(changes=(*desk.changes, change))


def change_flights(desk: DeskState, form: dict[str, Any], ref: str) -> tuple[Booking, DeskState]:
    """Move a booking to other flights; raises Problems, or DeskRefused where they are those it has."""
    booking = _opened(desk, ref, "modify")
    search = search_numbered(desk, form.get("search"))
    if search.reference != ref:
        raise DeskRefused(f"These flights were not searched for booking {ref}.")
    outward, back = _chosen(search, form)
    if (outward, back) == (booking.outward, booking.back):
        raise DeskRefused("The booking already has these flights. Choose others, or leave it unchanged.")
    cost = price(outward, back, len(booking.passengers))
    booking = booking.replace(outward=outward, back=back, price=cost)
    change = FlightsChanged(reference=ref, outward=outward, back=back)
    desk = desk.with_booking(booking)
    return booking, desk.replace(changes=(*desk.changes, change))


def changed_fields(old: Passenger, new: Passenger) -> tuple[tuple[str, str], ...]:
    """Return the fields that differ, with their new values as text."""
    differing = [name for name in PASSENGER_FIELDS if getattr(new, name) != getattr(old, name)]
    return tuple((name, str(getattr(new, name))) for name in differing)


def _chosen(search: Search, form: dict[str, Any]) -> tuple[Flight, Flight | None]:
    problems: dict[str, str] = {}
    outward = _by_number(outward_flights(search.journey), form.get("outward"))
    back = _by_number(return_flights(search.journey), form.get("return"))
    if outward is None:
        problems["outward"] = "Choose an outward flight."
    if search.journey.back is not None and back is None:
        problems["return"] = "Choose a return flight."
    if outward and back and back.departs <= outward.arrives:
        problems["return"] = "The return flight leaves before the outward flight has landed."
    if outward is None or problems:
        raise Problems(problems)
    return outward, back


def _by_number(flights: tuple[Flight, ...], number: object) -> Flight | None:
    return next((flight for flight in flights if flight.number == number), None)


def _unfinished(desk: DeskState, number: str) -> BookingDraft:
    draft = draft_numbered(desk, number)
    if draft.reference:
        raise DeskRefused(f"This booking is finished: it has the reference {draft.reference}.")
    return draft


def _with_draft(desk: DeskState, draft: BookingDraft) -> DeskState:
    at = draft.number - 1
    return desk.replace(drafts=(*desk.drafts[:at], draft, *desk.drafts[at + 1 :]))


def _opened(desk: DeskState, ref: str, part: Literal["modify", "cancel"]) -> Booking:
    booking = confirmed(desk, ref)
    if OpenedBooking(reference=ref, part=part) not in desk.opened:
        raise DeskRefused(f"Press {part.capitalize()} on booking {ref} first.")
    return booking
