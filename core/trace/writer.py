"""Rows written as a run goes on; each function works inside the transaction that is open."""

import json
import time
from collections.abc import Iterable
from typing import Any

from core.browser.log.records import Moment, PageLog
from core.schema.changes import Changes
from core.schema.errors import TraceError
from core.schema.events import BrowserEvent, LogLine
from core.schema.observation import Observation
from core.schema.restore import Restored
from core.schema.step import PHASES, Abstracted, CallRecord, Committed, PhaseRecord, Reviewed
from core.schema.task import Verdict
from core.trace import encoding
from core.trace import reader as reading
from core.trace.blobs import Blobs
from core.trace.database import TraceDatabase
from core.trace.records import Hit, Intervention, RunOutcome, RunStart

JSON = "application/json"


def insert_run(database: TraceDatabase, blobs: Blobs, start: RunStart, owner: str) -> int:
    values = start.model_dump(exclude={"preset_text", "changes", "differences"}, exclude_defaults=True)
    if start.changes != Changes() or start.differences:
        values["differences"] = json.dumps([one.model_dump() for one in start.differences])
        values["changes"], _ = blobs.put(start.changes.model_dump_json(exclude_defaults=True).encode(), JSON)
    if start.preset_text:
        values["preset_text"], _ = blobs.put(_text(start.preset_text).encode(), "text/plain")
    return _insert(database, "runs", {**values, "started": time.time(), "owner": owner})


def insert_step(
    database: TraceDatabase, blobs: Blobs, run: int, number: int, trial: int, agent: bytes = b""
) -> None:
    reading.require_run(database, run)
    if database.row("SELECT 1 FROM steps WHERE run = ? AND number = ?", (run, number)):
        raise TraceError(f"Run {run} has a step {number} already; number its steps upwards.")
    values: dict[str, Any] = {"run": run, "number": number, "trial": trial, "begun": time.time()}
    if agent:
        values["agent"], _ = blobs.put(agent, JSON)
    _insert(database, "steps", values)
    database.execute("UPDATE runs SET steps = steps + 1 WHERE run = ?", (run,))


def save_page(database: TraceDatabase, blobs: Blobs, run: int, step: int, page: bytes) -> None:
    kept, _ = blobs.put(page, JSON)
    _update(database, "steps", "run = ? AND number = ?", (run, step), {"page": kept})


def save_phase(
    database: TraceDatabase,
    blobs: Blobs,
    run: int,
    step: int,
    record: PhaseRecord,
    new_blobs: Iterable[tuple[bytes, str]],
    observation: Observation | None,
    begun: float | None = None,
) -> None:
    """Store the record in place of an earlier one of its phase, and what follows from it for the lists.

    `observation` is the step's own, where the caller has it at hand.
    """
    row = database.row("SELECT id FROM steps WHERE run = ? AND number = ?", (run, step))
    if row is None:
        raise TraceError(f"Run {run} has no step {step} to save to; begin the step first.")
    for data, media_type in new_blobs:
        blobs.put(data, media_type)
    base = None
    if isinstance(record, Abstracted):
        base = database.row("SELECT part FROM phases WHERE step = ? AND phase = 'observe'", (row["id"],))
        if base is not None and observation is None:
            observation = reading.observation(database, blobs, base["part"])
    encoded = encoding.encode(record, observation if base else None)
    part = None if encoded.part is None else blobs.put(encoded.part, JSON)[0]
    database.execute(
        "INSERT OR REPLACE INTO phases (step, position, phase, saved, part, base, record)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            row["id"],
            PHASES.index(record.phase) + 1,
            record.phase,
            time.time(),
            part,
            base["part"] if base else None,
            encoded.record,
        ),
    )
    if begun is not None:
        values = {"step": row["id"], "phase": record.phase, "begun": begun}
        _insert(database, "phases_begun", values, replace=True)
    named = {name: blobs.id_of(getattr(record, name)) for name in record.blobs}
    columns = {"phase": record.phase, **record.columns(), **named}
    _update(database, "steps", "id = ?", (row["id"],), columns)
    if isinstance(record, Reviewed) and (record.edited or record.origin == "person"):
        database.execute("UPDATE runs SET touched = 1 WHERE run = ?", (run,))
    if isinstance(record, Committed):
        database.execute(
            "UPDATE runs SET (seconds, seconds_in_llm) ="
            " (SELECT total(seconds), total(seconds_in_llm) FROM steps WHERE steps.run = runs.run)"
            " WHERE run = ?",
            (run,),
        )


