"""Proves a change: the failed run again with and without it, other cases, and what passed before.

Cases are taken from three sets that have nothing in common: those a candidate is chosen by, each with and without the
change, one pair after the other until `sequential` has enough; those that passed before, which are done without the
change only where they fail with it; and sealed ones, which are looked at once, for the candidate that was chosen.
What fails with the change and not without it is done again both ways: only what does so each time is harm.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import TypeVar

from core.debugger.evaluations.changed import changed_runs
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.figures import cost_of, done_of
from core.debugger.evaluations.intervals import paired
from core.debugger.evaluations.proof_records import (
    ASKED_AGAIN,
    TIMES_AGAIN,
    Candidate,
    CandidateProof,
    Outcome,
    Pairs,
    Proof,
    RepairPlan,
    Spot,
)
from core.debugger.evaluations.records import UNCHANGED, EvaluationPlan, RepairRequest, Variant
from core.debugger.evaluations.sequential import (
    ENOUGH,
    TOO_LITTLE,
    can_be_enough,
    evidence,
    least_pairs,
    ratio_words,
)
from core.environments.registry import Environments
from core.schema.errors import BackstepError, TraceError, UsageError
from core.schema.task import family_of
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import all_evaluations, evaluation_named
from core.trace.records import ATTACHED_NAME, AttemptRow, Case, EvaluatedRun, RunOutcome, RunRow, is_failure
from core.trace.store import TraceStore

T = TypeVar("T")
_REPEATS = 1000
"""The time of the first repetition of a case. Below it are the run's start, and its steps."""
_AGAIN = 1_000_000
"""What is added to the time of a case each time it is done again because it fails with a change and not without it."""
_READ = 2000
"""Stored runs, at most, that are read for those that failed alike or passed."""


# The plan


def check_failed(row: RunRow) -> None:
    """Raise UsageError for a run that nothing can be proved of."""
    if row.preset == ATTACHED_NAME:
        raise UsageError(
            f"Run {row.run} is of an attached agent, which has no files here: change its files, and start it again."
        )
    if row.verdict.success:
        raise UsageError(f"Run {row.run} succeeded, so there is nothing to mend.")
    if row.outcome == "running":
        raise UsageError(f"Run {row.run} has not ended yet. Wait for its end, or stop it.")


def repair_plan(request: RepairRequest, store: TraceStore, environments: Environments) -> EvaluationPlan:
    """Return what a repair is proved by; raises UsageError for a run that nothing can be proved of, and TraceError."""
    row = store.run(request.run)
    check_failed(row)
    sets = _sets(request, row, store, environments)
    spots = (Spot(task=row.task, seed=row.seed), *sets.choosing, *sets.sealed, *sets.others)
    # All variants get the files as they are now: a file that is edited meanwhile changes none of them.
    bases = {name: text for candidate in request.candidates for name, text in candidate.base.items()}
    asked = store.changes(row.run)
    base = Variant(preset=row.preset, llm=row.llm, title=UNCHANGED, asked=asked, files=bases, run=row.run)
    return EvaluationPlan(
        kind="repair",
        run=row.run,
        variants=(
            base,
            *(
                base.replace(
                    title=f"change {number}",
                    files=bases | candidate.files,
                    step=_step_for(store, row, candidate),
                )
                for number, candidate in enumerate(request.candidates, 1)
            ),
        ),
        tasks=tuple(dict.fromkeys(spot.task for spot in spots)),
        seeds=tuple(sorted({spot.seed for spot in spots})),
        repair=sets,
    )


def _step_for(store: TraceStore, row: RunRow, candidate: Candidate) -> int:
    """Return the step from which a run goes on with a candidate; 0 for the start of the task."""
    if candidate.step <= 1:
        return 0
    try:
        store.agent(row.run, candidate.step)
    except BackstepError:
        return 0  # Its page was not stored.
    return candidate.step


