"""Finds the elements of an observation in the recorded HTML of their page."""

from bs4 import BeautifulSoup, Tag

from core.schema.observation import Element, Observation
from core.schema.record import Record


class MarkedPage(Record):
    """HTML in which elements carry their ref as ``data-ref``."""

    html: str
    found: int
    """Elements that were found again."""
    total: int


_NAMED_BY = ("aria-label", "value", "alt", "title", "placeholder")


def marked(html: str, observation: Observation) -> MarkedPage:
    """Find the elements of an observation again in its HTML, by tag and words in document order.

    One that is not found carries no ref; those in frames are looked for as
    well, as the HTML has the frames behind the page.
    """
    page = BeautifulSoup(html, "lxml")
    nodes = [node for node in page.find_all(True) if isinstance(node, Tag)]
    taken: set[int] = set()
    last = -1
    found = 0
    for element in observation.elements:
        if not element.tag:
            continue
        fits = [at for at, node in enumerate(nodes) if at not in taken and node.name == element.tag.lower()]
        named = [at for at in fits if _is_named(nodes[at], element)]
        # Elements come in document order; if one is out of it, only the words can tell.
        at = next((at for at in named if at > last), None)
        if at is None and len(named) == 1:
            at = named[0]
        if at is None:
            continue
        nodes[at]["data-ref"] = str(element.ref)
        taken.add(at)
        last = max(last, at)
        found += 1
    total = sum(1 for one in observation.elements if one.tag)
    return MarkedPage(html=str(page), found=found, total=total)


def _is_named(node: Tag, element: Element) -> bool:
    name = _plain(element.name)
    if not name:
        return not _plain(node.get_text(" ")) or not element.uses
    said = {_plain(str(node.get(attribute, ""))) for attribute in _NAMED_BY}
    return name in said or name == _plain(node.get_text(" ")) or _labelled(node, name)


def _labelled(node: Tag, name: str) -> bool:
    if node.name not in ("input", "select", "textarea"):
        return False
    around = node.find_parent("label")
    if around is not None and _plain(around.get_text(" ")) == name:
        return True
    root = next((parent for parent in node.parents if parent.parent is None), None)
    id = node.get("id")
    label = root.find("label", attrs={"for": id}) if isinstance(root, Tag) and id else None
    return isinstance(label, Tag) and _plain(label.get_text(" ")) == name


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