def save_call(
    database: TraceDatabase, blobs: Blobs, run: int, call: CallRecord, new_blobs: Iterable[tuple[bytes, str]]
) -> None:
    reading.require_run(database, run)
    for data, media_type in new_blobs:
        blobs.put(data, media_type)
    values = {
        **call.model_dump(exclude={"usage", "retries", "messages", "reply"}),
        **call.usage.model_dump(),
        "run": run,
        "messages": blobs.id_of(call.messages),
        "reply": blobs.id_of(call.reply),
        "retries": json.dumps([retry.model_dump() for retry in call.retries]),
    }
    _insert(database, "calls", values, replace=True)
    database.execute(
        "UPDATE runs SET (llm_calls, prompt_tokens, completion_tokens, cost) ="
        " (SELECT count(*), sum(prompt_tokens), sum(completion_tokens), sum(cost)"
        " FROM calls WHERE calls.run = runs.run) WHERE run = ?",
        (run,),
    )


def insert_intervention(database: TraceDatabase, intervention: Intervention) -> None:
    reading.require_run(database, intervention.run)
    values = intervention.model_dump()
    values["time"] = values.pop("when")
    _insert(database, "interventions", values)
    database.execute("UPDATE runs SET touched = 1 WHERE run = ?", (intervention.run,))


def insert_what_if(database: TraceDatabase, blobs: Blobs, run: int, step: int, record: str) -> int:
    reading.require_run(database, run)
    kept, _ = blobs.put(record.encode(errors="replace"), JSON)
    return _insert(database, "what_ifs", {"run": run, "step": step, "time": time.time(), "record": kept})


def insert_event(database: TraceDatabase, run: int, step: int, event: BrowserEvent) -> None:
    reading.require_run(database, run)
    _insert(database, "events", {"run": run, "step": step, "time": time.time(), **event.model_dump()})


def insert_page_log(
    database: TraceDatabase, blobs: Blobs, run: int, step: int, moment: Moment, log: PageLog
) -> None:
    reading.require_run(database, run)
    kept = None if log.empty else blobs.put(encoding.to_json(log), JSON)[0]
    _insert(database, "page_logs", {"run": run, "step": step, "moment": moment, "log": kept})


def insert_log(database: TraceDatabase, run: int | None, line: LogLine) -> None:
    if run is not None:
        reading.require_run(database, run)
    _insert(database, "log", {"run": run, **line.model_dump()})


def insert_breakpoint(database: TraceDatabase, kind: str, definition: str) -> int:
    number = _next_number(database, "breakpoint")
    return _insert(database, "breakpoints", {"number": number, "kind": kind, "definition": definition})


def update_breakpoint(database: TraceDatabase, number: int, kind: str, definition: str) -> None:
    _update(database, "breakpoints", "number = ?", (number,), {"kind": kind, "definition": definition})


def insert_watch(database: TraceDatabase, kind: str, text: str, on_change: bool) -> int:
    number = _next_number(database, "watch")
    values = {"number": number, "kind": kind, "text": text, "on_change": on_change}
    return _insert(database, "watches", values)


def update_watch(database: TraceDatabase, number: int, kind: str, text: str, on_change: bool) -> None:
    _update(
        database, "watches", "number = ?", (number,), {"kind": kind, "text": text, "on_change": on_change}
    )


def insert_hit(database: TraceDatabase, hit: Hit) -> None:
    """Store a hit and count it with its breakpoint, where that is still there."""
    reading.require_run(database, hit.run)
    _insert(database, "hits", hit.model_dump())
    database.execute("UPDATE breakpoints SET hits = hits + 1 WHERE number = ?", (hit.breakpoint,))


