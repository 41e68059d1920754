"""Compares the present page with the recorded one: the grade and the differences.

An equal page can hide another state of its scripts. So the grade is ``exact`` only if the page shows no
difference, and was not touched or was reached by the same inputs from the start.
"""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

from core.browser.checkpoints.page_state import PageState
from core.schema.expression import Matcher, compiled
from core.schema.observation import Box, Element, Observation
from core.schema.pattern import Expression, Pattern, PatternText, parse_pattern
from core.schema.record import Record
from core.schema.restore import HISTORY, HTML, Comparison, Grade, PageDifference
from core.settings.user_file import read_model
from core.storage.resources import RESOURCES

VOLATILE = RESOURCES / "volatile.toml"
Provenance = Literal["untouched", "replayed", "restored", "recorded"]
"""How the page was restored: it was not touched, all inputs were repeated, parts were restored, or inputs
were repeated with recorded answers.
"""

_PARTS = ("name", "value", "states", "options", "detail")
"""Those of an element that are compared."""
_MOVING = ("video", "marquee")
"""Tags of what does not stand still."""
_PLACE = re.compile(r" at -?\d+,-?\d+")
"""Where a drawn thing is, in its `detail`: in a window of another size it is elsewhere."""
_ALIGNED, _EQUAL = 5_000, 100_000
"""Elements that differ, and pairs of equal ones among them, at most where their order is looked for."""
_WHOLE = 6
"""The first version of the page reader that counts what it leaves out of frames, and has the digest of a cut value."""
_Key = tuple[str, str]
ALIKE = 0.6
"""Share of common elements from which two pages of one address are the same page."""


class Volatile(Record):
    """Parts of a page that change by themselves: the format of resources/volatile.toml."""

    elements: tuple[PatternText, ...] = ()
    """Patterns of elements whose words and values do not count."""
    words: tuple[Expression, ...] = ()
    """Expressions for parts of names and values that do not count."""
    url_parameters: tuple[Expression, ...] = ()
    """Expressions for query parameters that do not count: for the whole name, or for name=value."""

    @cached_property
    def _patterns(self) -> tuple[Pattern, ...]:
        return tuple(parse_pattern(text) for text in self.elements)

    @cached_property
    def _words(self) -> tuple[Matcher, ...]:
        return tuple(map(compiled, self.words))

    def element(self, element: Element) -> bool:
        return any(pattern.fits(element) for pattern in self._patterns)

    def text(self, text: str) -> str:
        """Return `text` with what changes by itself left out."""
        for expression in self._words:
            text = expression.sub("…", text)
        return " ".join(text.split())

    def url(self, url: str) -> str:
        """Return the URL without the parameters that do not count."""
        parts = urlsplit(url)
        if parts.scheme == "blob":  # Each document makes another one.
            return "blob:"
        kept = [
            f"{name}={value}"
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
            if not any(
                compiled(one).fullmatch(f"{name}={value}" if "=" in one else name)
                for one in self.url_parameters
            )
        ]
        return f"{parts.scheme}://{parts.netloc}{parts.path or '/'}?{'&'.join(kept)}#{parts.fragment}"


def load_volatile(path: Path = VOLATILE) -> Volatile:
    """Read the file of what changes by itself; raises DataError with file, line and what is wrong."""
    return read_model(path, Volatile)


def compare(
    recorded: Observation,
    now: Observation,
    provenance: Provenance,
    volatile: Volatile | None = None,
    *,
    beside: Sequence[PageDifference] = (),
    later: Observation | None = None,
) -> Comparison:
    """Return how well `now` equals `recorded`; `beside` is what differs in what the browser and the server keep.

    Parts that were not touched and differ in a `later` reading of the same page change by themselves.
    """
    volatile = volatile or Volatile()
    moving = _moving(now, later) if later is not None else frozenset()
    elements = _of_elements(recorded, now, volatile, moving)
    # Of a page whose elements differ it is no news that its HTML does.
    others = [difference for difference in beside if difference.part != HTML or not elements]
    differences = (*_of_page(recorded, now, volatile), *elements, *others)
    equal: Grade = "recorded" if provenance == "recorded" else "equivalent"
    if not differences:
        grade: Grade = "exact" if provenance in ("untouched", "replayed") else equal
    elif all(difference.volatile for difference in differences):
        grade = equal
    elif _address(recorded, volatile) == _address(now, volatile) and _share(recorded, now, volatile) >= ALIKE:
        grade = "same page"
    else:
        grade = "lost"
    return Comparison(grade=grade, differences=differences)


