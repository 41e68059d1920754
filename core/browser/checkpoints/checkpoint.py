"""What is needed to bring the browser back to a step, and what bringing it back works with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.browser.act import Actor
from core.browser.checkpoints.identity import FoundAgain
from core.browser.checkpoints.inputs import RecordedInput
from core.browser.tabs import Tabs
from core.model import Record
from core.observation import Element, Observation


class Checkpoint(Record):
    """A step to go back to."""

    step: int
    observation: Observation
    """The page as the step observed it."""
    inputs: tuple[RecordedInput, ...] = ()
    """What was done before it since the task was opened, in order, failed actions left out."""
    server_state: str = ""
    """The environment's snapshot of its server at the step; empty where it keeps none."""


Choose = Callable[[Element, FoundAgain, Observation], Awaitable[Element | None]]
"""Asks which candidate is meant where identity does not tell for certain; None for none of them."""


@dataclass
class Ground:
    """The live browser, and what only the environment and the agent can do about it."""

    tabs: Tabs
    actor: Actor
    read: Callable[[], Awaitable[Observation]]
    """Reads the current page."""
    reopen: Callable[[], Awaitable[None]]
    """Begins the task anew in a clean profile."""
    put_server_back: Callable[[str], Awaitable[None]] | None = None
    """Gives the page a session of its own in the state of a snapshot."""
    server_state: Callable[[], str] | None = None
    """Returns the snapshot of the environment's server as it is now."""
    choose: Choose | None = None
