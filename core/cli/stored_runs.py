"""The commands on stored runs: their flags. The other modules here carry the commands out."""

import time
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from core.cli.options import AsJson, Commands, Database, DryRun, settings_with
from core.schema.errors import UsageError
from core.trace.exports.registry import FORMATS

# What a command needs is imported when it is called: the window is to open quickly.

_DAY = 86_400
FORMAT_NAMES = ", ".join(form.name for form in FORMATS)
Outcome = Annotated[
    str,
    typer.Option(
        "--outcome",
        help='How the runs ended: success, "no success", or an outcome such as error or interrupted.',
    ),
]


def add_runs_commands(app: typer.Typer) -> None:
    """Add the commands to the command line; `runs` without a further word lists the runs."""
    _add_group(app)

    @app.command()
    def compare(
        left: Annotated[int, typer.Argument(help="A run's number.")],
        right: Annotated[int, typer.Argument(help="Another run's number.")],
        as_json: AsJson = False,
        db: Database = None,
    ) -> None:
        """Show two runs or branches side by side, and where they first differ."""
        from core.cli.runs import compare as compare_command

        compare_command(settings_with(db=db), left, right, as_json=as_json)

    @app.command()
    def show(
        run: Annotated[int, typer.Argument(help="The run's number.")],
        step: Annotated[int | None, typer.Option(min=1, help="Show this step in full.")] = None,
        actions: Annotated[
            bool, typer.Option("--actions", help="With --step: what was permissible.")
        ] = False,
        brief: Annotated[
            bool, typer.Option("--brief/--records", help="JSON of a step: without records, or with.")
        ] = False,
        as_json: AsJson = False,
        db: Database = None,
    ) -> None:
        """Show a run, or one step of it."""
        from core.cli.runs import show_run

        show_run(settings_with(db=db), run, step, actions=actions, brief=brief, as_json=as_json)

    @app.command()
    def causes(
        run: Annotated[int, typer.Argument(help="The number of a failed run.")],
        report: Annotated[
            bool,
            typer.Option(
                "--report",
                help="Print Markdown, with the steps and the prompt of the first cause.",
            ),
        ] = False,
        as_json: AsJson = False,
        db: Database = None,
    ) -> None:
        """Show what may have caused a run to fail, with evidence and place, the likeliest first."""
        from core.cli.causes import show_causes

        show_causes(settings_with(db=db), run, as_json=as_json, as_report=report)

    @app.command()
    def files(
        name: Annotated[str | None, typer.Argument(help="The name of a file, as the list has it.")] = None,
        as_json: AsJson = False,
    ) -> None:
        """List the files of agents (policies, presets, prompts, state spaces), or print one."""
        from core.cli.agent_files import show_files

        show_files(name, as_json=as_json)

    @app.command()
    def export(
        run: Annotated[int, typer.Argument(help="The run's number.")],
        output: Annotated[
            Path | None, typer.Option("-o", "--output", "--to", help="The file to write.")
        ] = None,
        form: Annotated[str, typer.Option("--format", help=f"One of {FORMAT_NAMES}.")] = "html",
        endpoint: Annotated[
            str,
            typer.Option(
                help="For otel: send the run over OTLP/HTTP to this address, such as http://127.0.0.1:4318."
            ),
        ] = "",
        content: Annotated[
            bool,
            typer.Option(
                "--content",
                help="For otel: include the text of the task, pages, prompts and replies, and typed text. "
                "Default: leave it out.",
            ),
        ] = False,
        db: Database = None,
    ) -> None:
        """Write a run to one file, or send it to a collector."""
        from core.cli.run_files import export as write
        from core.cli.run_files import send

        if endpoint:
            send(settings_with(db=db), run, form, endpoint, content=content)
        if output is not None:
            write(settings_with(db=db), run, form, output, content=content)
        elif not endpoint:
            raise UsageError(
                "Use --output to say where to write the run. With the format otel, --endpoint sends it instead."
            )

    @app.command(name="import")
    def import_(
        file: Annotated[Path, typer.Argument(help="A repro file, or a recording saved as JSON.")],
        form: Annotated[
            str,
            typer.Option(
                "--format", help="repro, chrome-recorder or browser-use. Default: recognised by its content."
            ),
        ] = "",
        dry_run: DryRun = False,
        as_json: AsJson = False,
        db: Database = None,
    ) -> None:
        """Import a repro file, or a recording of another program, as a run."""
        from core.cli.run_files import import_file

        import_file(settings_with(db=db), file, form, dry_run=dry_run, as_json=as_json)

    @app.command()
    def draft(
        runs: Annotated[list[int], typer.Argument(help="The numbers of recorded runs.")],
        output: Annotated[Path, typer.Option("-o", "--output", help="The file to write, such as shop.toml.")],
        title: Annotated[
            str, typer.Option(help="The name of the state space. Default: the file's name.")
        ] = "",
        force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
        db: Database = None,
    ) -> None:
        """Draft a state space from the pages of recorded runs, as a file to edit."""
        from core.cli.drafting import draft as write

        write(settings_with(db=db), runs, output, title=title, force=force)


