"""What was done in a page, kept so that it can be done again in another document."""

from core.schema.action import Action, RefTarget
from core.schema.element_identity import ElementMark, mark_of
from core.schema.observation import Observation
from core.schema.record import Record

Marks = dict[str, ElementMark]
"""By the part of the action that names the element: ``target`` or ``to``."""


class RecordedInput(Record):
    """One action of the page that was carried out, and what its elements are told by."""

    step: int
    action: Action
    marks: Marks = {}
    failed: bool = False
    """Whether it failed: what it did until then, such as moving the pointer, the page may have answered."""


def marks_of(action: Action, page: Observation) -> Marks:
    """Return what the elements that `action` names by ref are told by; those the page does not hold are left out."""
    marks: Marks = {}
    for part in ("target", "to"):
        target = getattr(action, part, None)
        element = page.element(target.ref) if isinstance(target, RefTarget) else None
        if element is not None:
            marks[part] = mark_of(element, page)
    return marks
