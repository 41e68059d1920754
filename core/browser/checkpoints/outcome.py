"""How going back to a step ended."""

from core.browser.checkpoints.comparing import VERIFIED, Comparison, Grade
from core.model import Record


class Attempt(Record):
    """One strategy tried."""

    strategy: str
    grade: Grade | None = None
    """None where it was not fit, or failed before the page could be compared."""
    reason: str = ""
    """Why there is no grade."""
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0


class Restored(Record):
    """How going back ended; the page is as the last attempt left it."""

    step: int
    grade: Grade
    strategy: str = ""
    comparison: Comparison
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0

    @property
    def verified(self) -> bool:
        """Whether the page equals the recorded one, apart from what changes by itself."""
        return self.grade in VERIFIED

    @property
    def sentence(self) -> str:
        way = f" by {self.strategy}" if self.strategy else ""
        return f"Back at step {self.step}{way}: {self.comparison.sentence}."
