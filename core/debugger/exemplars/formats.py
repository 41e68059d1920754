"""The export formats of exemplars, one line each. The module of a format is loaded when it is used."""

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar
from core.settings.user_file import near


class ExemplarExportFormat(NamedTuple):
    """One export format of exemplars."""

    name: str
    title: str
    words: str
    """What it is, in a sentence or two."""
    suffix: str
    """What a file of it ends with; empty if it is a folder of files."""
    made_by: str
    """The module and the function in it that takes the exemplars and gives the texts by file name."""

    def write(self, exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
        """Return the texts by file name; where it is one file, its name is empty."""
        module, _, function = self.made_by.partition(":")
        made: dict[str, str] = getattr(import_module(module), function)(exemplars)
        return made

    def files(self, exemplars: tuple[Exemplar, ...], path: Path) -> dict[Path, str]:
        """Return the texts by the files that they go to, for a file or folder at `path`."""
        return {path / name if name else path: text for name, text in self.write(exemplars).items()}


_LINES = "core.exemplars.exchange.exports.lines"
_SYNAPSE = "core.exemplars.exchange.exports.synapse:export_synapse"
_CHAT = "core.agent.exemplar_chat:export_chat"
EXPORTS = (
    ExemplarExportFormat("jsonl", "JSON lines", "One exemplar per line, complete. Import… can read it.",
        ".jsonl", f"{_LINES}:export_lines"),
    ExemplarExportFormat("chat", "Conversations for fine-tuning",
        "One conversation per line, with messages for fine-tuning over chat completions.", ".chat.jsonl", _CHAT),
    ExemplarExportFormat("atif", "ATIF trajectories",
        "One trajectory per line, in the Agent Trajectory Interchange Format.",
        ".atif.jsonl", f"{_LINES}:export_atif"),
    ExemplarExportFormat("synapse", "A memory of Synapse",
        "A folder with exemplars.json and specifiers.json, as in Synapse.", "", _SYNAPSE),
)  # fmt: skip


def export_format(name: str) -> ExemplarExportFormat:
    """Return the format of that name; raises UsageError that names the nearest one."""
    known = {form.name: form for form in EXPORTS}
    if name not in known:
        raise UsageError(f'There is no export form "{name}"; {near(name, tuple(known))}')
    return known[name]
