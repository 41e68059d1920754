"""Changes of many exemplars on the command line."""

from collections.abc import Callable, Sequence
from contextlib import closing

from core.cli.exemplar_tables import memory_of
from core.cli.output import put_json, say
from core.exemplars.library.bulk import BulkChange
from core.exemplars.library.records import Filter
from core.exemplars.library.store import Library
from core.schema.errors import UsageError
from core.settings.settings import Settings


def change_exemplars(
    settings: Settings,
    ids: Sequence[str],
    wanted: Filter,
    done: str,
    work: Callable[[Library, Sequence[str]], BulkChange],
    *,
    as_json: bool,
) -> None:
    """Change the exemplars of these ids, else those that the filter lets through; all of them or none.

    `done` says what was done, such as "tagged". Raises UsageError if none is
    chosen, or one is not there, and LibraryError.
    """
    if not ids and wanted == Filter():
        raise UsageError("Say which exemplars: use their ids, or filters such as --family.")
    with closing(memory_of(settings)) as memory:
        library = memory.library()
        for id in ids:
            library.get(id)
        chosen = tuple(ids) or tuple(row.id for row in library.rows(wanted))
        if not chosen:
            raise UsageError("No exemplar matches all filters. To list exemplars, use exemplars list.")
        changed = work(library, chosen)
    if as_json:
        put_json(
            {
                "changed": list(changed.ids),
                "read_only": list(changed.read_only),
                "faulty": dict(changed.faulty),
            }
        )
    say(f"{len(changed.ids)} of {len(chosen)} exemplars were {done}.")
    for id, fault in changed.faulty.items():
        say(f"{id} has a fault: {fault}")
    if changed.faulty:
        say("Mend them, or use them although they have faults with --although-faulty.")
    if changed.read_only:
        say(f"{len(changed.read_only)} are bundled and read-only.")
