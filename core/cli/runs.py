"""Commands about what is stored: tasks, runs, one run, two runs side by side, files out and in, a draft of a space."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from core.agent.spaces.draft import DraftPage, draft_space, group_pages
from core.cli.output import put, put_json, put_table, say, verdict_word
from core.debugger.compare.service import compare_runs, compare_steps
from core.debugger.compare.views import AlignedPair, Compared, Part
from core.debugger.evaluations.failures import deciding_step
from core.environments.registry import Environments
from core.schema.errors import DataError, NotInTraceError, UsageError
from core.schema.step import Observed, Reviewed, record_of
from core.settings.settings import Settings
from core.trace.exports.registry import format_named
from core.trace.imports.records import ImportedRun
from core.trace.imports.registry import ImportFormat, read_file
from core.trace.records import RunFilter, RunRow, StepDetail, StepRow
from core.trace.repro.importer import REPRO, import_repro, import_summary, is_repro
from core.trace.run_files import export_run
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


@contextmanager
def reading(settings: Settings) -> Iterator[TraceStore]:
    """Open the trace as it is, and close it in the end; a run or step that is not there is a UsageError."""
    store = open_for_reading(settings)
    try:
        yield store
    except NotInTraceError as error:
        raise UsageError(str(error)) from error
    finally:
        store.close()


def step_to_show(settings: Settings, run: int) -> int:
    """Return the step of a run that the window is to show; raises UsageError where there is no such run, or no step."""
    with reading(settings) as store:
        row = store.run(run)
        if number := deciding_step(store, row):
            return number
        steps = store.steps(run)
    if not steps:
        raise UsageError(
            f"Run {run} has no steps to look at: it ended before its first one. {row.error}".strip()
        )
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


def show_run(settings: Settings, run: int, step: int | None, *, as_json: bool) -> None:
    """Print a run with its steps, or everything of one step; raises UsageError where it is not there."""
    with reading(settings) as store:
        row = store.run(run)
        if step is not None:
            _show_step(store, row, step, as_json)
        elif as_json:
            steps = [one.model_dump() for one in store.steps(run)]
            put_json({**row.model_dump(), "steps_list": steps})
        else:
            _show_run(store, row)


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


def export(settings: Settings, run: int, form: str, output: Path, *, content: bool) -> None:
    """Write a run to a file; raises UsageError where there is no such run or form."""
    if content and not format_named(form).leaves_out_content:
        raise UsageError(f"--content is for otel, which leaves words out without it: {form} has all its own.")
    with reading(settings):
        export_run(settings.database, run, form, str(output), content=content)
    say(f"Run {run} was written to {output}. {format_named(form).note}".rstrip())


def send(settings: Settings, run: int, form: str, endpoint: str, *, content: bool) -> None:
    """Send a run to a collector; raises UsageError where there is no such run, and WorldError."""
    if form != "otel":
        raise UsageError(
            "--endpoint is for --format otel: give --output, the file to write, with the others."
        )
    from core.trace.exports.otel_send import send_otel  # OpenTelemetry: only when something is sent.

    with reading(settings) as store:
        count = send_otel(store, run, endpoint, content=content)
    say(f"Run {run} was sent to {endpoint} as {count} spans.")


_WIDEST = 48


def compare(settings: Settings, left: int, right: int, *, as_json: bool) -> None:
    """Print the steps of two runs side by side and what differs first; raises UsageError where one is not there."""
    with reading(settings) as store:
        compared = compare_runs(store, left, right)
        parts = _first(store, compared)
    if as_json:
        put_json(
            {
                **compared.model_dump(),
                "first_difference": compared.first_difference,
                "parts": [{**one.model_dump(), "same": one.same} for one in parts],
            }
        )
        return
    put_table(
        ("", f"run {left}", f"run {right}", "differs in"),
        [(_mark(pair), _words(pair.left), _words(pair.right), _differs(pair)) for pair in compared.pairs],
    )
    if compared.first_difference is None:
        put("The runs do not differ in page, action or outcome of any step.")
        return
    names = ", ".join(one.name for one in parts if not one.same)
    put(f"They first part at line {compared.first_difference + 1}: {names}.")


def _first(store: TraceStore, compared: Compared) -> tuple[Part, ...]:
    if compared.first_difference is None:
        return ()
    pair = compared.pairs[compared.first_difference]
    left, right = ((row.run, row.number) if row is not None else None for row in (pair.left, pair.right))
    return compare_steps(store, left, right)


def _mark(pair: AlignedPair) -> str:
    return "=" if pair.same else "≠" if pair.left and pair.right else "<" if pair.left else ">"


def _words(row: StepRow | None) -> str:
    if row is None:
        return ""
    text = f"{row.number}. {row.action or 'no action'} {row.target}".rstrip()
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _differs(pair: AlignedPair) -> str:
    if pair.shared:
        return "one step of both"
    if pair.left is None or pair.right is None:
        return "only here"
    return ", ".join(pair.differs)


def import_file(settings: Settings, path: Path, form: str, *, dry_run: bool, as_json: bool) -> None:
    """Print what is in the file and store it as a run; with `dry_run` nothing is stored.

    Raises DataError, with nothing stored, where an entry is faulty.
    """
    if form == REPRO or (not form and is_repro(path)):
        _import_repro(settings, path, dry_run=dry_run, as_json=as_json)
        return
    kind, imported = read_file(path, form)
    if not as_json:
        _show(path, kind, imported)
    run = None
    if not imported.faulty and not dry_run:
        with closing(TraceStore.open(settings.database)) as store:
            run = store.import_run(imported, path.stem)
    if as_json:
        put_json(_as_json(path, kind, imported, run))
    if imported.faulty:
        first = imported.faulty[0]
        more = f" ({len(imported.faulty)} entries in all)" if len(imported.faulty) > 1 else ""
        raise DataError(
            f"{path} was not imported: {first.position}: {first.why}{more}. Mend or take out what is faulty."
        )
    if run is None:
        say(f"{path} would become one run of {len(imported.steps)} steps; nothing was stored.")
    else:
        say(f"{path} was imported as run {run}.")


def _import_repro(settings: Settings, path: Path, *, dry_run: bool, as_json: bool) -> None:
    with closing(TraceStore.open(settings.database)) as store:
        content, run = import_repro(store, path, dry_run=dry_run)
    if as_json:
        put_json({"file": str(path), "format": REPRO, "run": run, "content": content.model_dump(mode="json")})
    else:
        say(f"{path} is {content.sentence}.")
    say(import_summary(path.name, content, run))


def _show(path: Path, kind: ImportFormat, imported: ImportedRun) -> None:
    say(
        f"{path} is {kind.title}: {len(imported.steps)} steps, {len(imported.left_out)} entries left out, "
        f"{len(imported.faulty)} faulty."
    )
    rows = [(one.position, "left out", one.why) for one in imported.left_out]
    rows += [(one.position, "faulty", one.why) for one in imported.faulty]
    steps = [(one.position, str(one.action or one.message), one.url) for one in imported.steps]
    put_table(("entry", "action", "at"), steps)
    if rows:
        put_table(("entry", "", "why"), rows)


def _as_json(path: Path, kind: ImportFormat, imported: ImportedRun, run: int | None) -> dict[str, object]:
    return {
        "file": str(path),
        "format": kind.name,
        "run": run,
        "steps": [
            {
                "position": one.position,
                "action": str(one.action) if one.action is not None else None,
                "target": one.target,
                "url": one.url,
                "outcome": one.outcome,
            }
            for one in imported.steps
        ],
        "left_out": [one.model_dump() for one in imported.left_out],
        "faulty": [one.model_dump() for one in imported.faulty],
    }


def draft(settings: Settings, runs: Iterable[int], output: Path, *, title: str, force: bool) -> None:
    """Write a state space that is drafted from the pages of these runs, and say what was found.

    Raises UsageError for a run that is not there, one without pages, or a file
    that would be written over, and DataError where it cannot be written.
    """
    if output.exists() and not force:
        raise UsageError(f"{output} is there already: give another name, or --force to write over it.")
    with reading(settings) as store:
        pages = [page for run in runs for page in _pages(store, run)]
        environments = {store.run(run).environment for run in runs}
    if not pages:
        raise UsageError("The runs have no recorded pages: choose runs with steps (`main.py runs`).")
    environment = environments.pop() if len(environments) == 1 else ""
    text = draft_space(
        pages, title=title or output.stem, environment="" if environment == "web" else environment
    )
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{output} cannot be written ({error.strerror}).") from error
    states = group_pages(pages)
    names = ", ".join(f"{state.name} ({len(state.pages)})" for state in states)
    say(f"{output}: {len(states)} states from {len(pages)} pages: {names}.")
    say("Read it through, then put it into the folder state_spaces of the config folder.")


def _pages(store: TraceStore, run: int) -> Iterable[DraftPage]:
    for row in store.steps(run):
        records = store.step(run, row.number).records
        observed = record_of(Observed, records)
        reviewed = record_of(Reviewed, records)
        if observed is not None:
            yield DraftPage(
                observation=observed.observation, action=reviewed.action if reviewed is not None else None
            )
