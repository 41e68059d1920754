"""What the window shows of an attached agent."""

from core.attach.addresses import Addresses
from core.schema.record import Record


class AttachRequest(Record):
    """Which agent to attach, and what it is to work on."""

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
    problem: str = ""
    """Why no agent was attached."""
