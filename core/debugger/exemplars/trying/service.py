"""Tries exemplars: replays them in a process of its own, and shows what is known of them by trying."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic import ValidationError

from core.debugger.ask_again.repeat import kept_attributions
from core.debugger.commands import command
from core.debugger.evaluations.worth import kept_results
from core.debugger.exemplars.analyses.views import AnalysisView
from core.debugger.exemplars.trying.views import (
    ReplayResult,
    ReplayRow,
    TryingResults,
    replays_in_words,
    sums_of,
)
from core.debugger.job_process import JobProcess, shared_flags
from core.debugger.service import JobService
from core.exemplars.library.store import Library
from core.schema.errors import UsageError

if TYPE_CHECKING:
    from core.debugger.session import Session

_SHOWN = 5000
"""Exemplars whose last replay is shown."""
_FAILED = 1
"""The exit code if an exemplar no longer succeeds."""


class TryingService(JobService[AnalysisView[TryingResults]]):
    """Replays exemplars; results are kept if the job is cancelled or the session closed."""

    view = AnalysisView[TryingResults]()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._began = 0.0

    @command
    async def read_again(self) -> None:
        """Show what is known."""
        self._show_results()

    @command
    async def replay(self, ids: tuple[str, ...]) -> None:
        """Replay these exemplars in the background, or all of the library if none is named."""
        whole = len(ids) or self.memory.library().total()
        if not whole:
            raise UsageError("No exemplars yet. Save a run as one, or import some.")
        services = self.services
        arguments = ("exemplars", "replay", *shared_flags(services), "--on-gate", services.settings.on_gate)
        self.begin("Replaying exemplars", lambda: self._replay((*arguments, "--", *ids)))
        self._began = time.time()
        self.show(of=whole, notice="", problem="")

    async def _replay(self, arguments: tuple[str, ...]) -> None:
        try:
            ended = await JobProcess().run(
                arguments, lambda _line: None, lambda _line: self._show_results(), keys={}
            )
        except OSError as error:
            raise UsageError(
                f"Replaying could not be started ({error.strerror}); check the installation of Backstep."
            ) from error
        self._show_results()
        if ended.code not in (0, _FAILED):
            raise UsageError(f"Replaying failed: {ended.error}")
        fresh = self.view.result.fresh if self.view.result is not None else ()
        self.show(notice=replays_in_words([row.result for row in fresh]))

    def _show_results(self) -> None:
        library = self.memory.library()
        results = TryingResults(
            began=self._began,
            replays=_replays(library, self._began),
            worths=tuple(result for _, result in reversed(kept_results(library))),
            attributions=sums_of(kept_attributions(library)),
            trace=str(self.services.store.path.absolute()),
        )
        self.show(result=results, done=len(results.fresh) if self.view.busy else 0)


def _replays(library: Library, began: float) -> tuple[ReplayRow, ...]:
    rows: list[ReplayRow] = []
    for content in list(library.proofs.latest("replay").values())[:_SHOWN]:
        with suppress(ValidationError):  # Another version of the program has written it.
            rows.append(_row(library, ReplayResult.model_validate_json(content)))
    return tuple(sorted(rows, key=lambda row: (row.result.when < began, row.rank)))


def _row(library: Library, result: ReplayResult) -> ReplayRow:
    entry = library.find(result.id)
    if entry is None:
        return ReplayRow(result=result, is_there=False)
    is_old = entry.version != result.version
    return ReplayRow(result=result, is_old=is_old, is_there=entry.exemplar.review.status != "retired")
