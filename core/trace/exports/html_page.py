"""What the exported HTML page shows of a run, gathered for its template."""

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from core.schema.action import Action
from core.schema.action_space import PermissibleRow
from core.schema.errors import TraceError
from core.schema.observation import Box
from core.schema.record import Record
from core.schema.step import (
    Abstracted,
    Acted,
    Aligned,
    Anticipated,
    BlobHash,
    CallRecord,
    Decided,
    Observed,
    Origin,
    PhaseRecord,
    Recognised,
    Reviewed,
    place_of,
)
from core.trace.blobs import hash_of
from core.trace.records import Intervention, RunRow, StepDetail, StepRow
from core.trace.store import TraceStore

SIGNS: dict[Origin, str] = {"agent": "●", "person": "◆", "remedy": "↺", "replay": "▷"}
"""The shape beside the word and the colour of an origin."""
NO_VIEWPORT = (1280, 800)
"""Taken where the page did not tell the size of its viewport."""
_MARGIN = 12

P = TypeVar("P", bound=PhaseRecord)


class PagePicture(Record):
    """A picture, drawn wherever its id is used."""

    id: str
    source: str
    """A data URL."""
    width: int
    height: int


class PageMessage(Record):
    """One message of a prompt."""

    role: str
    text: str
    pictures: tuple[PagePicture, ...] = ()


class PageCall(Record):
    """One LLM call with what was said."""

    record: CallRecord
    messages: tuple[PageMessage, ...] = ()
    tools: str = ""
    sampling: str = ""
    reply: str = ""
    problem: str = ""
    """Why prompt or reply cannot be shown."""


