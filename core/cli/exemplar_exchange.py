"""Exemplars in and out: first what would be done is told, then it is done whole or not at all."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from core.cli.output import put, put_json, put_table, say
from core.memory.exchange.documents import read_document
from core.memory.exchange.imports.step import is_step
from core.memory.exchange.plan import ImportPlan, plan_of
from core.memory.exchange.reader import FoundExemplars, read_exemplars_of
from core.memory.exchange.records import ReadOptions
from core.memory.exchange.registry import IMPORTS, export_format
from core.memory.exchange.store import ExemplarStore, LibraryStore
from core.memory.exchange.writer import write_files
from core.memory.files import EXEMPLARS, ExemplarFiles
from core.memory.library.records import LIBRARY_NAME
from core.schema.errors import DataError, UsageError
from core.schema.record import Record
from core.settings.settings import Settings
from core.settings.user_file import near


class ImportArguments(Record):
    """What the import command was given."""

    path: Path
    form: str = ""
    dry_run: bool = False
    strict: bool = False
    family: str = ""
    least_reward: float = 1.0
    policies: Path | None = None
    as_json: bool = False


class ExportArguments(Record):
    """What the export command was given."""

    form: str = "jsonl"
    families: tuple[str, ...] = ()
    output: Path | None = None
    as_json: bool = False


def users_store(settings: Settings) -> ExemplarStore:
    """Return the user's library, beside the exemplars of the installation and of the user's folder of files."""
    data = settings.database.parent
    return LibraryStore(data / LIBRARY_NAME, ExemplarFiles((EXEMPLARS, data / "exemplars")))


def import_exemplars(arguments: ImportArguments, store: ExemplarStore) -> None:
    """Print what is in the file and keep what is new in the store; with `dry_run` nothing is kept.

    Raises DataError, with nothing kept, where nothing can be read or, with
    `strict`, where an entry is faulty or its id is taken.
    """
    options = ReadOptions(family=arguments.family, least_reward=arguments.least_reward)
    found = read_exemplars_of(arguments.path, arguments.form, options)
    plan = plan_of(found.reading, store.held())
    problem = _problem(arguments, plan)
    if not arguments.as_json:
        _show(arguments.path, found, plan)
    kept_in = ""
    policies: dict[Path, str] = {}
    if not problem:
        # What policy files cannot be written over is known before anything is kept.
        policies = _policies(arguments) if arguments.policies is not None else {}
        if plan.new and not arguments.dry_run:
            kept_in = store.add(plan.new, arguments.path.resolve().stem)
        policies = _written(policies, arguments)
    if arguments.as_json:
        put_json(_as_json(arguments, found, plan, kept_in, policies))
    if problem:
        raise DataError(problem)
    if kept_in:
        say(f"{_so_many(len(plan.new))} of {arguments.path} were kept in {kept_in}.")
    elif plan.new:
        say(f"{_so_many(len(plan.new))} of {arguments.path} would be kept; nothing was.")
    else:
        say(f"{arguments.path} holds nothing that is new; nothing was kept.")


def export_exemplars(arguments: ExportArguments, store: ExemplarStore) -> None:
    """Write the exemplars of the store, or of some families of it, by family and id.

    Without a file they are printed. Raises UsageError for an unknown format
    or family, and DataError for a file that cannot be written.
    """
    form = export_format(arguments.form)
    held = sorted(store.held(), key=lambda one: (one.family, one.id))
    families = tuple(dict.fromkeys(one.family for one in held))
    for name in arguments.families:
        if name not in families:
            raise UsageError(f'There is no family "{name}"; {near(name, families)}')
    chosen = tuple(one for one in held if not arguments.families or one.family in arguments.families)
    if not chosen:
        raise UsageError("There are no exemplars to export; import or record some first.")
    if arguments.output is None and (not form.suffix or arguments.as_json):
        raise UsageError(f"Say where to write {form.title} with --output.")
    files = form.write(chosen)
    if arguments.output is None:
        put(files[""].rstrip("\n"))
        return
    output = arguments.output
    write_files({output / name if name else output: text for name, text in files.items()})
    if arguments.as_json:
        put_json(
            {
                "format": form.name,
                "output": str(output),
                "files": [str(output / name if name else output) for name in files],
                "exemplars": [one.id for one in chosen],
            }
        )
    counted = len({one.family for one in chosen})
    said = "1 family" if counted == 1 else f"{counted} families"
    say(f"{_so_many(len(chosen))} of {said} were written to {output}.")


def _problem(arguments: ImportArguments, plan: ImportPlan) -> str:
    """Return why nothing may be kept, or nothing."""
    faulty = plan.reading.faulty
    if arguments.strict and faulty:
        return (
            f"{arguments.path} was not imported: {faulty[0].position}: {faulty[0].why}{_more(len(faulty))}. "
            "Mend or take out what is faulty, or import without --strict."
        )
    taken = [one.candidate for one in plan.planned if one.fate == "id taken"]
    if arguments.strict and taken:
        return (
            f"{arguments.path} was not imported: {taken[0].position}: another exemplar has the id "
            f"{taken[0].exemplar.id}{_more(len(taken))}. Change the ids, or import without --strict."
        )
    if faulty and not plan.planned:
        first = faulty[0]
        return f"{arguments.path} was not imported: {first.position}: {first.why}{_more(len(faulty))}."
    return ""


def _more(number: int) -> str:
    return f" ({number} entries in all)" if number > 1 else ""


def _so_many(number: int) -> str:
    return "1 exemplar" if number == 1 else f"{number} exemplars"


def _show(path: Path, found: FoundExemplars, plan: ImportPlan) -> None:
    titles = " and ".join(one.title for one in IMPORTS if one.name in found.formats)
    reading = plan.reading
    say(
        f"{path} is {titles or 'of no kind that could be read'}: {plan.count('new')} new, "
        f"{plan.count('there already')} there already, {plan.count('id taken')} with an id that is taken, "
        f"{len(reading.left_out)} left out, {len(reading.faulty)} faulty."
    )
    rows = [
        (one.candidate.position, one.fate, one.candidate.exemplar.family, one.candidate.exemplar.id, one.why)
        for one in plan.planned
    ]
    if rows:
        put_table(("entry", "", "family", "id", "why"), rows)
    others = [(one.position, "left out", one.why) for one in reading.left_out]
    others += [(one.position, "faulty", one.why) for one in reading.faulty]
    others += [
        (one.candidate.position, "remark", remark) for one in plan.planned for remark in one.candidate.remarks
    ]
    if others:
        put_table(("entry", "", "why"), others)


def _as_json(
    arguments: ImportArguments,
    found: FoundExemplars,
    plan: ImportPlan,
    kept_in: str,
    policies: Iterable[Path],
) -> dict[str, Any]:
    return {
        "file": str(arguments.path),
        "formats": list(found.formats),
        "kept_in": kept_in or None,
        "policies": sorted(map(str, policies)),
        "exemplars": [
            {
                "position": one.candidate.position,
                "fate": one.fate,
                "why": one.why,
                "id": one.candidate.exemplar.id,
                "family": one.candidate.exemplar.family,
                "task": one.candidate.exemplar.task,
                "steps": len(one.candidate.exemplar.steps),
                "remarks": list(one.candidate.remarks),
            }
            for one in plan.planned
        ],
        "left_out": [one.model_dump() for one in plan.reading.left_out],
        "faulty": [one.model_dump() for one in plan.reading.faulty],
    }


def _policies(arguments: ImportArguments) -> dict[Path, str]:
    """Return the policies of SteP's files as policy files; raises DataError where one is there already."""
    from core.agent.policies.step_import import policy_files

    assert arguments.policies is not None
    path, folder = arguments.path, arguments.policies
    documents = sorted(path.glob("*.json")) if path.is_dir() else [path]
    found: dict[Path, str] = {}
    for document in map(read_document, documents):
        if not is_step(document):
            continue
        made = policy_files(document)
        for entry in made.left_out:
            say(f"Left out of the policies: {entry.position}: {entry.why}.")
        for name, text in made.files.items():
            if folder / name in found or (folder / name).exists():
                raise DataError(f"{folder / name} is there already: name another folder with --policies.")
            found[folder / name] = text
    if not found:
        raise UsageError("Only policies of SteP become policy files; leave --policies out.")
    return found


