"""The export formats of exemplars, one line each. The module of a format is loaded when it is used."""

from importlib import import_module

from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar
from core.schema.record import Record
from core.settings.user_file import near


class ExemplarExportFormat(Record):
    """One export format of exemplars."""

    name: str
    title: str
    suffix: str
    """What a file of it ends with; empty if it is a folder of files."""
    made_by: str
    """The module and the function in it that takes the exemplars and gives the files by name."""

    def write(self, exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
        """Return the texts by file name; where it is one file, its name is empty."""
        module, _, function = self.made_by.partition(":")
        made: dict[str, str] = getattr(import_module(module), function)(exemplars)
        return made


_PLACE = "core.memory.exchange.exports"
EXPORTS: tuple[ExemplarExportFormat, ...] = (
    ExemplarExportFormat(
        name="jsonl", title="JSON lines", suffix=".jsonl", made_by=f"{_PLACE}.lines:export_lines"
    ),
    ExemplarExportFormat(
        name="chat",
        title="Conversations for fine-tuning",
        suffix=".chat.jsonl",
        made_by="core.agent.exemplar_chat:export_chat",
    ),
    ExemplarExportFormat(
        name="atif", title="ATIF trajectories", suffix=".atif.jsonl", made_by=f"{_PLACE}.lines:export_atif"
    ),
    ExemplarExportFormat(
        name="synapse", title="A memory of Synapse", suffix="", made_by=f"{_PLACE}.synapse:export_synapse"
    ),
)


def export_format(name: str) -> ExemplarExportFormat:
    """Return the format of that name; raises UsageError that names the nearest one."""
    known = {one.name: one for one in EXPORTS}
    if name not in known:
        raise UsageError(f'There is no export form "{name}"; {near(name, tuple(known))}')
    return known[name]