def moving_boxes(recorded: Observation, now: Observation, volatile: Volatile) -> tuple[Box, ...]:
    """Return what is left out where pictures of two pages are compared whose elements are equal.

    These are videos, what changes by itself, and fields with a caret.
    """
    known, seen = ({_looks(element) for element in page.elements} for page in (recorded, now))
    return tuple(
        element.box
        for page, others in ((recorded, seen), (now, known))
        for element in page.elements
        if _looks(element) not in others
        or element.tag in _MOVING
        or volatile.element(element)
        or ("focused" in element.states and "type" in element.uses)
    )


def _looks(element: Element) -> tuple[str, ...]:
    return (element.role, *(_part(element, part) for part in _PARTS))


def kept_otherwise(
    recorded: PageState, now: PageState, volatile: Volatile, *, own_cookies: Sequence[str] = ()
) -> tuple[PageDifference, ...]:
    """Return what the browser and the environment's server keep differently from the recording."""
    cookies_then, cookies_now = (
        {one["name"]: str(one["value"]) for one in state.cookies if one["name"] not in own_cookies}
        for state in (recorded, now)
    )
    parts: tuple[tuple[str, dict[str, str], dict[str, str]], ...] = (
        ("server", {"": recorded.server}, {"": now.server}),
    )
    if recorded.whole:
        parts += (
            ("cookie", cookies_then, cookies_now),
            ("local storage", recorded.local or {}, _if_read(recorded.local, now.local)),
            ("session storage", recorded.session or {}, _if_read(recorded.session, now.session)),
            ("IndexedDB", {"": recorded.databases or ""}, {"": (recorded.databases and now.databases) or ""}),
        )
    found = [*_of_history(recorded.behind, now.behind or ()), *_of_content(recorded, now)]
    found += [
        PageDifference(
            what="changed",
            part=f"{part} {name}".rstrip(),
            before=then.get(name, ""),
            now=after.get(name, ""),
            volatile=volatile.text(then.get(name, "")) == volatile.text(after.get(name, "")),
        )
        for part, then, after in parts
        for name in sorted({*then, *after})
        if then.get(name) != after.get(name)
    ]
    return tuple(found)


def not_compared(recorded: PageState, now: PageState) -> str:
    """Return a sentence about what the browser keeps that could not be compared, or nothing."""
    why = list(dict.fromkeys((*recorded.unread, *now.unread)))
    if not recorded.whole and not recorded.unread:
        why = ["that of a named profile is not recorded"]
    return f"Storage was not compared: {'; '.join(one.rstrip('.') for one in why)}." if why else ""


def _of_history(recorded: tuple[str, ...] | None, now: tuple[str, ...]) -> tuple[PageDifference, ...]:
    if recorded is None or recorded == now:
        return ()
    # The page is what it was, only going back from it leads elsewhere: the tab may be another one by now.
    before, after = ", ".join(recorded), ", ".join(now)
    return (PageDifference(what="moved on", part=HISTORY, before=before, now=after, volatile=True),)


def _of_content(recorded: PageState, now: PageState) -> tuple[PageDifference, ...]:
    if not recorded.content or recorded.content == now.content:
        return ()
    difference = "another one, although no element differs"
    return (
        PageDifference(what="changed", part=HTML, before="the recorded one", now=difference, volatile=True),
    )