def _add_group(app: typer.Typer) -> None:
    group = typer.Typer(cls=Commands)
    app.add_typer(group, name="runs")

    @group.callback(invoke_without_command=True)
    def list_(
        context: typer.Context,
        as_json: AsJson = False,
        db: Database = None,
        search: Annotated[str, typer.Option(help="Words to find in the run.")] = "",
        task: Annotated[str, typer.Option(help="The task's id.")] = "",
        outcome: Outcome = "",
        limit: Annotated[int, typer.Option(min=1, help="The most runs to list.")] = 50,
    ) -> None:
        """List the runs in the trace, newest first."""
        if context.invoked_subcommand is not None:
            return
        from core.cli.runs import list_runs

        list_runs(settings_with(db=db), search, limit, task=task, outcome=_outcome(outcome), as_json=as_json)

    @group.command()
    def prune(
        older_than: Annotated[
            float | None, typer.Option(min=0, help="Runs that began more than this many days ago.")
        ] = None,
        outcome: Outcome = "",
        task: Annotated[str, typer.Option(help="The task's id. * stands for any characters.")] = "",
        keep: Annotated[int, typer.Option(min=0, help="Keep this many of the newest of these runs.")] = 0,
        named: Annotated[bool, typer.Option("--named", help="Also delete runs with a name.")] = False,
        exemplars: Annotated[
            bool,
            typer.Option("--exemplars", help="Also delete runs that exemplars in the library came from."),
        ] = False,
        branched: Annotated[
            bool,
            typer.Option(
                "--branched",
                help="Also delete runs with branches, if all their branches go too.",
            ),
        ] = False,
        evaluated: Annotated[
            bool,
            typer.Option(
                "--evaluated",
                help="Also delete runs that evaluations count. When resumed, evaluations repeat them.",
            ),
        ] = False,
        yes: Annotated[
            bool,
            typer.Option("--yes", help="Delete the runs. Without it, the command only lists what would go."),
        ] = False,
        db: Database = None,
        as_json: AsJson = False,
    ) -> None:
        """Delete runs that meet all that is given, for good, and what only they needed."""
        from core.cli.pruning import prune_runs
        from core.trace.pruning import PruneRequest

        if older_than is None and not outcome and not task and not keep:
            raise UsageError("Choose the runs to delete: --older-than DAYS, --outcome, --task or --keep N.")
        wanted = PruneRequest(
            before=None if older_than is None else time.time() - older_than * _DAY,
            outcome=_outcome(outcome),
            task=task,
            keep=keep,
            named=named,
            exemplars=exemplars,
            branched=branched,
            evaluated=evaluated,
        )
        prune_runs(settings_with(db=db), wanted, yes=yes, as_json=as_json)


def _outcome(given: str) -> Any:
    """Return an outcome that was given; raises UsageError for what is none."""
    from core.trace.records import RunFilter

    known = get_args(RunFilter)
    if given not in known:
        raise UsageError(f'"{given}" is not an outcome; use one of {", ".join(known[1:])}.')
    return given
