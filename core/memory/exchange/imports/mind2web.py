"""Mind2Web's records: a task on a real site with a page and the element acted on for each action.

Read are its own JSON files (a list of records), single records, lines of
them, and rows that hold one action each, as the multimodal release has them.
A record of a test set may lack the element or the page: what is known is kept.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from core.memory.exchange.documents import Document
from core.memory.exchange.html_lines import PageLines, page_lines
from core.memory.exchange.ids import id_of
from core.memory.exchange.records import Candidate, Reading, ReadOptions, made_exemplar
from core.memory.exchange.values import MisplacedError, cut, kind_of, list_at, object_of, plain, text_at
from core.schema.action import Action, Click, Hover, Press, RefTarget, RoleTarget, Select, Target, Type
from core.schema.exemplar import ExemplarStep
from core.schema.record import Record
from core.trace.imports.records import FaultyError, FileEntry

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
    """Read the records; an action that cannot be read makes its record faulty, as a gap is no trajectory."""
    found: list[Candidate] = []
    faulty: list[FileEntry] = []
    for position, value, fault in _records(document):
        try:
            if fault:
                raise FaultyError(fault)
            found.append(_candidate(object_of(value, position), position, document.path.stem, options))
        except FaultyError as error:
            place = error.position if isinstance(error, MisplacedError) else position
            faulty.append(FileEntry(position=place, why=str(error)))
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
        told = [plain(one.get("target_action_reprs")) for one in ordered]
        yield position, {**ordered[0], "actions": ordered, "action_reprs": told}, ""


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
        told = plain(reprs[number]) if number < len(reprs) else ""
        step, remark = _step(action, told, place)
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


def _step(action: dict[str, Any], told: str, place: str) -> tuple[ExemplarStep, list[str]]:
    operation = _decoded(action.get("operation"), f"{place}.operation") if "operation" in action else {}
    operation = object_of(operation, f"{place}.operation") if operation is not None else {}
    words = _words(told)
    kind = plain(operation.get("original_op")) or plain(operation.get("op")) or words.kind
    value = plain(operation.get("value")) or words.value
    if not kind:
        raise MisplacedError(f"{place}.operation", "neither it nor action_reprs tells what was done")
    remarks: list[str] = []
    candidate = _chosen(action, place)
    ref = _ref(candidate)
    raw = text_at(action, "cleaned_html", place, without="") or text_at(action, "raw_html", place, without="")
    page = page_lines(raw, ref)
    if not raw:
        remarks.append("the record does not hold the page")
    elif page.left_out:
        remarks.append(f"{page.left_out} of the page's lines, far from the element, are not kept")
    target = _target(ref, words)
    if target is None:
        if kind not in ("ENTER",):
            remarks.append("the record does not tell the element; the action is kept in words")
            kept = f"{kind} {cut(told)}".strip()
            return ExemplarStep(observation=page.text, actions=(kept,)), remarks
    elif ref is None:
        remarks.append("the record does not hold the element; it is named by its words alone")
    made = _action(kind, target, value)
    if made is None:
        remarks.append(f"there is no word for {kind}; the action is kept as it is told")
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
    """Return the element that was acted on, or nothing where the record lacks it."""
    value = _decoded(action.get("pos_candidates"), f"{place}.pos_candidates")
    if value is None:
        return {}
    if not isinstance(value, list):
        raise MisplacedError(f"{place}.pos_candidates", f"it has to be a list, not {kind_of(value)}")
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


def _words(told: str) -> _Words:
    """Return what a line such as ``[button]  Search -> CLICK`` or ``[textbox]  City -> TYPE: Oslo`` says."""
    before, arrow, after = told.rpartition("->")
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
