"""The views of an attached agent."""

from typing import Literal

from core.attach.addresses import Addresses
from core.schema.record import Record
from core.schema.restore import Parted


class AttachRequest(Record):
    """The agent to attach, and its task."""

    command: tuple[str, ...] = ()
    """The program that the agent is, with its arguments; empty for one that is started elsewhere."""
    folder: str = ""
    """Where to start it; the current folder by default."""
    task: str = ""
    """The task to open, which judges the run; empty for whatever page the agent opens."""
    seed: int = 0
    url: str = ""
    instruction: str = ""
    browser: str = ""
    """``embedded``, ``chromium``, or the path of a Chromium; empty for the one that the window has usually."""


class Hold(Record):
    """How long an agent that was not started here is held while its clock runs."""

    since: float
    """By the monotonic clock."""
    what: Literal["call", "action"]
    gave_up: float = 0.0
    """After how many seconds it did not wait any longer, when it last did not; 0 if it always has."""


class AttachView(Record):
    """The agent that is attached, if any."""

    request: AttachRequest | None = None
    """What was asked for last."""
    addresses: Addresses | None = None
    """What the agent is told, while it is attached."""
    running: bool = False
    """Whether its program runs."""
    output: tuple[str, ...] = ()
    """What the program has written last, by lines."""
    notices: tuple[str, ...] = ()
    """What of it does not pass through Backstep, and what to set."""
    problem: str = ""
    """Why no agent was attached."""
    hold: Hold | None = None
    """The hold on an agent that was started elsewhere; None while nothing of it is held."""
    parted: Parted | None = None
    """Where it went another way than recorded, when it was last to be brought back to a step."""
