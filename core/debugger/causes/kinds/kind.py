"""What every kind of cause is: a pure function of the stored run."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from core.debugger.causes.facts import FailureFacts
from core.debugger.causes.records import Cause, Evidence, Patch


class CauseKind(ABC):
    """Finds the causes of one kind in a failed run; yields none where nothing speaks for one."""

    name: ClassVar[str]
    """As in `Cause.kind`."""
    weight: ClassVar[float]
    """As in `Cause.weight`: by judgement so far, not by measurement."""

    @abstractmethod
    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        """Yield the causes, the likeliest first. Raises TraceError where the run is damaged."""


def patch_of(file: str, text: str, start: int, end: int, put: str) -> Patch:
    """Return the change of a part of a file, with as many lines before it as make it the only such part."""
    begin = text.rfind("\n", 0, start) + 1
    while begin and text.count(text[begin:end]) > 1:
        begin = text.rfind("\n", 0, begin - 1) + 1
    return Patch(file=file, find=text[begin:end], put=text[begin:start] + put)


def told(step: int, what: str, *evidence: Evidence, at: tuple[str, int] = ("", 0), **more: Any) -> Cause:
    """Return a cause that is likely, if nothing else is said; `at` is its file and line."""
    return Cause(
        step=step, what=what, evidence=evidence, file=at[0], line=at[1], **{"certainty": "likely", **more}
    )
