"""The common part of exports: name, templates, and the steps of a run with the records of their phases."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from core.schema.action import Action, Backtrack, NewTrial
from core.schema.record import Record
from core.schema.step import (
    Abstracted,
    Acted,
    Aligned,
    Anticipated,
    Decided,
    Observed,
    Origin,
    PhaseRecord,
    Recognised,
    Reviewed,
    action_of,
    record_of,
)
from core.storage.resources import RESOURCES
from core.trace.records import RunRow, StepDetail, StepRow
from core.trace.store import TraceStore

AGENT = "backstep"
TEMPLATES = RESOURCES / "export"


def templates(*, autoescape: bool = False, keep_trailing_newline: bool = False) -> Environment:
    """Return the templates of exports."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=autoescape,
        keep_trailing_newline=keep_trailing_newline,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def id_of(row: RunRow, *parts: object, digits: int = 32) -> str:
    """Return hexadecimal digits for a run, or for what `parts` name in it; always the same ones."""
    facts = (row.run, row.started, row.task, row.seed, row.preset, row.llm, *parts)
    return hashlib.sha256(repr(facts).encode(errors="replace")).hexdigest()[:digits]


P = TypeVar("P", bound=PhaseRecord)


class RunStep(Record):
    """One step with its records of what was seen, chosen and done."""

    detail: StepDetail
    undone_by: int | None = None
    """The later step that brought the page back to before this one."""

    @property
    def row(self) -> StepRow:
        return self.detail.row

    @property
    def number(self) -> int:
        return self.detail.row.number

    @property
    def observed(self) -> Observed | None:
        return self._left(Observed)

    @property
    def recognised(self) -> Recognised | None:
        return self._left(Recognised)

    @property
    def abstracted(self) -> Abstracted | None:
        return self._left(Abstracted)

    @property
    def decided(self) -> Decided | None:
        return self._left(Decided)

    @property
    def anticipated(self) -> Anticipated | None:
        return self._left(Anticipated)

    @property
    def reviewed(self) -> Reviewed | None:
        return self._left(Reviewed)

    @property
    def acted(self) -> Acted | None:
        return self._left(Acted)

    @property
    def aligned(self) -> Aligned | None:
        return self._left(Aligned)

    @property
    def action(self) -> Action | None:
        """The action that left the review, or the one proposed if none has."""
        return action_of(self.detail.records)

    @property
    def page_text(self) -> str:
        """The page as the agent was shown it, or all of it if that is not stored."""
        if self.abstracted is not None and self.abstracted.clean.text:
            return self.abstracted.clean.text
        return self.observed.observation.lines() if self.observed is not None else ""

    @property
    def origin(self) -> Origin:
        return self.reviewed.origin if self.reviewed is not None else self.row.origin

    def _left(self, cls: type[P]) -> P | None:
        return record_of(cls, self.detail.records)


def steps_of(store: TraceStore, run: int) -> tuple[RunStep, ...]:
    """Return the steps of a run in order, each with the step that undid it; raises TraceError."""
    steps = [RunStep(detail=store.step(run, row.number)) for row in store.steps(run)]
    undone: dict[int, int] = {}
    for step in steps:
        first = _goes_back_to(step)
        if first is not None:
            undone |= {
                one.number: step.number
                for one in steps
                if first <= one.number < step.number and one.number not in undone
            }
    return tuple(step.replace(undone_by=undone.get(step.number)) for step in steps)


def with_next(steps: Sequence[RunStep]) -> Iterator[tuple[RunStep, RunStep | None]]:
    """Return each step with the one after it."""
    return zip(steps, (*steps, None)[1:], strict=True)


def _goes_back_to(step: RunStep) -> int | None:
    """Return the first step that is undone by this one, or None if it undoes nothing."""
    if step.acted is None or step.acted.effect != "go back" or step.acted.outcome != "done":
        return None
    if isinstance(step.action, Backtrack):
        return step.action.step
    return 1 if isinstance(step.action, NewTrial) else None
