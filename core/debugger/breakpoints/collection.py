"""The breakpoints of a database: stored in it, checked at each event, with their hits counted."""

import json
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Container
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from pydantic import ValidationError

from core.debugger.breakpoints.debug_event import DebugEvent
from core.debugger.breakpoints.expression import compile_expression
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.kinds.registry import read_breakpoint
from core.schema.errors import UsageError
from core.trace.encoding import to_json
from core.trace.records import Hit
from core.trace.stops import Table
from core.trace.store import TraceStore


class _Numbered(Protocol):
    @property
    def number(self) -> int: ...

    def replace(self, /, **changes: Any) -> Self: ...


Entry = TypeVar("Entry", bound=_Numbered)


class StoredList(ABC, Generic[Entry]):
    """The entries of one kind in the database, by number; each change is stored at once."""

    _noun: ClassVar[str]
    _table: ClassVar[Table]

    def __init__(self, store: TraceStore) -> None:
        self._store = store
        self._readable: dict[int, Entry] = {}
        self._unreadable: dict[int, str] = {}

    @property
    def all(self) -> tuple[Entry, ...]:
        """All that can be read, in the order of their numbers."""
        return tuple(self._readable[number] for number in sorted(self._readable))

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read, a sentence each."""
        return tuple(self._unreadable.values())

    @abstractmethod
    def _validate(self, entry: Entry) -> None:
        """Raise UsageError if an expression cannot be read, or a value is out of its bounds."""

    @abstractmethod
    def _columns(self, entry: Entry) -> dict[str, object]:
        """Return what is stored of an entry besides its number."""

    def add(self, entry: Entry) -> Entry:
        """Store a new one and return it with its number; raises UsageError for a wrong expression."""
        self._validate(entry)
        number = self._store.stops.add(self._table, self._columns(entry))
        self._put(entry.replace(number=number))
        return self._readable[number]

    def replace(self, entry: Entry) -> None:
        """Put it in place of the one of its number; raises UsageError."""
        self._validate(entry)
        self._require(entry.number)
        self._store.stops.replace(self._table, entry.number, self._columns(entry))
        self._put(entry)

    def remove(self, number: int) -> None:
        """Delete it; what it has hit stays in the trace. Raises UsageError if there is none."""
        self._require(number)
        self._store.stops.remove(self._table, number)
        self._forget(number)

    def restore(self, entry: Entry) -> None:
        """Store one that was deleted, under the number that it had."""
        self._store.stops.restore(self._table, entry.number, self._columns(entry))
        self._put(entry)

    def exchange(self, now: Entry | None, wanted: Entry | None) -> None:
        """Replace `now` by `wanted`, with the same number; None means that it is deleted.

        Raises UsageError if it is no longer as in `now`.
        """
        entry = now or wanted
        assert entry is not None
        if self._readable.get(entry.number) != now:
            how = "was restored" if now is None else "was changed or deleted"
            raise UsageError(
                f"The {self._noun} {entry.number} {how} meanwhile. Change it in the Breakpoints panel."
            )
        if wanted is None:
            self.remove(entry.number)
        elif now is None:
            self.restore(wanted)
        else:
            self.replace(wanted)

    def _put(self, entry: Entry) -> None:
        self._readable[entry.number] = entry
        self._unreadable.pop(entry.number, None)

    def _forget(self, number: int) -> None:
        self._readable.pop(number, None)
        self._unreadable.pop(number, None)

    def _require(self, number: int) -> None:
        """Raise UsageError if there is nothing of that number."""
        known = sorted({*self._readable, *self._unreadable})
        if number not in known:
            there = ", ".join(str(one) for one in known)
            raise UsageError(
                f"There is no {self._noun} {number}; {f'there are {there}' if there else 'there is none'}."
            )


class Breakpoints(StoredList[Breakpoint]):
    """The stored breakpoints, whose hits stay counted when they are changed."""

    _noun = "breakpoint"
    _table = "breakpoints"

    def __init__(self, store: TraceStore) -> None:
        """Read what is stored; a breakpoint that cannot be read is named in `problems`. Raises TraceError."""
        super().__init__(store)
        self._hits = Counter[int]()
        self._run: int | None = None
        """The run that was hit last."""
        self._hits_in_run = Counter[int | None]()
        for row in store.stops.breakpoints():
            self._hits[row.number] = row.hits
            try:
                values = {**json.loads(row.definition), "kind": row.kind, "number": row.number}
                self._put(read_breakpoint(values))
            except (ValueError, TypeError):
                self._unreadable[row.number] = (
                    f"Breakpoint {row.number} ({row.kind or 'of no kind'}) cannot be read from {store.path}, so it "
                    "stops nothing; delete it and create it again."
                )

    def hits_of(self, number: int) -> int:
        """Return how often it was hit, in all runs."""
        self._require(number)
        return self._hits[number]

    def restore(self, entry: Breakpoint) -> None:
        """Store one that was deleted, under the number that it had and with its hits counted on."""
        values = {**self._columns(entry), "hits": self._hits[entry.number]}
        self._store.stops.restore(self._table, entry.number, values)
        self._put(entry)

    def enable(self, number: int, on: bool) -> None:
        """Let it stop runs, or not; raises UsageError if there is none."""
        self._require(number)
        if number in self._unreadable:
            raise UsageError(self._unreadable[number])
        self.replace(self._readable[number].replace(enabled=on))

    def _validate(self, entry: Breakpoint) -> None:
        try:
            read_breakpoint(entry.model_dump())
        except ValidationError as error:
            first = error.errors()[0]
            raise UsageError(
                f"The breakpoint's {first['loc'][-1]} cannot be used: {first['msg']}."
            ) from error
        for text in entry.expressions:
            compile_expression(text)

    def _columns(self, entry: Breakpoint) -> dict[str, object]:
        return {"kind": entry.kind, "definition": to_json(entry, exclude={"number", "kind"}).decode()}

    def check(self, event: DebugEvent, but: Container[int | None] = ()) -> tuple[Hit, ...]:
        """Return what hits at this event, counted and stored; the run is to stop if one has `stopped`.

        `but` are the numbers of those that are not asked. Hits are let pass anew in each run.
        A breakpoint whose expression fails stops the run, and its sentence says why.
        """
        found: list[Hit] = []
        for breakpoint in self.all:
            if breakpoint.number in but:
                continue
            hit = hit_of(breakpoint, event)
            if hit is None:
                continue
            sentence, failed = hit
            count = self._so_far(event.run.run)[breakpoint.number] + 1
            passed = count <= breakpoint.ignore and not failed
            if passed:
                sentence = f"{sentence} Hit {count} of {breakpoint.ignore} ignored hits."
            found.append(
                Hit(
                    run=event.run.run,
                    step=event.figures.step,
                    phase=event.phase,
                    breakpoint=breakpoint.number,
                    sentence=sentence,
                    stopped=failed or (breakpoint.then == "stop" and not passed),
                    time=time.time(),
                )
            )
        if found:
            self._store.stops.save_hits(found)
            for one in found:
                assert one.breakpoint is not None
                self._hits[one.breakpoint] += 1
                self._hits_in_run[one.breakpoint] += 1
        return tuple(found)

    def _so_far(self, run: int) -> "Counter[int | None]":
        """Return how often each was hit in a run, the steps that it branched from included."""
        if run != self._run:
            self._run = run
            self._hits_in_run = Counter(hit.breakpoint for hit in self._store.stops.hits(run))
        return self._hits_in_run


def hit_of(breakpoint: Breakpoint, event: DebugEvent) -> tuple[str, bool] | None:
    """Return the sentence of an enabled breakpoint that hits, and whether it says that an expression fails."""
    if not breakpoint.enabled:
        return None
    try:
        sentence = breakpoint.reason(event)
    except UsageError as error:
        condition = f", if {breakpoint.condition}" if breakpoint.condition else ""
        return f"Breakpoint {breakpoint.number} ({breakpoint.label()}{condition}): {error}", True
    return None if sentence is None else (sentence, False)
