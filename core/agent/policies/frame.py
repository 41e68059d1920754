"""One call of a policy: who called it with what, on which page, what it has done, and how it ended."""

from hashlib import sha256

from core.agent.policies.call import Call
from core.schema.messages import Turn
from core.schema.observation import Observation
from core.schema.record import Record
from core.schema.step import FrameState

CALLED = "called; it has not come back"
"""The result of a call as long as the called policy works."""
LEFT = "left before its end: the run went back to a step before it"


class SeenPage(Record):
    """A page as it looked: two are the same where URL and fingerprint are equal."""

    url: str = ""
    fingerprint: str = ""


class Frame(Record):
    """One call of a policy."""

    number: int
    """Which frame of the run it is, from 1 in the order of their beginning."""
    policy: str
    """The policy's id."""
    name: str
    """The name it was called by."""
    arguments: tuple[str, ...] = ()
    caller: int | None = None
    """The number of the frame that called it."""
    call: int = 0
    """Which call of the run it is, from 1; 0 for a frame that nobody called."""
    step: int = 1
    """The step that called it; for the first frame the one it began at."""
    began_on: SeenPage = SeenPage()
    history: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()
    seen: tuple[SeenPage, ...] = ()
    """The pages it has come to, each once, in the order it first saw them."""
    state: FrameState = "active"
    answer: str = ""
    """What it came back with; where it lacked something, what it had found by then."""
    lacked: str = ""
    ended_at: int | None = None
    """The step it ended at."""
    brought_news: bool = False
    """Whether it came back on a page that its caller had not seen."""
    caller_had_seen: int = 0
    """How many pages its caller had seen when it came back, that one among them."""

    @property
    def written(self) -> str:
        """The call as it is written, as in ``find_order [the last one of Ann]``."""
        return str(Call(name=self.name, arguments=self.arguments))

    @property
    def outcome(self) -> str:
        """What the caller is told of it."""
        if self.state == "active":
            return CALLED
        if self.state == "left":
            return LEFT
        if self.state == "returned":
            return f"came back with: {self.answer}" if self.answer else "came back, with nothing to tell"
        found = f" Until then it had found: {self.answer}" if self.answer else ""
        return f"could not go on. It lacked: {self.lacked}{found}"


def place_of_page(observation: Observation) -> SeenPage:
    """Return the page of an observation: its URL, and a fingerprint of what a person could see and use.

    Refs, the focus and how far it is scrolled do not count; what is typed,
    checked or chosen does.
    """
    lines = [
        "\t".join(
            (
                element.role,
                element.name,
                element.value,
                " ".join(state for state in element.states if state != "focused"),
                "|".join(option.label for option in element.options if option.selected),
            )
        )
        for element in observation.elements
    ]
    text = "\n".join([observation.title, *lines]).encode("utf-8", "replace")
    return SeenPage(url=observation.url, fingerprint=sha256(text).hexdigest()[:16])
