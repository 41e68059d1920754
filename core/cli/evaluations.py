"""The flags of the command eval."""

from pathlib import Path
from typing import Annotated

import typer

from core.cli.options import (
    AsJson,
    BaseUrl,
    Browser,
    Database,
    MaxSteps,
    OnGate,
    TaskFiles,
    WebArenaFiles,
    environments_of,
    settings_with,
)

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
        tasks_file: TaskFiles = None,
        webarena: WebArenaFiles = None,
        as_json: AsJson = False,
    ) -> None:
        """Do tasks at several seeds with several agents or LLMs, many at once, and compare them."""
        from core.cli.evaluation import evaluate as carry_out
        from core.cli.evaluation import read_request
        from core.debugger.evaluations.selection import words_of

        settings = settings_with(
            base_url=base_url, db=db, browser=browser, max_steps=max_steps, on_gate=on_gate
        )
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
            cluster=cluster,
            runtime_env=runtime_env,
        )
        report = carry_out(
            request,
            settings,
            environments_of(settings, tasks_file, webarena),
            resume=resume,
            as_json=as_json,
        )
        raise typer.Exit(0 if report.done == report.total else EXIT_UNFINISHED)
