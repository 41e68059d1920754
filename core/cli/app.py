"""The command line. Its flags and output are a contract for scripts."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from core.cli.evaluations import add_evaluation_commands
from core.cli.exemplars import add_exemplar_commands
from core.cli.options import (
    AsJson,
    BaseUrl,
    Browser,
    Commands,
    Database,
    DryRun,
    EmbeddedProfiles,
    Instruction,
    KeptPictures,
    LLMName,
    MaxSteps,
    OnGate,
    PresetName,
    Seed,
    Sites,
    Task,
    TaskFiles,
    Url,
    WebArenaFiles,
    environments_of,
    settings_with,
    window_settings,
)
from core.cli.output import print_any_character, put, say, say_lines
from core.cli.stored_runs import add_runs_commands
from core.schema.errors import ActionError, BackstepError, Interrupted, UsageError, WorldError
from core.settings.settings import Settings
from core.setup import ROOT, display_problem
from core.trace.exports.registry import FORMATS

# What a command needs is imported when it is called: the window is to open quickly.

EXIT_USAGE = 2
EXIT_WORLD = 3
EXIT_INTERRUPTED = 130
DEFAULT_TASK = "miniwob/click-test-2"
FORMAT_NAMES = ", ".join(one.name for one in FORMATS)


def make_app(*, open_window: Callable[..., int], with_embedded: Callable[..., Any]) -> typer.Typer:
    """Build the command line over the two things that need Qt."""
    app = typer.Typer(
        cls=Commands, add_completion=False, no_args_is_help=False, pretty_exceptions_enable=False
    )

    def show_window(
        settings: Settings, tasks_file: TaskFiles, webarena: WebArenaFiles, **opening: Any
    ) -> NoReturn:
        """Show the window until it is closed; raises typer.Exit."""
        problem = display_problem()
        if problem:
            say(problem)
            raise typer.Exit(EXIT_WORLD)
        from core.cli.window_arguments import WindowArguments

        arguments = WindowArguments(
            task_files=tuple(path.absolute() for path in tasks_file or ()),
            webarena=tuple(path.absolute() for path in webarena or ()),
            **opening,
        )
        raise typer.Exit(open_window(arguments, settings))

    @app.callback(invoke_without_command=True)
    def window(
        context: typer.Context,
        task: Task = "",
        seed: Seed = 0,
        url: Url = "",
        instruction: Instruction = "",
        preset: PresetName = None,
        llm: LLMName = None,
        base_url: BaseUrl = None,
        browser: Browser = None,
        db: Database = None,
        tasks_file: TaskFiles = None,
        webarena: WebArenaFiles = None,
        run: Annotated[
            int | None,
            typer.Option("--run", help="A stored run to open, at the step that decided it."),
        ] = None,
    ) -> None:
        """Open the window on a task, ready to step, or at a stored run."""
        if context.invoked_subcommand is not None:
            return
        settings = window_settings(preset=preset, llm=llm, base_url=base_url, browser=browser, db=db)
        step = 0
        if run is not None:
            from core.cli.runs import step_to_show

            if task or url:
                raise UsageError("--run opens a stored run, --task and --url open a task: use one of them.")
            step = step_to_show(settings, run)
        show_window(
            settings,
            tasks_file,
            webarena,
            run=run,
            step=step,
            task=task or ("web/open" if url else DEFAULT_TASK),
            seed=seed,
            url=url,
            instruction=instruction,
            chosen=bool(task or url or run is not None),
            preset=preset or "",
            llm=llm or "",
        )

    @app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
    def attach(
        command: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="[--] PROGRAM [ARGUMENTS]…",
                help="The agent to start. Leave it out for an agent that you start yourself.",
            ),
        ] = None,
        task: Task = "",
        seed: Seed = 0,
        url: Url = "",
        instruction: Instruction = "",
        llm: LLMName = None,
        base_url: BaseUrl = None,
        browser: Browser = None,
        db: Database = None,
        tasks_file: TaskFiles = None,
        webarena: WebArenaFiles = None,
    ) -> None:
        """Open the window and attach your own agent to its browser and your LLM."""
        from core.debugger.attach.views import AttachRequest

        settings = window_settings(llm=llm, base_url=base_url, browser=browser, db=db)
        request = AttachRequest(
            command=tuple(command or ()),
            folder=str(Path.cwd()),
            task=task,
            seed=seed,
            url=url,
            instruction=instruction,
        )
        show_window(settings, tasks_file, webarena, task=task, chosen=True, llm=llm or "", attach=request)

    @app.command()
    def tasks(as_json: AsJson = False, tasks_file: TaskFiles = None, webarena: WebArenaFiles = None) -> None:
        """List all tasks."""
        from core.cli.tasks import list_tasks

        list_tasks(environments_of(settings_with(), tasks_file, webarena), as_json=as_json)

    @app.command()
    def run(
        task: Task = "",
        seed: Seed = 0,
        url: Url = "",
        instruction: Instruction = "",
        preset: PresetName = None,
        llm: LLMName = None,
        base_url: BaseUrl = None,
        max_steps: MaxSteps = None,
        browser: Browser = None,
        db: Database = None,
        on_gate: OnGate = None,
        sites: Sites = None,
        profile: Annotated[
            str | None,
            typer.Option("--profile", help="A named profile that keeps logins. Default: a clean profile."),
        ] = None,
        embedded_profiles: EmbeddedProfiles = None,
        time_limit: Annotated[
            bool, typer.Option("--time-limit", help="MiniWoB++: keep its time limit.")
        ] = False,
        pictures: KeptPictures = None,
        tasks_file: TaskFiles = None,
        webarena: WebArenaFiles = None,
        as_json: AsJson = False,
    ) -> None:
        """Run a task without a window."""
        from core.cli.run import run_task

        settings = settings_with(
            preset=preset,
            llm=llm,
            base_url=base_url,
            db=db,
            browser=browser,
            max_steps=max_steps,
            on_gate=on_gate,
            sites=sites or None,
            embedded_profiles=embedded_profiles or None,
            pictures=pictures,
        )
        report = run_task(
            settings,
            environments_of(settings, tasks_file, webarena, time_limit),
            with_embedded,
            task=task,
            seed=seed,
            url=url,
            instruction=instruction,
            profile=profile,
            max_steps=max_steps,
            as_json=as_json,
        )
        raise typer.Exit(report.exit_code)

    @app.command()
    def fork(
        run: Annotated[int, typer.Argument(help="The run's number.")],
        step: Annotated[int, typer.Option("--step", min=1, help="The step to go back to.")],
        preset: PresetName = None,
        llm: LLMName = None,
        policies: Annotated[
            str | None,
            typer.Option("--policies", help="A folder of policies that override the others, or own."),
        ] = None,
        exemplars: Annotated[
            str | None,
            typer.Option(
                "--exemplars", help="A folder or file of exemplars that replaces all others, or none, or own."
            ),
        ] = None,
        amount: Annotated[
            list[str] | None,
            typer.Option("--amount", help="A mechanism's number, such as memory=5. Can be repeated."),
        ] = None,
        base_url: BaseUrl = None,
        max_steps: MaxSteps = None,
        browser: Browser = None,
        db: Database = None,
        on_gate: OnGate = None,
        sites: Sites = None,
        embedded_profiles: EmbeddedProfiles = None,
        offline: Annotated[
            bool | None,
            typer.Option(
                "--offline/--live",
                help="Give the pages the recorded answers of servers and send nothing, or use the servers. "
                "Default: as in the run.",
            ),
        ] = None,
        tasks_file: TaskFiles = None,
        webarena: WebArenaFiles = None,
        as_json: AsJson = False,
    ) -> None:
        """Go back to a step of a run and continue on a branch, by default with the run's preset and LLM."""
        from core.cli.run import amounts_of, fork_run, place_of
        from core.schema.changes import NONE, Changes

        settings = settings_with(
            base_url=base_url,
            db=db,
            browser=browser,
            max_steps=max_steps,
            on_gate=on_gate,
            sites=sites or None,
            embedded_profiles=embedded_profiles or None,
        )
        changes = Changes(
            preset=preset or "",
            llm=llm or "",
            policies=place_of(policies),
            exemplars=exemplars if exemplars == NONE else place_of(exemplars),
            amounts=amounts_of(amount or ()),
            offline=offline,
        )
        environments = environments_of(settings, tasks_file, webarena)
        report = fork_run(
            settings,
            environments,
            with_embedded,
            run,
            step,
            changes,
            max_steps=max_steps,
            as_json=as_json,
        )
        raise typer.Exit(report.exit_code)

    add_evaluation_commands(app, with_embedded)
    add_runs_commands(app)

    @app.command()
    def compare(
        left: Annotated[int, typer.Argument(help="A run's number.")],
        right: Annotated[int, typer.Argument(help="Another run's number.")],
        as_json: AsJson = False,
        db: Database = None,
    ) -> None:
        """Show two runs or branches side by side, and where they first differ."""
        from core.cli.comparison import compare as compare_command

        compare_command(settings_with(db=db), left, right, as_json=as_json)

    @app.command()
    def show(
        run: Annotated[int, typer.Argument(help="The run's number.")],
        step: Annotated[int | None, typer.Option("--step", min=1, help="Show this step in full.")] = None,
        as_json: AsJson = False,
        db: Database = None,
    ) -> None:
        """Show a run, or one step of it."""
        from core.cli.runs import show_run

        show_run(settings_with(db=db), run, step, as_json=as_json)

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
                "--endpoint",
                help="For otel: send the run over OTLP/HTTP to this address, such as http://127.0.0.1:4318.",
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

    @app.command()
    def exemplar(
        task: Task = "",
        seed: Seed = 0,
        url: Url = "",
        instruction: Instruction = "",
        actions: Annotated[
            Path | None,
            typer.Option(
                "--actions", help="A file of REASON and ACTION lines. Without it, the page is printed."
            ),
        ] = None,
        output: Annotated[
            Path | None, typer.Option("-o", "--output", help="The file of exemplars to add to (.jsonl).")
        ] = None,
        family: Annotated[
            str,
            typer.Option(
                "--family", help="The family, whose exemplars are shown together. Default: the task's name."
            ),
        ] = "",
        parser: Annotated[
            Path | None, typer.Option("--parser", help="A Python file for implicit abstraction.")
        ] = None,
        browser: Browser = None,
        tasks_file: TaskFiles = None,
        webarena: WebArenaFiles = None,
    ) -> None:
        """Record an exemplar: carry out written actions in a task, and save them if they succeed."""
        from core.cli.exemplar_saving import record

        settings = settings_with(browser=browser)
        environments = environments_of(settings, tasks_file, webarena)
        found = environments.find(
            task or ("web/open" if url else DEFAULT_TASK), url=url, instruction=instruction
        )
        is_success = record(
            settings,
            environments,
            with_embedded,
            found,
            seed,
            actions=actions,
            output=output,
            family=family,
            parser=parser,
        )
        raise typer.Exit(0 if is_success else 1)

    add_exemplar_commands(app, with_embedded)

    @app.command()
    def doctor(db: Database = None, llm: LLMName = None, base_url: BaseUrl = None) -> None:
        """Check libraries, browser, database and LLM, one line each."""
        from core.cli.doctor import check_all

        raise typer.Exit(check_all(lambda: settings_with(db=db, llm=llm, base_url=base_url), with_embedded))

    @app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def test(context: typer.Context) -> None:
        """Run the project's linters and tests. Further arguments go to pytest."""
        from core.setup.checks import run_checks

        raise typer.Exit(run_checks(ROOT, context.args))

    return app


def _invoked(app: typer.Typer) -> Any:
    try:
        return app(standalone_mode=False)
    except OSError:
        put("")  # If it was the help that could not be written, this raises the error that says so.
        raise


def run_app(app: typer.Typer) -> int:
    """Run the command line and return its exit code; known errors are printed as their sentence."""
    print_any_character()
    try:
        code = _invoked(app)
        return int(code or 0)
    except typer.Exit as done:
        return int(done.exit_code)
    except (KeyboardInterrupt, typer.Abort, Interrupted):
        say("Interrupted.")
        return EXIT_INTERRUPTED
    except (WorldError, ActionError) as error:
        say_lines(str(error))
        return EXIT_WORLD
    except BackstepError as error:
        say_lines(str(error))
        return EXIT_USAGE
    except Exception as error:
        show = getattr(error, "show", None)
        if show is None:
            raise
        text = io.StringIO()
        show(file=text)
        for line in text.getvalue().splitlines():
            say(line)
        return EXIT_USAGE
