"""Import and export of exemplars: prints the changes first, then does everything or nothing."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from core.cli.output import put_file, put_json, put_table, say
from core.debugger.exemplars.formats import export_format
from core.memory.exchange.imports.step import is_step
from core.memory.exchange.plan import ImportPlan, LibraryStore, plan_of
from core.memory.exchange.reader import IMPORTS, FoundExemplars, read_exemplars_of
from core.memory.exchange.records import ReadOptions, read_document
from core.memory.files import EXEMPLARS, ExemplarFiles, write_files
from core.memory.library.records import LIBRARY_NAME, Origin
from core.schema.errors import DataError, UsageError
from core.settings.settings import Settings, config_folder
from core.settings.user_file import near


def users_store(settings: Settings) -> LibraryStore:
    """Return the user's library, besides the exemplars of the installation and of the user's folder of files."""
    data = settings.database.parent
    return LibraryStore(data / LIBRARY_NAME, ExemplarFiles((EXEMPLARS, data / "exemplars")))


def import_exemplars(
    path: Path,
    form: str,
    store: LibraryStore,
    *,
    dry_run: bool,
    strict: bool,
    family: str,
    least_reward: float,
    policies: Path | None,
    as_json: bool,
) -> None:
    """Print what is in the file and keep what is new in the store; with `dry_run` nothing is kept.

    Raises DataError, with nothing kept, if nothing can be read or, with
    `strict`, where an entry is faulty or its id is taken.
    """
    found = read_exemplars_of(path, form, ReadOptions(family=family, least_reward=least_reward))
    plan = plan_of(found.reading, store.held())
    problem = _problem(path, plan, strict=strict)
    if not as_json:
        _show(path, found, plan)
    kept_in = ""
    files: dict[Path, str] = {}
    if not problem:
        # What policy files cannot be written over is known before anything is kept.
        files = _policies(path, policies) if policies is not None else {}
        if plan.new and not dry_run:
            kept_in = store.add(plan.new, path.resolve().stem)
        files = _written(files, policies, dry_run=dry_run)
    if as_json:
        put_json(_as_json(path, found, plan, kept_in, files))
    if problem:
        raise DataError(problem)
    if kept_in:
        say(f"{_so_many(len(plan.new))} of {path} were saved in {kept_in}.")
    elif plan.new:
        say(f"{_so_many(len(plan.new))} of {path} would be saved. Nothing was saved.")
    else:
        say(f"{path} contains nothing new. Nothing was saved.")


def export_exemplars(
    form: str,
    output: Path | None,
    store: LibraryStore,
    *,
    families: Collection[str] = (),
    ids: Collection[str] = (),
    origin: Origin | None = None,
    mine: bool = False,
    as_json: bool = False,
) -> None:
    """Write the exemplars of the store, or those of it that are asked for, by family and id.

    Without a file they are printed. Raises UsageError for an unknown format,
    family or id, and DataError for a file that cannot be written.
    """
    chosen_form = export_format(form)
    held = sorted(store.held(), key=lambda one: (one.family, one.id))
    for what, names, known in (
        ("family", families, tuple(dict.fromkeys(one.family for one in held))),
        ("exemplar", ids, tuple(one.id for one in held)),
    ):
        for name in names:
            if name not in known:
                raise UsageError(f'There is no {what} "{name}"; {near(name, known)}')
    if origin is not None or mine:
        held = sorted(store.held(origin, mine=mine), key=lambda one: (one.family, one.id))
    chosen = tuple(
        one for one in held if (not families or one.family in families) and (not ids or one.id in ids)
    )
    if not chosen and (families or ids or origin or mine):
        raise UsageError("No exemplar matches all filters. To list exemplars, use exemplars list.")
    if not chosen:
        raise UsageError("There are no exemplars to export. Import or record some first.")
    if output is None and (not chosen_form.suffix or as_json):
        raise UsageError(f"Use --output to say where to write {chosen_form.title}.")
    files = chosen_form.write(chosen)
    if output is None:
        put_file(files[""].rstrip("\n"))
        return
    write_files({output / name if name else output: text for name, text in files.items()})
    if as_json:
        put_json(
            {
                "format": chosen_form.name,
                "output": str(output),
                "files": [str(output / name if name else output) for name in files],
                "exemplars": [one.id for one in chosen],
            }
        )
    counted = len({one.family for one in chosen})
    said = "1 family" if counted == 1 else f"{counted} families"
    say(f"{_so_many(len(chosen))} of {said} were written to {output}.")


def _problem(path: Path, plan: ImportPlan, *, strict: bool) -> str:
    """Return why nothing may be kept, or nothing."""
    faulty = plan.reading.faulty
    if strict and faulty:
        return (
            f"{path} was not imported: {faulty[0].position}: {faulty[0].why}{_more(len(faulty))}. "
            "Fix or remove these entries, or import without --strict."
        )
    taken = [one.candidate for one in plan.planned if one.fate == "id taken"]
    if strict and taken:
        return (
            f"{path} was not imported: {taken[0].position}: another exemplar has the id "
            f"{taken[0].exemplar.id}{_more(len(taken))}. Change the ids, or import without --strict."
        )
    if faulty and not plan.planned:
        first = faulty[0]
        return f"{path} was not imported: {first.position}: {first.why}{_more(len(faulty))}."
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
    path: Path,
    found: FoundExemplars,
    plan: ImportPlan,
    kept_in: str,
    policies: Iterable[Path],
) -> dict[str, Any]:
    return {
        "file": str(path),
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


def _policies(path: Path, folder: Path) -> dict[Path, str]:
    """Return the policies of SteP's files as policy files; raises DataError if one is there already."""
    from core.agent.policies.step_import import policy_files

    documents = sorted([*path.glob("*.json"), *path.glob("*.py")]) if path.is_dir() else [path]
    found: dict[Path, str] = {}
    first: list[str] = []
    are_step = False
    for document in map(read_document, documents):
        if not is_step(document):
            continue
        are_step = True
        made = policy_files(document)
        for entry in made.left_out:
            say(f"Left out of the policies: {entry.position}: {entry.why}.")
        for entry in made.undefined:
            say(f"Undefined: {entry.position}: {entry.why}.")
        first += made.first
        for name, text in made.files.items():
            if folder / name in found or (folder / name).exists():
                raise DataError(f"{folder / name} exists already: choose another folder with --policies.")
            found[folder / name] = text
    if not found and are_step:
        raise UsageError("None of the policies became a policy file, for the reasons above.")
    if not found:
        raise UsageError("Only SteP's policies become policy files: leave out --policies.")
    _say_what_runs_do(folder, found, first)
    return found


def _say_what_runs_do(folder: Path, files: Iterable[Path], first: Sequence[str]) -> None:
    """Say which built-in policies the files would take the place of, and why no run begins with one of them."""
    from core.agent.policies.catalogue import POLICIES

    read = (config_folder() / "policies").resolve()
    home = folder.resolve()
    if read not in home.parents:
        say(
            f"No run reads policies of {folder}: put them into a folder named after their environment "
            f"in {read}, such as {read / 'webarena'}."
        )
    elif replaced := [one.stem for one in files if (POLICIES / home.relative_to(read) / one.name).exists()]:
        say(f"They override the built-in policies of the same names: {', '.join(replaced)}.")
    begins = (
        f"add top = true to {' or '.join(f'{one}.md' for one in first)}" if first else "one needs top = true"
    )
    say(f"No run begins with one of these policies: {begins}, and say under [applies] on which pages.")


def _written(policies: dict[Path, str], folder: Path | None, *, dry_run: bool) -> dict[Path, str]:
    """Write the policy files, all or none, and return those that were written."""
    if not policies:
        return {}
    if dry_run:
        say(f"{len(policies)} policy files would be written to {folder}.")
        return {}
    write_files(policies)
    say(f"{len(policies)} policy files were written to {folder}.")
    return policies