def _sets(request: RepairRequest, row: RunRow, store: TraceStore, environments: Environments) -> RepairPlan:
    failed, stored = _stored_cases(request, row, store)
    passed = [spot for spot, runs in stored.items() if all(runs)]
    own = Spot(task=row.task, seed=row.seed)
    alike = [spot for spot in failed if failed[spot] in request.alike and spot != own]
    needed = request.pairs + request.sealed
    used = set(request.used)
    opened = {spot for _, plan in _repairs(store, row.run) for spot in _repair(plan).sealed}
    seeded = row.environment != "web" and environments.find(row.task).seeded
    if seeded:
        # Where the task always failed so far, a pair may tell of a fault of few seeds, but never of harm.
        seen = [spot for spot, runs in stored.items() if spot.task == row.task and not any(runs)]
        seeds = range(row.seed + 1, row.seed + 2 + needed + len(seen) + len(passed) + len(opened) + len(used))
        failing = {spot.seed for spot in seen}
        fresh = [Spot(task=row.task, seed=seed) for seed in seeds if seed not in failing]
        more = max(request.pairs // 2 - len(alike), 0)
        alike += [spot for spot in seen if spot not in {own, *alike}][:more]
    elif row.environment == "web":
        fresh = []
    else:
        family = [
            Spot(task=task.id, seed=row.seed)
            for task in environments.tasks()
            if task.environment == row.environment and family_of(task.id) == family_of(row.task)
        ]
        fresh = _shuffled(family, lambda spot: spot.task)
    known = {own, *opened, *used}
    if not seeded and any(stored.get(own, ())):
        # The run's own case passed before, so others that ever did may fail now as well.
        fresh = [*_shuffled((spot for spot, runs in stored.items() if any(runs)), str), *fresh]
    else:
        known |= {*passed}
    spots = list(dict.fromkeys(spot for spot in (*alike, *fresh) if spot not in known))
    # Of those that are sealed, it is not known how they end, if there are enough such.
    usable = set(spots)
    spots = list(
        dict.fromkeys((*spots[: request.pairs], *(each for each in fresh if each in usable), *spots))
    )
    spots = spots[:needed]
    # The same case says something only of an LLM that does not always answer alike and was given no text made by it.
    repeated = len(spots) < least_pairs() and row.llm != "rules" and own not in used
    if repeated:
        again = range(_REPEATS + len(opened), _REPEATS + len(opened) + needed - len(spots))
        spots += [own.replace(time=time) for time in again]
    # Those to choose by go first. Where there are too few to choose by, all are sealed.
    sealed = min(request.sealed, max(len(spots) - least_pairs(), 0))
    choosing = spots[: len(spots) - sealed] if len(spots) >= least_pairs() else []
    others = [spot for spot in passed if spot not in {own, *used, *spots}]
    return RepairPlan(
        candidates=request.candidates,
        own=own,
        choosing=tuple(choosing),
        sealed=tuple(spots[len(choosing) :][: request.sealed]),
        others=tuple(_shuffled(others, str)[: request.others]),
        repeated=repeated,
    )


def _repairs(store: TraceStore, run: int) -> Iterator[tuple[str, EvaluationPlan]]:
    """Yield the repairs of a run, the latest first, each with its name."""
    for row in store.ask(all_evaluations):
        try:
            plan = planned(row)
        except TraceError:
            continue  # Another version of the program has written it.
        if plan.repair is not None and plan.run == run:
            yield row.name, plan


def _stored_cases(
    request: RepairRequest, row: RunRow, store: TraceStore
) -> tuple[dict[Spot, int], dict[Spot, list[bool]]]:
    """Return the cases that failed, each with its latest run, and all cases with how each run ended.

    They are of the same preset and LLM.

    Runs with a change say nothing of the agent as it is.
    """
    if request.evaluation:
        evaluation = evaluation_named(store, request.evaluation)
        if evaluation is None:
            raise UsageError(f"There is no evaluation {request.evaluation}.")
        runs = done_of(evaluated_runs(store, evaluation.number))
        rows = store.rows([done.run for done in runs if done.run is not None])
    else:
        rows = store.runs(limit=_READ)
    changed = changed_runs(store, [each.run for each in rows], row.run)
    failed: dict[Spot, int] = {}
    ended: dict[Spot, list[bool]] = {}
    for each in rows:
        like = (each.preset, each.llm, each.environment) == (row.preset, row.llm, row.environment)
        success = is_success(each.verdict.success, each.outcome, touched=each.touched)
        if not like or each.parent_run is not None or each.run in changed or success is None:
            continue
        spot = Spot(task=each.task, seed=each.seed)
        ended.setdefault(spot, []).append(success)
        if not success:
            failed.setdefault(spot, each.run)
    return failed, ended


def _shuffled(things: Iterable[T], key: Callable[[T], str]) -> list[T]:
    """Return things in an order that has nothing to do with them, and is the same each time."""
    return sorted(things, key=lambda thing: sha256(key(thing).encode()).digest())


# The runs, and what they say


class Results:
    """The results of the cases of a repair so far; `success` tells that of a case, None if it is not known."""

    def __init__(self, repair: RepairPlan, success: Callable[[Case], bool | None]) -> None:
        self.repair = repair
        self._success = success

    def of(self, variant: str, spot: Spot) -> bool | None:
        return self._success(case_at(variant, spot))

    def pairs(self, changed: str, spots: Iterable[Spot]) -> Pairs:
        """Count the pairs of which both runs were judged."""
        both = [(self.of(UNCHANGED, spot), self.of(changed, spot)) for spot in spots]
        judged = [pair for pair in both if None not in pair]
        mended, harmed = judged.count((False, True)), judged.count((True, False))
        low, high = paired(judged.count((True, True)), mended, harmed, judged.count((False, False)))
        return Pairs(
            judged=len(judged),
            unchanged=sum(bool(before) for before, _ in judged),
            changed=sum(bool(after) for _, after in judged),
            mended=mended,
            harmed=harmed,
            low=low,
            high=high,
        )

    def again(self, changed: str, step: int) -> bool | None:
        """Return whether the failed run succeeds with a change, from its step or from the start."""
        ended = [self.of(changed, spot) for spot in spots_again(self.repair.own, step)]
        return True if True in ended else None if None in ended[-1:] else False

    def is_enough(self, changed: str) -> bool:
        """Return whether a change may be chosen."""
        chosen = self.pairs(changed, self.repair.choosing)
        return not self.repair.choosing or evidence(chosen.mended, chosen.harmed) >= ENOUGH

    def is_decided(self, changed: str, done: int) -> bool:
        """Return whether no further pair is needed after the first `done` of those to choose by."""
        chosen = self.pairs(changed, self.repair.choosing)
        ratio, left = evidence(chosen.mended, chosen.harmed), len(self.repair.choosing) - done
        under_way = done - chosen.judged
        return (
            ratio >= ENOUGH
            or ratio <= TOO_LITTLE
            or not can_be_enough(chosen.mended, chosen.harmed, left + under_way)
        )

    def differing(self, changed: str) -> list[Spot]:
        """Return where a run fails with a change and not without it."""
        spots = (*self.repair.choosing, *self.repair.others, *self.repair.sealed)
        return [spot for spot in spots if self.of(changed, spot) is False and self.of(UNCHANGED, spot)]

    def is_harm(self, changed: str, spot: Spot) -> bool | None:
        """Return whether a run that differs does so each time it is made again; None if that is not known."""
        ended = [(self.of(UNCHANGED, again), self.of(changed, again)) for again in again_at(spot)]
        if any(without is False or with_it for without, with_it in ended):
            return False
        return None if any(None in pair for pair in ended) else True

    def harmed(self, changed: str) -> list[Spot]:
        """Return where runs differ, but not by chance, if one of them does so each time."""
        found = [(spot, self.is_harm(changed, spot)) for spot in self.differing(changed)]
        is_sure = any(harm for _, harm in found)
        return [spot for spot, harm in found if is_sure and harm is not False]

    def is_harmless(self, changed: str) -> bool:
        """Return whether all that differed did so by chance, and all others are known that passed before."""
        return all(self.is_harm(changed, spot) is False for spot in self.differing(changed)) and all(
            _is_known(self, changed, spot) for spot in self.repair.others
        )


def cases_of(plan: EvaluationPlan, done: Mapping[Case, AttemptRow]) -> Iterator[tuple[Variant, Case] | None]:
    """Give the next run each time, by what is done so far; None where it depends on runs that are not done yet."""
    repair, (unchanged, *changes) = _repair(plan), plan.variants
    results = Results(repair, lambda case: _success(done.get(case)))
    asked: set[Case] = set()

    def ask(*wanted: tuple[Variant, Spot], step: int = 0) -> Iterator[tuple[Variant, Case]]:
        for variant, spot in wanted:
            case = case_at(variant.name, spot)
            if case not in done and case not in asked:
                asked.add(case)
                # Only the task of the run itself is found by the run: it may be of the open web.
                yield variant.replace(step=step, run=plan.run if spot.task == repair.own.task else 0), case

    def wait() -> Iterator[None]:
        while any(case not in done for case in asked):
            yield None

    def ask_again(changed: Variant) -> Iterator[tuple[Variant, Case] | None]:
        """Do again what differs, until one is harmed for sure."""
        for spot in results.differing(changed.name)[:ASKED_AGAIN]:
            for again in again_at(spot):
                if results.harmed(changed.name) or results.is_harm(changed.name, spot) is not None:
                    break
                yield from ask((unchanged, again), (changed, again))
                yield from wait()

    for changed in changes:
        for spot in spots_again(repair.own, changed.step):
            step = changed.step if spot.time > 1 else 0
            yield from ask((changed, spot), (unchanged, spot), step=step)
            yield from wait()
            if results.of(changed.name, spot):
                break
        else:
            continue
        for number, spot in enumerate(repair.choosing):
            pair = (unchanged, spot), (changed, spot)
            yield from ask(*(reversed(pair) if number % 2 else pair))
            if number + 1 >= least_pairs():
                yield from wait()
                yield from ask_again(changed)
            if results.harmed(changed.name) or results.is_decided(changed.name, number + 1):
                break
        yield from wait()
        yield from ask_again(changed)
        # Sealed cases are looked at once: after them no other change is tried, also when this is gone on with.
        if not any(case_at(changed.name, spot) in done for spot in repair.sealed):
            if results.harmed(changed.name) or not results.is_enough(changed.name):
                continue
            yield from ask(*((changed, spot) for spot in repair.others))
            yield from wait()
            fails = [spot for spot in repair.others if results.of(changed.name, spot) is False]
            yield from ask(*((unchanged, spot) for spot in fails))
            yield from wait()
            yield from ask_again(changed)
            if not results.is_harmless(changed.name):
                continue
        if not results.harmed(changed.name):
            yield from ask(*((variant, spot) for spot in repair.sealed for variant in (unchanged, changed)))
            yield from wait()
            yield from ask_again(changed)
        return


def proof_of(store: TraceStore, name: str, plan: EvaluationPlan, why: str = "") -> Proof:
    """Return what is known of the candidates; `why` says why the runs ended early. Raises TraceError."""
    row = evaluation_named(store, name)
    tries = evaluated_runs(store, row.number) if row is not None else ()
    runs = done_of(tries)
    by_case = {run.case: run for run in runs}

    def success(case: Case) -> bool | None:
        run = by_case.get(case)
        return None if run is None else is_success(run.success, run.outcome, touched=run.touched)

    results = Results(_repair(plan), success)
    chosen = False
    proofs: list[CandidateProof] = []
    for changed, candidate in zip(plan.variants[1:], results.repair.candidates, strict=True):
        own = [run for run in tries if run.variant in (UNCHANGED, changed.name)]
        proof = _proof_of(results, changed, candidate, by_case, why).replace(cost=cost_of(own))
        if chosen and proof.run is None:
            proof = CandidateProof(
                candidate=candidate, why="Not tried: a change before it went to the sealed cases."
            )
        chosen = chosen or proof.outcome in ("proven", "mended") or proof.sealed.judged > 0
        proofs.append(proof)
    return Proof(
        run=plan.run,
        name=name,
        candidates=tuple(proofs),
        cost=cost_of(tries),
        runs=len(runs),
        why=why,
    )


def proofs_of(store: TraceStore, run: int) -> tuple[Proof, ...]:
    """Return what is known of all changes that were tried for a run, the latest first; raises TraceError."""
    return tuple(
        proof_of(store, name, plan, "" if plan.only else "It was not finished.")
        for name, plan in _repairs(store, run)
    )


def _proof_of(
    results: Results,
    changed: Variant,
    candidate: Candidate,
    by_case: Mapping[Case, EvaluatedRun],
    ended: str,
) -> CandidateProof:
    repair, name = results.repair, changed.name
    again = spots_again(repair.own, changed.step)
    made = [by_case[case] for spot in again if (case := case_at(name, spot)) in by_case]
    own = [run for case, run in by_case.items() if case.variant in (UNCHANGED, name)]
    chosen, sealed = results.pairs(name, repair.choosing), results.pairs(name, repair.sealed)
    at_fault = results.harmed(name)
    is_harm = {spot: results.is_harm(name, spot) for spot in results.differing(name)}
    differs = [spot for spot, harm in is_harm.items() if harm is False]
    unclear = [spot for spot, harm in is_harm.items() if harm is None and spot not in at_fault]

    def runs_at(spots: Iterable[Spot]) -> tuple[int, ...]:
        runs = (by_case[case_at(name, spot)].run for spot in spots)
        return tuple(run for run in runs if run is not None)

    tried = [spot for spot in repair.others if results.of(name, spot) is not None]
    proof = CandidateProof(
        candidate=candidate,
        again=results.pairs(name, again),
        chosen=chosen,
        evidence=evidence(chosen.mended, chosen.harmed),
        others=len(tried),
        others_harmed=len({*at_fault, *unclear} & {*tried}),
        harmed=runs_at(at_fault),
        differs=runs_at(differs),
        unclear=runs_at(unclear),
        sealed=sealed,
        run=next((run.run for run in reversed(made) if run.success), made[-1].run if made else None),
        runs=len(own),
    )
    outcome, why = _outcome(results, changed, proof, bool(made), ended)
    return proof.replace(outcome=outcome, why=why)


def _outcome(
    results: Results, changed: Variant, proof: CandidateProof, begun: bool, ended: str
) -> tuple[Outcome, str]:
    """Return what came of a candidate, and why."""
    repair, name, chosen, sealed = results.repair, changed.name, proof.chosen, proof.sealed
    if not begun:
        return "not tried", ended
    again = results.again(name, changed.step)
    if again is None:
        return "inconclusive", ended or "The run that was made again could not be judged."
    if not again:
        return "not mended", "The failed run fails with it as well."
    if proof.harmed:
        return "harmful", "Runs that succeed without it fail with it, again and again."
    if not repair.choosing and proof.again.unchanged:
        return "inconclusive", "The failed run succeeds without it as well."
    if not results.is_enough(name):
        words = f"The evidence is {ratio_words(proof.evidence)} of {ENOUGH:.0f} to 1 that is asked."
        alone = "" if chosen.mended or not chosen.judged else "It mends the failed run, and no other so far."
        return "inconclusive", " ".join(filter(None, (alone, words, ended)))
    if any(not _is_known(results, name, spot) for spot in repair.others):
        return "inconclusive", ended or "Cases that passed before could not be judged."
    if any(results.is_harm(name, spot) is None for spot in results.differing(name)):
        why = "Runs that succeed without it fail with it, and not all were made again."
        return "inconclusive", f"{why} {ended}".rstrip()
    if sealed.judged < len(repair.sealed):
        return "inconclusive", ended or "Sealed cases could not be judged."
    if not repair.choosing:
        return "mended", f"There are fewer than {least_pairs()} other cases to choose it by."
    if not repair.sealed:
        return "mended", "There were too few cases to seal some of them."
    failing = sealed.judged - sealed.unchanged
    if sealed.mended * 2 <= failing or not failing:
        return "mended", f"On the sealed cases it mends {sealed.mended} of {failing} failures."
    only = ", on the same task and seed" if repair.repeated else ""
    return (
        "proven",
        f"It mends {sealed.mended} of {failing} sealed failures{only}, and harms nothing that was tried.",
    )


def _is_known(results: Results, name: str, spot: Spot) -> bool:
    """Return whether it is known if a change harms a case that passed."""
    success = results.of(name, spot)
    return success is True or (success is False and results.of(UNCHANGED, spot) is not None)


def case_at(variant: str, spot: Spot) -> Case:
    return Case(variant=variant, task=spot.task, seed=spot.seed, time=spot.time)


def again_at(spot: Spot) -> tuple[Spot, ...]:
    """Return where a case is done again."""
    return tuple(spot.replace(time=spot.time + _AGAIN * number) for number in range(1, TIMES_AGAIN + 1))


def spots_again(own: Spot, step: int) -> tuple[Spot, ...]:
    """Return where the failed run is made again: from a step, unless it is 0, and if that fails from the start."""
    return (own.replace(time=1 + step), own) if step else (own,)


def _repair(plan: EvaluationPlan) -> RepairPlan:
    if plan.repair is None:
        raise UsageError("This evaluation proves no change.")
    return plan.repair


def _success(row: AttemptRow | None) -> bool | None:
    run = row.run if row is not None else None
    return None if run is None else is_success(run.verdict.success, run.outcome, touched=run.touched)


def is_success(success: bool | None, outcome: RunOutcome | None, *, touched: bool) -> bool | None:
    """Return whether a run succeeded; None if it failed with its world, or nobody could judge it.

    What a person had a hand in says nothing of the agent.
    """
    if touched or outcome in (None, "error", "running", "interrupted", "left", "stopped"):
        return None
    return False if is_failure(success, outcome) else success
