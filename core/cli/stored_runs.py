"""The group of commands `runs`: its flags. `runs.py` and `pruning.py` carry the commands out."""

import time
from typing import Annotated, Any, get_args

import typer

from core.cli.options import AsJson, Commands, Database, settings_with
from core.schema.errors import UsageError

# What a command needs is imported when it is called: the window is to open quickly.

_DAY = 86_400
Outcome = Annotated[
    str,
    typer.Option(
        "--outcome",
        help='How the runs ended: success, "no success", or an outcome such as error or interrupted.',
    ),
]


def add_runs_commands(app: typer.Typer) -> None:
    """Add the group to the command line; without a further word it lists the runs."""
    group = typer.Typer(cls=Commands)
    app.add_typer(group, name="runs")

    @group.callback(invoke_without_command=True)
    def list_(
        context: typer.Context,
        as_json: AsJson = False,
        db: Database = None,
        search: Annotated[str, typer.Option("--search", help="Words to find in the run.")] = "",
        task: Annotated[str, typer.Option("--task", help="The task's id.")] = "",
        outcome: Outcome = "",
        limit: Annotated[int, typer.Option("--limit", min=1, help="The most runs to list.")] = 50,
    ) -> None:
        """List the runs in the trace, newest first."""
        if context.invoked_subcommand is not None:
            return
        from core.cli.runs import list_runs

        list_runs(settings_with(db=db), search, limit, task=task, outcome=_outcome(outcome), as_json=as_json)

    @group.command()
    def prune(
        older_than: Annotated[
            float | None,
            typer.Option("--older-than", min=0, help="Runs that began more than this many days ago."),
        ] = None,
        outcome: Outcome = "",
        task: Annotated[str, typer.Option("--task", help="The task's id. * stands for any characters.")] = "",
        keep: Annotated[
            int, typer.Option("--keep", min=0, help="Keep this many of the newest of these runs.")
        ] = 0,
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
