"""Mind2Web's records: a task on a real site with a page and the element acted on for each action.

Read are its own JSON files (a list of records), single records, lines of
them, and rows that hold one action each, as the multimodal release has them.
A record of a test set may lack the element or the page: what is known is kept.
A page's HTML becomes lines, each with the number that the recording gives its element.
"""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from core.memory.exchange.records import (
    Candidate,
    Document,
    MisplacedError,
    Reading,
    ReadOptions,
    cut,
    fault_of,
    id_of,
    kind_of,
    list_at,
    made_exemplar,
    object_of,
    plain,
    text_at,
)
from core.schema.action import Action, Click, Hover, Press, RefTarget, RoleTarget, Select, Target, Type
from core.schema.exemplar import ExemplarStep
from core.schema.record import Record
from core.trace.imports.records import FaultyError, FileEntry

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
    """Collects elements in page order; words go to the innermost element that is shown."""

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


_TAGS = {"a": "link", "input": "textbox", "select": "combobox", "textarea": "textbox"}


class _Words(Record):
    """What a record says of an action in words."""

    kind: str = ""
    value: str = ""
    role: str = ""
    name: str = ""


def is_mind2web(document: Document) -> bool:
    return any(
        isinstance(value, dict)
        and "confirmed_task" in value
        and {"actions", "action_reprs", "operation"} & set(value)
        for _, value, _ in _entries(document)
    )


def read_mind2web(document: Document, beside: Document | None, options: ReadOptions) -> Reading:
    """Read the records; an action that cannot be read makes its record faulty, as a gap is not a trajectory."""
    found: list[Candidate] = []
    faulty: list[FileEntry] = []
    for position, value, fault in _records(document):
        try:
            if fault:
                raise FaultyError(fault)
            found.append(_candidate(object_of(value, position), position, document.path.stem, options))
        except FaultyError as error:
            faulty.append(fault_of(error, position))
    return Reading(candidates=tuple(found), faulty=tuple(faulty))


def _entries(document: Document) -> Iterator[tuple[str, Any, str]]:
    for line in document.lines:
        yield f"line {line.number}", line.value, line.fault
    value = document.value
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield f"[{number}]", one, ""
    elif isinstance(value, dict):
        yield "the record", value, ""


def _records(document: Document) -> Iterator[tuple[str, Any, str]]:
    """Yield the records; rows of one action each are put together by the task they belong to."""
    rows: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for position, value, fault in _entries(document):
        if not fault and isinstance(value, dict) and "operation" in value and "actions" not in value:
            key = str(value.get("annotation_id") or value.get("confirmed_task"))
            rows.setdefault(key, (position, []))[1].append(value)
            continue
        yield position, value, fault
    for position, actions in rows.values():
        ordered = sorted(actions, key=lambda one: _index(one.get("target_action_index")))
        descriptions = [plain(one.get("target_action_reprs")) for one in ordered]
        yield position, {**ordered[0], "actions": ordered, "action_reprs": descriptions}, ""


def _index(value: object) -> int:
    text = str(value)
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else 0


def _candidate(values: dict[str, Any], position: str, name: str, options: ReadOptions) -> Candidate:
    task = text_at(values, "confirmed_task", position)
    reprs = list_at(values, "action_reprs", position, optional=True)
    actions = list_at(values, "actions", position, optional=True)
    steps: list[ExemplarStep] = []
    remarks: list[str] = []
    for number in range(max(len(actions), len(reprs))):
        place = f"{position}.actions[{number}]"
        action = object_of(actions[number], place) if number < len(actions) else {}
        description = plain(reprs[number]) if number < len(reprs) else ""
        step, remark = _step(action, description, place)
        steps.append(step)
        remarks += [f"{place}: {one}" for one in remark]
    if not steps:
        raise MisplacedError(f"{position}.actions", "the record has no actions")
    website = text_at(values, "website", position, without="")
    about = [plain(values.get(key)) for key in ("domain", "subdomain")]
    known = text_at(values, "annotation_id", position, without="")
    exemplar = made_exemplar(
        id=id_of("mind2web", known or f"{name}-{position}"),
        family=options.family or website or "mind2web",
        task=task,
        steps=tuple(steps),
        source=" ".join(part for part in ("Mind2Web", known) if part),
        tags=tuple(dict.fromkeys(one for one in ("mind2web", *about, website) if one)),
    )
    return Candidate(position=position, exemplar=exemplar, remarks=tuple(remarks))