def _if_read(recorded: dict[str, str] | None, now: dict[str, str] | None) -> dict[str, str]:
    """Return the present data that was also recorded, since other data cannot be compared."""
    return {} if recorded is None else now or {}


def _address(observation: Observation, volatile: Volatile) -> str:
    return volatile.url(observation.url)


def _of_page(recorded: Observation, now: Observation, volatile: Volatile) -> list[PageDifference]:
    found: list[PageDifference] = []

    def differ(
        part: str,
        before: str,
        after: str,
        is_volatile: bool = False,
        element: str = "",
        by_reader: bool = False,
    ) -> None:
        if before != after:
            found.append(
                PageDifference(
                    what="moved on",
                    element=element,
                    part=part,
                    before=before,
                    now=after,
                    volatile=is_volatile or by_reader,
                    by_reader=by_reader,
                )
            )

    def differ_in_url(before: str, after: str, element: str = "", by_itself: bool = False) -> None:
        differ("url", before, after, by_itself or volatile.url(before) == volatile.url(after), element)

    differ_in_url(recorded.url, now.url)
    differ("title", recorded.title, now.title, volatile.text(recorded.title) == volatile.text(now.title))
    differ("scroll", _pair(recorded.scroll), _pair(now.scroll))
    uncounted = _read_earlier(recorded, now) and recorded.omitted < now.omitted
    differ("elements left out", str(recorded.omitted), str(now.omitted), by_reader=uncounted)
    differ("tabs", str(len(recorded.tabs)), str(len(now.tabs)))
    if len(recorded.tabs) == len(now.tabs):
        differ("current tab", _current(recorded), _current(now))
        for one, other in zip(recorded.tabs, now.tabs, strict=True):
            if not one.current:
                differ_in_url(one.url, other.url, f"tab {one.index + 1}")
    inner = [one.frames[1:] for one in (recorded, now)]
    if len(inner[0]) == len(inner[1]):  # Else an element is gone or was added.
        for number, (frame, other_frame) in enumerate(zip(*inner, strict=True), start=1):
            looks = [
                [_looks(part) for part in one.elements if part.frame == number] for one in (recorded, now)
            ]
            urls = (frame.url, other_frame.url)
            places = [(one.partition("?")[0], one.partition("#")[2]) for one in urls]
            same = looks[0] == looks[1] != [] and places[0] == places[1]
            differ_in_url(frame.url, other_frame.url, f"frame {number}", same)  # As of an advertisement.
    return found


def _read_earlier(recorded: Observation, now: Observation) -> bool:
    return recorded.reader < _WHOLE <= now.reader


def _current(observation: Observation) -> str:
    return ", ".join(str(tab.index + 1) for tab in observation.tabs if tab.current)


def _pair(numbers: tuple[int, int]) -> str:
    return f"{numbers[0]}, {numbers[1]}"


def _moving(now: Observation, later: Observation) -> frozenset[tuple[int, str]]:
    """Return the refs and parts of elements that are otherwise in a later reading of the same page."""
    elements = {element.ref: element for element in later.elements}
    return frozenset(
        (element.ref, part)
        for element in now.elements
        for part in _PARTS
        if element.ref in elements and _part(element, part) != _part(elements[element.ref], part)
    )


def _of_elements(
    recorded: Observation, now: Observation, volatile: Volatile, moving: frozenset[tuple[int, str]]
) -> list[PageDifference]:
    found: list[PageDifference] = []
    moved, earlier = recorded.viewport != now.viewport, _read_earlier(recorded, now)
    before, after = _keys(recorded, volatile), _keys(now, volatile)
    pairs = _pairs(before, after)
    for what, elements, paired in (
        ("gone", recorded.elements, {at for at, _ in pairs}),
        ("added", now.elements, {at for _, at in pairs}),
    ):
        found += [
            PageDifference(what=what, element=_called(one), volatile=volatile.element(one))
            for at, one in enumerate(elements)
            if at not in paired
        ]
    if not found and any(at != other for at, other in pairs):
        found.append(
            PageDifference(what="moved on", part="order", before="the recorded one", now="another one")
        )
    for at, other in pairs:
        one, same = recorded.elements[at], now.elements[other]
        found += _changed(one, same, volatile, moving, moved=moved, earlier=earlier)
    return found


