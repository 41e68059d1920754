"""The command `repair`: changes that may mend failed runs, tried without writing any file, and what came of them."""

import shlex
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.agent.resources import AgentResources
from core.cli.causes import causes_json
from core.cli.evaluation import carried_out
from core.cli.options import RepairOptions
from core.cli.output import put, put_json, put_lines, say, say_lines, verdict_word
from core.cli.runs import reading
from core.cli.surroundings import WithEmbedded, in_loop, open_unattended, resources_of
from core.debugger.causes.finding import causes_of
from core.debugger.causes.records import Cause
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.figures import done_of
from core.debugger.evaluations.proof import check_failed, is_success, proof_of, repair_plan
from core.debugger.evaluations.proof_records import Candidate, CandidateProof, Proof
from core.debugger.evaluations.records import EvaluationPlan, RepairRequest, RunLimits, Spent
from core.debugger.evaluations.request import name_now, texts_in
from core.debugger.repair.candidates import alike_runs, from_blocks, from_causes, from_files, keep, together
from core.debugger.repair.proposing import ProposedChange, propose
from core.environments.registry import Environments
from core.schema.errors import UsageError
from core.schema.formats import count
from core.settings.settings import Settings, config_folder
from core.settings.user_file import read_text
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import evaluation_named
from core.trace.records import RunRow
from core.trace.store import TraceStore

_MOST_CANDIDATES = 5


class Failures(NamedTuple):
    """Failed runs with the same first cause."""

    row: RunRow
    causes: tuple[Cause, ...]
    alike: tuple[int, ...]


class _Spending:
    """What is spent of the limits of a command, by its proofs and LLMs together."""

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self._begun = time.monotonic()
        self._calls, self._cost = 0, 0.0

    def add(self, calls: int, cost: float | None) -> None:
        """Count LLM calls, and what they cost in US dollars."""
        self._calls += calls
        self._cost += cost or 0.0

    def left(self) -> dict[str, Any]:
        """Return the limits that are left, as fields of a request; raises UsageError if one was reached."""
        minutes = (time.monotonic() - self._begun) / 60
        spent = Spent(calls=self._calls, cost=self._cost, minutes=minutes)
        if reached := self._limits.reached(spent):
            raise UsageError(f"{reached} Repeat the command with a higher one.")
        return self._limits.after(spent).model_dump()


def repair(
    asked: RepairOptions, settings: Settings, environments: Environments, with_embedded: WithEmbedded
) -> bool:
    """Find changes, try them, print what came of them, and keep those that are proven if that is asked.

    Returns whether all that was to be mended is. Raises UsageError, DataError, TraceError and WorldError.
    """
    resources, files = resources_of(settings), AgentFiles(config_folder())
    name = asked.name or name_now(f"repair of {asked.evaluation or f'run {asked.run}'}")
    try:
        repairs = list(_repaired(asked, name, settings, environments, with_embedded, resources, files))
    finally:
        resources.memory.close()
    kept: list[str] = []
    is_whole = bool(repairs) and all(proof is not None and proof.best for _, proof in repairs)
    for best in filter(None, (proof.best for _, proof in repairs if asked.keep and proof is not None)):
        try:
            kept += keep(best.candidate, files)
        except UsageError as error:  # Such as that the one before has changed the same file.
            say(str(error))
            is_whole = False
    if asked.as_json:
        told = [
            {**proof_json(proof), "causes": causes_json(failures.causes)}
            for failures, proof in repairs
            if proof is not None
        ]
        put_json({"repairs": told, "kept": kept})
    else:
        for path in kept:
            put(f"Kept: {path}")
        if not asked.keep and any(proof is not None and proof.best for _, proof in repairs):
            put(
                "Nothing was written. To write what is proven to your own files, repeat the command with --keep "
                f"--name {shlex.quote(name)}."
            )
    return is_whole


