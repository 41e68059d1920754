"""The command line. Its flags and output are a contract for scripts."""

import io
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from core.cli.evaluations import add_evaluation_commands
from core.cli.exemplars import add_exemplar_commands
from core.cli.mcp import add_mcp_command
from core.cli.options import BaseUrl, Commands, Database, LLMName, settings_with
from core.cli.output import print_any_character, put, say, say_lines
from core.cli.stored_runs import add_runs_commands
from core.cli.task_commands import add_task_commands, add_window_commands
from core.schema.errors import (
    ActionError,
    BackstepError,
    Interrupted,
    NotInLibraryError,
    NotInTraceError,
    UsageError,
    WorldError,
)
from core.setup import EXIT_INTERRUPTED, EXIT_WORLD_FAILED
from core.system.program import IS_INSTALLED, ROOT

# What a command needs is imported when it is called: the window is to open quickly.

EXIT_USAGE = 2


def make_app(*, open_window: Callable[..., int], with_embedded: Callable[..., Any]) -> TyperGroup:
    """Build the command line over the two things that need Qt."""
    app = typer.Typer(
        cls=Commands, add_completion=False, no_args_is_help=False, pretty_exceptions_enable=False
    )
    add_window_commands(app, open_window)
    add_task_commands(app, with_embedded)
    add_evaluation_commands(app, with_embedded)
    add_runs_commands(app)
    add_exemplar_commands(app, with_embedded)
    add_mcp_command(app)

    @app.command()
    def doctor(db: Database = None, llm: LLMName = None, base_url: BaseUrl = None) -> None:
        """Check libraries, browser, database and LLM, one line each."""
        from core.cli.doctor import check_all

        raise typer.Exit(check_all(lambda: settings_with(db=db, llm=llm, base_url=base_url), with_embedded))

    @app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def test(context: typer.Context) -> None:
        """Run the project's linters and tests.

        --no-lint leaves out the linters.
        --quick leaves out the tests that start a browser or another program.
        Further arguments go to pytest.
        """
        from core.setup.checks import run_checks

        if IS_INSTALLED:
            raise UsageError(
                "The tests are not installed: clone the repository and run there: python3 main.py test"
            )
        raise typer.Exit(run_checks(ROOT, context.args))

    return get_group(app)


def _invoked(app: TyperGroup) -> Any:
    try:
        return app(standalone_mode=False)
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return 0  # Who reads the help has seen enough: the library ends with 1 then.
    except OSError:
        put("")  # If it was the help that could not be written, this raises the error that says so.
        raise


def run_app(app: TyperGroup) -> int:
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
        not_there = isinstance(error, NotInTraceError | NotInLibraryError)
        is_usage = not_there or isinstance(
            error.__cause__, OverflowError
        )  # The number is too large to be any.
        return EXIT_USAGE if is_usage else EXIT_WORLD_FAILED
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
