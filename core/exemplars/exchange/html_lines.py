"""HTML whose elements are numbered by an attribute, as lines: the usable elements with their names, and the words."""

import json
import re
from dataclasses import dataclass

from lxml import etree  # type: ignore[import-untyped]

MOST_LINES = 200
_MOST_SIGNS = 4_000_000
"""What comes after so many signs of a page is not read."""
USABLE = {"a": "link", "button": "button", "input": "textbox", "select": "combobox", "textarea": "textbox"}
"""Roles by tag."""
_TOLD = {"option": "option", "text": "text", "img": "img", "li": "listitem"}
_TOLD |= dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading")
_TYPES = {"checkbox": "checkbox", "radio": "radio", "submit": "button", "button": "button"}
_TYPES |= {"search": "searchbox"}
_TAKING = (*USABLE.values(), "option", "heading")
"""Roles of elements that the words in their parts belong to."""
_NAMES = "aria-label aria_label alt placeholder title name value input_value option_value".split()


@dataclass
class _Part:
    """An element that has a line, or words outside of all elements."""

    role: str
    number: int = -1
    name: str = ""
    words: str = ""

    @property
    def line(self) -> str:
        """Empty for an element that says nothing."""
        name = in_line(self.words, 160) or in_line(self.name, 160)
        if not name and self.role in ("text", "listitem", "heading", "img"):
            return ""
        number = f"[{self.number}] " if self.number >= 0 else ""
        return (
            f"{number}{self.role} {json.dumps(name, ensure_ascii=False)}" if name else f"{number}{self.role}"
        )


def html_lines(html: str, target: int | None, tag: str) -> tuple[str, int]:
    """Return the lines of a page, and how many more it would have.

    Of many lines, those around the element `target` are kept. It has a line
    even where the page does not show it, with `tag` in place of a role.
    """
    parts = [part for part in _parts(html[:_MOST_SIGNS], target) if part.line]
    at = next((place for place, part in enumerate(parts) if part.number == target), None)
    start = max(0, min((at or 0) - MOST_LINES // 2, len(parts) - MOST_LINES))
    lines = [part.line for part in parts[start : start + MOST_LINES]]
    if at is None and target is not None:
        lines.append(f"[{target}] {tag or 'element'}")
    return "\n".join(lines), max(0, len(parts) - MOST_LINES)


def _parts(html: str, target: int | None) -> list[_Part]:
    parser = etree.HTMLParser(remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        parser.feed(html)
        page = parser.close()
    except etree.ParseError:
        page = None
    if page is None:
        return []  # Nothing is in it.
    parts: list[_Part] = []
    owners: list[_Part | None] = [None]
    """For each open element, the part that words in it belong to."""
    for event, element in etree.iterwalk(page, events=("start", "end")):
        if event == "start":
            part = _part_of(element.tag, element.attrib, target)
            if part is not None and part.number >= 0:
                parts.append(part)
            owner = owners[-1]
            owners.append(owner if owner is not None and owner.role in _TAKING else part or owner)
            text = element.text
        else:
            owners.pop()
            text = element.tail
        owner = owners[-1]
        if owner is None and text and text.strip():
            owner = owners[-1] = _Part("text")
            parts.append(owner)
        if owner is not None:
            owner.words += f" {text or ''}"
    return parts


def _part_of(tag: str, attributes: dict[str, str], target: int | None) -> _Part | None:
    if tag in ("script", "style"):
        return _Part(tag)  # It takes what is in it.
    number = attributes.get("backend_node_id", "")
    if not re.fullmatch(r"[0-9]{1,9}", number):
        return None
    role = attributes.get("role", "")
    if not re.fullmatch(r"[a-z]+", role) or role in ("presentation", "none", "generic"):
        role = _TYPES.get(attributes.get("type", ""), "") if tag == "input" else ""
        role = role or USABLE.get(tag) or _TOLD.get(tag, "")
    if not role and int(number) != target:
        return None
    name = next((attributes[key] for key in _NAMES if attributes.get(key, "").strip()), "")
    return _Part(role or tag, int(number), name)


def in_line(text: str, length: int) -> str:
    """Return the text in one line, cut."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
