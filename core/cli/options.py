"""The flags that several commands share, or hand on whole to what carries them out, and their values.

A flag is called as its parameter, unless it is named: a bool names its own, or there would be a second one with no-.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperGroup

from core.cli.output import say_lines
from core.schema.errors import UsageError
from core.storage.resources import RESOURCES

# What a command needs is imported when it is called: the window is to open quickly.

EXIT_UNFINISHED = 1
_SETTINGS = ("base_url", "browser", "db", "viewport", "max_steps", "on_gate", "sites", "pictures")
"""The options of groups that go before the settings of the same name."""
_REQUEST = ("name", "times", "concurrency", "max_calls", "max_cost", "max_minutes")
"""The options of groups that are keys of a request."""
_PRESETS = ", ".join(sorted(path.stem for path in (RESOURCES / "presets").glob("*.toml")))

Task = Annotated[str, typer.Option("--task", help="A task's id, such as miniwob/book-flight.")]
Seed = Annotated[int, typer.Option("--seed", help="The task's seed.", min=0)]
Url = Annotated[str, typer.Option("--url", help="The start page on the open web.")]
Instruction = Annotated[str, typer.Option("--instruction", help="The instruction for --url.")]
PresetName = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help=f"The preset: {_PRESETS}, or your own.",
    ),
]
LLMName = Annotated[
    str | None,
    typer.Option("--llm", help="The LLM: rules, person, an entry of the settings, or a model's name."),
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="The address of an OpenAI-compatible server.")
]
Viewport = Annotated[
    str | None,
    typer.Option(
        "--viewport",
        help="The size in which the agent sees pages, such as 1280x720, unless task or preset says one.",
    ),
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
DryRun = Annotated[bool, typer.Option("--dry-run", help="List what would be imported, and import nothing.")]
TaskFiles = Annotated[
    list[Path] | None,
    typer.Option("--tasks-file", help="A file of your own tasks (TOML or JSON). Can be repeated."),
]
WebArenaFiles = Annotated[
    list[Path] | None,
    typer.Option("--webarena", help="A WebArena configuration file or folder. Can be repeated."),
]


Name = Annotated[
    str | None,
    typer.Option("--name", help="The evaluation's name. Use the same name to continue it."),
]
Times = Annotated[
    int | None, typer.Option("--times", min=1, max=1000, help="How many times each task at each seed.")
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, max=64, help="How many runs at once, in one Chromium.")
]
MaxMinutes = Annotated[float | None, typer.Option("--max-minutes", help="End after this many minutes.")]
CsvFile = Annotated[Path | None, typer.Option("--csv", help="Write the runs to this file, one line each.")]
HtmlFile = Annotated[
    Path | None, typer.Option("--html", help="Write the report to this file, one page with plots.")
]
NameFailures = Annotated[
    str | None,
    typer.Option("--name-failures", help="The LLM that names the groups of failures. Default: none."),
]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The options of commands on what is stored."""

    db: Database = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class TaskChosen:
    """The options that choose a task."""

    task: Task = ""
    seed: Seed = 0
    url: Url = ""
    instruction: Instruction = ""


@dataclass(frozen=True, kw_only=True)
class TasksKnown:
    """The options that name files of tasks."""

    tasks_file: TaskFiles = None
    webarena: WebArenaFiles = None

    def environments(self, settings: Any, *, time_limit: bool = False) -> Any:
        """Return all tasks; a file that only the settings name and that is bad is reported and left out."""
        from core.environments.registry import Environments

        environments = Environments(
            task_files=self.tasks_file or (),
            webarena=self.webarena or (),
            remembered_task_files=settings.task_files,
            remembered_webarena=settings.webarena,
            time_limit=time_limit,
        )
        for source in environments.sources:
            if source.problem:
                say_lines(f"Left out: {source.problem}")
        return environments


