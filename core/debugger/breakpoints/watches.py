"""Watches: values that are looked at from moment to moment, of the run or of the live page.

Those of the page (an element by CSS or XPath, a script) are read there by
whoever has it; here is what they are, and what became of their values.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from pydantic import ValidationError

from core.debugger.breakpoints.debug_event import Moment
from core.debugger.breakpoints.expression import compile_expression, evaluate
from core.debugger.breakpoints.matching import has_changed
from core.debugger.breakpoints.stored_events import moments_of
from core.debugger.breakpoints.subject import SubjectOf
from core.debugger.breakpoints.values import text_of_value
from core.debugger.breakpoints.watch import PageValue, Watch, WatchValue
from core.schema.errors import UsageError
from core.schema.step import Phase
from core.trace.records import Hit
from core.trace.store import TraceStore


class Watches:
    """The watches of a database, with the values they had last; each change is stored at once."""

    def __init__(self, store: TraceStore) -> None:
        """Read what is stored; a watch that cannot be read is told in `problems`. Raises TraceError."""
        self._store = store
        self._kept: dict[int, Watch] = {}
        self._unread: dict[int, str] = {}
        self._values: dict[int, WatchValue] = {}
        self._looked: Moment | None = None
        """The moment that the values are of."""
        for row in store.watches():
            try:
                self._kept[row.number] = Watch.model_validate(row.model_dump())
            except ValidationError:
                self._unread[row.number] = (
                    f"Watch {row.number} ({row.kind or 'of no kind'}) cannot be read from {store.path}; "
                    "remove it and make it anew."
                )

    @property
    def all(self) -> tuple[Watch, ...]:
        """Every watch that can be read, in the order of their numbers."""
        return tuple(self._kept[number] for number in sorted(self._kept))

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read, a sentence each."""
        return tuple(self._unread.values())

    def add(self, watch: Watch) -> Watch:
        """Store a new watch and return it with its number; raises UsageError for a wrong expression."""
        _check(watch)
        number = self._store.add_watch(watch.kind, watch.text, on_change=watch.on_change)
        self._kept[number] = watch.replace(number=number)
        return self._kept[number]

    def replace(self, watch: Watch) -> None:
        """Put it in place of the one of its number, with no value yet; raises UsageError."""
        _check(watch)
        self._require(watch.number)
        self._store.replace_watch(watch.number, watch.kind, watch.text, on_change=watch.on_change)
        self._kept[watch.number] = watch
        self._unread.pop(watch.number, None)
        self._values.pop(watch.number, None)

    def remove(self, number: int) -> None:
        """Delete it; raises UsageError where there is none."""
        self._require(number)
        self._store.remove_watch(number)
        self._kept.pop(number, None)
        self._unread.pop(number, None)
        self._values.pop(number, None)

    def look(
        self, moment: Moment, page_values: Mapping[int, PageValue] | None = None
    ) -> tuple[WatchValue, ...]:
        """Return what all watches come to at this moment, and keep it to tell what changes.

        `page_values` are those of the page's watches, by their number; one
        that was not read keeps the value it had. The first value is no change.
        """
        if self._looked is None or moment.run.run != self._looked.run.run:
            self._looked, self._values = None, {}
        read = page_values or {}
        shown: list[WatchValue] = []
        for watch in self.all:
            known = self._values.get(watch.number)
            if watch.kind == "expression":
                now = value_of(watch, moment, self._looked, known)
            elif watch.number in read:
                now = WatchValue(watch=watch, **dict(read[watch.number]))
            elif known is not None:
                now = known.replace(changed=False)
            else:
                shown.append(WatchValue(watch=watch))
                continue
            if known is not None:
                now = now.replace(changed=differs(known, now))
            self._values[watch.number] = now
            shown.append(now)
        self._looked = replace(moment, previous=None)
        return tuple(shown)

    def ask(
        self, moment: Moment, page_values: Mapping[int, PageValue] | None = None
    ) -> tuple[tuple[WatchValue, ...], tuple[Hit, ...]]:
        """Return what `look` does, and a stored hit for each change at which the run is to stop."""
        before = dict(self._values)
        values = self.look(moment, page_values)
        hits = tuple(
            Hit(
                run=moment.run.run,
                step=moment.figures.step,
                phase=moment.phase,
                watch=value.watch.number,
                sentence=f"{value.watch.text} changed: {_told(before[value.watch.number])} → {_told(value)}",
                stopped=True,
                time=time.time(),
            )
            for value in values
            if value.changed and value.watch.on_change
        )
        if hits:
            self._store.save_hits(hits)
        return values, hits

    def _require(self, number: int) -> None:
        known = sorted({*self._kept, *self._unread})
        if number not in known:
            there = ", ".join(str(one) for one in known)
            raise UsageError(
                f"There is no watch {number}; {f'there are {there}' if there else 'there is none'}."
            )


def value_of(
    watch: Watch, moment: Moment, earlier: Moment | None = None, known: WatchValue | None = None
) -> WatchValue:
    """Return what an expression comes to at a moment.

    `known` is its value at an earlier moment: where nothing that it reads is
    other than there, that is the value.
    """
    try:
        compiled = compile_expression(watch.text)
        if known is not None and not has_changed(compiled, moment, earlier):
            return known
        return WatchValue(watch=watch, text=text_of_value(evaluate(compiled, SubjectOf(moment))))
    except UsageError as error:
        return WatchValue(watch=watch, error=str(error))


def differs(one: WatchValue, other: WatchValue) -> bool:
    return (one.text, one.error) != (other.text, other.error)


class Change(NamedTuple):
    """Where the value of a watch became another one."""

    step: int
    phase: Phase
    before: WatchValue
    after: WatchValue


def last_change(store: TraceStore, run: int, before_step: int, watch: Watch) -> Change | None:
    """Return where an expression's value last changed before `before_step`, or None where it never did.

    Raises TraceError, and UsageError for a watch of the page, whose values are not stored.
    """
    if watch.kind != "expression":
        raise UsageError(
            f"{watch.text} is read in the live page; what it was at earlier steps is not stored."
        )
    known: WatchValue | None = None
    last: Change | None = None
    for moment in moments_of(store, run, before_step=before_step):
        now = value_of(watch, moment, moment.previous, known)
        if known is not None and differs(known, now):
            last = Change(moment.figures.step, moment.phase, known, now)
        known = now
    return last


def _check(watch: Watch) -> None:
    if watch.kind == "expression":
        compile_expression(watch.text)


def _told(value: WatchValue) -> str:
    return value.error or value.text
