"""The flags of the command eval."""

from pathlib import Path
from typing import Annotated

import typer

from core.cli.options import (
    AsJson,
    BaseUrl,
    Browser,
    Database,
    KeptPictures,
    MaxSteps,
    OnGate,
    Sites,
    TaskFiles,
    WebArenaFiles,
    environments_of,
    settings_with,
)
from core.schema.errors import UsageError

# What a command needs is imported when it is called: the window is to open quickly.

EXIT_UNFINISHED = 1


def add_evaluation_command(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command(name="eval")
    def evaluate(
        file: Annotated[
            Path | None,
            typer.Argument(help="A TOML file with the same keys as the flags. Flags override it."),
        ] = None,
        tasks: Annotated[
            list[str] | None,
            typer.Option(
                "--tasks",
                help="Ids, patterns such as miniwob/click-*, tag:NAME, suite:NAME or @FILE, separated by commas. "
                "Can be repeated.",
            ),
        ] = None,
        seeds: Annotated[
            str | None, typer.Option("--seeds", help="Seeds, such as 0-19 or 1,4,7. Default: 0.")
        ] = None,
        preset: Annotated[
            str | None, typer.Option("--preset", help="Presets, separated by commas: laser,step.")
        ] = None,
        llm: Annotated[
            str | None,
            typer.Option("--llm", help="LLMs, separated by commas. Each is combined with each preset."),
        ] = None,
        exemplars: Annotated[
            str | None,
            typer.Option("--exemplars", help="own, none, or own,none to compare with and without exemplars."),
        ] = None,
        times: Annotated[
            int | None, typer.Option("--times", min=1, help="How many times each task at each seed.")
        ] = None,
        concurrency: Annotated[
            int | None, typer.Option("--concurrency", min=1, help="How many runs at once, in one Chromium.")
        ] = None,
        max_cost: Annotated[
            float | None,
            typer.Option("--max-cost", help="Start no further run after this cost in US dollars."),
        ] = None,
        max_minutes: Annotated[
            float | None, typer.Option("--max-minutes", help="End after this many minutes.")
        ] = None,
        name: Annotated[
            str | None,
            typer.Option("--name", help="The evaluation's name. Use the same name to continue it."),
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
        csv: Annotated[
            Path | None, typer.Option("--csv", help="Write the runs to this file, one line each.")
        ] = None,
        html: Annotated[
            Path | None, typer.Option("--html", help="Write the report to this file, one page with plots.")
        ] = None,
        name_failures: Annotated[
            str | None,
            typer.Option("--name-failures", help="The LLM that names the groups of failures. Default: none."),
        ] = None,
        failures_of: Annotated[
            str | None,
            typer.Option(
                "--failures-of",
                help="Repeat only the cases that failed in the evaluation of this name, instead of --tasks.",
            ),
        ] = None,
        cluster: Annotated[
            str | None,
            typer.Option(
                "--cluster",
                help="Make the runs on a Ray cluster: auto, HOST:PORT or ray://HOST:PORT. --concurrency then "
                "counts per two processors of its nodes.",
            ),
        ] = None,
        runtime_env: Annotated[
            Path | None,
            typer.Option("--runtime-env", help="A file that says what Ray installs on the nodes."),
        ] = None,
        base_url: BaseUrl = None,
        max_steps: MaxSteps = None,
        browser: Browser = None,
        db: Database = None,
        on_gate: OnGate = None,
        sites: Sites = None,
        pictures: KeptPictures = None,
        tasks_file: TaskFiles = None,
        webarena: WebArenaFiles = None,
        as_json: AsJson = False,
    ) -> None:
        """Do tasks at several seeds with several agents or LLMs, many at once, and compare them."""
        from core.cli.evaluation import evaluate as carry_out
        from core.cli.evaluation_report import ReportOutput, report_again
        from core.debugger.evaluations.records import words_of
        from core.debugger.evaluations.request import read_request

        settings = settings_with(
            base_url=base_url,
            db=db,
            browser=browser,
            max_steps=max_steps,
            on_gate=on_gate,
            sites=sites or None,
            pictures=pictures,
        )
        output = ReportOutput(as_json=as_json, csv=csv, html=html, name_failures=name_failures or "")
        if report:
            if not name:
                raise UsageError("Use --name to say which evaluation to report on.")
            report_again(name, settings, output)
            return
        request = read_request(
            file,
            name=name,
            tasks=tuple(word for one in tasks or () for word in words_of(one)),
            seeds=seeds,
            preset=words_of(preset or ""),
            llm=words_of(llm or ""),
            exemplars=words_of(exemplars or ""),
            times=times,
            concurrency=concurrency,
            max_cost=max_cost,
            max_minutes=max_minutes,
            failures_of=failures_of,
            cluster=cluster,
            runtime_env=runtime_env,
        )
        done = carry_out(
            request,
            settings,
            environments_of(settings, tasks_file, webarena),
            resume=resume,
            output=output,
        )
        raise typer.Exit(0 if done.done == done.total else EXIT_UNFINISHED)