@dataclass(frozen=True, kw_only=True)
class Surroundings(TasksKnown):
    """The options of every command that makes runs, or opens the window."""

    base_url: BaseUrl = None
    browser: Browser = None
    viewport: Viewport = None
    db: Database = None

    def settings(self, **more: Any) -> Any:
        """Return the settings that hold with these options and `more`."""
        names = (option.name for option in fields(self) if option.name in _SETTINGS)
        # A list that can be repeated and is not given is empty.
        given = {name: value if (value := getattr(self, name)) != [] else None for name in names}
        return settings_with(**given, **more)


@dataclass(frozen=True, kw_only=True)
class MakesRuns(Surroundings):
    """The options of runs without a window."""

    max_steps: MaxSteps = None
    on_gate: OnGate = None
    sites: Sites = None


@dataclass(frozen=True, kw_only=True)
class Unattended(MakesRuns):
    """The options of every command that makes runs without a window."""

    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class Proved(Unattended):
    """The options of every command that makes many runs: how many."""

    name: Name = None
    concurrency: Concurrency = None
    max_calls: MaxCalls = None
    max_cost: MaxCost = None
    max_minutes: MaxMinutes = None

    @property
    def asked(self) -> dict[str, Any]:
        """The keys of a request that were given."""
        given = {
            option.name: getattr(self, option.name) for option in fields(self) if option.name in _REQUEST
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Measured(Proved):
    """The options of every command that measures by many runs: how often, and what is printed of them."""

    times: Times = None
    csv: CsvFile = None
    html: HtmlFile = None
    name_failures: NameFailures = None
    pictures: KeptPictures = None

    def output(self) -> Any:
        """Return what is to be written; raises UsageError if a file of it cannot be."""
        from core.cli.evaluation_report import ReportOutput
        from core.trace.run_files import check_place

        database = self.settings().database
        for path in filter(None, (self.csv, self.html)):
            check_place(path, database)
        return ReportOutput(
            as_json=self.as_json, csv=self.csv, html=self.html, name_failures=self.name_failures or ""
        )

    def carry_out(self, request: Any, with_embedded: Any, *, resume: bool = False) -> None:
        """Make the runs of a request, print the result, and exit: with 1 if some are left."""
        from core.cli.evaluation import evaluate

        settings = self.settings()
        environments = self.environments(settings)
        report = evaluate(request, settings, environments, with_embedded, self.output(), resume=resume)
        raise typer.Exit(0 if report.done == report.total else EXIT_UNFINISHED)


@dataclass(frozen=True, kw_only=True)
class RepairOptions(Proved):
    """The options of the command `repair`."""

    run: Annotated[int | None, typer.Argument(help="The number of a failed run.", min=1)] = None
    evaluation: Annotated[
        str, typer.Option(help="Mend the largest groups of failures of this evaluation.")
    ] = ""
    most: Annotated[int, typer.Option(min=1, max=100, help="How many groups, with --evaluation.")] = 3
    llm: Annotated[str, typer.Option(help="An LLM that proposes changes besides the patches of causes.")] = ""
    change: Annotated[
        Path | None, typer.Option(help="A folder with changed files, laid out as the config folder.")
    ] = None
    edits: Annotated[
        str, typer.Option(help="Search-and-replace blocks to try, or @FILE with them. See the documentation.")
    ] = ""
    pairs: Annotated[int, typer.Option(min=5, max=100, help="Cases to choose a change by, at most.")] = 8
    sealed: Annotated[
        int, typer.Option(min=0, max=100, help="Cases that are looked at once, at the end.")
    ] = 4
    others: Annotated[
        int, typer.Option(min=0, max=1000, help="Cases that passed and are tried, at most.")
    ] = 12
    optimise: Annotated[
        bool,
        typer.Option(
            "--optimise", help="Let GEPA rewrite the files of --component, by the runs of --evaluation."
        ),
    ] = False
    component: Annotated[
        list[str] | None, typer.Option(help="A file that GEPA may rewrite; repeat it for more.")
    ] = None
    max_runs: Annotated[int, typer.Option(min=4, max=10_000, help="How many runs GEPA makes at most.")] = 60
    keep: Annotated[bool, typer.Option("--keep", help="Write what is proven to your own files.")] = False
    no_runs: Annotated[
        bool, typer.Option("--no-runs", help="Make no runs: only tell, or keep, what was proved as --name.")
    ] = False

    def limits(self) -> Any:
        """Return the limits of all runs together."""
        from core.debugger.evaluations.records import RunLimits

        return RunLimits(max_calls=self.max_calls, max_cost=self.max_cost, max_minutes=self.max_minutes)


@dataclass(frozen=True, kw_only=True)
class KeepOptions(Stored):
    """The options of the command `exemplars keep`."""

    run: Annotated[
        int, typer.Argument(help="The run's number. For a branch, all steps that led to it are saved.")
    ]
    first: Annotated[int, typer.Option("--from", min=1, help="The first step.")] = 1
    last: Annotated[int | None, typer.Option("--to", min=1, help="The last step.")] = None
    step: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Save this step, even one that would be left out. Can be repeated."),
    ] = None
    family: Annotated[str, typer.Option(help="The family. Default: the task's name.")] = ""
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Save even if the run was not judged a success.")
    ] = False
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be saved, and save nothing.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class CreditOptions(Stored):
    """The options of the command `exemplars credit`."""

    run: Annotated[int | None, typer.Argument(help="A run. Without it, list the credits so far.")] = None
    step: Annotated[list[int] | None, typer.Option(min=1, help="A step. Can be repeated. Default: all.")] = (
        None
    )
    times: Annotated[int, typer.Option(min=1, max=100, help="How many times to ask each question.")] = 5
    temperature: Annotated[
        float | None, typer.Option(min=0, max=5, help="The temperature. Default: as recorded.")
    ] = None
    llm: Annotated[str | None, typer.Option(help="The LLM. Default: that of the run.")] = None
    base_url: BaseUrl = None


