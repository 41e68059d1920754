"""What every kind of cause is: a pure function of the stored run."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from core.debugger.causes.facts import FailureFacts
from core.debugger.causes.records import Cause, Evidence


class CauseKind(ABC):
    """Finds the causes of one kind in a failed run; yields none where nothing speaks for one."""

    name: ClassVar[str]
    """As in `Cause.kind`."""
    weight: ClassVar[float]
    """As in `Cause.weight`: by judgement so far, not by measurement."""

    @abstractmethod
    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        """Yield the causes, the likeliest first. Raises TraceError where the run is damaged."""


def told(step: int, what: str, *evidence: Evidence, at: tuple[str, int] = ("", 0), **more: Any) -> Cause:
    """Return a cause that is likely, if nothing else is said; `at` is its file and line."""
    return Cause(
        step=step, what=what, evidence=evidence, file=at[0], line=at[1], **{"certainty": "likely", **more}
    )
