"""The command `mcp`: the commands of this program as tools for coding agents."""

import json
import logging
from dataclasses import fields
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from core.cli.options import LLMName, MakesRuns, with_groups
from core.cli.output import CAPTURED, say
from core.schema.errors import UsageError


def add_mcp_command(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command()
    @with_groups
    def mcp(
        world: MakesRuns,
        llm: LLMName = None,
        http: Annotated[bool, typer.Option("--http", help="Serve on 127.0.0.1, with a token.")] = False,
        port: Annotated[int, typer.Option(min=0, max=65535, help="The port of --http.")] = 0,
        allow_keep: Annotated[
            bool, typer.Option("--allow-keep", help="Let tools write proven changes to your own files.")
        ] = False,
    ) -> None:
        """Serve runs, causes and files to a coding agent over MCP, on stdin and stdout or over HTTP."""
        from core.cli.surroundings import in_loop
        from core.mcp.serving import serve_http, serve_stdio

        if port and not http:
            raise UsageError("Use --http with --port: without it, the server uses stdin and stdout.")
        logging.basicConfig(level=logging.WARNING, format="%(message)s")  # To stderr.
        server = make_server(get_group(app), world, llm, allow_keep=allow_keep)
        in_loop(serve_http(server, port, say) if http else serve_stdio(server))


def make_server(command: TyperGroup, world: MakesRuns, llm: str | None, *, allow_keep: bool = False) -> Any:
    """Return the server of these commands; raises BackstepError where the settings are wrong."""
    from core.cli.runs import picture_named
    from core.mcp.server import CommandServer
    from core.mcp.tools import option_words

    settings = world.settings(llm=llm)

    def call(words: list[str]) -> Any:
        """Carry out a command in this thread and context, of which nothing else is to print JSON."""
        values: list[Any] = []
        CAPTURED.set(values)
        database = [] if words[0] == "files" else [f"--db={settings.database}"]
        try:
            command([words[0], *database, *words[1:]], standalone_mode=False)
        except Exception as error:
            if told := getattr(error, "format_message", None):
                raise UsageError(told()) from error
            raise
        return json.loads(json.dumps(values[-1]))

    return CommandServer(
        call,
        lambda name: picture_named(settings, name),
        making=option_words({option.name: getattr(world, option.name) for option in fields(world)}),
        llm=llm or "",
        allow_keep=allow_keep,
    )
