"""Compares causes with what is known of a failure, beside rankings that know less; and the table of it."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import md5
from math import log
from typing import Any, NamedTuple

from core.agent.spaces.file import StateSpace
from core.debugger.causes.finding import causes_of
from core.debugger.causes.records import Cause, Suspicion
from core.debugger.causes.spectrum import suspicions_of
from core.schema.errors import BackstepError
from core.settings.toml_layout import layout
from core.storage.resources import RESOURCES
from core.trace.records import EvaluatedRun
from tests.benchmarks.causes.cells import Bench, Cell
from tests.benchmarks.causes.mutants import Place

NEAR = 3
"""Lines between a fault and where a cause says that it is."""
_SHOWN = 10
"""Ranks that are looked at."""


class Ranks(NamedTuple):
    """Of one failure, the rank of the first place that is right by each ranking, from 1; 0 for none."""

    id: str
    agent: str
    group: str
    """The operator, or what the failure is natural to."""
    is_held_out: bool
    """Whether it is of the half that causes are not tuned on."""
    causes: int
    ochiai: int
    dstar: int
    files_only: int
    chance: float
    """By how much a place at random of the agent's files is right."""
    first: str
    """Kind and place of the first cause."""
    certainty: str
    off: int | None
    """How many steps the first cause is away from the deciding step; None without one."""


def is_held_out(name: str) -> bool:
    """Return whether an operator is of the half that causes are not tuned on: by a hash that parts each folder's."""
    return md5(name.encode()).digest()[0] % 2 == 1


def is_near(place: Place, right: Iterable[Place]) -> bool:
    return any(place[0] == file and abs(place[1] - line) <= NEAR for file, line in right)


def _first(places: Iterable[Place], right: Sequence[Place]) -> int:
    return next((rank for rank, place in enumerate(places, 1) if is_near(place, right)), 0)


def place_of(bench: Bench, cause: Cause) -> Place:
    """Return file and line of a cause; of an exemplar, those of its line."""
    if not cause.file and cause.field.startswith("exemplar "):
        id = cause.field.removeprefix("exemplar ")
        return bench.exemplar_places((id,)).get(id, ("", 0))
    return cause.file, cause.line


def score_mutant(
    bench: Bench, cell: Cell, row: Mapping[str, Any], passed: Sequence[int], *, edited: bool
) -> Ranks:
    """Rank the causes of a proven fault anew; `passed` are the runs of its agent on its site that passed.

    Without `edited`, what differs from a bundled file is no cause: all faults are planted in copies of those.
    """
    right = [(file, line) for file, line in row["places"]]
    with bench.planted(row["texts"]):
        files = bench.files if edited else bench.unedited
        causes = causes_of(bench.services.store, row["runs"][0], bench.services.resources, files)
        ochiai, dstar = _by_spectrum(bench, row["runs"], passed)
        lines = _lines(bench, cell)
    rare = _by_rarity(lines)
    first = causes[0] if causes else None
    return Ranks(
        id=row["id"],
        agent=cell.preset,
        group=row["operator"],
        is_held_out=is_held_out(row["operator"]),
        causes=_first((place_of(bench, cause) for cause in causes[:_SHOWN]), right),
        ochiai=_first(ochiai, right),
        dstar=_first(dstar, right),
        files_only=_first(rare[:_SHOWN], right),
        chance=sum(is_near(place, right) for place, _ in lines) / max(len(lines), 1),
        first=f"{first.kind} {first.place}" if first is not None else "",
        certainty=first.certainty if first is not None else "",
        off=abs(first.step - row["deciding"]) if first is not None else None,
    )


# Rankings that know less


def _by_spectrum(
    bench: Bench, failed: Sequence[int], passed: Sequence[int]
) -> tuple[list[Place], list[Place]]:
    """Return the places of what runs used, by Ochiai's coefficient and by DStar's with a star of two."""
    runs = [
        EvaluatedRun(variant="", task="", seed=0, time=1, attempt=1, run=run, success=run in passed)
        for run in (*failed, *passed)
    ]
    found = suspicions_of(bench.services.store, runs)
    store = bench.services.store
    places = _Places(bench, store.run(failed[0]).environment)

    def dstar(one: Suspicion) -> float:
        return one.failed**2 / max(one.passed + len(failed) - one.failed, 1e-9)

    by_star = sorted(found, key=lambda one: -dstar(one))
    return [places.of(one) for one in found], [places.of(one) for one in by_star]


