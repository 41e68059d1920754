"""Commands about stored runs: their list, one run, one step, two runs side by side."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Any

from core.cli.output import put, put_json, put_lines, put_table, say, verdict_word
from core.debugger.compare.alignment import compare_runs, compare_steps, parts_of
from core.debugger.compare.views import AlignedPair, Compared, Part
from core.schema.errors import UsageError
from core.schema.step import Observed, Recognised, Reviewed, record_of
from core.settings.settings import Settings
from core.trace.calls import stored_prompt, stored_reply
from core.trace.records import RunFilter, RunRow, StepDetail, StepRow
from core.trace.store import TraceStore


def open_for_reading(settings: Settings) -> TraceStore:
    """Open the trace as it is; raises UsageError if there is none yet."""
    if not settings.database.exists():
        raise UsageError(f"There is no database at {settings.database}. Run a task first, or use --db.")
    return TraceStore.open(settings.database, read_only=True)


@contextmanager
def reading(settings: Settings) -> Iterator[TraceStore]:
    """Open the trace as it is, and close it in the end; raises UsageError if there is none yet."""
    with closing(open_for_reading(settings)) as store:
        yield store


def step_to_show(settings: Settings, run: int) -> int:
    """Return the step of a run that the window is to show; raises UsageError if there is no such run, or no step."""
    from core.debugger.evaluations.failures import deciding_step

    with reading(settings) as store:
        row = store.run(run)
        if number := deciding_step(store, row):
            return number
        steps = store.steps(run)
    if not steps:
        raise UsageError(f"Run {run} has no steps: it ended before its first one. {row.error}".strip())
    return steps[-1].number


def list_runs(
    settings: Settings, query: str, limit: int, *, task: str, outcome: RunFilter, as_json: bool
) -> None:
    """Print the runs, newest first."""
    with reading(settings) as store:
        rows = store.runs(query, limit=limit, task=task, outcome=outcome)
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
        say("No runs match." if query or task or outcome else "There are no runs yet.")


def show_run(
    settings: Settings, run: int, step: int | None, *, actions: bool, brief: bool, as_json: bool
) -> None:
    """Print a run, one step (as JSON without records if `brief`), or its `actions`; raises UsageError."""
    if (actions or brief) and step is None:
        raise UsageError("Use --step to say of which step.")
    with reading(settings) as store:
        row = store.run(run)
        if step is not None and actions:
            _show_actions(store, row, step, as_json)
        elif step is not None:
            _show_step(store, row, step, as_json, brief)
        elif as_json:
            steps = [one.model_dump() for one in store.steps(run)]
            put_json({**row.model_dump(), "steps_list": steps})
        else:
            _show_run(store, row)


def _show_run(store: TraceStore, row: RunRow) -> None:
    put(f"run {row.run}: {row.task} seed {row.seed}, {row.preset}, {row.llm}: {verdict_word(row)}")
    put(row.instruction)
    if row.verdict.reason:
        put(f"judge: {row.verdict.reason}")
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


def _show_actions(store: TraceStore, row: RunRow, number: int, as_json: bool) -> None:
    recognised = record_of(Recognised, store.step(row.run, number).records)
    if recognised is None:
        raise UsageError(f"Step {number} of run {row.run} ended before its page was recognised.")
    frames = recognised.stack.frames if recognised.stack is not None else ()
    if as_json:
        at_work = frames[-1].model_dump(include={"policy", "written", "file"}) if frames else None
        known = recognised.model_dump(include={"space", "state", "why", "also"})
        actions = recognised.permissible.model_dump()
        put_json({"run": row.run, "step": number, **known, "policy": at_work, **actions})
        return
    policy = f", in the policy {frames[-1].written}" if frames else ""
    put(f"run {row.run}, step {number}: state {recognised.state} of {recognised.space}{policy}")
    put_table(("action", "on"), [(line.text, line.label) for line in recognised.permissible.rows()])


def picture_named(settings: Settings, name: str) -> tuple[bytes, str]:
    """Return a screenshot by its name in the JSON of a step, with its media type."""
    with reading(settings) as store:
        return store.blob_and_type(name)


def _show_step(store: TraceStore, row: RunRow, number: int, as_json: bool, brief: bool) -> None:
    detail = store.step(row.run, number)
    if as_json:
        put_json(_step_as_json(store, row.run, detail, brief))
        return
    step = detail.row
    put(f"run {row.run}, step {number}: {step.action or 'no action'} {step.target}".rstrip())
    put(f"state {step.state} at {step.url}")
    put_lines(f"thought: {step.thought}")
    put(f"outcome: {step.outcome} {step.message}".rstrip())
    for record in detail.records:
        if record.phase == "abstract":
            put_lines(f"page:\n{record.clean.text}")
    for call in detail.calls:
        put(f"call {call.number} ({call.purpose}): {call.llm}, {call.seconds:.2f} s {call.error}".rstrip())


def _step_as_json(store: TraceStore, run: int, detail: StepDetail, brief: bool) -> dict[str, Any]:
    reviewed, observed = record_of(Reviewed, detail.records), record_of(Observed, detail.records)
    return {
        **detail.row.model_dump(mode="json"),
        "note": reviewed.note if reviewed is not None else "",
        "picture": observed.screenshot if observed is not None else "",
        "parts": parts_of(store, (run, detail.row.number)),
        **({} if brief else _records_as_json(store, detail)),
    }


def _records_as_json(store: TraceStore, detail: StepDetail) -> dict[str, Any]:
    calls = []
    for call in detail.calls:
        reply = stored_reply(store, call)
        prompt = stored_prompt(store, call).model_dump(
            mode="json", exclude={"messages": {"__all__": {"images"}}}
        )
        calls.append(
            {
                **call.model_dump(mode="json"),
                "prompt": prompt,
                "answer": reply.model_dump(mode="json") if reply is not None else None,
            }
        )
    return {
        "records": [record.model_dump(mode="json") for record in detail.records],
        "calls": calls,
        "interventions": [intervention.model_dump(mode="json") for intervention in detail.interventions],
    }


def compare(settings: Settings, left: int, right: int, *, as_json: bool) -> None:
    """Print the steps of two runs side by side and what differs first; raises UsageError if one is not there."""
    with reading(settings) as store:
        compared = compare_runs(store, left, right)
        parts = _first_parts(store, compared)
    if as_json:
        put_json(
            {
                **compared.model_dump(),
                "first_difference": compared.first_difference,
                "parts": [{**part.model_dump(), "same": part.same} for part in parts],
            }
        )
        return
    put_table(
        ("", f"run {left}", f"run {right}", "differs in"),
        [
            (_pair_mark(pair), _step_words(pair.left), _step_words(pair.right), _differs_in(pair))
            for pair in compared.pairs
        ],
    )
    if compared.first_difference is None:
        put("The runs do not differ in page, action or outcome of any step.")
        return
    names = ", ".join(part.name for part in parts if not part.same)
    put(f"They first differ at line {compared.first_difference + 1}: {names}.")


def _first_parts(store: TraceStore, compared: Compared) -> tuple[Part, ...]:
    if compared.first_difference is None:
        return ()
    pair = compared.pairs[compared.first_difference]
    left, right = ((row.run, row.number) if row is not None else None for row in (pair.left, pair.right))
    return compare_steps(store, left, right)


def _pair_mark(pair: AlignedPair) -> str:
    return "=" if pair.same else "≠" if pair.left and pair.right else "<" if pair.left else ">"


def _step_words(row: StepRow | None) -> str:
    return f"{row.number}. {row.in_words}" if row is not None else ""


def _differs_in(pair: AlignedPair) -> str:
    if pair.shared:
        return "one shared step"
    if pair.left is None or pair.right is None:
        return "only here"
    return ", ".join(pair.differs)
