"""The entries of the command palette, and which entries match some words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

from core.debugger.catalogue import Catalogue
from core.debugger.palette.views import MatchingExemplars, MatchingRuns, ResourcesView
from core.debugger.steps.views import DiagramState
from core.schema.formats import count, in_line
from core.storage.resources import RESOURCES
from core.trace.records import RunRow, StepRow
from gui.palette.matching import Match, lowered, match
from gui.panels.runs.model import run_text, run_word, step_word
from gui.shell.command_set import CommandSet, plain
from gui.shell.docks import PANELS

Kind = Literal[
    "command",
    "panel",
    "step",
    "state",
    "policy",
    "preset",
    "LLM",
    "task",
    "setting",
    "documentation",
    "run",
    "exemplar",
]
ICONS: dict[Kind, str] = {
    "command": "symbol-event",
    "panel": "layout",
    "step": "debug-step-over",
    "state": "symbol-class",
    "policy": "symbol-method",
    "preset": "settings",
    "LLM": "hubot",
    "task": "tasklist",
    "setting": "settings-gear",
    "documentation": "book",
    "run": "list-tree",
    "exemplar": "library",
}
PREFIXES: dict[str, tuple[tuple[Kind, ...], str]] = {
    ">": (("command",), "commands"),
    "@": (("step",), "steps of the run in view"),
    "#": (("run",), "runs"),
    "!": (("exemplar",), "exemplars"),
    "?": (("documentation",), "documentation"),
}
"""The kinds that each prefix searches, and their description."""
_MOST = 200
"""Maximum number of listed entries."""
_WEAK = 0.45
"""Matches that are worse than the best by this much are left out."""
_IN_DETAIL = 0.5
"""Weight of a match in the small text."""
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class PaletteEntry:
    """One thing to go to or to do, identified by `kind` and `name`."""

    kind: Kind
    name: str
    text: str
    detail: str = ""
    """Small text next to the title; it is also searched."""
    key: str = ""
    """The key for the same command."""
    icon: str = ""
    why_not: str = ""
    """Why it is unavailable now."""
    help: str = ""
    """Page and heading of the documentation that F1 opens for it."""
    places: tuple[int, ...] = ()
    """Positions of the matched characters in the text."""
    recent: bool = False

    @property
    def id(self) -> tuple[Kind, str]:
        return self.kind, self.name

    @cached_property
    def searched(self) -> str:
        """All of its text, in lower case."""
        return lowered(f"{self.text} {self.detail} {self.kind}")

    @property
    def word(self) -> str:
        """The text at the right."""
        parts = ("recently used" if self.recent else "", self.key or self.kind)
        return " · ".join(part for part in parts if part)

    @property
    def spoken(self) -> str:
        not_now = f"Not now: {self.why_not}" if self.why_not else ""
        return ". ".join(part for part in (self.text, self.detail, self.word, not_now) if part)


def command_entries(commands: CommandSet) -> Iterable[PaletteEntry]:
    for bound in commands:
        record, text = bound.record, plain(bound.action.text())
        yield PaletteEntry(
            "command", record.id, text, record.words, bound.key, record.icon, bound.why_not, bound.help
        )


def panel_entries() -> Iterable[PaletteEntry]:
    return (
        PaletteEntry("panel", record.name, record.name, "Show the panel and go to it", record.key)
        for record in PANELS
    )


def catalogue_entries(catalogue: Catalogue) -> Iterable[PaletteEntry]:
    """Return presets, LLMs and tasks."""
    for preset in catalogue.presets:
        yield PaletteEntry("preset", preset.name, preset.title, f"Choose this preset. {preset.description}")
    for llm in catalogue.llms:
        yield PaletteEntry("LLM", llm.name, llm.title, f"Choose this LLM. {llm.description}")
    for task in catalogue.tasks:
        yield PaletteEntry("task", task.id, task.id, in_line(task.instruction, 200))


def step_entries(steps: Iterable[StepRow]) -> Iterable[PaletteEntry]:
    """Return the steps, the last first."""
    for row in reversed(tuple(steps)):
        text = f"{row.number}  {in_line(row.in_words, 200)}"
        detail = " · ".join(part for part in (step_word(row), in_line(row.thought, 200)) if part)
        yield PaletteEntry("step", f"{row.run}.{row.number}", text, detail)


def state_entries(space: str, states: Iterable[DiagramState]) -> Iterable[PaletteEntry]:
    for state in states:
        facts = [f"State of {space}", "the run is here" if state.current else ""]
        facts.append(count(state.visits, "visit") if state.visits else "")
        yield PaletteEntry(
            "state", state.name, state.title or state.name, " · ".join(fact for fact in facts if fact)
        )


def resource_entries(view: ResourcesView) -> Iterable[PaletteEntry]:
    for policy in view.policies:
        yield PaletteEntry("policy", policy.path, policy.id, "Edit the policy")
    for setting in view.settings:
        yield PaletteEntry(
            "setting", setting.name, setting.name, f"{setting.meaning}: {setting.value}".lstrip(": ")
        )
    yield from map(_run_entry, view.runs)


def page_entries() -> tuple[PaletteEntry, ...]:
    """Return the pages of the documentation by their headings."""
    found = []
    for path in sorted((RESOURCES / "docs").glob("*.md")):
        heading = _HEADING.search(path.read_text(encoding="utf-8"))
        found.append(PaletteEntry("documentation", path.name, heading[1] if heading else path.stem))
    return tuple(found)


def run_entries(found: MatchingRuns, words: str) -> tuple[PaletteEntry, ...]:
    """Return the runs found by the database, in its order, with the matched characters of the text."""
    return tuple(_marked(_run_entry(row), words) for row in found.rows)


def exemplar_entries(found: MatchingExemplars, words: str) -> tuple[PaletteEntry, ...]:
    entries = (
        PaletteEntry("exemplar", row.id, row.id, f"{row.family} · {in_line(row.task, 200)}")
        for row in found.rows
    )
    return tuple(_marked(entry, words) for entry in entries)


def _run_entry(row: RunRow) -> PaletteEntry:
    facts = (
        run_word(row, current=False),
        row.instruction if row.environment != "web" else "",
        row.preset,
        row.llm,
    )
    text = f"Run {row.run}  {in_line(row.name or run_text(row), 200)}"
    return PaletteEntry("run", str(row.run), text, in_line(" · ".join(fact for fact in facts if fact), 300))


def _marked(entry: PaletteEntry, words: str) -> PaletteEntry:
    """Return the entry with the matched characters in its text marked; some words may match elsewhere in the entry."""
    places: set[int] = set()
    for word in lowered(words).split():
        at = lowered(entry.text).find(word)
        if at >= 0:
            places.update(range(at, at + len(word)))
    return replace(entry, places=tuple(sorted(places)))


def parted(typed: str) -> tuple[tuple[Kind, ...], str]:
    """Return which kinds to search, given by the first typed character, and the words."""
    typed = typed.strip()
    if typed[:1] in PREFIXES:
        return PREFIXES[typed[:1]][0], typed[1:].strip()
    return get_args(Kind), typed


def found_in(
    entries: Sequence[PaletteEntry], kinds: tuple[Kind, ...], words: str, recent: Sequence[tuple[str, str]]
) -> tuple[PaletteEntry, ...]:
    """Return the entries of these kinds that match, best first; unavailable ones are last.

    Without words, return all commands after the recently used entries, and nothing else because it would be too
    much to read. Of entries that match about equally well, recently used ones come first.
    """
    used = {id: at for at, id in enumerate(recent)}
    among = [entry for entry in entries if entry.kind in kinds]
    if not words:
        shown = [one for one in among if one.id in used or one.kind == "command" or len(kinds) == 1]
        order = {one.id: at for at, one in enumerate(among)}
        shown.sort(key=lambda one: (bool(one.why_not), used.get(one.id, len(used)), order[one.id]))
        return tuple(replace(one, recent=one.id in used) for one in shown[:_MOST])
    scored: list[tuple[float, PaletteEntry, Match]] = []
    parts = lowered(words).split()
    for entry in among:
        matched = match(words, entry.text) or _in_detail(entry, parts)
        if matched is not None:
            bonus = 8.0 / (1 + used[entry.id]) + 6.0 if used and entry.id in used else 0.0
            scored.append((matched.score + bonus, entry, matched))
    least = max((score for score, *_ in scored), default=0.0) * _WEAK
    kept = [one for one in scored if one[0] >= least]
    kept.sort(key=lambda one: (bool(one[1].why_not), -one[0]))
    return tuple(
        replace(entry, places=matched.places, recent=entry.id in used) for _, entry, matched in kept[:_MOST]
    )


def _in_detail(entry: PaletteEntry, parts: list[str]) -> Match | None:
    """Return how well all texts of an entry match the literal words."""
    if not all(part in entry.searched for part in parts):
        return None
    places: set[int] = set()
    for part in parts:
        at = lowered(entry.text).find(part)
        places.update(range(at, at + len(part)) if at >= 0 else ())
    return Match(_IN_DETAIL * sum(12.0 + 7 * len(part) for part in parts), tuple(sorted(places)))
