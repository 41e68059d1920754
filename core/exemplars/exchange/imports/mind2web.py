"""Mind2Web's records: a task on a real site with a page and the element acted on for each action.

Read are lists of records, single ones and lines of them, and rows that hold
one action each, as the multimodal release has them. A record of a test set may
lack the element or the page: what is known is kept. A page's HTML becomes
lines, each with the number that the recording gives its element.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator

from core.exemplars.exchange.documents import Document
from core.exemplars.exchange.foreign import AnyText, Foreign, MaybeText, MisplacedError, Text, null_is, parsed
from core.exemplars.exchange.html_lines import USABLE, html_lines, in_line
from core.exemplars.exchange.reading import Reading, id_of
from core.schema.action import Action, Click, Hover, Press, RefTarget, RoleTarget, Select, Target, Type
from core.schema.exemplar import ExemplarStep

_MADE: dict[str, Callable[[Target, str], Action]] = {
    "CLICK": lambda target, value: Click(target=target),
    "TYPE": lambda target, value: Type(target=target, text=value),
    "SELECT": lambda target, value: Select(target=target, option=value),
    "HOVER": lambda target, value: Hover(target=target),
}


def _decoded(value: object) -> object:
    """Return what a field holds; the multimodal release has JSON inside texts."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        raise ValueError("the text is not JSON") from error


class _Operation(Foreign):
    op: AnyText = ""
    original_op: AnyText = ""
    value: AnyText = ""


class _Element(Foreign):
    tag: AnyText = ""
    is_original_target: Any = None
    backend_node_id: Any = None
    attributes: Any = None

    @property
    def ref(self) -> int | None:
        try:
            attributes = _decoded(self.attributes)
        except ValueError:
            attributes = None
        inside = attributes.get("backend_node_id") if isinstance(attributes, dict) else None
        number = str(inside if self.backend_node_id is None else self.backend_node_id)
        return int(number) if re.fullmatch(r"[0-9]{1,9}", number) else None


class _Action(Foreign):
    operation: Annotated[_Operation, null_is({}, _decoded)] = _Operation()
    pos_candidates: Annotated[
        list[Annotated[_Element, BeforeValidator(_decoded)]], null_is([], _decoded)
    ] = []
    cleaned_html: MaybeText = ""
    raw_html: AnyText = ""


class _Task(Foreign):
    confirmed_task: Text
    annotation_id: MaybeText = ""
    website: MaybeText = ""
    domain: AnyText = ""
    subdomain: AnyText = ""
    actions: Annotated[list[_Action], null_is([])] = []
    action_reprs: Annotated[list[AnyText], null_is([])] = []


class _Said(NamedTuple):
    """What a record says of an action in words."""

    kind: str = ""
    value: str = ""
    target: Target | None = None


def is_mind2web(document: Document) -> bool:
    return any(
        "confirmed_task" in value and {"actions", "action_reprs", "operation"} & value.keys()
        for value in document.objects
    )


def read_mind2web(reading: Reading) -> None:
    """Read the records; an action that cannot be read makes its record faulty, as a gap is not a trajectory."""
    for position, value in _records(reading):
        with reading.entry(position):
            task = parsed(_Task, value, position)
            remarks: list[str] = []
            steps = [
                _step(task, number, position, remarks)
                for number in range(max(len(task.actions), len(task.action_reprs)))
            ]
            if not steps:
                raise MisplacedError(position, "actions", "the record has no actions")
            tags = ("mind2web", task.domain, task.subdomain, task.website)
            values = {
                "id": id_of("mind2web", task.annotation_id or f"{reading.name}-{position}"),
                "family": task.website or "mind2web",
                "task": task.confirmed_task,
                "steps": steps,
                "source": f"Mind2Web {task.annotation_id}".strip(),
                "tags": tuple(dict.fromkeys(tag for tag in tags if tag)),
            }
            reading.add(position, values, remarks)


def _records(reading: Reading) -> Iterator[tuple[str, Any]]:
    """Give the records; rows of one action each are put together by the task they belong to."""
    tasks: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for record in reading.records():
        value = record.value
        if isinstance(value, dict) and "operation" in value and "actions" not in value:
            key = str(value.get("annotation_id") or value.get("confirmed_task"))
            tasks.setdefault(key, (record.position, []))[1].append(value)
        else:
            yield record.position, value
    for position, rows in tasks.values():
        rows.sort(key=_index)
        yield (
            position,
            {**rows[0], "actions": rows, "action_reprs": [row.get("target_action_reprs") for row in rows]},
        )


def _index(row: dict[str, Any]) -> int:
    text = str(row.get("target_action_index"))
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else 0


def _step(task: _Task, number: int, position: str, remarks: list[str]) -> ExemplarStep:
    action = task.actions[number] if number < len(task.actions) else _Action()
    description = task.action_reprs[number] if number < len(task.action_reprs) else ""
    said = _said(description)
    kind = action.operation.original_op or action.operation.op or said.kind
    value = action.operation.value or said.value
    if not kind:
        why = "neither it nor action_reprs contains the action"
        raise MisplacedError(position, f"actions[{number}].operation", why)
    elements = sorted(action.pos_candidates, key=lambda element: element.is_original_target is not True)
    element = elements[0] if elements else _Element()
    target = said.target if element.ref is None else RefTarget(ref=element.ref)
    html = action.cleaned_html or action.raw_html
    page, cut = html_lines(html, element.ref, element.tag)
    written = f"{kind} {value}".strip()
    step_remarks = [] if html else ["the record does not contain the page"]
    if cut:
        step_remarks.append(f"{cut} of the page's lines, far from the element, are left out")
    if kind == "ENTER":
        written = str(Press(keys="Enter"))
    elif target is None:
        written = f"{kind} {in_line(description, 80)}".strip()
        step_remarks.append("the record does not identify the element; the action is kept as a description")
    elif kind in _MADE:
        written = str(_MADE[kind](target, value))
        if element.ref is None:
            step_remarks.append("the record does not contain the element; only its text identifies it")
    else:
        step_remarks.append(f"there is no action {kind} here; the description is kept")
    remarks += [f"{position}.actions[{number}]: {remark}" for remark in step_remarks]
    return ExemplarStep(observation=page, actions=(written,))


def _said(line: str) -> _Said:
    """Return what a line such as ``[button]  Search -> CLICK`` or ``[textbox]  City -> TYPE: Oslo`` says."""
    before, arrow, after = line.rpartition("->")
    kind, _, value = (part.strip() for part in after.partition(":"))
    if not arrow or not re.fullmatch(r"[A-Z]+", kind):
        return _Said()
    tag, _, name = before.strip().removeprefix("[").partition("]")
    role = USABLE.get(tag.strip().lower(), tag.strip().lower())
    is_known = before.strip().startswith("[") and name.strip() and re.fullmatch(r"[a-z]+(-[a-z]+)*", role)
    return _Said(kind, value, RoleTarget(role=role, name=name.strip()) if is_known else None)
