"""How often the first cause is right: on faults that are planted in an agent's files, and on failures as they come.

    python -m tests.benchmarks.bench_causes [--work build/causes] [--most 100] [--only mutants] [--score] [--alone]
        [--edited] [--json FILE]

Mutants: each fault is planted in the files of an agent (laser, step, reflect, synapse) on a site (shop, airline,
MiniWoB++) whose tasks it passes, and counts if three cases of three then fail. Faults in prompts, instructions and
exemplars are tried with an LLM that only knows what its prompt shows (`causes/obedient.py`), the others with the rules
LLM. Natural failures: runs of the rules LLM, whose causes a person has labelled in `causes/natural.jsonl`.

Told by agent and operator: how often the first cause, or one of the first three, has the file and a line within three
of the fault; how far its step is from the deciding one; how often it is wrong while sure. Beside it Ochiai and DStar
over what runs used, and a ranking of lines by how rare their words are, which sees no run.

With `--alone`, no success is known: each failure is ranked as if the trace had none to compare it with. It makes no
runs, and reads a copy of the stored ones. All faults are planted in copies of bundled files, so that a copy differs
from the bundled file is no cause here, unless `--edited` is given.

With `--mend N`, the changes that causes propose for N faults of each agent are proved as `repair` does, and what was
chosen is then run on cases that no proof was made of.

Runs are kept in the folder `--work`, and a second call goes on there; `--score` makes none, and ranks those again. Of
several agents (`--agent laser`), each can be tried by a call of its own at the same time.
"""

import argparse
import asyncio
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from core.trace.records import Verdict
from tests.benchmarks.causes.cells import CELLS, Bench, opened
from tests.benchmarks.causes.mending import mend, told
from tests.benchmarks.causes.natural import natural_ranks
from tests.benchmarks.causes.proving import prove
from tests.benchmarks.causes.scoring import Ranks, score_mutant, table


def mutant_ranks(bench: Bench, *, edited: bool) -> list[Ranks]:
    """Return the ranks of all faults that are proven so far."""
    passed: dict[str, set[int]] = defaultdict(set)
    for row in bench.rows("passing"):
        if row["run"] is not None:
            passed[row["key"]].add(row["run"])
    for run in bench.services.store.runs(outcome="success", limit=100_000):
        if run.run not in set().union(*passed.values()):
            # A fault that did no harm there: nobody would take it for a success to hold others against.
            bench.services.store.set_verdict(run.run, Verdict())
    cells = {f"{cell.preset}/{cell.site}": cell for cell in CELLS}
    return [
        score_mutant(
            bench, cells[row["cell"]], row, sorted(passed[f"{row['cell']}/{row['llm']}"]), edited=edited
        )
        for row in bench.rows("mutants")
        if row["proven"]
    ]


async def measure(given: argparse.Namespace) -> None:
    cells = [cell for cell in CELLS if not given.agent or cell.preset in given.agent]
    found: dict[str, list[Ranks]] = {}
    if given.only in ("", "mutants"):
        ranks: list[Ranks] = []
        mended: list[dict[str, Any]] = []
        for preset in dict.fromkeys(cell.preset for cell in cells):
            # Each agent apart: a success of one would show where another one failed.
            async with opened(given.work / "mutants" / preset, alone=given.alone) as bench:
                if not given.score:
                    own = [cell for cell in cells if cell.preset == preset]
                    await prove(bench, own, most=given.most, each=given.each)
                if given.mend:
                    await mend(bench, most=given.mend)
                    mended += bench.rows("mending")
                else:
                    ranks += mutant_ranks(bench, edited=given.edited)
        if given.mend:
            print(f"## Changes\n\n{told(mended)}\n")
            return
        found["Mutants"] = ranks
    if given.only in ("", "natural"):
        async with opened(given.work / "natural", alone=given.alone) as bench:
            found["Natural failures"] = await natural_ranks(bench, again=not given.score)
    for title, ranks in found.items():
        print(f"## {title}\n\n{table(ranks)}\n")
    if given.json:
        rows = {title: [one._asdict() for one in ranks] for title, ranks in found.items()}
        given.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path("build/causes"), help="where the runs are kept")
    parser.add_argument("--agent", action="append", default=[], help="the presets that faults are tried on")
    parser.add_argument(
        "--most", type=int, default=100, help="proven faults of an agent after which no more are tried"
    )
    parser.add_argument(
        "--each",
        type=int,
        default=8,
        help="proven faults of an operator that are kept for an agent on a site",
    )
    parser.add_argument("--only", choices=("", "mutants", "natural"), default="")
    parser.add_argument("--score", action="store_true", help="make no runs")
    parser.add_argument(
        "--alone", action="store_true", help="rank each as if no run had succeeded; makes no runs"
    )
    parser.add_argument("--edited", action="store_true", help="count what differs from bundled files")
    parser.add_argument("--mend", type=int, default=0, help="faults of an agent whose changes are proved")
    parser.add_argument("--json", type=Path, help="where the rank of each failure is written")
    given = parser.parse_args()
    if given.alone and given.mend:
        parser.error("--alone ranks causes, and --mend proves changes: give one of them.")
    given.score |= given.alone
    asyncio.run(measure(given))


if __name__ == "__main__":
    main()
