"""The comparison of two runs, with commands and views."""

from typing import TYPE_CHECKING

from core.debugger.commands import command
from core.debugger.compare.alignment import compare_runs, compare_steps
from core.debugger.compare.views import (
    ComparedView,
    PairView,
    StepKey,
)
from core.debugger.service import Service
from core.debugger.steps.view import screenshot_view
from core.schema.signal import Signal
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session


class CompareService(Service[ComparedView]):
    """Aligns two runs (`changed`), and reads any two of their steps part by part (`paired`)."""

    view = ComparedView(left=0, right=0)

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.paired: Signal[PairView] = Signal()
        """The two steps asked for last; pairs that were overtaken are not sent."""
        self.diffed: Signal[PairView] = Signal()
        """The same for the Diff panel: neither takes the other's turn."""

    @command
    async def compare(self, left: int, right: int) -> None:
        """Align two runs: the view is sent at once without the alignment, and again with it."""
        asked = ComparedView(left=left, right=right)
        self.send(asked)
        await self.answer(
            "runs",
            lambda store: asked.replace(compared=compare_runs(store, left, right)),
            self.send,
            lambda problem: asked.replace(problem=problem),
        )

    @command
    async def pair(self, left: StepKey | None, right: StepKey | None) -> None:
        """Read all parts of two steps, for Compare."""
        await self._read_pair("pair", PairView(left=left, right=right), self.paired)

    @command
    async def diff(self, left: StepKey | None, right: StepKey | None) -> None:
        """Read all parts of two steps, for Diff."""
        await self._read_pair("diff", PairView(left=left, right=right), self.diffed)

    async def _read_pair(self, topic: str, asked: PairView, signal: Signal[PairView]) -> None:
        await self.answer(
            topic,
            lambda store: _pair_view(store, asked),
            signal.send,
            lambda problem: asked.replace(problem=problem),
        )


def _pair_view(store: TraceStore, asked: PairView) -> PairView:
    return asked.replace(
        parts=compare_steps(store, asked.left, asked.right),
        left_picture=_picture(store, asked.left),
        right_picture=_picture(store, asked.right),
    )


def _picture(store: TraceStore, step: StepKey | None) -> bytes:
    return screenshot_view(store, store.step(*step)).data if step is not None else b""


make_service = CompareService