def _pairs(before: Sequence[_Key], after: Sequence[_Key]) -> list[tuple[int, int]]:
    """Return the places of what both have: in the same order, or in any where too much differs to look for one."""
    least = min(len(before), len(after))
    begins = next((at for at in range(least) if before[at] != after[at]), least)
    ends = next((at for at in range(least - begins) if before[-1 - at] != after[-1 - at]), least - begins)
    old, new = before[begins : len(before) - ends], after[begins : len(after) - ends]
    counts = Counter(new)
    if len(new) > _ALIGNED or sum(counts[key] for key in old) > _EQUAL:
        places: dict[_Key, list[int]] = {}
        for at in reversed(range(len(new))):
            places.setdefault(new[at], []).append(at)
        middle = [(at, places[key].pop()) for at, key in enumerate(old) if places.get(key)]
    else:
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        middle = [(one.a + at, one.b + at) for one in blocks for at in range(one.size)]
    return [
        *((at, at) for at in range(begins)),
        *((begins + at, begins + other) for at, other in middle),
        *((len(before) - at, len(after) - at) for at in range(ends, 0, -1)),
    ]


def _keys(observation: Observation, volatile: Volatile) -> Sequence[_Key]:
    return [
        (element.role, "" if volatile.element(element) else volatile.text(element.name))
        for element in observation.elements
    ]


def _changed(
    one: Element,
    other: Element,
    volatile: Volatile,
    moving: frozenset[tuple[int, str]],
    *,
    moved: bool,
    earlier: bool,
) -> list[PageDifference]:
    """Return in which parts an element differs.

    `moved` says that the window has another size by now, `earlier` that an earlier version has read `one`.
    """
    found: list[PageDifference] = []
    whole = volatile.element(one)
    for part in _PARTS:
        before, after = _part(one, part), _part(other, part)
        if before == after:
            continue
        by_itself = whole or (other.ref, part) in moving
        chosen = part == "states" or (part in ("value", "options") and one.usable)
        by_itself = by_itself or (not chosen and volatile.text(before) == volatile.text(after))
        same_elsewhere = part == "detail" and _PLACE.sub("", before) == _PLACE.sub("", after)
        by_window = moved and not by_itself and same_elsewhere
        unread = earlier and part == "value" and one.is_cut and one.value == other.value
        found.append(
            PageDifference(
                what="changed",
                element=_called(one),
                part=part,
                before=before,
                now=after,
                volatile=by_itself or by_window or unread,
                by_window=by_window,
                by_reader=unread,
            )
        )
    return found


def held_value(element: Element) -> str:
    """Return the value of an element, so that two are equal only if all of what they hold is."""
    if not element.is_cut:
        return element.value
    return f"{element.value} ({element.digest or 'the rest was not recorded'})"


def _part(element: Element, part: str) -> str:
    if part == "options":
        return " | ".join(
            f"*{option.label}*" if option.selected else option.label for option in element.options
        )
    value = held_value(element) if part == "value" else getattr(element, part)
    return " ".join(sorted(value)) if isinstance(value, tuple) else " ".join(str(value).split())


def _share(recorded: Observation, now: Observation, volatile: Volatile) -> float:
    """Return which share of the elements both pages have, from 0 to 1."""
    counts: dict[_Key, int] = {}
    for key in _keys(recorded, volatile):
        counts[key] = counts.get(key, 0) + 1
    both = 0
    for key in _keys(now, volatile):
        if counts.get(key, 0) > 0:
            counts[key] -= 1
            both += 1
    most = max(len(recorded.elements), len(now.elements))
    return both / most if most else 1.0


def _called(element: Element) -> str:
    name = " ".join(element.name.split())
    return f'{element.role} "{name}"' if name else element.role