class PageStep(Record):
    """One step as the page shows it."""

    row: StepRow
    sign: str
    picture: PagePicture | None = None
    viewport: tuple[int, int] = NO_VIEWPORT
    part: tuple[int, int] = NO_VIEWPORT
    """Width and height of the viewport's corner that holds all elements of the page."""
    box: Box | None = None
    space: str = ""
    why: str = ""
    also: tuple[str, ...] = ()
    proposed: str = ""
    """What the agent proposed, where something else was done."""
    note: str = ""
    queue: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    alignment: str = ""
    settled: str = ""
    milliseconds: tuple[tuple[str, float], ...] = ()
    reused: bool = False
    lines: str = ""
    """The page as the prompt shows it, or as it was read where no prompt was made."""
    shown: int = 0
    read: int = 0
    """How many elements were read, and how many of them the prompt shows."""
    permissible: tuple[PermissibleRow, ...] = ()
    left_out: int = 0
    calls: tuple[PageCall, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    events: tuple[str, ...] = ()
    problem: str = ""

    @property
    def mostly_empty(self) -> bool:
        """Whether the page fills so little of its picture that it is shown larger."""
        return self.part[0] * 2 <= self.viewport[0] and self.part[1] * 4 <= self.viewport[1] * 3


class HtmlPage(Record):
    """The whole page."""

    run: RunRow
    preset_text: str
    steps: tuple[PageStep, ...]
    pictures: tuple[PagePicture, ...]
    """Each picture once, however many steps show it."""
    beside: PageStep | None = None
    """What belongs to no step: calls and events before the first."""
    signs: dict[Origin, str] = SIGNS


def page_of(store: TraceStore, run: int) -> HtmlPage:
    """Gather the page; raises TraceError only where the run itself cannot be read."""
    row = store.run(run)
    pictures: dict[BlobHash, PagePicture] = {}
    rows = store.steps(run)
    numbers = {step.number for step in rows}
    calls = store.calls(run)
    events = store.events(run)
    interventions = store.interventions(run)
    steps = [
        _step(store, _detail(store, step), pictures, [e.event.text for e in events if e.step == step.number])
        for step in rows
    ]
    beside = StepDetail(
        row=StepRow(run=run, number=0),
        calls=tuple(call for call in calls if call.step not in numbers),
        interventions=tuple(one for one in interventions if one.step not in numbers),
    )
    other_events = [event.event.text for event in events if event.step not in numbers]
    return HtmlPage(
        run=row,
        preset_text=store.preset_text(run),
        steps=tuple(steps),
        beside=(
            _step(store, (beside, ""), pictures, other_events)
            if beside.calls or beside.interventions or other_events
            else None
        ),
        pictures=tuple(pictures.values()),
    )


def _detail(store: TraceStore, row: StepRow) -> tuple[StepDetail, str]:
    try:
        return store.step(row.run, row.number), ""
    except TraceError as error:
        return StepDetail(row=row), str(error)


def _step(
    store: TraceStore,
    read: tuple[StepDetail, str],
    pictures: dict[BlobHash, PagePicture],
    more_events: list[str],
) -> PageStep:
    detail, problem = read
    shown: dict[str, Any] = {}
    events: list[str] = []
    viewport = NO_VIEWPORT
    boxes: list[Box] = []
    observed: Observed | None = None
    action: Action | None = None
    for record in detail.records:
        shown |= _shown_of(record)
        if isinstance(record, Observed):
            observed = record
            if min(record.observation.viewport) > 0:
                viewport = record.observation.viewport
            boxes += [element.box for element in record.observation.elements if element.in_viewport]
            if record.screenshot:
                try:
                    shown["picture"] = _picture(
                        *store.blob_and_type(record.screenshot), pictures, viewport=viewport
                    )
                except TraceError as error:
                    problem = str(error)
        if isinstance(record, Reviewed):
            action = record.action
        if isinstance(record, Acted):
            shown["box"] = place_of(action, observed, record)
            events += [event.text for event in record.events]
            boxes += [record.box] if record.box else []
    # An event may have been announced on its own and named by the action as well.
    events += [text for text in more_events if text not in events]
    return PageStep(
        row=detail.row,
        sign=SIGNS[detail.row.origin],
        viewport=viewport,
        part=_part(boxes, viewport),
        calls=tuple(_call(store, call, pictures) for call in detail.calls),
        interventions=detail.interventions,
        events=tuple(events),
        problem=problem,
        **shown,
    )


def _part(boxes: list[Box], viewport: tuple[int, int]) -> tuple[int, int]:
    right = max((box.x + box.width for box in boxes), default=viewport[0])
    bottom = max((box.y + box.height for box in boxes), default=viewport[1])
    width = min(viewport[0], max(240.0, right + _MARGIN))
    height = min(viewport[1], max(180.0, bottom + _MARGIN))
    return round(width), round(height)


def _shown_of(record: PhaseRecord) -> dict[str, Any]:
    match record:
        case Observed():
            count = len(record.observation.elements)
            return {
                "reused": record.reused,
                "lines": record.observation.lines(),
                "read": count + record.observation.omitted,
                "shown": count,
            }
        case Recognised():
            return {
                "space": record.space,
                "why": record.why,
                "also": record.also,
                "permissible": record.permissible.rows(),
                "left_out": record.permissible.left_out,
            }
        case Abstracted():
            return {"lines": record.clean.text, "shown": len(record.clean.elements)}
        case Reviewed():
            return {
                "proposed": "" if record.proposed is None else str(record.proposed),
                "note": record.note,
            }
        case Acted():
            return {
                "settled": record.settled,
                "milliseconds": tuple(record.milliseconds.items()),
            }
        case Decided():
            return {"queue": tuple(str(action) for action in record.queue)}
        case Anticipated():
            return {"remedies": tuple(str(action) for action in record.remedies)}
        case Aligned(judged=True):
            return {"alignment": f"{record.sentence} {_SERVED[record.aligned]}".strip()}
    return {}


_SERVED = {True: "It served.", False: "It did not serve.", None: "Whether it served could not be told."}


def _call(store: TraceStore, record: CallRecord, pictures: dict[BlobHash, PagePicture]) -> PageCall:
    shown: dict[str, Any] = {}
    try:
        prompt = store.prompt(record)
        shown["messages"] = tuple(
            PageMessage(
                role=message.role,
                text="\n".join(
                    part
                    for part in (
                        message.text,
                        *(f"{call.name} {call.arguments}" for call in message.tool_calls),
                    )
                    if part
                ),
                pictures=tuple(_picture(image.data, image.mime, pictures) for image in message.images),
            )
            for message in prompt.messages
        )
        tools = [tool.model_dump() for tool in prompt.tools] or prompt.reply_schema
        shown["tools"] = json.dumps(tools, ensure_ascii=False, indent=1) if tools else ""
        shown["sampling"] = ", ".join(
            f"{name} {value}" for name, value in prompt.sampling.model_dump(exclude_none=True).items()
        )
        if reply := store.reply(record):
            calls = (f"{call.name} {call.arguments}" for call in reply.tool_calls)
            shown["reply"] = "\n".join(part for part in (reply.text, *calls) if part)
    except TraceError as error:
        shown["problem"] = str(error)
    return PageCall(record=record, **shown)


def _picture(
    data: bytes,
    media_type: str,
    pictures: dict[BlobHash, PagePicture],
    *,
    viewport: tuple[int, int] = NO_VIEWPORT,
) -> PagePicture:
    name = hash_of(data)
    if name not in pictures:
        pictures[name] = PagePicture(
            id=f"picture-{name[:16]}",
            source=f"data:{media_type};base64,{base64.b64encode(data).decode()}",
            width=viewport[0],
            height=viewport[1],
        )
    return pictures[name]


def _count(value: float) -> str:
    return f"{value:,}".replace(",", "\u202f")


def _seconds(value: float) -> str:
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def _dollars(value: float | None) -> str:
    if value is None:
        return "no price known"
    return f"${value:.4f}" if 0 < value < 0.1 else f"${value:.2f}"


def _moment(value: float) -> str:
    return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _things(count: int, one: str, several: str = "") -> str:
    return f"{_count(count)} {one if count == 1 else several or one + 's'}"


FILTERS: dict[str, Callable[..., str]] = {
    "count": _count,
    "seconds": _seconds,
    "dollars": _dollars,
    "moment": _moment,
    "things": _things,
}
"""How the template writes numbers, times and money."""
