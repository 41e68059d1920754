"""A site as a function: a request and the session's state in, an answer and the new state out."""

from typing import Any, Generic, Protocol, TypeVar

from core.schema.record import Record

State = TypeVar("State", bound=Record)


class SiteRequest(Record):
    """What the browser asked for."""

    method: str
    path: str
    """Decoded, without the query, as in ``/item/B001``."""
    query: dict[str, str] = {}
    """The last value of each parameter."""
    form: dict[str, str] = {}
    """The body of a urlencoded POST, the last value of each field."""
    json_body: Any = None
    """The body of a JSON POST."""


class SiteAnswer(Record):
    """What goes back: a page, data, or a redirect."""

    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    location: str = ""
    """With the status 303: where to go on."""


class SiteApplication(Protocol, Generic[State]):
    """One bundled site.

    It keeps nothing of a session itself: all that a visit changes is in
    the state, a frozen model, so that the state can be taken down, given to
    another branch and put back.
    """

    name: str
    """Lower case, as in the session's cookie ``NAME_session``."""
    state_type: type[State]

    def fresh(self) -> State:
        """Return the state of a session nobody prepared, such as that of a person who opens the address."""
        ...

    def answer(self, request: SiteRequest, state: State) -> tuple[SiteAnswer, State]:
        """Answer one request; called for one session by one thread at a time."""
        ...
