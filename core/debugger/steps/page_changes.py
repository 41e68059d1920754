"""Finds what is new or different in a page since the step before."""

from collections import Counter

from core.debugger.steps.views import PageChanges
from core.schema.observation import Element, Observation


def page_changes(before: Observation | None, now: Observation) -> PageChanges:
    """Compare two observations element by element.

    Elements with the same ref are the same. If a page creates its elements again, they get other refs: then
    an element with the same text counts as the removed one, so that only visible differences are reported.
    """
    if before is None:
        return PageChanges()
    old = {element.ref: _words(element) for element in before.elements}
    there = {element.ref for element in now.elements}
    gone: Counter[str] = Counter(words for ref, words in old.items() if ref not in there)
    new, changed = [], {}
    for element in now.elements:
        words = _words(element)
        if element.ref in old:
            if old[element.ref] != words:
                changed[element.ref] = old[element.ref]
        elif gone[words]:
            gone[words] -= 1
        else:
            new.append(element.ref)
    return PageChanges(compared=True, new=tuple(new), changed=changed, gone=gone.total())


def _words(element: Element) -> str:
    """Return an element's line without its ref."""
    return element.line().partition("] ")[2]
