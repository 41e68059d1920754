"""What a session has done at the desk: the state that is taken down, copied and put back."""

from typing import Annotated, Literal

from pydantic import Field

from core.environments.airline.bookings import Booking
from core.environments.airline.flights import Flight, Journey
from core.environments.airline.people import Card, Passenger
from core.environments.airline.scenarios import books
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
    """References that were found, each time anew."""
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
        return next((one for one in self.desks if one.scenario == scenario), DeskState(scenario=scenario))

    def with_desk(self, desk: DeskState) -> "AirlineState":
        others = tuple(one for one in self.desks if one.scenario != desk.scenario)
        return self.replace(desks=(*others, desk))
