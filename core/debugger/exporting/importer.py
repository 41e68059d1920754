"""Bringing a run in from a file of any kind that is known."""

from pathlib import Path

from core.schema.errors import DataError
from core.trace.imports.registry import read_file
from core.trace.repro.importer import import_repro, is_repro, told_of_import
from core.trace.store import TraceStore


def import_run(store: TraceStore, path: Path) -> tuple[int | None, str]:
    """Return the number of the run, and what became of the file in a sentence.

    Raises DataError where the file is of no known kind or faulty, and TraceError: nothing is stored then.
    """
    if is_repro(path):
        content, run = import_repro(store, path)
        return run, told_of_import(path.name, content, run)
    kind, imported = read_file(path)
    if imported.faulty:
        first = imported.faulty[0]
        raise DataError(f"{path.name} was not imported: {first.position}: {first.why}")
    run = store.import_run(imported, path.stem)
    left_out = f", {len(imported.left_out)} entries left out" if imported.left_out else ""
    return run, f"{path.name} ({kind.title}) was imported as run {run}{left_out}."
