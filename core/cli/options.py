"""The flags that several commands share, and their values."""

import contextlib
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from core.cli.output import say_lines
from core.schema.errors import UsageError

# What a command needs is imported when it is called: the window is to open quickly.

Task = Annotated[str, typer.Option("--task", help="A task's id, such as miniwob/book-flight.")]
Seed = Annotated[int, typer.Option("--seed", help="The task's seed.", min=0)]
Url = Annotated[str, typer.Option("--url", help="The start page on the open web.")]
Instruction = Annotated[str, typer.Option("--instruction", help="The instruction for --url.")]
PresetName = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help="The preset: plain, laser, laser-one-call, step, reflect, synapse, combined, or your own.",
    ),
]
LLMName = Annotated[
    str | None,
    typer.Option("--llm", help="The LLM: rules, person, an entry of the settings, or a model's name."),
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="The address of an OpenAI-compatible server.")
]
MaxSteps = Annotated[
    int | None,
    typer.Option("--max-steps", min=1, help="The most page actions, including those before a fork."),
]
MaxCalls = Annotated[
    int | None,
    typer.Option("--max-calls", min=1, help="Start no further run after this many LLM calls."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        min=0.0001,
        help="Start no further run after this cost in US dollars. Calls without a price do not count.",
    ),
]
Browser = Annotated[
    str | None,
    typer.Option("--browser", help="embedded, chromium for the installed one, or a path."),
]
EmbeddedProfiles = Annotated[
    list[str] | None,
    typer.Option(
        "--embedded-profiles",
        help="A named profile that the embedded browser may open, although another user of this machine can then "
        "control it. Can be repeated.",
    ),
]
OnGate = Annotated[
    str | None,
    typer.Option("--on-gate", help="What to do where a person would be asked: refuse, allow or end."),
]
Sites = Annotated[
    list[str] | None,
    typer.Option(
        "--sites",
        help="A host that may be opened beside that of the start page, or * for all. Can be repeated. Without it, "
        "--on-gate decides.",
    ),
]
KeptPictures = Annotated[
    str | None,
    typer.Option(
        "--pictures",
        help="Which runs keep their screenshots: all, failures (runs without success) or none.",
    ),
]
Database = Annotated[Path | None, typer.Option("--db", help="The database of traces.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")]
AsLines = Annotated[
    bool, typer.Option("--lines", help="Print everything as one line of JSON at each change.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List what would be imported, and import nothing.")]
TaskFiles = Annotated[
    list[Path] | None,
    typer.Option("--tasks-file", help="A file of your own tasks (TOML or JSON). Can be repeated."),
]
WebArenaFiles = Annotated[
    list[Path] | None,
    typer.Option("--webarena", help="A WebArena configuration file or folder. Can be repeated."),
]


class Commands(TyperGroup):
    """A group of commands. An option before a command counts as if it stood after it; else it is a UsageError."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        given = {**(ctx.default_map or {})}
        for option in self.params:
            if ctx.get_parameter_source(option.name).name == "COMMANDLINE":
                given[option.name] = ctx.params[option.name]
        below = getattr(command, "commands", {}).values()
        known = {
            one.name: one
            for each in (command, *below)
            for one in each.params
            if one.param_type_name == "option"
        }
        for option, value in given.items():
            if option not in known:
                raise UsageError(
                    f"--{option.replace('_', '-')} is not an option of the command {name}. "
                    f"To list its options, use {name} --help."
                )
            if known[option].multiple and not isinstance(value, list):
                given[option] = [value]
        ctx.default_map = {name: given}
        return name, command, rest


def settings_with(**flags: Any) -> Any:
    """Return the settings that hold with these flags, keyed as the file's top level.

    Keys are taken out of the environment before anything is started.
    """
    from core.llm.endpoints import load_endpoints, take_keys
    from core.schema.errors import DataError
    from core.settings.settings import config_folder, load_settings

    settings = load_settings(flags)
    with contextlib.suppress(DataError):  # A wrong file is reported by what needs it.
        take_keys(settings, load_endpoints(own=config_folder() / "endpoints.toml"))
    return settings


def window_settings(**flags: Any) -> Any:
    """Return the same for a window; raises BrowserError if the browser that it is to show is not there."""
    settings = settings_with(**flags)
    if settings.browser != "embedded":
        from core.browser.chromium import chromium_at

        chromium_at(settings.browser)
    return settings


def environments_of(
    settings: Any, task_files: list[Path] | None, webarena: list[Path] | None, time_limit: bool = False
) -> Any:
    """Return all tasks; a file that only the settings name and that is bad is reported and left out."""
    from core.environments.registry import Environments

    environments = Environments(
        task_files=task_files or (),
        webarena=webarena or (),
        remembered_task_files=settings.task_files,
        remembered_webarena=settings.webarena,
        time_limit=time_limit,
    )
    for source in environments.sources:
        if source.problem:
            say_lines(f"Left out: {source.problem}")
    return environments
