"""Finds the faults by which runs fail that passed: what they are, and the runs that show it."""

import random
import re
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from core.debugger.causes.facts import RunFacts
from core.debugger.compare.parting import exactly
from core.debugger.compare.views import comparable
from core.schema.step import Recognised
from core.storage.resources import RESOURCES
from tests.benchmarks.causes.cells import Bench, Case, Cell
from tests.benchmarks.causes.mutants import Mutant, Obeys, mutants, two_at_once

CASES = 3
"""Cases that passed before and have to fail with a fault."""
_GROUPS = 2
"""Groups of cases that a fault is tried on."""
_VAIN = 12
"""Faults of an operator that fail nothing, beyond those that do, after which it is given up there."""
_PAIRS = 24
"""Pairs of faults for an agent on a site."""


class Passing(NamedTuple):
    """Cases that an agent passes, with the runs that show it and the files that they used."""

    cases: tuple[Case, ...]
    runs: tuple[int, ...]
    used: frozenset[str]
    steps: int


async def passing(bench: Bench, cell: Cell, llm: Obeys) -> list[Passing]:
    """Return the groups of cases that an agent passes, those of the fewest steps first."""
    key = f"{cell.preset}/{cell.site}/{llm}"
    known = {row["case"]: row for row in bench.rows("passing") if row["key"] == key}
    groups: list[Passing] = []
    for cases in cell.groups:
        rows = []
        for case in cases:
            name = f"{case.task} {case.seed}"
            if name not in known:
                report = await bench.play(cell.preset, llm, case)
                passed = report is not None and report.run is not None and bool(report.success)
                row: dict[str, Any] = {
                    "key": key,
                    "case": name,
                    "run": report.run if passed and report else None,
                }
                if passed and report is not None and report.run is not None:
                    row |= {"used": sorted(bench.used(report.run)), "steps": report.steps}
                bench.add("passing", row)
                known[name] = row
            rows.append(known[name])
            if rows[-1]["run"] is None:
                break
        if all(row["run"] is not None for row in rows):
            used = frozenset(file for row in rows for file in row["used"])
            groups.append(
                Passing(cases, tuple(row["run"] for row in rows), used, sum(row["steps"] for row in rows))
            )
        if cell.site == "shop" and len(groups) == CASES * _GROUPS:
            break
    groups.sort(key=lambda group: group.steps)
    if cell.site != "shop":
        return groups
    triples = [groups[at : at + CASES] for at in range(0, len(groups) - CASES + 1, CASES)]
    return [
        Passing(
            tuple(one.cases[0] for one in some),
            tuple(one.runs[0] for one in some),
            frozenset(file for one in some for file in one.used),
            sum(one.steps for one in some),
        )
        for some in triples
    ]


def id_of(cell: Cell, mutant: Mutant) -> str:
    places = "+".join(f"{file}:{line}" for file, line in mutant.places)
    return f"{cell.preset}/{cell.site}/{mutant.operator}/{places}/{zlib.crc32(mutant.words.encode()):08x}"