def _written(policies: dict[Path, str], arguments: ImportArguments) -> dict[Path, str]:
    """Write the policy files, all or none, and return those that were written."""
    if not policies:
        return {}
    if arguments.dry_run:
        say(f"{len(policies)} policy files would be written to {arguments.policies}.")
        return {}
    write_files(policies)
    say(f"{len(policies)} policy files were written to {arguments.policies}.")
    return policies


FORMATS = "jsonl, synapse, step, mind2web, webshop, chrome-recorder, browser-use or browsergym"
OUT = "jsonl, chat, atif or synapse"


def add_exchange(exemplars: typer.Typer, settings: Callable[..., Any]) -> None:
    """Add them to the group."""

    @exemplars.command(name="import")
    def import_(
        file: Annotated[Path, typer.Argument(help="A file, or a folder of files.")],
        form: Annotated[
            str, typer.Option("--format", help=f"{FORMATS}; told by what is in it without.")
        ] = "",
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be imported.")] = False,
        strict: Annotated[
            bool, typer.Option("--strict", help="Import nothing where an entry is faulty or its id is taken.")
        ] = False,
        family: Annotated[
            str, typer.Option("--family", help="Given to all of them, in place of their own.")
        ] = "",
        least_reward: Annotated[
            float,
            typer.Option("--least-reward", help="What a trajectory that was judged must have got.", min=0),
        ] = 1.0,
        policies: Annotated[
            Path | None,
            typer.Option("--policies", help="For step: write the policies as files to this folder, too."),
        ] = None,
        db: Annotated[Path | None, typer.Option("--db", help="The database of traces.")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")] = False,
    ) -> None:
        """Take exemplars over from a file: what is new is kept, and nothing in it is run."""

        arguments = ImportArguments(
            path=file,
            form=form,
            dry_run=dry_run,
            strict=strict,
            family=family,
            least_reward=least_reward,
            policies=policies,
            as_json=as_json,
        )
        import_exemplars(arguments, users_store(settings(db=db)))

    @exemplars.command()
    def export(
        form: Annotated[str, typer.Option("--format", help=f"{OUT}.")] = "jsonl",
        family: Annotated[
            list[str] | None, typer.Option("--family", help="Only this family; may be repeated.")
        ] = None,
        output: Annotated[
            Path | None,
            typer.Option(
                "-o", "--output", help="The file to write, for synapse the folder; printed without."
            ),
        ] = None,
        db: Annotated[Path | None, typer.Option("--db", help="The database of traces.")] = None,
        as_json: Annotated[
            bool, typer.Option("--json", help="Print what was written as JSON to stdout.")
        ] = False,
    ) -> None:
        """Write exemplars as a file that this or another program reads."""

        export_exemplars(
            ExportArguments(form=form, families=tuple(family or ()), output=output, as_json=as_json),
            users_store(settings(db=db)),
        )
