"""What a view shows of a job; apart from the services, so that the window need not load them."""

from core.schema.record import Record


class JobView(Record):
    """A view that shows the job under way."""

    busy: bool = False
    doing: str = ""
    """What the job does now."""
    done: int = 0
    of: int = 0
    """0 where it is not known how much there is."""
