"""Failures as they come: runs of the rules LLM on the suites, whose causes a person has labelled by reading them.

`natural.jsonl` has one label a line: preset, task and seed, what was seen in the run, the deciding step, and the place,
which is a file with the words of its line, or nothing where the LLM chose wrongly with all that it needed in view. Each
was read twice, in another order; where the second reading said otherwise, `second` has it, and the label is what both
came to.
"""

import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.debugger.causes.finding import causes_of
from core.debugger.causes.records import Cause
from core.storage.resources import RESOURCES
from tests.benchmarks.causes.cells import Bench, Case
from tests.benchmarks.causes.mutants import Place
from tests.benchmarks.causes.scoring import Ranks, is_near, place_of

LABELS = Path(__file__).with_name("natural.jsonl")
PRESETS = ("laser", "step", "reflect", "synapse")
_SHOP = tuple(Case(f"shop/goal-{number:03}", 20) for number in range(24))
_AIRLINE = tuple(
    Case(f"airline/{name}", 20)
    for name in (
        "find-flight",
        "find-booking",
        "cancel-booking",
        "change-passenger",
        "change-flights",
        "book-flight",
    )
)
_MINIWOB = tuple(
    Case(f"miniwob/{name}", 20)
    for name in (
        "click-checkboxes click-checkboxes-soft click-checkboxes-transfer click-collapsible-2 click-option click-pie "
        "click-scroll-list click-shades click-shape click-tab-2-hard click-widget count-shape email-inbox-forward-nl "
        "email-inbox-reply enter-date enter-time find-word grid-coordinate guess-number identify-shape "
        "login-user-popup multi-layouts navigate-tree number-checkboxes order-food read-table search-engine "
        "social-media-all social-media-some text-editor tic-tac-toe use-autocomplete use-slider use-spinner "
        "visual-addition"
    ).split()
)


def suite() -> Iterator[tuple[str, Case]]:
    """Yield what is run, in order: each preset on the cases of all sites."""
    for case in (*_SHOP, *_AIRLINE, *_MINIWOB):
        for preset in PRESETS:
            yield preset, case


async def run_suite(bench: Bench) -> None:
    """Run what was not run yet."""
    known = {(row["preset"], row["task"], row["seed"]) for row in bench.rows("natural")}
    for preset, case in suite():
        if (preset, *case) not in known:
            report = await bench.play(preset, "rules", case)
            row = {"preset": preset, **case._asdict(), "run": None}
            if report is not None:
                row |= {"run": report.run, "success": report.success, "reason": report.reason}
            bench.add("natural", row)


def labels() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]


async def natural_ranks(bench: Bench, *, again: bool) -> list[Ranks]:
    """Return the ranks of all labelled failures; those that do not fail any more are told and left out."""
    if again:
        await run_suite(bench)
    runs = {(row["preset"], row["task"], row["seed"]): row for row in bench.rows("natural")}
    found = []
    for label in labels():
        row = runs.get((label["preset"], label["task"], label["seed"]))
        if row is None or row["run"] is None or row["success"]:
            print(f"{label['preset']} {label['task']} does not fail here.", file=sys.stderr)
            continue
        found.append(_score(bench, label, row["run"]))
    return found


def _score(bench: Bench, label: dict[str, Any], run: int) -> Ranks:
    causes = causes_of(bench.services.store, run, bench.services.resources, bench.files)
    place = _place(label)
    rank = next((at for at, cause in enumerate(causes, 1) if _is_right(bench, cause, label, place)), 0)
    name = f"{label['preset']} {label['task']}"
    first = causes[0] if causes else None
    return Ranks(
        id=name,
        agent=label["preset"],
        group=label["task"].partition("/")[0],
        is_held_out=zlib.crc32(name.encode()) % 2 == 1,
        causes=rank,
        ochiai=0,
        dstar=0,
        files_only=0,
        chance=0.0,
        first=f"{first.kind} {first.place}" if first is not None else "",
        certainty=first.certainty if first is not None else "",
        off=abs(first.step - label["step"]) if first is not None else None,
    )


def _place(label: dict[str, Any]) -> Place | None:
    """Return file and line of a label; None for one of a choice. Raises ValueError where the words are gone."""
    if not label["file"]:
        return None
    lines = (RESOURCES / label["file"]).read_text("utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if label["words"] in line:
            return label["file"], number
    raise ValueError(
        f"{label['file']} has no line with {label['words']!r}; read the label of {label['task']} again."
    )


def _is_right(bench: Bench, cause: Cause, label: dict[str, Any], place: Place | None) -> bool:
    """A place is right within three lines; a wrong choice by its very step, if the cause says that it was chosen."""
    if place is not None:
        return is_near(place_of(bench, cause), [place])
    return cause.step == label["step"] and cause.field == "action"
