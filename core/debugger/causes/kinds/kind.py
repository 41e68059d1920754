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
    """Return the change of a part of a file, with as many lines around it as make it the only such part."""
    begin, stop = text.rfind("\n", 0, start) + 1, end
    while stop < len(text) and (begin == stop or (not begin and text.count(text[:stop]) > 1)):
        stop = text.find("\n", stop) + 1 or len(text)
    while begin and text.count(text[begin:stop]) > 1:
        begin = text.rfind("\n", 0, begin - 1) + 1
        if not begin:
            return patch_of(file, text, 0, stop, text[:start] + put + text[end:stop])
    return Patch(file=file, find=text[begin:stop], put=text[begin:start] + put + text[end:stop])


def told(step: int, what: str, *evidence: Evidence, at: tuple[str, int] = ("", 0), **more: Any) -> Cause:
    """Return a cause that is likely, if nothing else is said; `at` is its file and line."""
    return Cause(
        step=step, what=what, evidence=evidence, file=at[0], line=at[1], **{"certainty": "likely", **more}
    )
