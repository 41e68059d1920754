"""Import and export of exemplars: prints the changes first, then does everything or nothing."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from core.cli.exemplar_tables import memory_of
from core.cli.output import put_file, put_json, put_table, say
from core.debugger.exemplars.formats import export_format, left_out_words
from core.exemplars.exchange.documents import read_document
from core.exemplars.exchange.importing import FilesRead, keep
from core.exemplars.exchange.imports.step import is_step
from core.exemplars.exchange.plan import Fate, ImportChoices, ImportPlan
from core.exemplars.exchange.reader import titles_of
from core.exemplars.files import write_files
from core.exemplars.library.records import ANY, Filter, Origin
from core.exemplars.memory import Memory
from core.schema.errors import DataError, UsageError
from core.schema.exemplar import Exemplar, Status
from core.schema.formats import count
from core.settings.settings import Settings, config_folder
from core.settings.user_file import near


def import_exemplars(
    settings: Settings,
    choices: ImportChoices,
    *,
    dry_run: bool,
    policies: Path | None,
    as_json: bool,
) -> None:
    """Print what is in the file and keep what is new in the library; with `dry_run` nothing is kept.

    Raises DataError, with nothing kept, if nothing can be read or the choices
    refuse an entry.
    """
    path = Path(choices.paths[0])
    with closing(memory_of(settings)) as memory:
        plan = FilesRead(choices, memory).plan(choices)
        if not as_json:
            _show(path, plan)
        files: dict[Path, str] = {}
        kept_in = ""
        if not plan.problem:
            # What policy files cannot be written over is known before anything is kept.
            files = _policies(path, policies) if policies is not None else {}
            if plan.coming and not dry_run:
                keep(plan, memory)
                kept_in = str(memory.library_path)
            files = _written(files, policies, dry_run=dry_run)
    if as_json:
        put_json(_as_json(path, plan, kept_in, files))
    if plan.problem:
        hint = " Fix or remove these entries, or import without --strict." if plan.exemplars else ""
        raise DataError(f"{path} was not imported: {plan.problem}.{hint}")
    if kept_in:
        say(f"Saved {count(len(plan.coming), 'exemplar')} of {path} in {kept_in}.")
    elif plan.coming:
        say(f"{count(len(plan.coming), 'exemplar')} of {path} would be saved. Nothing was saved.")
    else:
        say(f"{path} contains nothing new. Nothing was saved.")


def export_exemplars(
    settings: Settings,
    form: str,
    output: Path | None,
    *,
    families: Collection[str] = (),
    ids: Collection[str] = (),
    origin: Origin | None = None,
    statuses: tuple[Status, ...] = ("reviewed",),
    mine: bool = False,
    as_json: bool = False,
) -> None:
    """Write the exemplars of the user, or those of them that are asked for, by family and id.

    Without a file they are printed. Raises UsageError for an unknown format,
    family or id, and DataError for a file that cannot be written.
    """
    chosen_form = export_format(form)
    with closing(memory_of(settings)) as memory:
        held = _held(memory)
        among = _held(memory, origin, mine=mine)
    for what, names, known in (
        ("family", families, tuple(dict.fromkeys(exemplar.family for exemplar in held))),
        ("exemplar", ids, tuple(exemplar.id for exemplar in held)),
    ):
        for name in names:
            if name not in known:
                raise UsageError(f'There is no {what} "{name}"; {near(name, known)}')
    matching = [
        exemplar
        for exemplar in among
        if (not families or exemplar.family in families) and (not ids or exemplar.id in ids)
    ]
    left_out = Counter(exemplar.review.status for exemplar in matching)
    for status in statuses:
        left_out.pop(status, None)
    chosen, unfit = chosen_form.fitting(one for one in matching if one.review.status in statuses)
    if without := left_out_words(left_out, unfit):
        say(f"Left out: {without}.")
    if left_out:
        say("To export those of another status, use --status.")
    if not chosen and matching:
        raise UsageError("Nothing is left to export: all that match the filters are left out.")
    if not chosen and held:
        raise UsageError("No exemplar matches all filters. To list exemplars, use exemplars list.")
    if not chosen:
        raise UsageError("There are no exemplars to export. Import or record some first.")
    if output is None and (not chosen_form.suffix or as_json):
        raise UsageError(f"Use --output to say where to write {chosen_form.title}.")
    if output is None:
        put_file(chosen_form.write(chosen)[""].rstrip("\n"))
        return
    files = chosen_form.files(chosen, output)
    write_files(files)
    if as_json:
        put_json(
            {
                "format": chosen_form.name,
                "output": str(output),
                "files": [str(file) for file in files],
                "exemplars": [exemplar.id for exemplar in chosen],
            }
        )
    number = len({exemplar.family for exemplar in chosen})
    of = count(number, "family", "families")
    say(f"Wrote {count(len(chosen), 'exemplar')} of {of} to {output}.")


def _held(memory: Memory, origin: Origin | None = None, *, mine: bool = False) -> list[Exemplar]:
    """Return the exemplars of the library and of files by family and id, of any status.

    With an origin only those that came from there, with `mine` none of the installation's.
    """
    entries = memory.library().entries(Filter(statuses=ANY, origin=origin or ""))
    held = (entry.exemplar for entry in entries if not (mine and entry.provenance.origin == "bundled"))
    return sorted(held, key=lambda exemplar: (exemplar.family, exemplar.id))


def _show(path: Path, plan: ImportPlan) -> None:
    counts = ", ".join(f"{number} {fate}" for fate, number in plan.counts.items())
    say(
        f"{path} is {titles_of(plan.formats) or 'of no kind that could be read'}: {counts or 'nothing in it'}."
    )
    rows = [
        (entry.position, entry.fate, exemplar.family, exemplar.id, entry.why)
        for entry, exemplar in plan.exemplars
    ]
    if rows:
        put_table(("entry", "", "family", "id", "why"), rows)
    others: list[tuple[str, str, str]] = [
        (entry.position, entry.fate, entry.why) for entry in plan.those("left out", "faulty")
    ]
    others += [(entry.position, "remark", remark) for entry in plan.entries for remark in entry.remarks]
    if others:
        put_table(("entry", "", "why"), others)


def _as_json(path: Path, plan: ImportPlan, kept_in: str, policies: Iterable[Path]) -> dict[str, Any]:
    def others(fate: Fate) -> list[dict[str, str]]:
        return [{"position": entry.position, "why": entry.why} for entry in plan.those(fate)]

    return {
        "file": str(path),
        "formats": list(plan.formats),
        "kept_in": kept_in or None,
        "policies": sorted(map(str, policies)),
        "exemplars": [
            {
                **entry.model_dump(include={"position", "fate", "why", "remarks"}),
                **exemplar.model_dump(include={"id", "family", "task"}),
                "steps": len(exemplar.steps),
            }
            for entry, exemplar in plan.exemplars
        ],
        "left_out": others("left out"),
        "faulty": others("faulty"),
    }


def _policies(path: Path, folder: Path) -> dict[Path, str]:
    """Return the policies of SteP's files as policy files; raises DataError if one is there already."""
    from core.agent.policies.step_import import policy_files

    documents = sorted([*path.glob("*.json"), *path.glob("*.py")]) if path.is_dir() else [path]
    files: dict[Path, str] = {}
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
            if folder / name in files or (folder / name).exists():
                raise DataError(f"{folder / name} exists already: choose another folder with --policies.")
            files[folder / name] = text
    if not files and are_step:
        raise UsageError("None of the policies became a policy file, for the reasons above.")
    if not files:
        raise UsageError("Only SteP's policies become policy files: leave out --policies.")
    _say_what_runs_do(folder, files, first)
    return files


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
    elif replaced := [
        file.stem for file in files if (POLICIES / home.relative_to(read) / file.name).exists()
    ]:
        say(f"They override the built-in policies of the same names: {', '.join(replaced)}.")
    begins = (
        f"add top = true to {' or '.join(f'{name}.md' for name in first)}"
        if first
        else "one needs top = true"
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
    say(f"Wrote {count(len(policies), 'policy file')} to {folder}.")
    return policies
