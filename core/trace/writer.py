"""Writes the rows of a run; each function works inside the open transaction."""

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

from core.schema.changes import Changes
from core.schema.errors import TraceError
from core.schema.observation import Observation
from core.schema.step import (
    PHASES,
    Abstracted,
    Committed,
    PhaseRecord,
    Reviewed,
    seconds_covered,
)
from core.trace import encoding, run_reader
from core.trace import reader as reading
from core.trace.database import JSON, TraceDatabase
from core.trace.records import CaseAttempt, RunStart


def insert_run(database: TraceDatabase, start: RunStart, owner: str) -> int:
    values = start.model_dump(
        exclude={"preset_text", "own_files", "changes", "differences", "attempt"}, exclude_defaults=True
    )
    if start.changes != Changes() or start.differences:
        values["differences"] = json.dumps([difference.model_dump() for difference in start.differences])
        values["changes"], _ = database.blobs.put(
            start.changes.model_dump_json(exclude_defaults=True).encode(), JSON
        )
    if start.preset_text:
        values["preset_text"], _ = database.blobs.put(
            start.preset_text.encode(errors="replace"), "text/plain"
        )
    if start.own_files is not None:
        values["own_files"] = put_own_files(database, start.own_files)
    run = database.insert("runs", {**values, "started": time.time(), "owner": owner})
    if start.attempt is not None:
        insert_attempt(database, start.attempt, run=run)
    return run


def put_own_files(database: TraceDatabase, texts: Mapping[str, str | None]) -> int:
    """Store the user's own files, without secrets, also those seen by their form; return the blob's row."""
    for text in filter(None, texts.values()):
        database.secrets.look_in_text(text)
    hidden = {name: text and database.secrets.text(text) for name, text in texts.items()}
    return database.blobs.put(json.dumps(hidden).encode(), JSON)[0]


def insert_attempt(
    database: TraceDatabase, attempt: CaseAttempt, *, run: int | None, error: str = ""
) -> None:
    """Store an attempt with its run, or with why it could not begin."""
    values = {"evaluation": attempt.evaluation, "attempt": attempt.number, **attempt.case.model_dump()}
    database.insert("attempts", {**values, "run": run, "error": error})


def insert_step(database: TraceDatabase, run: int, number: int, trial: int, agent: bytes = b"") -> None:
    run_reader.require_run(database, run)
    if database.row("SELECT 1 FROM steps WHERE run = ? AND number = ?", (run, number)):
        raise TraceError(f"Run {run} already has a step {number}; number its steps upwards.")
    values: dict[str, Any] = {"run": run, "number": number, "trial": trial, "begun": time.time()}
    if agent:
        values["agent"], _ = database.blobs.put(agent, JSON)
    database.insert("steps", values)
    database.execute("UPDATE runs SET steps = steps + 1 WHERE run = ?", (run,))


def save_phase(
    database: TraceDatabase,
    run: int,
    step: int,
    record: PhaseRecord,
    new_blobs: Iterable[tuple[bytes, str]],
    observation: Observation | None,
    begun: float | None = None,
    took: float | None = None,
) -> None:
    """Store the record in place of an earlier one of its phase, and what follows from it for the lists.

    `observation` is the step's own, where the caller has it at hand.
    """
    row = database.row("SELECT id FROM steps WHERE run = ? AND number = ?", (run, step))
    if row is None:
        raise TraceError(f"Run {run} has no step {step} to save to; start the step first.")
    for data, media_type in new_blobs:
        database.blobs.put(data, media_type)
    base = None
    if isinstance(record, Abstracted):
        base = database.row("SELECT part FROM phases WHERE step = ? AND phase = 'observe'", (row["id"],))
        if base is not None and observation is None:
            observation = reading.observation(database, base["part"])
    # The time of day may have been set since the phase began.
    saved = time.time() if begun is None or took is None else begun + took
    if begun is None:
        # It was completed or put right since: the phase has ended when it ended.
        earlier = database.row(
            "SELECT saved FROM phases WHERE step = ? AND phase = ?", (row["id"], record.phase)
        )
        saved = earlier["saved"] if earlier is not None else saved
    encoded = encoding.encode(record, observation if base else None)
    part = None if encoded.part is None else database.blobs.put(encoded.part, JSON)[0]
    database.insert(
        "phases",
        {
            "step": row["id"],
            "position": PHASES.index(record.phase) + 1,
            "phase": record.phase,
            "saved": saved,
            "part": part,
            "base": base["part"] if base else None,
            "record": encoded.record,
        },
        replace=True,
    )
    if begun is not None:
        values = {"step": row["id"], "phase": record.phase, "begun": begun}
        database.insert("phases_begun", values, replace=True)
    named = {name: database.blobs.id_of(getattr(record, name)) for name in record.blobs}
    columns = {"phase": record.phase, **record.columns(), **named}
    database.update("steps", {"id": row["id"]}, columns)
    if isinstance(record, Reviewed) and (record.edited or record.origin == "person"):
        database.update("runs", {"run": run}, {"touched": True})
    if isinstance(record, Committed):
        database.execute(
            "UPDATE runs SET (seconds, seconds_in_llm) ="
            " (SELECT total(seconds), total(seconds_in_llm) FROM steps WHERE steps.run = runs.run)"
            " WHERE run = ?",
            (run,),
        )


def mark_ended(database: TraceDatabase, run: int, outcome: str, error: str) -> None:
    """End a run whose process is gone, at the time of the last thing that was stored for it."""
    database.execute(
        "UPDATE runs SET outcome = :outcome, owner = NULL, error = :error,"
        " ended = max(started,"
        "  (SELECT coalesce(max(begun), 0) FROM steps WHERE run = :run),"
        "  (SELECT coalesce(max(saved), 0) FROM phases JOIN steps ON steps.id = phases.step"
        "   WHERE steps.run = :run),"
        "  (SELECT coalesce(max(started + seconds), 0) FROM calls WHERE run = :run))"
        " WHERE run = :run",
        {"run": run, "outcome": outcome, "error": error},
    )
    calls = database.rows("SELECT started, seconds FROM calls WHERE run = ?", (run,))
    in_llm = seconds_covered((call["started"], call["seconds"]) for call in calls)
    database.execute(
        "UPDATE runs SET seconds = ended - started, seconds_in_llm = ? WHERE run = ?", (in_llm, run)
    )
