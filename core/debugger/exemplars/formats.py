"""The export formats of exemplars, one line each. The module of a format is loaded when it is used."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar, Status
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
    unfit: str = ""
    """The function of that module that says why an exemplar is left out; empty if all go out."""
    loses: str = ""
    """What exemplars have that is not written."""

    @property
    def told(self) -> str:
        """What it is, and what is not written, in sentences."""
        return f"{self.words} Not written: {self.loses}." if self.loses else self.words

    def write(self, exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
        """Return the texts by file name; where it is one file, its name is empty."""
        made: dict[str, str] = self._function(self.made_by.partition(":")[2])(exemplars)
        return made

    def fitting(self, exemplars: Iterable[Exemplar]) -> tuple[tuple[Exemplar, ...], dict[str, str]]:
        """Return those that go out, and by id why others are left out."""
        if not self.unfit:
            return tuple(exemplars), {}
        why = self._function(self.unfit)
        found = [(exemplar, str(why(exemplar))) for exemplar in exemplars]
        return (
            tuple(exemplar for exemplar, words in found if not words),
            {exemplar.id: words for exemplar, words in found if words},
        )

    def _function(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(self.made_by.partition(":")[0]), name)
        return found

    def files(self, exemplars: tuple[Exemplar, ...], path: Path) -> dict[Path, str]:
        """Return the texts by the files that they go to, for a file or folder at `path`."""
        return {path / name if name else path: text for name, text in self.write(exemplars).items()}


_LINES = "core.exemplars.exchange.exports.lines"
_SYNAPSE = "core.exemplars.exchange.exports.synapse:export_synapse"
_CHAT = "core.agent.exemplar_chat"
_LOST = "abstraction, the parser, whole pages, tags, notes, weight"
EXPORTS = (
    ExemplarExportFormat("jsonl", "JSON lines", "One exemplar per line, complete. Import… can read it.",
        ".jsonl", f"{_LINES}:export_lines"),
    ExemplarExportFormat("toml", "A folder of TOML files",
        "A file per exemplar, complete, for a folder under git. Import… can read it.", "", f"{_LINES}:export_toml"),
    ExemplarExportFormat("chat", "Conversations for fine-tuning",
        "One conversation per line, with messages for fine-tuning over chat completions.", ".chat.jsonl",
        f"{_CHAT}:export_chat", "unfit", f"contrasts, {_LOST}"),
    ExemplarExportFormat("tools", "Conversations with tool calls",
        "One conversation per line, with messages and tools. Actions are calls of these.", ".tools.jsonl",
        f"{_CHAT}:export_tools", "unfit", f"contrasts, {_LOST}"),
    ExemplarExportFormat("sharegpt", "ShareGPT conversations",
        "One conversation per line, each turn with from and value.", ".sharegpt.jsonl",
        f"{_CHAT}:export_sharegpt", "unfit", f"contrasts, {_LOST}"),
    ExemplarExportFormat("pairs", "Preference pairs (DPO)",
        "One pair per contrast: the prompt, and what is chosen and rejected.", ".pairs.jsonl",
        f"{_CHAT}:export_pairs", "unfit_for_pairs", f"contrasts on other pages, {_LOST}"),
    ExemplarExportFormat("atif", "ATIF trajectories",
        "One trajectory per line, in the Agent Trajectory Interchange Format.",
        ".atif.jsonl", f"{_LINES}:export_atif", "", "contrasts, abstraction, the parser, whole pages, weight"),
    ExemplarExportFormat("synapse", "A memory of Synapse",
        "A folder with exemplars.json and specifiers.json, as in Synapse. What Synapse does not read, such as "
        "contrasts, stands under backstep.", "", _SYNAPSE),
)  # fmt: skip


def export_format(name: str) -> ExemplarExportFormat:
    """Return the format of that name; raises UsageError that names the nearest one."""
    known = {form.name: form for form in EXPORTS}
    if name not in known:
        raise UsageError(f'There is no export form "{name}"; {near(name, tuple(known))}')
    return known[name]


def left_out_words(by_status: Mapping[Status, int], unfit: Mapping[str, str]) -> str:
    """Return what an export leaves out: how many of which status, and one that is not fit, with the reason."""
    parts = [f"{number} {status}" for status, number in sorted(by_status.items())]
    for id, why in list(unfit.items())[:1]:
        more = f" (and {len(unfit) - 1} more)" if len(unfit) > 1 else ""
        parts.append(f"{id}{more}, as {why.rstrip('.')}")
    return "; ".join(parts)
