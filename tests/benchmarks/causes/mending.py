"""Tries the changes that causes propose for planted faults: how many mend, harm, and hold where nobody looked."""

import sys
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from core.debugger.causes.finding import causes_of
from core.debugger.evaluations.engine import Evaluator
from core.debugger.evaluations.local import lane_of
from core.debugger.evaluations.proof import cases_of, proof_of, repair_plan
from core.debugger.evaluations.proof_records import CandidateProof, Spot
from core.debugger.evaluations.records import RepairRequest
from core.debugger.repair.candidates import from_causes, together
from core.trace.evaluations import take_evaluation
from tests.benchmarks.causes.cells import Bench, Case

_CANDIDATES = 3
_PAIRS, _SEALED, _OTHERS = 6, 3, 4
_FAR = 100
"""Seeds from here on are in no proof."""
_UNSEEN = 3
"""Cases, at most, that no run of a proof was made of."""


async def mend(bench: Bench, *, most: int) -> None:
    """Try the changes for proven faults that have any, up to `most`; each fault is told once in `mending.jsonl`."""
    known = {row["id"] for row in bench.rows("mending")}
    passing = [row for row in bench.rows("passing") if row["run"] is not None]
    tried = sum(row["candidates"] > 0 for row in bench.rows("mending"))
    for row in bench.rows("mutants"):
        if not row["proven"] or row["id"] in known or tried >= most:
            continue
        cases = [_case(one["case"]) for one in passing if one["key"] == f"{row['cell']}/{row['llm']}"]
        with bench.planted(row["texts"]):
            told, best, left = await _proved(bench, row, cases)
        if best is not None:
            told |= await _unseen(bench, row, best, left)
        bench.add("mending", {"id": row["id"], "operator": row["operator"], **told})
        tried += told["candidates"] > 0
        print(row["id"], told, file=sys.stderr, flush=True)


def _case(words: str) -> Case:
    task, seed = words.split()
    return Case(task, int(seed))


async def _proved(
    bench: Bench, row: Mapping[str, Any], passing: Sequence[Case]
) -> tuple[dict[str, Any], CandidateProof | None, Sequence[Case]]:
    """Return what came of the changes, the one that was chosen, and the cases that no run was made of."""
    services = bench.services
    run, *alike = row["runs"]
    causes = causes_of(services.store, run, services.resources, bench.unedited)
    candidates = from_causes(causes, bench.files, services.resources)[:_CANDIDATES]
    candidates += together(causes, bench.files, services.resources)
    if not candidates:
        return {"candidates": 0}, None, ()
    request = RepairRequest(
        run=run,
        name="mend",
        candidates=candidates,
        alike=tuple(alike),
        pairs=_PAIRS,
        sealed=_SEALED,
        others=0,
    )
    plan = repair_plan(request, services.store, services.environments)
    assert plan.repair is not None
    used = {Case(one.task, one.seed) for one in (plan.repair.own, *plan.repair.choosing, *plan.repair.sealed)}
    left = [case for case in passing if case not in used]
    # Stored runs with other faults say nothing of what passes: that is known from those without one.
    others = tuple(Spot(task=task, seed=seed) for task, seed in left[:_OTHERS])
    plan = plan.replace(repair=plan.repair.replace(others=others))
    text = plan.model_dump_json()
    # What was begun goes on, unless it is to be proved otherwise now.
    request = request.replace(name=f"mend {row['id']} {zlib.crc32(text.encode()):08x}")
    evaluation = take_evaluation(services.store, request.name, text)
    evaluator = Evaluator(services.store, evaluation, request, lambda: None, cases_of)
    async with lane_of(services, lambda _asked: None) as lanes:
        await evaluator.work(lanes)
    proof = proof_of(services.store, request.name, plan)
    best = next((one for one in proof.candidates if one.outcome in ("proven", "mended")), None)
    told: dict[str, Any] = {
        "candidates": len(candidates),
        "outcomes": [one.outcome for one in proof.candidates],
        "runs": proof.runs,
    }
    return told, best, left[_OTHERS:]


async def _unseen(
    bench: Bench, row: Mapping[str, Any], best: CandidateProof, others: Sequence[Case]
) -> dict[str, Any]:
    """Run what was chosen where no run of its proof was made: its own task at other seeds, and what passed before."""
    own = bench.services.store.run(row["runs"][0])
    is_seeded = bench.services.environments.find(own.task).seeded
    fresh = [Case(own.task, _FAR + number) for number in range(_UNSEEN)] if is_seeded else []
    fresh = [case for case in fresh if await _succeeds(bench, row, case)]
    elsewhere = others[:_UNSEEN]
    with bench.planted(row["texts"] | best.candidate.files):
        holds = [case for case in fresh if await _succeeds(bench, row, case)]
        fails = [case for case in elsewhere if not await _succeeds(bench, row, case)]
    with bench.planted(row["texts"]):
        harmed = [case for case in fails if await _succeeds(bench, row, case)]
    return {
        "outcome": best.outcome,
        "kind": best.candidate.kind,
        "holds": len(holds),
        "fresh": len(fresh),
        "harmed": len(harmed),
        "others": len(elsewhere),
    }


async def _succeeds(bench: Bench, row: Mapping[str, Any], case: Case) -> bool:
    report = await bench.play(row["cell"].split("/")[0], row["llm"], case)
    return report is not None and bool(report.success)


def told(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what came of the changes of all faults."""
    tried = [row for row in rows if row["candidates"]]
    chosen = [row for row in tried if "outcome" in row]
    proven = [row for row in chosen if row["outcome"] == "proven"]
    holds, fresh = (sum(row[name] for row in proven) for name in ("holds", "fresh"))
    harmed, others = (sum(row[name] for row in chosen) for name in ("harmed", "others"))
    # Of two faults at once, often only one has a change, which mends nothing alone.
    pairs, mended_pairs = (sum(row["operator"] == "two at once" for row in some) for some in (tried, chosen))
    return "\n".join(
        (
            f"{len(rows)} faults, {len(tried)} with a change that a cause proposes",
            f"mended: {len(chosen)} of {len(tried)}, {len(proven)} of them proven",
            f"of these one fault: {len(chosen) - mended_pairs} of {len(tried) - pairs}, two: {mended_pairs} of {pairs}",
            f"what is proven succeeds in {holds} of {fresh} unseen cases that the agent without the fault passes",
            f"what mends fails {harmed} of {others} unseen cases that pass without it",
        )
    )
