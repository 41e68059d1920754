"""A page's HTML as Playwright's trace has it: nested lists of name, attributes and children.

A page that was the one before names it instead of being repeated.
"""

import re
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import CData, Comment, Declaration, Doctype, NavigableString, ProcessingInstruction, Tag

from core.schema.step import BlobHash

_NEVER = ("script", "noscript")
"""Elements that a snapshot is without."""
_NO_WORDS = (Comment, CData, Declaration, Doctype, ProcessingInstruction)
_NEXT_DOCUMENT = re.compile(r"</html>\s*(?=<html)", re.IGNORECASE)


class Snapshots:
    """Turns the pages of one frame into snapshots, in the order in which they are written."""

    def __init__(self) -> None:
        self._count = 0
        self._whole: dict[BlobHash, tuple[int, int]] = {}
        """By page: which snapshot has it whole, and the number of its outermost node."""

    def next(self, name: BlobHash, html: str, url: str) -> list[Any]:
        """Return the next snapshot; a page whose blob was written before is a reference to it."""
        place, self._count = self._count, self._count + 1
        if name in self._whole:
            before, node = self._whole[name]
            return [[place - before, node]]
        # The documents of frames stand behind the page's own.
        own = _NEXT_DOCUMENT.split(html, maxsplit=1)[0]
        root = BeautifulSoup(own, "lxml").find("html")
        tree = _tree(root) if isinstance(root, Tag) else ["HTML", {}]
        _base(tree, url)
        self._whole[name] = (place, _nodes(tree) - 1)
        return tree


def _tree(tag: Tag) -> list[Any]:
    attributes = {
        name: " ".join(value) if isinstance(value, list) else str(value)
        for name, value in tag.attrs.items()
        if not name.lower().startswith("on")
    }
    told: list[Any] = [tag.name.upper(), attributes]
    for child in tag.children:
        if isinstance(child, Tag):
            if child.name not in _NEVER:
                told.append(_tree(child))
        elif isinstance(child, NavigableString) and not isinstance(child, _NO_WORDS):
            told.append(str(child))
    return told


def _base(tree: list[Any], url: str) -> None:
    """Let addresses of the page count from where it was."""
    head = next((one for one in tree[2:] if isinstance(one, list) and one[0] == "HEAD"), None)
    if head is None:
        head = ["HEAD", {}]
        tree.insert(2, head)
    head.insert(2, ["BASE", {"href": url}])


def _nodes(tree: list[Any]) -> int:
    """Return how many nodes there are, texts included: the outermost is the last that is numbered."""
    return 1 + sum(_nodes(child) if isinstance(child, list) else 1 for child in tree[2:])