class _Places:
    """Where in an agent's files what a run used is written."""

    def __init__(self, bench: Bench, site: str) -> None:
        self._bench = bench
        self._site = site

    def of(self, one: Suspicion) -> Place:
        resources = self._bench.services.resources
        try:
            if one.kind == "policy":
                return self._bench.files.name_of(resources.policies.path_of(f"{self._site}/{one.name}")), 1
            if one.kind == "exemplar":
                return self._bench.exemplar_places((one.name,)).get(one.name, ("", 0))
            state, _, action = one.name.rpartition(".") if one.kind == "action" else (one.name, "", "")
            return self._in_space(resources.spaces.get(self._site), state, action)
        except BackstepError:
            return "", 0

    def _in_space(self, space: StateSpace, state: str, action: str) -> Place:
        for at, known in enumerate(space.state):
            if known.name == state:
                names = [one.name for one in known.action]
                inner = ("action", names.index(action)) if action in names else ()
                file = self._bench.files.name_of(space.path)
                return file, layout(space.text).line_of(("state", at, *inner)) or 0
        return "", 0


def _lines(bench: Bench, cell: Cell) -> list[tuple[Place, str]]:
    """Return the lines of the files that faults can be in, that say anything."""
    found: list[tuple[Place, str]] = []
    for file in cell.files:
        path = bench.folder / file if (bench.folder / file).exists() else bench.files.target(file)
        if not path.exists():
            path = RESOURCES / file
        lines = path.read_text("utf-8").splitlines()
        found += [((file, number), line) for number, line in enumerate(lines, 1) if line.strip()]
    return found


def _by_rarity(lines: Sequence[tuple[Place, str]]) -> list[Place]:
    """Return the places by how rare their words are in these files: a ranking that sees no run."""
    words = [set(re.findall(r"\w+", line.lower())) for _, line in lines]
    seen = Counter(word for some in words for word in some)
    rarity = [sum(-log(seen[word] / len(lines)) for word in some) / max(len(some), 1) for some in words]
    order = sorted(range(len(lines)), key=lambda at: -rarity[at])
    return [lines[at][0] for at in order]


# Tables

_HEADS = (
    *("half", "failures", "top 1", "top 3", "step", "within 1", "within 3", "wrong, sure"),
    *("Ochiai 1 / 3", "DStar 1 / 3", "files only 1 / 3", "chance"),
)


def table(ranks: Sequence[Ranks], columns: Sequence[str] = ("agent", "group")) -> str:
    """Return the shares by agent and group, in Markdown, those of all and of each half last."""
    groups: dict[tuple[str, ...], list[Ranks]] = defaultdict(list)
    for one in sorted(ranks, key=lambda one: (one.agent, one.group)):
        groups[one.agent, one.group].append(one)
    heads = [*columns, *_HEADS]
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    for (agent, group), some in groups.items():
        lines.append(_row(agent, group, "reported" if some[0].is_held_out else "tuned on", some))
    for agent in dict.fromkeys(one.agent for one in ranks):
        lines.append(_row(agent, "all", "", [one for one in ranks if one.agent == agent]))
    halves: dict[str, Callable[[Ranks], bool]] = {
        "tuned on": lambda one: not one.is_held_out,
        "reported": lambda one: one.is_held_out,
        "both": lambda one: True,
    }
    lines += [_row("all", "all", half, list(filter(fits, ranks))) for half, fits in halves.items()]
    return "\n".join(lines)


def _row(agent: str, group: str, half: str, some: Sequence[Ranks]) -> str:
    def share(fits: Callable[[Ranks], bool]) -> str:
        return f"{100 * sum(map(fits, some)) / len(some):.0f} %" if some else "–"

    def both(rank: Callable[[Ranks], int]) -> str:
        return f"{share(lambda one: rank(one) == 1)} / {share(lambda one: 1 <= rank(one) <= 3)}"

    cells = (
        agent,
        group,
        half,
        str(len(some)),
        share(lambda one: one.causes == 1),
        share(lambda one: 1 <= one.causes <= 3),
        *(share(lambda one, most=most: one.off is not None and one.off <= most) for most in (0, 1, 3)),
        share(lambda one: one.certainty == "sure" and one.causes != 1),
        both(lambda one: one.ochiai),
        both(lambda one: one.dstar),
        both(lambda one: one.files_only),
        f"{100 * sum(one.chance for one in some) / max(len(some), 1):.1f} %",
    )
    return f"| {' | '.join(cells)} |"
