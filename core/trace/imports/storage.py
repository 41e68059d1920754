"""Stores an imported run; works inside the open transaction."""

import re
import time
from collections.abc import Iterator

from core.schema.observation import Observation, picture_type
from core.schema.step import Acted, Committed, Decided, Observed, PhaseRecord, Proposal, Reviewed
from core.trace import writer as writing
from core.trace.blobs import hash_of
from core.trace.database import TraceDatabase
from core.trace.imports.records import ImportedRun, ImportedStep
from core.trace.records import RunStart

ENVIRONMENT = "import"


def store_run(database: TraceDatabase, imported: ImportedRun, name: str) -> int:
    """Store the run as ``import/NAME`` and return its number.

    It has the times of its file, or is of now where the file has none.
    """
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-")
    start = RunStart(
        task=f"{ENVIRONMENT}/{plain or 'run'}",
        environment=ENVIRONMENT,
        seed=0,
        instruction=imported.instruction,
        start_url=imported.start_url,
        preset=ENVIRONMENT,
        llm=imported.made_with,
        browser="",
    )
    run = writing.insert_run(database, start, owner="")
    now = time.time()
    for number, step in enumerate(imported.steps, start=1):
        _store_step(database, run, number, step, imported.origin, now)
    begun = [step.begun for step in imported.steps if step.begun is not None]
    database.update(
        "runs",
        {"run": run},
        {
            "outcome": "done",
            "answer": imported.answer,
            "seconds": sum(step.seconds for step in imported.steps),
            "started": min(begun, default=now),
            "ended": max((step.begun or 0.0) + step.seconds for step in imported.steps) if begun else now,
            "owner": None,
        },
    )
    return run


def _store_step(
    database: TraceDatabase,
    run: int,
    number: int,
    step: ImportedStep,
    origin: str,
    now: float,
) -> None:
    writing.insert_step(database, run, number, trial=1)
    pictures = [(step.screenshot, picture_type(step.screenshot))] if step.screenshot else []
    for record in _records(step, origin):
        new = pictures if isinstance(record, Observed) else []
        writing.save_phase(database, run, number, record, new, None)
    begun = now if step.begun is None else step.begun
    database.update("steps", {"run": run, "number": number}, {"begun": begun})
    database.execute(
        "UPDATE phases SET saved = ? WHERE step = (SELECT id FROM steps WHERE run = ? AND number = ?)",
        (begun + step.seconds, run, number),
    )


def _records(step: ImportedStep, origin: str) -> Iterator[PhaseRecord]:
    """Yield what the file tells of a step, by the phase that it belongs to; a phase it tells nothing of is left out."""
    if step.url or step.title or step.screenshot:
        yield Observed(
            observation=Observation(url=step.url, title=step.title),
            screenshot=hash_of(step.screenshot) if step.screenshot else "",
        )
    if origin == "agent":
        problem = "" if step.action is not None else step.message
        yield Decided(proposal=Proposal(action=step.action, thought=step.thought, problem=problem))
    if step.action is not None:
        yield Reviewed(
            origin="agent" if origin == "agent" else "person", action=step.action, thought=step.thought
        )
    yield Acted(
        effect=step.effect,
        outcome=step.outcome,
        message=step.message,
        target=step.target,
        xpath=step.xpath,
        frames=step.frames,
    )
    yield Committed(seconds=step.seconds, seconds_in_llm=0.0)
