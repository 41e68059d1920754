"""A run as one HTML page that needs no other file and no network."""

import base64
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from core.schema.errors import TraceError
from core.schema.formats import count, encodable, seconds, thousands
from core.schema.observation import Box
from core.schema.record import Record
from core.schema.step import BlobHash, CallRecord, Origin, place_of
from core.trace.blobs import hash_of
from core.trace.calls import stored_prompt, stored_reply
from core.trace.exports.hiding import hiding
from core.trace.exports.steps import TEMPLATES, RunStep, templates
from core.trace.records import StepDetail, StepRow
from core.trace.store import TraceStore

SIGNS: dict[Origin, str] = {"agent": "●", "person": "◆", "remedy": "↺", "replay": "▷"}
"""The shape next to the word and the colour of an origin."""
NO_VIEWPORT = (1280, 800)
"""Taken where the page did not tell the size of its viewport."""
_MARGIN = 12
_IMAGES = frozenset(("image/webp", "image/png", "image/jpeg", "image/gif"))
"""What goes into the page as a picture: kinds that hold no script and ask for nothing."""


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


class PageStep(RunStep):
    """One step as the page shows it."""

    picture: PagePicture | None = None
    calls: tuple[PageCall, ...] = ()
    events: tuple[str, ...] = ()
    problem: str = ""
    """Why a part of it cannot be shown."""

    @property
    def viewport(self) -> tuple[int, int]:
        seen = NO_VIEWPORT if self.observed is None else self.observed.observation.viewport
        return seen if min(seen) > 0 else NO_VIEWPORT

    @property
    def part(self) -> tuple[int, int]:
        """Width and height of the viewport's corner that holds all elements of the page."""
        elements = () if self.observed is None else self.observed.observation.elements
        boxes = [element.box for element in elements if element.in_viewport]
        boxes += [self.acted.box] if self.acted is not None and self.acted.box is not None else []
        right = max((box.x + box.width for box in boxes), default=self.viewport[0])
        bottom = max((box.y + box.height for box in boxes), default=self.viewport[1])
        width = min(self.viewport[0], max(240.0, right + _MARGIN))
        height = min(self.viewport[1], max(180.0, bottom + _MARGIN))
        return round(width), round(height)

    @property
    def mostly_empty(self) -> bool:
        """Whether the page fills so little of its picture that it is shown larger."""
        return self.part[0] * 2 <= self.viewport[0] and self.part[1] * 4 <= self.viewport[1] * 3

    @property
    def box(self) -> Box | None:
        """Where the acted element was."""
        return None if self.acted is None else place_of(self.action, self.observed, self.acted)

    @property
    def shown(self) -> int:
        """How many elements the prompt shows of the page, or were read where no prompt was made."""
        if self.abstracted is not None:
            return len(self.abstracted.clean.elements)
        return 0 if self.observed is None else len(self.observed.observation.elements)

    @property
    def read(self) -> int:
        """How many elements the page had."""
        page = self.observed.observation if self.observed is not None else None
        return 0 if page is None else len(page.elements) + page.omitted

    @property
    def alignment(self) -> str:
        if self.aligned is None or not self.aligned.judged:
            return ""
        return f"{self.aligned.sentence} {_SERVED[self.aligned.aligned]}".strip()


_SERVED = {True: "It served.", False: "It did not serve.", None: "Whether it served could not be determined."}


@hiding
def export_html(store: TraceStore, run: int) -> str:
    """Return the run as one page that needs no other file and no network.

    What is damaged is left out and said so in its place; raises TraceError
    only where the run itself cannot be read.
    """
    row = store.run(run)
    pictures: dict[BlobHash, PagePicture] = {}
    rows = store.steps(run)
    numbers = {step.number for step in rows}
    events = store.pages.events(run)
    steps = []
    for step in rows:
        remarks = [event.event.text for event in events if event.step == step.number]
        try:
            steps.append(_step(store, store.step(run, step.number), pictures, remarks))
        except TraceError as error:
            steps.append(_step(store, StepDetail(row=step), pictures, remarks).replace(problem=str(error)))
    before = StepDetail(
        row=StepRow(run=run, number=0),
        calls=tuple(call for call in store.calls.of(run) if call.step not in numbers),
        interventions=tuple(
            intervention for intervention in store.interventions(run) if intervention.step not in numbers
        ),
    )
    beside = _step(
        store, before, pictures, [event.event.text for event in events if event.step not in numbers]
    )
    return page_of(
        "run",
        run=row,
        left_out=store.left_out,
        preset_text=store.preset_text(run),
        steps=steps,
        beside_steps=beside if beside.calls or before.interventions or beside.events else None,
        pictures=pictures.values(),
        signs=SIGNS,
    )


def page_of(name: str, **values: object) -> str:
    """Return the page of a template with the script of that name, and the style of runs with that of the name."""
    environment = templates(autoescape=True)
    environment.filters.update(_FILTERS)
    styles, script = dict.fromkeys(("run.css", f"{name}.css")), _file(f"{name}.js")
    text = environment.get_template(f"{name}.html.jinja").render(
        **values,
        style=Markup("\n".join(map(_file, styles))),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return encodable(text)


def _file(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8").strip()


def _step(
    store: TraceStore, detail: StepDetail, pictures: dict[BlobHash, PagePicture], events: list[str]
) -> PageStep:
    step = PageStep(detail=detail)
    picture, problem = None, ""
    if step.observed is not None and step.observed.screenshot:
        try:
            shot = store.blob_and_type(step.observed.screenshot)
            picture = _picture(*shot, pictures, viewport=step.viewport)
        except TraceError as error:
            problem = str(error)
    own = [event.text for event in step.acted.events] if step.acted is not None else []
    return step.replace(
        picture=picture,
        calls=tuple(_call(store, call, pictures) for call in detail.calls),
        # An event may have been announced on its own and named by the action as well.
        events=(*own, *(text for text in events if text not in own)),
        problem=problem,
    )


def _call(store: TraceStore, record: CallRecord, pictures: dict[BlobHash, PagePicture]) -> PageCall:
    shown: dict[str, Any] = {}
    try:
        prompt = stored_prompt(store, record)
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
        if reply := stored_reply(store, record):
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
    if media_type not in _IMAGES:
        raise TraceError(
            f"A picture of the type {media_type[:40]!r} is not shown, because it may contain scripts."
        )
    name = hash_of(data)
    if name not in pictures:
        pictures[name] = PagePicture(
            id=f"picture-{name[:16]}",
            source=f"data:{media_type};base64,{base64.b64encode(data).decode()}",
            width=viewport[0],
            height=viewport[1],
        )
    return pictures[name]


def _dollars(value: float | None) -> str:
    if value is None:
        return "no price known"
    return f"${value:.4f}" if 0 < value < 0.1 else f"${value:.2f}"


def _moment(value: float) -> str:
    return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


_FILTERS: dict[str, Callable[..., str]] = {
    "count": thousands,
    "seconds": seconds,
    "dollars": _dollars,
    "moment": _moment,
    "things": count,
}
"""How the template writes numbers, times and money."""
