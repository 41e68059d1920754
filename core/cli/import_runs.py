"""Files as stored runs: first what would be done is told, then it is done whole or not at all."""

from pathlib import Path

from core.cli.output import put_json, put_table, say
from core.schema.errors import DataError
from core.settings.settings import Settings
from core.trace.imports.records import ImportedRun
from core.trace.imports.registry import ImportFormat, read_file
from core.trace.repro.importer import REPRO, import_repro, is_repro, told_of_import
from core.trace.store import TraceStore


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
        store = TraceStore.open(settings.database)
        try:
            run = store.import_run(imported, path.stem)
        finally:
            store.close()
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
    store = TraceStore.open(settings.database)
    try:
        content, run = import_repro(store, path, dry_run=dry_run)
    finally:
        store.close()
    if as_json:
        put_json({"file": str(path), "format": REPRO, "run": run, "content": content.model_dump(mode="json")})
    else:
        say(f"{path} is {content.sentence}.")
    say(told_of_import(path.name, content, run))


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
