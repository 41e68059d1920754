"""The commands `exemplars replay`, `worth` and `credit`, for the group that app.py has."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from core.schema.errors import UsageError

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")]
AsLines = Annotated[
    bool, typer.Option("--lines", help="Print all of it as a line of JSON at each change of it.")
]
Database = Annotated[Path | None, typer.Option("--db", help="The database of traces.")]
Browser = Annotated[
    str | None, typer.Option("--browser", help='"embedded", or the path of an installed Chromium.')
]
OnGate = Annotated[
    str | None, typer.Option("--on-gate", help="At an action that cannot be undone: refuse, allow or end.")
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="Base URL of the LLM's endpoint.")]
TaskFiles = Annotated[
    list[Path] | None, typer.Option("--tasks-file", help="A file of tasks; may be repeated.")
]
WebArenaFiles = Annotated[
    list[Path] | None,
    typer.Option("--webarena", help="A WebArena configuration file or folder; may be repeated."),
]


def add_experiment_commands(
    exemplars: typer.Typer,
    settings: Callable[..., Any],
    environments: Callable[..., Any],
    *,
    with_embedded: Callable[..., Any],
    with_loop: Callable[..., Any],
) -> None:
    """Add them to the group."""

    @exemplars.command()
    def replay(
        ids: Annotated[
            list[str] | None, typer.Argument(help="Exemplars; without any, all that the filter lets through.")
        ] = None,
        family: Annotated[str, typer.Option("--family", help="Those of one family.")] = "",
        origin: Annotated[str, typer.Option("--origin", help="Those of one origin.")] = "",
        tag: Annotated[list[str] | None, typer.Option("--tag", help="Those with a tag.")] = None,
        on_gate: OnGate = None,
        browser: Browser = None,
        db: Database = None,
        tasks_file: TaskFiles = None,
        webarena: WebArenaFiles = None,
        as_json: AsJson = False,
        as_lines: AsLines = False,
    ) -> None:
        """Carry exemplars out on the tasks they came from: do they still succeed? The exit code is 1 if not."""
        from core.cli.replay import ReplayArguments, replay_exemplars
        from core.memory.library.records import Filter, Origin

        if origin and origin not in get_args(Origin):
            raise UsageError(f'"{origin}" is no origin; choose one of {", ".join(get_args(Origin))}.')
        used = settings(db=db, browser=browser, on_gate=on_gate)
        chosen = Filter.model_validate({"family": family, "origin": origin, "tags": tuple(tag or ())})
        arguments = ReplayArguments(ids=tuple(ids or ()), chosen=chosen, as_json=as_json, as_lines=as_lines)
        is_good = replay_exemplars(
            arguments,
            used,
            environments(used, tasks_file, webarena),
            with_embedded=with_embedded,
            with_loop=with_loop,
        )
        raise typer.Exit(0 if is_good else 1)

    @exemplars.command()
    def worth(
        name: Annotated[str, typer.Argument(help="An exemplar's id, or a family with --family.")],
        of_family: Annotated[
            bool, typer.Option("--family", help="All exemplars of the family of this name.")
        ] = False,
        change: Annotated[
            str, typer.Option("--change", help="Try one version against another, such as 1:2.")
        ] = "",
        task: Annotated[
            list[str] | None,
            typer.Option(
                "--task",
                help="A task, or a pattern such as miniwob/click-*; may be repeated. Else where it came from.",
            ),
        ] = None,
        seeds: Annotated[str, typer.Option("--seeds", help="Such as 0-9 or 1,4,7.")] = "0-4",
        times: Annotated[int, typer.Option("--times", min=1, max=100, help="How often each.")] = 1,
        preset: Annotated[
            str | None,
            typer.Option("--preset", help="One with memory; else that of the settings, or synapse."),
        ] = None,
        llm: Annotated[str | None, typer.Option("--llm", help="Who answers the prompts.")] = None,
        base_url: BaseUrl = None,
        max_calls: Annotated[
            int | None,
            typer.Option("--max-calls", min=1, help="LLM calls after which no further pair is begun."),
        ] = None,
        max_cost: Annotated[
            float | None, typer.Option("--max-cost", min=0.0001, help="US dollars, likewise.")
        ] = None,
        max_steps: Annotated[
            int | None, typer.Option("--max-steps", min=1, help="Page actions after which a run ends.")
        ] = None,
        on_gate: Annotated[
            str | None,
            typer.Option("--on-gate", help="At an action that cannot be undone: refuse, allow, end."),
        ] = None,
        browser: Browser = None,
        db: Database = None,
        tasks_file: TaskFiles = None,
        webarena: WebArenaFiles = None,
        as_json: AsJson = False,
        as_lines: AsLines = False,
    ) -> None:
        """Find what an exemplar is worth: tasks at the same seeds with it and without, and which runs flip."""
        from core.cli.evaluation import EvaluationArguments, evaluate_exemplars, read_subject
        from core.debugger.experiments.evaluation_records import read_seeds

        chosen = settings(base_url=base_url, db=db, browser=browser, max_steps=max_steps, on_gate=on_gate)
        arguments = EvaluationArguments(
            subject=read_subject(name, is_family=of_family, change=change),
            tasks=tuple(task or ()),
            seeds=read_seeds(seeds),
            times=times,
            preset=preset or "",
            llm=llm or "",
            most_calls=max_calls,
            most_cost=max_cost,
            as_json=as_json,
            as_lines=as_lines,
        )
        evaluate_exemplars(
            arguments,
            chosen,
            environments(chosen, tasks_file, webarena),
            with_embedded=with_embedded,
            with_loop=with_loop,
        )

    @exemplars.command()
    def credit(
        run: Annotated[int | None, typer.Argument(help="A run; without one, the credits so far.")] = None,
        step: Annotated[
            list[int] | None, typer.Option("--step", min=1, help="A step; may be repeated. Else all.")
        ] = None,
        times: Annotated[int, typer.Option("--times", min=1, max=100, help="How often each is asked.")] = 5,
        temperature: Annotated[
            float | None, typer.Option("--temperature", min=0, max=5, help="In place of what was sent.")
        ] = None,
        llm: Annotated[str | None, typer.Option("--llm", help="In place of the run's own.")] = None,
        base_url: BaseUrl = None,
        db: Database = None,
        as_json: AsJson = False,
    ) -> None:
        """Ask a run's steps again without each of their exemplars: by how much did it make the action likelier?"""
        from core.cli.attribution import AttributionArguments, attribute_run

        arguments = AttributionArguments(
            run=run,
            steps=tuple(step or ()),
            times=times,
            temperature=temperature,
            llm=llm or "",
            as_json=as_json,
        )
        attribute_run(arguments, settings(base_url=base_url, db=db), with_loop=with_loop)
