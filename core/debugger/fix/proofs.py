"""Proves changes of failed runs by runs in the background, one change at a time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.processes import EvaluationProcesses
from core.debugger.evaluations.proof import proof_of
from core.debugger.evaluations.proof_records import Candidate, CandidateProof, Proof
from core.debugger.evaluations.records import RepairRequest
from core.debugger.evaluations.request import named
from core.debugger.repair.candidates import alike_runs
from core.debugger.service import Service
from core.schema.errors import UsageError
from core.trace.evaluations import evaluation_named
from core.trace.store import TraceStore

_SECONDS = 1.0
"""So often the runs of a proof are counted while they are made."""
_LOOKING = "Looking for runs that failed alike, and for those that passed…"


@dataclass
class RunningProof:
    """A change that is being proved."""

    run: int
    """The failed run."""
    candidate: Candidate
    says: str = _LOOKING
    """What is going on."""
    done: int = 0
    of: int = 0
    """Runs at most; 0 if it is not known yet."""
    proof: CandidateProof | None = None
    """What is known so far; None before the first run has ended."""
    is_cancelled: bool = False


class ChangeProofs:
    """Makes the runs of a proof; `on_news` is called whenever more is known."""

    def __init__(self, service: Service[Any], on_news: Callable[[], None]) -> None:
        self._service = service
        self._on_news = on_news
        self._processes = EvaluationProcesses(service)
        self.running: RunningProof | None = None

    async def prove(self, run: int, candidate: Candidate, pairs: int) -> tuple[CandidateProof | None, str]:
        """Return what came of a change, None if no run was made, and why the runs ended early, or nothing.

        Raises UsageError and TraceError.
        """
        running = self.running = RunningProof(run, candidate)
        self._on_news()
        services = self._service.services
        files = AgentFiles(services.config)
        try:
            resources = services.resources_for(services.store.changes(run))
            alike = await self._service.read(
                lambda store: alike_runs(store, store.run(run), resources, files)
            )
            if running.is_cancelled:
                return None, "The proof was cancelled before its first run."
            request = named(RepairRequest(run=run, candidates=(candidate,), pairs=pairs, alike=alike))
            await self._processes.create(request)
            why = await self._made(request, running)
            if running.proof is None:
                why = why or "The proof was cancelled before its first run had ended."
            return running.proof, why
        finally:
            self.running = None

    async def _made(self, request: RepairRequest, running: RunningProof) -> str:
        """Make the runs, and return why they failed, or nothing."""
        ended_with: list[str] = []

        async def ended(why: str) -> None:
            ended_with.append(why)

        def said(line: str) -> None:
            running.says = line

        self._processes.start(request, on_said=said, on_end=ended)
        try:
            while True:
                is_over = bool(ended_with)
                proof, running.of = await self._service.read(
                    partial(_proof, name=request.name, is_over=is_over)
                )
                each, running.done = proof.candidates[0], proof.runs
                running.proof = each if each.run is not None else None
                self._on_news()
                if is_over:
                    return ended_with[0]
                if running.is_cancelled:
                    self._processes.cancel(request.name)
                await asyncio.sleep(_SECONDS)
        finally:
            await self._processes.end(request.name)

    def cancel(self) -> None:
        """End the runs; those that are done are kept."""
        if self.running is not None:
            self.running.is_cancelled = True

    async def close(self) -> None:
        await self._processes.close()


def _proof(store: TraceStore, name: str, *, is_over: bool) -> tuple[Proof, int]:
    """Return what is known of a change so far, and how many runs there are at most."""
    row = evaluation_named(store, name)
    if row is None:
        raise UsageError("That evaluation no longer exists.")
    plan = planned(row)
    why = "" if plan.only or not is_over else "The proof was ended before there was a result."
    return proof_of(store, name, plan, why), plan.total