def _repaired(
    asked: RepairOptions,
    asked_name: str,
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    resources: AgentResources,
    files: AgentFiles,
) -> Iterator[tuple[Failures, Proof | None]]:
    """Yield each group of failures with what came of it; None if there is nothing to try."""
    spending = _Spending(asked.limits())
    with reading(settings) as store:
        groups = _groups(asked, store, resources, files)
    for number, failures in enumerate(groups, 1):
        name = f"{asked_name} {number}" if number > 1 else asked_name
        try:
            request, plan = _plan(asked, name, failures, settings, environments, resources, files, spending)
        except UsageError as error:
            if not asked.evaluation:
                raise
            say(str(error))  # The other groups are mended all the same.
            yield failures, None
            continue
        if not asked.as_json:
            _print_head(failures)
        why = ""
        if not asked.no_runs:
            why = carried_out(request, plan, settings, environments, with_embedded, asked_name).why
        with reading(settings) as store:
            proof = proof_of(store, request.name, plan, why)
            row = evaluation_named(store, request.name)
            for run in evaluated_runs(store, row.number) if row is not None else ():
                spending.add(run.llm_calls, run.cost)
        if not asked.as_json:
            _print_proof(proof)
        yield failures, proof


def _groups(
    asked: RepairOptions, store: TraceStore, resources: AgentResources, files: AgentFiles
) -> list[Failures]:
    """Return the run that is to be mended, or the largest groups of failures of an evaluation."""
    if asked.run is not None:
        row = store.run(asked.run)
        own = resources.changed(store.changes(row.run))
        return [Failures(row, causes_of(store, row.run, own, files), alike_runs(store, row, own, files))]
    evaluation = evaluation_named(store, asked.evaluation)
    if evaluation is None:
        raise UsageError(f"There is no evaluation {asked.evaluation}.")
    by_place: dict[tuple[str, str, str], list[tuple[RunRow, tuple[Cause, ...]]]] = {}
    runs = done_of(evaluated_runs(store, evaluation.number))
    failed = [run for run in runs if is_success(run.success, run.outcome, touched=run.touched) is False]
    for row in store.rows([run.run for run in failed if run.run is not None]):
        causes = causes_of(store, row.run, resources.changed(store.changes(row.run)), files)
        if causes:
            place = causes[0].place if causes[0].file else causes[0].kind
            by_place.setdefault((row.preset, row.llm, place), []).append((row, causes))
    if not by_place:
        raise UsageError(f"The evaluation {asked.evaluation} has no failures to mend.")
    largest = sorted(by_place.values(), key=len, reverse=True)[: 1 if asked.optimise else asked.most]
    return [Failures(*group[0], alike=tuple(row.run for row, _ in group[1:])) for group in largest]


def _plan(
    asked: RepairOptions,
    name: str,
    failures: Failures,
    settings: Settings,
    environments: Environments,
    resources: AgentResources,
    files: AgentFiles,
    spending: _Spending,
) -> tuple[RepairRequest, EvaluationPlan]:
    """Return what is to be proved: that of an earlier start with this name, or candidates that are found now."""
    fields: dict[str, Any] = {
        **asked.asked,
        **{part: getattr(asked, part) for part in ("evaluation", "pairs", "sealed", "others")},
        "run": failures.row.run,
        "name": name,
        "alike": failures.alike,
    }
    with reading(settings) as store:
        stored = evaluation_named(store, name)
        if stored is not None:
            plan = planned(stored)
            if plan.repair is None or plan.run != failures.row.run:
                raise UsageError(
                    f"The evaluation {name} does not mend run {failures.row.run}; choose another --name."
                )
            own = resources.changed(store.changes(failures.row.run))
            given = _given(asked, own, files)
            if given is not None and given.files not in [each.files for each in plan.repair.candidates]:
                raise UsageError(f"The proof {name} was begun with another change; choose another --name.")
            fields |= {} if asked.no_runs else spending.left()
            request = RepairRequest(**fields, candidates=plan.repair.candidates)
            return request, plan.replace(only=())
        if asked.no_runs:
            raise UsageError(f'There is no proof "{name}". Prove a change first, without --no-runs.')
    spending.left()  # Before an LLM is paid for a change.
    if asked.optimise:
        fields |= _optimised(asked, failures, settings, environments, spending)
    with reading(settings) as store:
        if not asked.optimise:
            own = resources.changed(store.changes(failures.row.run))
            check_failed(failures.row)
            fields["candidates"] = _candidates(asked, failures, store, settings, own, files, spending)
        request = RepairRequest.model_validate(fields | spending.left())
        return request, repair_plan(request, store, environments)


