"""Bisecting at the window: from which step on a run still comes to success."""

import contextlib
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from core.debugger.experiments.bisect import chosen_steps
from core.debugger.experiments.bisect_records import Bisection, BisectRequest
from core.debugger.experiments.job import ExperimentService
from core.debugger.experiments.views import BisectView
from core.debugger.service import command
from core.schema.errors import UsageError
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session

_BUSY = "A bisection goes on already: wait for its end, or cancel it."


class BisectService(ExperimentService[BisectView]):
    """Shows what can be bisected of a run and what was, and bisects."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session, BisectView(run=0))

    @command
    async def open(self, run: int) -> None:
        """Show what can be bisected of this run, and what was; a bisection under way goes on."""
        before = self.view
        asked = BisectView(run=run, under_way=before.under_way, starting=before.starting)
        self.send(asked.replace(browser=self.browser_sentence()))
        await self.reread()

    @command
    async def bisect(self, request: BisectRequest) -> None:
        """Begin a bisection in the background."""
        self._check(request)
        on_gate = self.services.settings.on_gate
        flags = ["--every", str(request.every), "--on-gate", on_gate, *self.request_flags(request)]
        for step in request.steps:
            flags += ["--at", str(step)]
        arguments = [*self.command_line("bisect", str(request.run)), *flags]
        self.launch("The bisection", _BUSY, arguments, "under_way", Bisection)

    async def reread(self) -> None:
        run = self.view.run
        if run:
            found = await self.read(lambda store: _read(store, run))
            if self.view.run == run:
                self.show(**found)

    def _check(self, request: BisectRequest) -> None:
        """Raise UsageError, DataError or TraceError for what the job would only refuse."""
        services = self.services
        store = services.store
        row = store.run(request.run)
        for step in chosen_steps(store.steps(request.run), request.steps, every=request.every):
            store.agent(request.run, step)
        services.knowledge.presets.get(request.preset or row.preset)
        self.check_llm(request.llm or row.llm)
        current = self.session.agent_run
        if row.profile and current is not None and current.state.profile == row.profile and not current.ended:
            raise UsageError(
                f"The run works in the browser profile {row.profile}, which the run under way has open: "
                "end that first (Shift+F5)."
            )


def _read(store: TraceStore, run: int) -> dict[str, Any]:
    """Return what a run has, as fields of the view; records that a later program has written are left out."""
    row, steps = store.run(run), store.steps(run)
    kept: list[Bisection] = []
    for number, text in store.bisections(run):
        with contextlib.suppress(ValidationError):
            kept.append(Bisection.model_validate_json(text).replace(number=number))
    return {
        "ready": True,
        "task": f"{row.task}, seed {row.seed}",
        "preset": row.preset,
        "llm": row.llm,
        "steps": tuple((one.number, one.action) for one in steps),
        "kept": tuple(kept),
    }
