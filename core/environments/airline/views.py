"""What the page is told of flights, searches and bookings: plain data, with times and dates as they are shown."""

from typing import Any

from core.environments.airline.airports import BY_CODE
from core.environments.airline.bookings import Booking, price
from core.environments.airline.flights import (
    Flight,
    Journey,
    clock,
    long_date,
    outward_flights,
    return_flights,
)
from core.environments.airline.people import Passenger
from core.environments.airline.state import BookingDraft, Search


def search_view(search: Search) -> dict[str, Any]:
    return {
        "search": search.number,
        "booking": search.reference,
        **journey_view(search.journey),
        "outward_flights": [flight_view(one) for one in outward_flights(search.journey)],
        "return_flights": [flight_view(one) for one in return_flights(search.journey)],
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
        "passengers": [passenger_view(one) for one in booking.passengers],
        "price": booking.price,
        "card_ending": booking.card_ending,
        "journey": journey_view(booking.journey),
    }