async def prove(bench: Bench, cells: Sequence[Cell], *, most: int, each: int) -> None:
    """Try faults until `most` are proven; each is told once, proven or not, in `mutants.jsonl`.

    Of each operator, at most `each` are kept for an agent on a site.
    """
    rows = bench.rows("mutants")
    known = {row["id"] for row in rows}
    proven = sum(row["proven"] for row in rows)
    counts = Counter((row["cell"], row["operator"], row["proven"]) for row in rows)
    groups: dict[tuple[Cell, Obeys], list[Passing]] = {}
    wanted: list[tuple[Cell, Mutant]] = []
    for cell in cells:
        for file in cell.files:
            wanted += [(cell, mutant) for mutant in mutants(file, (RESOURCES / file).read_text("utf-8"))]
    random.Random(0).shuffle(wanted)
    singles: dict[Cell, list[Mutant]] = {}
    for row in rows:
        if row["proven"] and len(row["places"]) == 1:
            cell = next(one for one in cells if f"{one.preset}/{one.site}" == row["cell"]) if cells else None
            if cell is not None:
                singles.setdefault(cell, []).append(_mutant_of(row))
    for is_pair in (False, True):
        if is_pair:
            wanted = [(cell, pair) for cell, some in singles.items() for pair in two_at_once(some, _PAIRS)]
        for cell, mutant in wanted:
            name = f"{cell.preset}/{cell.site}"
            kept, vain = (counts[name, mutant.operator, is_proven] for is_proven in (True, False))
            if proven >= most or id_of(cell, mutant) in known or kept >= each or vain >= _VAIN + 2 * kept:
                continue
            if (cell, mutant.llm) not in groups:
                groups[cell, mutant.llm] = await passing(bench, cell, mutant.llm)
                print(
                    f"{name}, {mutant.llm}: {len(groups[cell, mutant.llm])} groups pass",
                    file=sys.stderr,
                    flush=True,
                )
            fit = [group for group in groups[cell, mutant.llm] if _used(mutant) <= group.used]
            if not fit:
                continue  # No task needs it.
            row = await _tried(bench, cell, mutant, fit[:_GROUPS])
            bench.add("mutants", row)
            counts[name, mutant.operator, row["proven"]] += 1
            if row["proven"]:
                proven += 1
                print(f"{proven}. {row['id']}  {mutant.words[:80]}", file=sys.stderr, flush=True)
                if not is_pair:
                    singles.setdefault(cell, []).append(mutant)


def _mutant_of(row: dict[str, Any]) -> Mutant:
    places = tuple((file, line) for file, line in row["places"])
    return Mutant(row["operator"], row["llm"], places, row["texts"], row["words"])


def _used(mutant: Mutant) -> set[str]:
    """Return the files and states that a run has to use for the fault to matter; all use the preset."""
    found = {file for file in mutant.texts if not file.startswith("presets/")}
    for file, line in mutant.places:
        above = "\n".join(mutant.texts[file].splitlines()[:line])
        names = re.findall(r'^\[\[state\]\]\nname = "(\w+)"', above, re.MULTILINE)
        if file.startswith("state_spaces/") and names and mutant.operator != "state removed":
            found.add(f"{file} {names[-1]}")
    return found


async def _tried(bench: Bench, cell: Cell, mutant: Mutant, groups: Sequence[Passing]) -> dict[str, Any]:
    row = {
        "id": id_of(cell, mutant),
        "cell": f"{cell.preset}/{cell.site}",
        "proven": False,
        **mutant._asdict(),
    }
    with bench.planted(mutant.texts) as is_valid:
        for group in groups if is_valid else ():
            failed: list[int] = []
            for case in group.cases:
                report = await bench.play(cell.preset, mutant.llm, case)
                if report is None or report.run is None or report.success:
                    break
                failed.append(report.run)
            if len(failed) == len(group.cases):
                decided = deciding(bench, failed[0], group.runs[0])
                return {**row, "proven": True, "runs": failed, "passed": group.runs, "deciding": decided}
    return {**row, "texts": {}}


def deciding(bench: Bench, failed: int, passed: int) -> int:
    """Return the first step of a failed run whose record is not as in the passed one."""
    here, there = (RunFacts(bench.services.store, bench.services.store.run(run)) for run in (failed, passed))
    last = 0
    for mine, theirs in zip_longest(here.steps, there.steps):
        if mine is None:
            return last
        last = mine.number
        if theirs is None or _record(here, last) != _record(there, theirs.number):
            return last
    return last


def _record(facts: RunFacts, number: int) -> tuple[object, ...]:
    """Return state, policies, permissible actions, prompts and action of a step, as they are in another run too."""
    recognised = facts.part(number, Recognised)
    stack = recognised.stack.frames if recognised is not None and recognised.stack is not None else ()
    step = next(one for one in facts.steps if one.number == number)
    return (
        facts.state_of(number),
        tuple(frame.policy for frame in stack),
        tuple(one.name for one in recognised.permissible.actions) if recognised is not None else (),
        tuple((call.purpose, comparable(facts.prompt(call))) for call in facts.calls.get(number, ())),
        exactly(step),
        step.outcome,
    )
