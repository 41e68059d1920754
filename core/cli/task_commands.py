"""The commands that open a task or carry one out: the window, attach, tasks, run, fork and exemplar."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from core.cli.options import (
    AsJson,
    Browser,
    EmbeddedProfiles,
    KeptPictures,
    LLMName,
    PresetName,
    Surroundings,
    TaskChosen,
    TasksKnown,
    Unattended,
    settings_with,
    with_groups,
)
from core.cli.output import put, say
from core.schema.errors import UsageError
from core.setup import EXIT_WORLD_FAILED, display_problem
from core.system.program import program_version

# What a command needs is imported when it is called: the window is to open quickly.

DEFAULT_TASK = "miniwob/click-test-2"
RunNumber = Annotated[int, typer.Argument(help="The run's number.")]


def _print_version(asked: bool) -> None:
    if asked:
        put(program_version())
        raise typer.Exit


def add_window_commands(app: typer.Typer, open_window: Callable[..., int]) -> None:
    """Add what opens the window: the command line without a command, and attach."""

    def show_window(world: Surroundings, *names: str, **opening: Any) -> NoReturn:
        """Show the window until it is closed; raises typer.Exit."""
        settings = world.settings(**{name: opening.get(name) or None for name in names})
        if settings.browser != "embedded":
            from core.browser.chromium import chromium_at

            chromium_at(settings.browser)  # Raises BrowserError if it is not there.
        if problem := display_problem():
            say(problem)
            raise typer.Exit(EXIT_WORLD_FAILED)
        from core.cli.window_arguments import WindowArguments

        if opening.get("run") is not None:
            from core.cli.runs import step_to_show

            opening["step"] = step_to_show(settings, opening["run"])
        arguments = WindowArguments(
            task_files=tuple(path.absolute() for path in world.tasks_file or ()),
            webarena=tuple(path.absolute() for path in world.webarena or ()),
            **opening,
        )
        raise typer.Exit(open_window(arguments, settings))

    @app.callback(invoke_without_command=True)
    @with_groups
    def window(
        context: typer.Context,
        chosen: TaskChosen,
        world: Surroundings,
        preset: PresetName = None,
        llm: LLMName = None,
        run: Annotated[
            int | None, typer.Option(help="A stored run to open, at the step that decided it.")
        ] = None,
        version: Annotated[
            bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
        ] = False,
    ) -> None:
        """Open the window on a task, ready to step, or at a stored run."""
        if context.invoked_subcommand is not None:
            return
        if run is not None and (chosen.task or chosen.url):
            raise UsageError("--run opens a stored run, --task and --url open a task: use one of them.")
        show_window(
            world,
            *("preset", "llm"),
            run=run,
            task=_task(chosen),
            seed=chosen.seed,
            url=chosen.url,
            instruction=chosen.instruction,
            chosen=bool(chosen.task or chosen.url or run is not None),
            preset=preset or "",
            llm=llm or "",
        )

    @app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
    @with_groups
    def attach(
        chosen: TaskChosen,
        world: Surroundings,
        command: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="[--] PROGRAM [ARGUMENTS]…",
                help="The agent to start. Leave it out for an agent that you start yourself.",
            ),
        ] = None,
        llm: LLMName = None,
        env: Annotated[
            list[str] | None,
            typer.Option(
                metavar="NAME", help="A key of yours that the agent gets as this variable. Repeat it."
            ),
        ] = None,
    ) -> None:
        """Open the window and attach your own agent to its browser and your LLM."""
        from core.debugger.attach.views import AttachRequest

        if command and command[0].startswith("-"):
            raise UsageError(f"{command[0]} is not an option of attach, and no program to start.")
        request = AttachRequest(
            command=tuple(command or ()),
            folder=str(Path.cwd()),
            task=chosen.task,
            seed=chosen.seed,
            url=chosen.url,
            instruction=chosen.instruction,
            env=tuple(env or ()),
        )
        show_window(world, "llm", task=chosen.task, chosen=True, llm=llm or "", attach=request)


def add_task_commands(app: typer.Typer, with_embedded: Callable[..., Any]) -> None:
    """Add what carries out tasks without a window."""

    @app.command()
    @with_groups
    def tasks(world: TasksKnown, as_json: AsJson = False) -> None:
        """List all tasks."""
        from core.cli.tasks import list_tasks

        list_tasks(world.environments(settings_with()), as_json=as_json)

    @app.command()
    @with_groups
    def run(
        chosen: TaskChosen,
        world: Unattended,
        preset: PresetName = None,
        llm: LLMName = None,
        profile: Annotated[
            str | None, typer.Option(help="A named profile that keeps logins. Default: a clean profile.")
        ] = None,
        embedded_profiles: EmbeddedProfiles = None,
        time_limit: Annotated[
            bool, typer.Option("--time-limit", help="MiniWoB++: keep its time limit.")
        ] = False,
        pictures: KeptPictures = None,
    ) -> None:
        """Run a task without a window."""
        from core.cli.run import run_task

        settings = world.settings(
            preset=preset, llm=llm, embedded_profiles=embedded_profiles or None, pictures=pictures
        )
        report = run_task(
            chosen,
            settings,
            world.environments(settings, time_limit=time_limit),
            with_embedded,
            profile=profile,
            max_steps=world.max_steps,
            as_json=world.as_json,
        )
        raise typer.Exit(report.exit_code)

    @app.command()
    @with_groups
    def fork(
        run: RunNumber,
        world: Unattended,
        step: Annotated[int, typer.Option(min=1, help="The step to go back to.")],
        preset: PresetName = None,
        llm: LLMName = None,
        policies: Annotated[
            str | None, typer.Option(help="A folder of policies that override the others, or own.")
        ] = None,
        exemplars: Annotated[
            str | None,
            typer.Option(help="A folder or file of exemplars that replaces all others, or none, or own."),
        ] = None,
        amount: Annotated[
            list[str] | None, typer.Option(help="A mechanism's number, such as memory=5. Can be repeated.")
        ] = None,
        embedded_profiles: EmbeddedProfiles = None,
        offline: Annotated[
            bool | None,
            typer.Option(
                "--offline/--live",
                help="Give the pages the recorded answers of servers and send nothing, or use the servers. "
                "Default: as in the run.",
            ),
        ] = None,
    ) -> None:
        """Go back to a step of a run and continue on a branch, by default with the run's preset and LLM."""
        from core.cli.run import amounts_of, fork_run, place_of
        from core.schema.changes import NONE, Changes

        settings = world.settings(embedded_profiles=embedded_profiles or None)
        changes = Changes(
            preset=preset or "",
            llm=llm or "",
            policies=place_of(policies),
            exemplars=exemplars if exemplars == NONE else place_of(exemplars),
            amounts=amounts_of(amount or ()),
            offline=offline,
        )
        report = fork_run(
            settings,
            world.environments(settings),
            with_embedded,
            run,
            step,
            changes,
            max_steps=world.max_steps,
            as_json=world.as_json,
        )
        raise typer.Exit(report.exit_code)

    @app.command()
    @with_groups
    def exemplar(
        chosen: TaskChosen,
        world: TasksKnown,
        actions: Annotated[
            Path | None,
            typer.Option(help="A file of REASON and ACTION lines. Without it, the page is printed."),
        ] = None,
        output: Annotated[
            Path | None, typer.Option("-o", "--output", help="The file of exemplars to add to (.jsonl).")
        ] = None,
        family: Annotated[
            str,
            typer.Option(help="The family, whose exemplars are shown together. Default: the task's name."),
        ] = "",
        parser: Annotated[Path | None, typer.Option(help="A Python file for implicit abstraction.")] = None,
        browser: Browser = None,
    ) -> None:
        """Record an exemplar: carry out written actions in a task, and save them if they succeed."""
        from core.cli.exemplar_saving import record

        settings = settings_with(browser=browser)
        environments = world.environments(settings)
        task = environments.find(_task(chosen), url=chosen.url, instruction=chosen.instruction)
        is_success = record(
            settings,
            environments,
            with_embedded,
            task,
            chosen.seed,
            actions=actions,
            output=output,
            family=family,
            parser=parser,
        )
        raise typer.Exit(0 if is_success else 1)


def _task(chosen: TaskChosen) -> str:
    """Return the id of the task that is meant."""
    return chosen.task or ("web/open" if chosen.url else DEFAULT_TASK)
