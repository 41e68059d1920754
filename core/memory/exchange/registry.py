"""Every form in which exemplars come in and go out, a line each."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from core.memory.exchange.documents import Document
from core.memory.exchange.imports.browsergym import is_browsergym, read_browsergym
from core.memory.exchange.imports.mind2web import is_mind2web, read_mind2web
from core.memory.exchange.imports.own import is_own, read_own
from core.memory.exchange.imports.runs import is_browser_use, is_recording, read_browser_use, read_recording
from core.memory.exchange.imports.step import is_step, read_step
from core.memory.exchange.imports.synapse import is_synapse, read_synapse
from core.memory.exchange.imports.webshop import is_webshop, read_webshop
from core.memory.exchange.records import Reading, ReadOptions
from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar
from core.schema.record import Record
from core.settings.user_file import near


class ExemplarImportFormat(NamedTuple):
    """One kind of file."""

    name: str
    title: str
    is_one: Callable[[Document], bool]
    """Whether a document is of this kind, by its outermost fields."""
    read: Callable[[Document, Document | None, ReadOptions], Reading]
    """Takes the document, and the one that belongs to it where there is one."""


class ExemplarExportFormat(Record):
    """One form in which exemplars are written."""

    name: str
    title: str
    suffix: str
    """What a file of it ends with; empty where it is a folder of files."""
    made_by: str
    """The module and the function in it that takes the exemplars and gives the files by name."""

    def write(self, exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
        """Return the texts by file name; where it is one file, its name is empty."""
        module, _, function = self.made_by.partition(":")
        made: dict[str, str] = getattr(import_module(module), function)(exemplars)
        return made


IMPORTS: tuple[ExemplarImportFormat, ...] = (
    ExemplarImportFormat("jsonl", "exemplars of this program", is_own, read_own),
    ExemplarImportFormat("synapse", "a memory of Synapse", is_synapse, read_synapse),
    ExemplarImportFormat("step", "policies of SteP", is_step, read_step),
    ExemplarImportFormat("mind2web", "records of Mind2Web", is_mind2web, read_mind2web),
    ExemplarImportFormat("webshop", "WebShop sessions", is_webshop, read_webshop),
    ExemplarImportFormat("chrome-recorder", "a Chrome DevTools recording", is_recording, read_recording),
    ExemplarImportFormat("browser-use", "a browser-use history", is_browser_use, read_browser_use),
    ExemplarImportFormat("browsergym", "a BrowserGym trace", is_browsergym, read_browsergym),
)

_PLACE = "core.memory.exchange.exports"
EXPORTS: tuple[ExemplarExportFormat, ...] = (
    ExemplarExportFormat(
        name="jsonl", title="JSON lines", suffix=".jsonl", made_by=f"{_PLACE}.own:export_lines"
    ),
    ExemplarExportFormat(
        name="chat",
        title="Conversations for fine-tuning",
        suffix=".chat.jsonl",
        made_by="core.agent.exemplar_chat:export_chat",
    ),
    ExemplarExportFormat(
        name="atif", title="ATIF trajectories", suffix=".atif.jsonl", made_by=f"{_PLACE}.atif:export_atif"
    ),
    ExemplarExportFormat(
        name="synapse", title="A memory of Synapse", suffix="", made_by=f"{_PLACE}.synapse:export_synapse"
    ),
)


def import_format(name: str) -> ExemplarImportFormat:
    """Return the format of that name; raises UsageError that names the nearest one."""
    names = tuple(one.name for one in IMPORTS)
    if name in names:
        return IMPORTS[names.index(name)]
    raise UsageError(f'There is no import form "{name}"; {near(name, names)}')


def export_format(name: str) -> ExemplarExportFormat:
    """Return the format of that name; raises UsageError that names the nearest one."""
    names = tuple(one.name for one in EXPORTS)
    if name in names:
        return EXPORTS[names.index(name)]
    raise UsageError(f'There is no export form "{name}"; {near(name, names)}')
