"""The command `exemplars keep`: a stored run into the user's library."""

from pathlib import Path

from core.cli.output import put, put_json, put_table, say
from core.cli.runs import open_for_reading
from core.debugger.exemplars.saving.selection import Selection, exemplar_of_run
from core.memory.library.records import LIBRARY_NAME
from core.memory.library.store import Library
from core.schema.errors import NotInTraceError, UsageError
from core.schema.record import Record
from core.settings.settings import Settings


class KeepArguments(Record):
    """What the command was given."""

    run: int
    first: int = 1
    last: int | None = None
    steps: tuple[int, ...] = ()
    """Just these; without any, those that the run itself suggests."""
    family: str = ""
    anyway: bool = False
    """Whether a run that was not judged a success is kept, too."""
    dry_run: bool = False
    as_json: bool = False


def keep_run(settings: Settings, arguments: KeepArguments) -> None:
    """Show a run as it would be prompted with and keep it; raises UsageError where it is no success."""
    store = open_for_reading(settings)
    try:
        kept = exemplar_of_run(
            store,
            arguments.run,
            first=arguments.first,
            last=arguments.last,
            family=arguments.family,
            chosen=frozenset(arguments.steps) or None,
        )
    except NotInTraceError as error:
        raise UsageError(str(error)) from error
    finally:
        store.close()
    if not arguments.as_json:
        _show(kept)
    if not kept.successful and not arguments.anyway and not arguments.dry_run:
        raise UsageError(f"Run {arguments.run} was not judged a success: keep it all the same with --anyway.")
    path: Path | None = None
    if not arguments.dry_run:
        path = settings.database.parent / LIBRARY_NAME
        library = Library.open(path)
        try:
            library.save(kept.exemplar, kept.provenance, why=f"kept from run {arguments.run}")
        finally:
            library.close()
    if arguments.as_json:
        put_json({**kept.model_dump(mode="json"), "kept_in": str(path) if path else None})
    say(f"{kept.exemplar.id} was kept in {path}." if path else "Nothing was kept.")


def _show(kept: Selection) -> None:
    exemplar = kept.exemplar
    put(f"{exemplar.id}  family {exemplar.family}  {len(exemplar.steps)} looks")
    put(exemplar.task)
    for number, look in enumerate(exemplar.steps, start=1):
        put(f"{number}. {look.thought}\n   {'; '.join(look.actions)}")
    for contrast in exemplar.contrasts:
        put(f"Not {contrast.tried} but {contrast.right}.")
    if kept.left_out:
        put_table(
            ("step", "left out", "why"), [(str(one.step), one.action, one.why) for one in kept.left_out]
        )
