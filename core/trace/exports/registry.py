"""The export formats of runs, one line each.

The module of a format is imported when it is used: the window and the command line only list them.
"""

from contextlib import nullcontext
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from core.schema.errors import UsageError
from core.schema.record import Record
from core.settings.user_file import near
from core.setup.plugins import Plugins, expect, guarded, load_plugins

if TYPE_CHECKING:
    from core.trace.store import TraceStore


class ExportFormat(Record):
    """One export format of runs."""

    name: str
    title: str
    suffix: str
    """What a file of it ends with, such as ``.atif.json``."""
    made_by: str
    """The module and the function in it that takes the store and the run's number."""
    note: str = ""
    """What to know before it is passed on."""
    leaves_out_content: bool = False
    """Whether prompts and replies are written only where they are asked for."""

    def write(self, store: "TraceStore", run: int, *, content: bool = False) -> bytes:
        """Return the run in this format; raises TraceError if a part that it needs is damaged."""
        module, _, function = self.made_by.partition(":")
        with nullcontext() if self.name in _BUILT_IN else guarded(self.name):
            make = getattr(import_module(module), function)
            made = make(store, run, content=content) if self.leaves_out_content else make(store, run)
            return made if isinstance(made, bytes) else str(made).encode(errors="replace")


FORMATS: tuple[ExportFormat, ...] = (
    ExportFormat(
        name="html",
        title="One HTML file",
        suffix=".html",
        made_by="core.trace.exports.html_page:export_html",
    ),
    ExportFormat(
        name="json", title="JSON", suffix=".json", made_by="core.trace.exports.json_export:export_json"
    ),
    ExportFormat(
        name="playwright",
        title="Playwright script",
        suffix=".py",
        made_by="core.trace.exports.playwright_script:export_playwright",
    ),
    ExportFormat(
        name="playwright-trace",
        title="Playwright trace",
        suffix=".trace.zip",
        made_by="core.trace.exports.playwright_trace:export_playwright_trace",
    ),
    ExportFormat(
        name="atif",
        title="ATIF trajectory",
        suffix=".atif.json",
        made_by="core.trace.exports.atif:export_atif",
    ),
    ExportFormat(
        name="otel",
        title="OpenTelemetry trace",
        suffix=".otel.json",
        made_by="core.trace.exports.otel_spans:export_otel",
        leaves_out_content=True,
    ),
    ExportFormat(
        name="repro",
        title="Repro file",
        suffix=".backstep",
        made_by="core.trace.repro.exporter:export_repro",
        note="It does not contain the cookies, passwords and keys that could be recognised. It contains what "
        "pages show as text or pictures: check it before you share it.",
    ),
)


_BUILT_IN = {form.name: form for form in FORMATS}


@cache
def format_plugins() -> Plugins[ExportFormat]:
    """Return the formats that packages add."""
    return load_plugins("exporters", _BUILT_IN, lambda name, thing: expect(ExportFormat, name, thing, "name"))


def all_formats() -> tuple[ExportFormat, ...]:
    """Return the built-in formats, then those of packages."""
    return (*FORMATS, *format_plugins().things.values())


def format_named(name: str) -> ExportFormat:
    """Return the format of that name; raises UsageError that names the nearest one."""
    if (built_in := _BUILT_IN.get(name)) is not None:
        return built_in
    plugins = format_plugins()
    if name in plugins.things:
        return plugins.things[name]
    names = (*_BUILT_IN, *plugins.things)
    raise UsageError(plugins.problems.get(name) or f'There is no export form "{name}"; {near(name, names)}')


def chosen_format(path: str, title: str) -> tuple[ExportFormat, str]:
    """Return the format that a path means where the one of `title` was chosen, and the path with its suffix.

    The chosen one holds where the path has no other's suffix: ``run.json`` may
    be any format that is JSON, ``run.html`` is HTML whatever was chosen.
    """
    formats = all_formats()
    chosen = next(one for one in formats if one.title == title)
    if path.endswith("." + chosen.suffix.rpartition(".")[2]):
        return chosen, path
    by_suffix = sorted(formats, key=lambda one: -len(one.suffix))
    other = next((one for one in by_suffix if path.endswith(one.suffix)), None)
    return (other, path) if other is not None else (chosen, path + chosen.suffix)
