"""The HTML of a recorded page as lines, each with the number that the recording gives its element."""

import json
import re
from html.parser import HTMLParser

from core.memory.exchange.values import cut
from core.schema.record import Record

NUMBER = "backend_node_id"
MOST_LINES = 200
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_USABLE = {"a": "link", "button": "button", "input": "textbox", "select": "combobox", "textarea": "textbox"}
_TOLD = {
    **{f"h{level}": "heading" for level in range(1, 7)},
    "option": "option",
    "img": "img",
    "li": "listitem",
}
_TYPES = {
    "checkbox": "checkbox",
    "radio": "radio",
    "submit": "button",
    "button": "button",
    "search": "searchbox",
}
_NAMES = (
    "aria-label",
    "aria_label",
    "alt",
    "placeholder",
    "title",
    "name",
    "value",
    "input_value",
    "option_value",
)
_TAKING = (*_USABLE.values(), "option", "heading")
_DEEPEST = 300
MOST_SIGNS = 4_000_000
"""What comes after so many signs of a page is not read."""


class PageLines(Record):
    """What is kept of a page."""

    text: str = ""
    left_out: int = 0
    has_target: bool = False


def page_lines(html: str, target: int | None) -> PageLines:
    """Return the usable elements and the words of a page; of many lines, those around `target`."""
    reader = _Reader(target)
    try:
        reader.feed(_without_comments(html[:MOST_SIGNS]))
        reader.close()
    except AssertionError:
        # What HTMLParser raises for a declaration that never ends; what came before it stands.
        pass
    lines = [one for one in map(_line, reader.found) if one[1]]
    at = next((place for place, (number, _) in enumerate(lines) if number == target), None)
    start = max(0, min((at or 0) - MOST_LINES // 2, len(lines) - MOST_LINES))
    kept = lines[start : start + MOST_LINES]
    return PageLines(
        text="\n".join(line for _, line in kept),
        left_out=len(lines) - len(kept),
        has_target=at is not None,
    )


def _without_comments(html: str) -> str:
    """Return the HTML without comments; of one that does not end, up to the next: the parser would search on."""
    first, *others = html.split("<!--")
    return first + "".join(one.partition("-->")[2] for one in others)


class _Element:
    def __init__(self, number: int, role: str, name: str) -> None:
        self.number = number
        self.role = role
        self.name = name
        self.words: list[str] = []


class _Reader(HTMLParser):
    """Collects elements in page order; words go to the innermost element that is told."""

    def __init__(self, target: int | None) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[_Element] = []
        self._target = target
        self._open: list[tuple[str, _Element | None]] = []
        """The open elements, each with the one that words in it go to."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        number = values.get(NUMBER, "")
        element = None
        if re.fullmatch(r"[0-9]{1,9}", number):
            role = _role(tag, values)
            if role or int(number) == self._target:
                name = next((values[one] for one in _NAMES if values.get(one, "").strip()), "")
                element = _Element(int(number), role or tag, name)
                self.found.append(element)
        if tag not in _VOID and len(self._open) < _DEEPEST:
            around = self._open[-1][1] if self._open else None
            # The words of a link that lies in a list item are the link's, and those in a link's parts too.
            inner = around if around is not None and around.role in _TAKING else element or around
            self._open.append((tag, inner))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self._open) - 1, max(-1, len(self._open) - 50), -1):
            if self._open[place][0] == tag:
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        words = data.strip()
        if not words or (self._open and self._open[-1][0] in ("script", "style")):
            return
        holder = self._open[-1][1] if self._open else None
        if holder is None:
            holder = _Element(-1, "text", "")
            self.found.append(holder)
        holder.words.append(words)


def _role(tag: str, values: dict[str, str]) -> str:
    role = values.get("role", "")
    if re.fullmatch(r"[a-z]+", role) and role not in ("presentation", "none", "generic"):
        return role
    if tag == "input":
        return _TYPES.get(values.get("type", ""), "textbox")
    return _USABLE.get(tag) or _TOLD.get(tag, "text" if tag == "text" else "")


def _line(element: _Element) -> tuple[int, str]:
    """Return the number and the line of an element; nothing for one that says nothing."""
    name = cut(" ".join(element.words) or element.name, 160)
    if not name and element.role in ("text", "listitem", "heading", "img"):
        return element.number, ""
    number = f"[{element.number}] " if element.number >= 0 else ""
    said = f" {json.dumps(name, ensure_ascii=False)}" if name else ""
    return element.number, f"{number}{element.role}{said}"
