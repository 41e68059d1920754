"""The commands that make many runs and compare them: eval, bisect and repair."""

from pathlib import Path
from typing import Annotated, Any

import typer

from core.cli.options import EXIT_UNFINISHED, LLMName, Measured, PresetName, RepairOptions, with_groups
from core.schema.errors import UsageError

# What a command needs is imported when it is called: the window is to open quickly.


def add_evaluation_commands(app: typer.Typer, with_embedded: Any) -> None:
    """Add the commands to the command line."""

    @app.command(name="eval")
    @with_groups
    def evaluate(
        file: Annotated[
            Path | None,
            typer.Argument(help="A TOML file with the same keys as the flags. Flags override it."),
        ] = None,
        tasks: Annotated[
            list[str] | None,
            typer.Option(
                help="Ids, patterns such as miniwob/click-*, tag:NAME, suite:NAME or @FILE, separated by commas. "
                "Can be repeated.",
            ),
        ] = None,
        seeds: Annotated[str | None, typer.Option(help="Seeds, such as 0-19 or 1,4,7. Default: 0.")] = None,
        preset: Annotated[str | None, typer.Option(help="Presets, separated by commas: laser,step.")] = None,
        llm: Annotated[
            str | None, typer.Option(help="LLMs, separated by commas. Each is combined with each preset.")
        ] = None,
        exemplars: Annotated[
            str | None, typer.Option(help="own, none, or own,none to compare with and without exemplars.")
        ] = None,
        resume: Annotated[
            bool, typer.Option("--resume", help="Only continue the evaluation of this name.")
        ] = False,
        report: Annotated[
            bool,
            typer.Option(
                "--report",
                help="Only report on the evaluation of this name, also while it runs. Run nothing.",
            ),
        ] = False,
        listed: Annotated[
            bool, typer.Option("--list", help="Only list the evaluations of the database. Run nothing.")
        ] = False,
        failures_of: Annotated[
            str | None,
            typer.Option(
                help="Repeat only the cases that failed in the evaluation of this name, instead of --tasks."
            ),
        ] = None,
        cluster: Annotated[
            str | None,
            typer.Option(
                help="Make the runs on a Ray cluster: auto, HOST:PORT or ray://HOST:PORT. --concurrency then "
                "counts per two processors of its nodes.",
            ),
        ] = None,
        runtime_env: Annotated[
            Path | None, typer.Option(help="A file that says what Ray installs on the nodes.")
        ] = None,
        *,
        measured: Measured,
    ) -> None:
        """Do tasks at several seeds with several agents or LLMs, many at once, and compare them."""
        from core.cli.evaluation_report import list_evaluations, report_again
        from core.debugger.evaluations.records import names_of, words_of
        from core.debugger.evaluations.request import read_request

        if listed:
            list_evaluations(measured.settings(), as_json=measured.as_json)
            return
        if report:
            if not measured.name:
                raise UsageError("Use --name to say which evaluation to report on.")
            report_again(measured.name, measured.settings(), measured.output())
            return
        request = read_request(
            file,
            tasks=tuple(word for text in tasks or () for word in words_of(text)),
            seeds=seeds,
            preset=names_of(preset or ""),
            llm=names_of(llm or ""),
            exemplars=words_of(exemplars or ""),
            failures_of=failures_of,
            cluster=cluster,
            runtime_env=runtime_env,
            **measured.asked,
        )
        measured.carry_out(request, with_embedded, resume=resume)

    @app.command()
    @with_groups
    def bisect(
        run: Annotated[int, typer.Argument(help="The run's number.", min=1)],
        at: Annotated[
            list[int] | None,
            typer.Option(
                min=1,
                help="A step to start from. Can be repeated. Default: a selection of all steps.",
            ),
        ] = None,
        every: Annotated[
            int, typer.Option(min=0, help="Without --at: every so many steps. 0: a selection of all steps.")
        ] = 0,
        preset: PresetName = None,
        llm: LLMName = None,
        *,
        measured: Measured,
    ) -> None:
        """Find the step from which a run can still succeed: replay up to it and let the LLM continue, several times."""
        from core.debugger.evaluations.records import BisectRequest

        request = BisectRequest(
            run=run,
            steps=tuple(at or ()),
            every=every,
            preset=preset or "",
            llm=llm or "",
            **measured.asked,
        )
        measured.carry_out(request, with_embedded)

    @app.command()
    @with_groups
    def repair(asked: RepairOptions) -> None:
        """Find changes that mend a failed run, and prove them by runs with and without. Only --keep writes files."""
        from core.cli.repair import repair as carry_out

        if (asked.run is None) == (not asked.evaluation):
            raise UsageError("Give the number of a failed run, or --evaluation NAME.")
        if asked.no_runs and not asked.name:
            raise UsageError("Use --name with --no-runs, to say which proof is meant.")
        if asked.optimise and not (asked.evaluation and asked.component and asked.llm):
            raise UsageError("Give --optimise an --evaluation, the --llm that rewrites, and a --component.")
        settings = asked.settings()
        is_mended = carry_out(asked, settings, asked.environments(settings), with_embedded)
        raise typer.Exit(0 if is_mended else EXIT_UNFINISHED)
