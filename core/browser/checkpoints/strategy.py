"""What a way to bring a page back is."""

from dataclasses import dataclass
from typing import Protocol

from core.browser.checkpoints.checkpoint import Checkpoint, RestoreContext
from core.browser.checkpoints.comparison import Provenance
from core.schema.errors import BackstepError
from core.schema.observation import Observation


class RestoreError(BackstepError):
    """A strategy could not go on; its text says at what and why."""


@dataclass(frozen=True)
class Brought:
    """How a page came to be as it is now."""

    remarks: tuple[str, ...] = ()
    """What was done otherwise, or left."""
    provenance: Provenance = "restored"
    seen: Observation | None = None
    """The page as it was last read, where nothing was done since."""


class Strategy(Protocol):
    """One way to restore a checkpoint."""

    name: str
    restores: str
    """What it brings back, and what not, in a sentence."""

    def unfit(self, checkpoint: Checkpoint) -> str:
        """Return why it cannot be used for this checkpoint, or nothing."""
        ...

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> Brought:
        """Bring the page back; raises RestoreError, ActionError or BrowserError."""
        ...