def _next_number(database: TraceDatabase, what: str) -> int:
    """Return a number that no breakpoint, or watch, has or had when it was hit."""
    table = "breakpoints" if what == "breakpoint" else "watches"
    (row,) = database.rows(
        f"SELECT max((SELECT coalesce(max(number), 0) FROM {table}),"
        f" (SELECT coalesce(max({what}), 0) FROM hits)) + 1 AS number"
    )
    return int(row["number"])


def end_run(
    database: TraceDatabase,
    run: int,
    *,
    outcome: RunOutcome,
    verdict: Verdict,
    answer: str,
    error: str,
    seconds: float,
    seconds_in_llm: float,
) -> None:
    reading.require_run(database, run)
    values = {
        "outcome": outcome,
        **verdict.model_dump(),
        "answer": answer,
        "error": error,
        "seconds": seconds,
        "seconds_in_llm": seconds_in_llm,
        "ended": time.time(),
        "owner": None,
    }
    _update(database, "runs", "run = ?", (run,), values)


def save_bisection(database: TraceDatabase, number: int | None, run: int, record: str) -> int:
    reading.require_run(database, run)
    if number is None:
        return _insert(database, "bisections", {"run": run, "time": time.time(), "record": record})
    _update(database, "bisections", "number = ?", (number,), {"record": record})
    return number


def save_restored(database: TraceDatabase, blobs: Blobs, run: int, restored: Restored) -> None:
    reading.require_run(database, run)
    kept, _ = blobs.put(restored.model_dump_json().encode(), JSON)
    _update(database, "runs", "run = ?", (run,), {"restored": kept, "grade": restored.grade})


def name_run(database: TraceDatabase, run: int, name: str) -> None:
    reading.require_run(database, run)
    _update(database, "runs", "run = ?", (run,), {"name": name})


def leave_run(database: TraceDatabase, run: int) -> None:
    reading.require_run(database, run)
    _update(database, "runs", "run = ?", (run,), {"outcome": "left", "owner": None, "ended": time.time()})


def take_up_run(database: TraceDatabase, run: int, owner: str) -> None:
    reading.require_run(database, run)
    values = {"outcome": "running", "owner": owner, "ended": None, "error": ""}
    _update(database, "runs", "run = ?", (run,), values)


def set_verdict(database: TraceDatabase, run: int, verdict: Verdict) -> None:
    reading.require_run(database, run)
    _update(database, "runs", "run = ?", (run,), verdict.model_dump())


def mark_interrupted(database: TraceDatabase, run: int) -> None:
    """End a run whose process is gone, at the time of the last thing that was stored for it."""
    database.execute(
        "UPDATE runs SET outcome = 'interrupted', owner = NULL,"
        " error = 'The program ended before the run did.',"
        " ended = max(started,"
        "  (SELECT coalesce(max(begun), 0) FROM steps WHERE run = :run),"
        "  (SELECT coalesce(max(saved), 0) FROM phases JOIN steps ON steps.id = phases.step"
        "   WHERE steps.run = :run),"
        "  (SELECT coalesce(max(started + seconds), 0) FROM calls WHERE run = :run)),"
        " seconds_in_llm = (SELECT total(seconds) FROM calls WHERE run = :run)"
        " WHERE run = :run",
        {"run": run},
    )
    database.execute("UPDATE runs SET seconds = ended - started WHERE run = ?", (run,))


def _insert(database: TraceDatabase, table: str, values: dict[str, Any], *, replace: bool = False) -> int:
    columns, marks = ", ".join(values), ", ".join("?" * len(values))
    verb = "INSERT OR REPLACE" if replace else "INSERT"
    cursor = database.execute(
        f"{verb} INTO {table} ({columns}) VALUES ({marks})", [_value(value) for value in values.values()]
    )
    return cursor.lastrowid or 0


def _update(
    database: TraceDatabase, table: str, where: str, key: tuple[Any, ...], values: dict[str, Any]
) -> None:
    columns = ", ".join(f"{column} = ?" for column in values)
    database.execute(
        f"UPDATE {table} SET {columns} WHERE {where}", [*(_value(value) for value in values.values()), *key]
    )


def _value(value: Any) -> Any:
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    """Return `text` as SQLite can hold it: half of a surrogate pair becomes a question mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()