def _step(action: dict[str, Any], description: str, place: str) -> tuple[ExemplarStep, list[str]]:
    operation = _decoded(action.get("operation"), f"{place}.operation") if "operation" in action else {}
    operation = object_of(operation, f"{place}.operation") if operation is not None else {}
    words = _words(description)
    kind = plain(operation.get("original_op")) or plain(operation.get("op")) or words.kind
    value = plain(operation.get("value")) or words.value
    if not kind:
        raise MisplacedError(f"{place}.operation", "neither it nor action_reprs contains the action")
    remarks: list[str] = []
    candidate = _chosen(action, place)
    ref = _ref(candidate)
    raw = text_at(action, "cleaned_html", place, without="") or text_at(action, "raw_html", place, without="")
    page = page_lines(raw, ref)
    if not raw:
        remarks.append("the record does not contain the page")
    elif page.left_out:
        remarks.append(f"{page.left_out} of the page's lines, far from the element, are left out")
    target = _target(ref, words)
    if target is None:
        if kind not in ("ENTER",):
            remarks.append("the record does not identify the element; the action is kept as a description")
            kept = f"{kind} {cut(description)}".strip()
            return ExemplarStep(observation=page.text, actions=(kept,)), remarks
    elif ref is None:
        remarks.append("the record does not contain the element; only its text identifies it")
    made = _action(kind, target, value)
    if made is None:
        remarks.append(f"there is no action {kind} here; the description is kept")
        return ExemplarStep(observation=page.text, actions=(f"{kind} {value}".strip(),)), remarks
    return ExemplarStep(observation=_with_target(page, ref, candidate), actions=(str(made),)), remarks


def _decoded(value: object, place: str) -> Any:
    """Return what a field holds; the multimodal release has JSON inside texts."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise MisplacedError(place, "the text is not JSON") from error


def _chosen(action: dict[str, Any], place: str) -> dict[str, Any]:
    """Return the element that was acted on, or nothing if the record lacks it."""
    value = _decoded(action.get("pos_candidates"), f"{place}.pos_candidates")
    if value is None:
        return {}
    if not isinstance(value, list):
        raise MisplacedError(f"{place}.pos_candidates", f"it must be a list, not {kind_of(value)}")
    found = [
        object_of(_decoded(one, f"{place}.pos_candidates[{number}]"), f"{place}.pos_candidates[{number}]")
        for number, one in enumerate(value)
    ]
    original = [one for one in found if one.get("is_original_target") is True]
    return next(iter([*original, *found]), {})


def _ref(candidate: dict[str, Any]) -> int | None:
    number = candidate.get("backend_node_id")
    if number is None:
        attributes = candidate.get("attributes")
        try:
            attributes = json.loads(attributes) if isinstance(attributes, str) else attributes
        except (ValueError, RecursionError):
            attributes = None
        number = attributes.get("backend_node_id") if isinstance(attributes, dict) else None
    text = str(number)
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def _words(line: str) -> _Words:
    """Return what a line such as ``[button]  Search -> CLICK`` or ``[textbox]  City -> TYPE: Oslo`` says."""
    before, arrow, after = line.rpartition("->")
    kind, _, value = after.strip().partition(":")
    role, end, name = before.strip().partition("]")
    if not arrow or not re.fullmatch(r"[A-Z]+", kind.strip()):
        return _Words()
    known = bool(end) and role.startswith("[")
    return _Words(
        kind=kind.strip(),
        value=value.strip(),
        role=role[1:].strip().lower() if known else "",
        name=name.strip() if known else "",
    )


def _target(ref: int | None, words: _Words) -> Target | None:
    if ref is not None:
        return RefTarget(ref=ref)
    if not words.name:
        return None
    role = _TAGS.get(words.role, words.role)
    return RoleTarget(role=role, name=words.name) if re.fullmatch(r"[a-z]+(-[a-z]+)*", role) else None


def _action(kind: str, target: Target | None, value: str) -> Action | None:
    if kind == "ENTER":
        return Press(keys="Enter")
    if target is None:
        return None
    match kind:
        case "CLICK":
            return Click(target=target)
        case "TYPE":
            return Type(target=target, text=value)
        case "SELECT":
            return Select(target=target, option=value)
        case "HOVER":
            return Hover(target=target)
    return None


def _with_target(page: PageLines, ref: int | None, candidate: dict[str, Any]) -> str:
    """Return the lines with one for the element, which a cleaned page may have lost."""
    if ref is None or page.has_target:
        return page.text
    line = f"[{ref}] {plain(candidate.get('tag')) or 'element'}"
    return f"{page.text}\n{line}" if page.text else line
