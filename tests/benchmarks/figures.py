"""The figures of a round of benchmarks: beside what each stands, their table, and what is worse than recorded."""

import json
import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).with_name("recorded.json")
WORSE = 1.2
"""A ratio that has grown by this factor is told."""


class Figure(NamedTuple):
    """One row of the table; of all that is measured less is better."""

    what: str
    ours: float
    unit: str
    floor: float | None = None
    """The same by others, or the least it can take, measured in the same round."""
    beside: str = ""
    """What the floor is."""
    aim: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.floor if self.floor else None


def machine() -> str:
    """Describe this machine: what ratios do not depend on, and milliseconds do."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return f"{next(named, model)}, {os.cpu_count()} processors, {platform.system()}, Python {platform.python_version()}"


def table(figures: Iterable[Figure]) -> str:
    """Return the figures as a table in Markdown."""
    head = ("", "Backstep", "beside", "", "ratio", "aim")
    rows = [head]
    for one in figures:
        floor = "" if one.floor is None else _number(one.floor, one.unit)
        ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
        rows.append((one.what, _number(one.ours, one.unit), floor, one.beside, ratio, one.aim))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _number(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}".replace(",", " ") if value >= 20 else f"{value:.1f} {unit}"


def as_json(figures: Sequence[Figure]) -> dict[str, Any]:
    """Return what is written to a file: machine, date and figures with their ratios."""
    return {
        "machine": machine(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "figures": [{**one._asdict(), "ratio": one.ratio} for one in figures],
    }


def worse_than(recorded: dict[str, Any], figures: Iterable[Figure]) -> list[str]:
    """Return a sentence for each ratio that is worse by a fifth than the recorded one of the same name."""
    before = {one["what"]: one["ratio"] for one in recorded["figures"] if one["ratio"]}
    return [
        f"{one.what}: the ratio is {one.ratio:.2f}, it was {before[one.what]:.2f} on {recorded['date']}."
        for one in figures
        if one.ratio is not None and one.what in before and one.ratio > WORSE * before[one.what]
    ]


def recorded() -> dict[str, Any] | None:
    """Return the figures that were recorded last, or None."""
    if not RECORDED.exists():
        return None
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found