def _optimised(
    asked: RepairOptions,
    failures: Failures,
    settings: Settings,
    environments: Environments,
    spending: _Spending,
) -> dict[str, object]:
    """Return the candidate that GEPA made, and the cases that it was made by."""
    from core.cli.optimise import optimised

    made = optimised(asked, failures.row, settings, environments)
    if made.candidate is None:
        raise UsageError(f"GEPA found no texts that are better than those in use. {made.why}".rstrip())
    spending.add(made.spent.calls, made.spent.cost)
    # What passed is looked for in all stored runs: those of the evaluation are used.
    return {"candidates": (made.candidate,), "alike": (), "used": made.spots, "evaluation": ""}


def _candidates(
    asked: RepairOptions,
    failures: Failures,
    store: TraceStore,
    settings: Settings,
    resources: AgentResources,
    files: AgentFiles,
    spending: _Spending,
) -> tuple[Candidate, ...]:
    if (given := _given(asked, resources, files)) is not None:
        return (given,)
    candidates = from_causes(failures.causes, files, resources)[:_MOST_CANDIDATES]
    candidates += together(failures.causes, files, resources)
    if asked.llm:
        proposal = in_loop(_proposed(asked.llm, failures, store, settings, resources, files))
        spending.add(proposal.calls, proposal.cost)
        cost = "no price known" if proposal.cost is None else f"${proposal.cost:.4g}"
        calls = count(proposal.calls, "LLM call")
        if proposal.candidate is not None:
            candidates = (*candidates, proposal.candidate)
            say(f"{asked.llm} proposed a change in {calls} ({cost}).")
            try:
                spending.left()
            except UsageError:
                say_lines(f"It was not tried. You can make it by hand:\n{proposal.candidate.diff}")
                raise
        else:
            say(
                f"{asked.llm} proposed no change that can be applied, in {calls} ({cost}): {proposal.problem}"
            )
    if not candidates:
        raise UsageError(
            f"No cause of run {failures.row.run} has a patch. Let an LLM propose a change with --llm, or give one with "
            "--edits or --change."
        )
    return candidates


def _given(asked: RepairOptions, resources: AgentResources, files: AgentFiles) -> Candidate | None:
    """Return the change that was given; None if none was."""
    if asked.edits:
        blocks = read_text(Path(asked.edits[1:])) if asked.edits.startswith("@") else asked.edits
        return from_blocks(blocks, files, resources)
    if asked.change is not None:
        return from_files(texts_in(asked.change), files, resources, f"the files of {asked.change}")
    return None


async def _proposed(
    name: str,
    failures: Failures,
    store: TraceStore,
    settings: Settings,
    resources: AgentResources,
    files: AgentFiles,
) -> ProposedChange:
    llms = open_unattended(settings, name)
    try:
        return await propose(store, failures.row, failures.causes, llms.routed(name), files, resources)
    finally:
        await llms.close()


def proof_json(proof: Proof) -> dict[str, object]:
    """Return a proof as JSON: each candidate with its diff in place of whole files."""
    return {
        **proof.model_dump(mode="json", exclude={"candidates"}),
        "candidates": [
            {
                **each.model_dump(mode="json", exclude={"candidate": {"files", "base"}}),
                "diff": each.candidate.diff,
                "sentence": each.sentence,
            }
            for each in proof.candidates
        ],
    }


def _print_head(failures: Failures) -> None:
    row = failures.row
    alike = f", and {len(failures.alike)} with the same cause" if failures.alike else ""
    put(f"run {row.run}: {row.task} seed {row.seed}, {row.preset}, {row.llm}: {verdict_word(row)}{alike}")


def _print_proof(proof: Proof) -> None:
    for number, each in enumerate(proof.candidates, 1):
        put_lines("\n".join(_lines(number, each)))
    cost = "" if proof.cost is None else f", ${proof.cost:.4g}"
    put(f"evaluation {proof.name}: {proof.runs} runs{cost}")


def _lines(number: int, each: CandidateProof) -> Sequence[str]:
    figures = f" {each.sentence}." if each.sentence else ""
    why = f" {each.why}" if each.why else ""
    return (
        f"{number}. {each.outcome}:{figures}{why}",
        f"   {each.candidate.what}",
        *(f"   {line}" for line in each.candidate.diff.splitlines()),
    )
