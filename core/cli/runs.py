"""Commands that read what is there: tasks, runs, one run, an export."""

from datetime import datetime
from pathlib import Path
from typing import Any

from core.cli.output import put, put_json, put_table, say, verdict_word
from core.debugger.exporting.exporter import export_run
from core.environments.registry import Environments
from core.schema.errors import NotInTraceError, UsageError
from core.settings.settings import Settings
from core.trace.exports.registry import format_named
from core.trace.records import RunRow, StepDetail
from core.trace.store import TraceStore


def list_tasks(environments: Environments, *, as_json: bool) -> None:
    """Print all tasks with id, environment, instruction sample and tags."""
    tasks = environments.tasks()
    if as_json:
        put_json(
            [
                {"id": t.id, "environment": t.environment, "instruction": t.instruction, "tags": list(t.tags)}
                for t in tasks
            ]
        )
        return
    put_table(("task", "tags", "instruction"), [(t.id, " ".join(t.tags), t.instruction) for t in tasks])


def open_for_reading(settings: Settings) -> TraceStore:
    """Open the trace as it is; raises UsageError where there is none yet."""
    if not settings.database.exists():
        raise UsageError(f"There is no trace yet at {settings.database}; run a task first, or give --db.")
    return TraceStore.open(settings.database, read_only=True)


def list_runs(settings: Settings, query: str, limit: int, *, as_json: bool) -> None:
    """Print the runs, newest first."""
    store = open_for_reading(settings)
    try:
        rows = store.runs(query, limit=limit)
    finally:
        store.close()
    if as_json:
        put_json([row.model_dump() for row in rows])
        return
    put_table(
        ("run", "when", "task", "seed", "preset", "LLM", "steps", "outcome", "branch of"),
        [
            (
                str(row.run),
                f"{datetime.fromtimestamp(row.started):%Y-%m-%d %H:%M}",
                row.task,
                str(row.seed),
                row.preset,
                row.llm,
                str(row.steps),
                verdict_word(row),
                "" if row.parent_run is None else f"{row.parent_run}, step {row.parent_step} ({row.grade})",
            )
            for row in rows
        ],
    )
    if not rows:
        say("No runs match." if query else "There are no runs yet.")


def show_run(settings: Settings, run: int, step: int | None, *, as_json: bool) -> None:
    """Print a run with its steps, or everything of one step; raises UsageError where it is not there."""
    store = open_for_reading(settings)
    try:
        row = store.run(run)
        if step is not None:
            _show_step(store, row, step, as_json)
        elif as_json:
            steps = [one.model_dump() for one in store.steps(run)]
            put_json({**row.model_dump(), "steps_list": steps})
        else:
            _show_run(store, row)
    except NotInTraceError as error:
        raise UsageError(str(error)) from error
    finally:
        store.close()


def _show_run(store: TraceStore, row: RunRow) -> None:
    put(f"run {row.run}: {row.task} seed {row.seed}, {row.preset}, {row.llm}: {verdict_word(row)}")
    put(row.instruction)
    if row.answer:
        put(f"answer: {row.answer}")
    if row.error:
        put(f"error: {row.error}")
    put_table(
        ("step", "origin", "action", "on", "outcome", "thought"),
        [
            (
                str(s.number),
                s.origin,
                s.action or "none",
                s.target,
                s.outcome + (f": {s.message}" if s.message else "") + ("" if s.sealed else " (not sealed)"),
                s.thought,
            )
            for s in store.steps(row.run)
        ],
    )


def _show_step(store: TraceStore, row: RunRow, number: int, as_json: bool) -> None:
    detail = store.step(row.run, number)
    if as_json:
        put_json(_step_as_json(store, detail))
        return
    step = detail.row
    put(f"run {row.run}, step {number}: {step.action or 'no action'} {step.target}".rstrip())
    put(f"state {step.state} at {step.url}")
    put(f"thought: {step.thought}")
    put(f"outcome: {step.outcome} {step.message}".rstrip())
    for record in detail.records:
        if record.phase == "abstract":
            put(record.clean.text)
    for call in detail.calls:
        put(f"call {call.number} ({call.purpose}): {call.llm}, {call.seconds:.2f} s {call.error}".rstrip())


def _step_as_json(store: TraceStore, detail: StepDetail) -> dict[str, Any]:
    calls = []
    for call in detail.calls:
        reply = store.reply(call)
        prompt = store.prompt(call).model_dump(mode="json", exclude={"messages": {"__all__": {"images"}}})
        calls.append(
            {
                **call.model_dump(mode="json"),
                "prompt": prompt,
                "answer": reply.model_dump(mode="json") if reply is not None else None,
            }
        )
    return {
        **detail.row.model_dump(mode="json"),
        "records": [record.model_dump(mode="json") for record in detail.records],
        "calls": calls,
        "interventions": [one.model_dump(mode="json") for one in detail.interventions],
    }


def export(settings: Settings, run: int, form: str, output: Path, *, content: bool = False) -> None:
    """Write a run to a file; raises UsageError where there is no such run or form."""
    if content and not format_named(form).leaves_out_content:
        raise UsageError(f"--content is for otel, which leaves words out without it: {form} has all its own.")
    open_for_reading(settings).close()
    try:
        export_run(settings.database, run, form, str(output), content=content)
    except NotInTraceError as error:
        raise UsageError(str(error)) from error
    say(f"Run {run} was written to {output}. {format_named(form).note}".rstrip())


def send(settings: Settings, run: int, form: str, endpoint: str, *, content: bool = False) -> None:
    """Send a run to a collector; raises UsageError where there is no such run, and WorldError."""
    if form != "otel":
        raise UsageError(
            "--endpoint is for --format otel: give --output, the file to write, with the others."
        )
    from core.trace.exports.otel_send import send_otel  # OpenTelemetry: only when something is sent.

    store = open_for_reading(settings)
    try:
        count = send_otel(store, run, endpoint, content=content)
    except NotInTraceError as error:
        raise UsageError(str(error)) from error
    finally:
        store.close()
    say(f"Run {run} was sent to {endpoint} as {count} spans.")
