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
            typer.Argument(help="A TOML file with the same keys as the flags, which go before it."),
        ] = None,
        tasks: Annotated[
            list[str] | None,
            typer.Option(
                "--tasks",
                help="Ids, patterns such as miniwob/click-*, tag:NAME, suite:NAME or @FILE, parted by commas; "
                "may be repeated.",
            ),
        ] = None,
        seeds: Annotated[
            str | None, typer.Option("--seeds", help="Seeds, as in 0-19 or 1,4,7; 0 without.")
        ] = None,
        preset: Annotated[
            str | None, typer.Option("--preset", help="Which agents, parted by commas: laser,step.")
        ] = None,
        llm: Annotated[
            str | None, typer.Option("--llm", help="Who answers, parted by commas; each with each agent.")
        ] = None,
        exemplars: Annotated[
            str | None,
            typer.Option("--exemplars", help="own, none, or own,none to compare with and without."),
        ] = None,
        times: Annotated[
            int | None, typer.Option("--times", min=1, help="How often each task at each seed.")
        ] = None,
        concurrency: Annotated[
            int | None, typer.Option("--concurrency", min=1, help="Runs at once, in one Chromium.")
        ] = None,
        max_cost: Annotated[
            float | None,
            typer.Option("--max-cost", help="US dollars after which no further run is begun."),
        ] = None,
        max_minutes: Annotated[
            float | None, typer.Option("--max-minutes", help="Minutes after which it ends.")
        ] = None,
        name: Annotated[
            str | None, typer.Option("--name", help="What it is called; the same name goes on with it.")
        ] = None,
        resume: Annotated[
            bool, typer.Option("--resume", help="Only go on with the one of this name.")
        ] = False,
        report: Annotated[
            bool,
            typer.Option(
                "--report", help="Only report on the one of this name, as far as it is; run nothing."
            ),
        ] = False,
        csv: Annotated[
            Path | None, typer.Option("--csv", help="Write the runs to this file, a line each.")
        ] = None,
        html: Annotated[
            Path | None, typer.Option("--html", help="Write the report to this file, one page with plots.")
        ] = None,
        name_failures: Annotated[
            str | None,
            typer.Option("--name-failures", help="The LLM that names the groups of failures; none without."),
        ] = None,
        failures_of: Annotated[
            str | None,
            typer.Option(
                "--failures-of",
                help="Do the cases again that failed in the evaluation of this name, in place of --tasks.",
            ),
        ] = None,
        cluster: Annotated[
            str | None,
            typer.Option(
                "--cluster",
                help="Make the runs on a Ray cluster: auto, HOST:PORT or ray://HOST:PORT; --concurrency is then for "
                "each two processors of its nodes.",
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
            pictures=pictures,
        )
        output = ReportOutput(as_json=as_json, csv=csv, html=html, name_failures=name_failures or "")
        if report:
            if not name:
                raise UsageError("Say with --name which evaluation is reported on.")
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