def with_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of its parameters that are dataclasses of options, as options of its own.

    Help lists what a dataclass adds before what it has from others.
    """
    own: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
        else:
            own.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    options = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if option.default is MISSING else option.default,
            annotation=get_type_hints(group, include_extras=True)[option.name],
        )
        for group in groups.values()
        for option in sorted(fields(group), key=lambda option: option.name not in group.__annotations__)
    ]

    @functools.wraps(function)
    def command(**given: Any) -> None:
        made = {
            name: group(**{option.name: given.pop(option.name) for option in fields(group)})
            for name, group in groups.items()
        }
        function(**given, **made)

    parameters = [*own, *options]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


_LISTING = {
    "export --format": "core.trace.exports.registry:format_plugins",
    "import --format": "core.trace.imports.registry:import_plugins",
    "--task": "core.environments.registry:environment_plugins",
    "--llm": "core.llm.registry:llm_plugins",
}
"""The options whose help lists names to which packages add, and what loads these."""


def _name_plugins(command: Any) -> None:
    """Let the help of the options that list names go on with those of packages."""
    for option in command.params:
        for flag in option.opts:
            if place := _LISTING.get(f"{command.name} {flag}") or _LISTING.get(flag):
                module, _, function = place.partition(":")
                option.help += getattr(import_module(module), function)().sentences()


class Commands(TyperGroup):
    """A group of commands. An option before a command counts as if it stood after it; else it is a UsageError."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _name_plugins(self)
        super().format_help(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if ctx.parent is None and "--help" in rest:
            _name_plugins(command)
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
                called = f"{ctx.command_path} {name}".removeprefix(f"{ctx.find_root().command_path} ")
                raise UsageError(
                    f"--{option.replace('_', '-')} is not an option of the command {called}. "
                    f"To list its options, use {called} --help."
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
