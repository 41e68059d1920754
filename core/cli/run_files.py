"""Runs as files: export, sending to a collector, import."""

import shlex
import tempfile
from contextlib import closing
from pathlib import Path

from core.cli.output import put_json, put_table, say
from core.cli.runs import reading
from core.schema.errors import UsageError
from core.schema.formats import count
from core.settings.settings import Settings, load_settings
from core.trace.exports.hiding import without_secrets
from core.trace.exports.registry import format_named
from core.trace.imports.records import ImportedRun, check_steps, without
from core.trace.imports.registry import ImportFormat, read_file
from core.trace.repro.importer import REPRO, import_repro, import_summary, is_repro
from core.trace.run_files import export_run
from core.trace.store import TraceStore


def export(settings: Settings, run: int, form: str, output: Path, *, content: bool) -> None:
    """Write a run to a file; raises UsageError if there is no such run or form."""
    if content and not format_named(form).leaves_out_content:
        raise UsageError(f"--content is only for otel. The format {form} always contains the text.")
    with reading(settings):
        left_out = export_run(settings.database, run, form, str(output), content=content)
    say(" ".join(filter(None, (f"Run {run} was written to {output}.", left_out, format_named(form).note))))


def send(settings: Settings, run: int, form: str, endpoint: str, *, content: bool) -> None:
    """Send a run to a collector; raises UsageError if there is no such run, and WorldError."""
    if form != "otel":
        raise UsageError("--endpoint is only for --format otel. For other formats, use --output.")
    from core.trace.exports.otel_send import send_otel  # It imports OpenTelemetry.

    with reading(settings) as store, without_secrets(store, run) as hidden:
        spans = send_otel(hidden, run, endpoint, content=content)
    say(f"Run {run} was sent to {endpoint} as {count(spans, 'span')}. {hidden.left_out}".rstrip())


def import_file(settings: Settings, path: Path, form: str, *, dry_run: bool, as_json: bool) -> None:
    """Print what is in the file and store it as a run; with `dry_run` nothing is stored.

    Entries that cannot be read are listed, and the others are stored. Raises DataError if there are none.
    """
    if form == REPRO or (not form and is_repro(path)):
        _import_repro(settings, path, dry_run=dry_run, as_json=as_json)
        return
    kind, imported = read_file(path, form)
    if not as_json:
        _show(path, kind, imported)
    run = None
    if imported.steps and not dry_run:
        with closing(TraceStore.open(settings.database)) as store:
            run = store.import_run(imported, path.stem)
    if as_json:
        put_json(_as_json(path, kind, imported, run))
    check_steps(path, imported)
    if run is None:
        say(
            f"{path} would become one run with {count(len(imported.steps), 'step')}{without(imported)}. "
            "Nothing was stored."
        )
    else:
        say(f"{path} was imported as run {run}{without(imported)}.")


def _import_repro(settings: Settings, path: Path, *, dry_run: bool, as_json: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        is_new = dry_run and not settings.database.exists()  # Opening it would make it.
        with closing(TraceStore.open(Path(folder) / "new.db" if is_new else settings.database)) as store:
            content, run = import_repro(store, path, dry_run=dry_run)
    if as_json:
        put_json({"file": str(path), "format": REPRO, "run": run, "content": content.model_dump(mode="json")})
    else:
        say(f"{path} is {content.sentence}.")
    other = settings.database != load_settings().database
    say(
        import_summary(
            path.name, content, run, f" --db {shlex.quote(str(settings.database))}" if other else ""
        )
    )


def _show(path: Path, kind: ImportFormat, imported: ImportedRun) -> None:
    say(
        f"{path} is {kind.title}: {len(imported.steps)} steps, {len(imported.left_out)} entries left out, "
        f"{len(imported.faulty)} faulty."
    )
    rows = [(one.position, "left out", one.why) for one in imported.left_out]
    rows += [(entry.position, "faulty", entry.why) for entry in imported.faulty]
    steps = [
        (step.position, str(step.action or step.message), step.target, step.url) for step in imported.steps
    ]
    put_table(("entry", "action", "element", "at"), steps)
    if rows:
        put_table(("entry", "", "why"), rows)


def _as_json(path: Path, kind: ImportFormat, imported: ImportedRun, run: int | None) -> dict[str, object]:
    return {
        "file": str(path),
        "format": kind.name,
        "run": run,
        "steps": [
            {
                "position": step.position,
                "action": str(step.action) if step.action is not None else None,
                "target": step.target,
                "url": step.url,
                "outcome": step.outcome,
            }
            for step in imported.steps
        ],
        "left_out": [one.model_dump() for one in imported.left_out],
        "faulty": [entry.model_dump() for entry in imported.faulty],
    }
