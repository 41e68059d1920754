"""The commands `exemplars import` and `exemplars export`, for the group that app.py has."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

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
        from core.cli.exchanging import ImportArguments, import_exemplars, users_store

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
        from core.cli.exchanging import ExportArguments, export_exemplars, users_store

        export_exemplars(
            ExportArguments(form=form, families=tuple(family or ()), output=output, as_json=as_json),
            users_store(settings(db=db)),
        )
