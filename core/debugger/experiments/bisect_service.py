"""Bisecting at the window: in a process of its own, which has a browser of its own and tells how far it is."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.debugger.background_read import ask_file
from core.debugger.csv_files import write_table
from core.debugger.experiments.bisect import chosen_steps
from core.debugger.experiments.bisect_records import Bisection, Wanted
from core.debugger.experiments.bisect_views import BisectView, as_csv
from core.debugger.experiments.subprocess import ProcessApart
from core.debugger.service import telling
from core.debugger.session import Session
from core.schema.errors import BackstepError, UsageError
from core.schema.signal import Signal
from core.trace.store import TraceStore


class BisectDesk:
    """The `BisectDeskCommands` of the window."""

    def __init__(
        self, session: Session, command: Callable[[Wanted, Path], Sequence[str]], browser: str
    ) -> None:
        """`command` gives the words of the process; `browser` says what its pages are opened in."""
        self.changed: Signal[BisectView] = Signal()
        self._session = session
        self._command = command
        self._browser = browser
        self._view = BisectView(run=0)
        self._process = ProcessApart()
        self._going: asyncio.Task[None] | None = None
        session.closers.append(self._close)

    def open(self, run: int) -> None:
        async def work() -> None:
            await self._show(run)

        self._post(work)

    def start(self, wanted: Wanted) -> None:
        async def work() -> None:
            if self._going is not None and not self._going.done():
                raise UsageError("A bisection goes on already: wait for its end, or cancel it.")
            self._check(wanted)
            self._send(self._view.replace(starting=True, problem=""))
            self._going = asyncio.ensure_future(self._carry_out(wanted))

        self._post(work)

    def cancel(self) -> None:
        async def work() -> None:
            self._process.cancel()

        self._post(work)

    def export(self, bisection: Bisection, path: str) -> None:
        async def work() -> None:
            notice = await write_table(path, as_csv(bisection))
            self._session.log("info", "export", notice)
            self._send(self._view.replace(notice=notice, problem=""))

        self._post(work)

    def _check(self, wanted: Wanted) -> None:
        """Raise UsageError, DataError or TraceError for what the process would only refuse."""
        workshop = self._session.workshop()
        store = workshop.store
        row = store.run(wanted.run)
        for step in chosen_steps(store.steps(wanted.run), wanted.steps, every=wanted.every):
            store.agent(wanted.run, step)
        workshop.knowledge.presets.get(wanted.preset or row.preset)
        name = wanted.llm or row.llm
        workshop.llms.routed(name)
        if name == "person":
            raise UsageError("You cannot answer in the background: choose another LLM than yourself.")
        current = self._session.agent_run
        if row.profile and current is not None and current.state.profile == row.profile and not current.ended:
            raise UsageError(
                f"The run works in the browser profile {row.profile}, which the run under way has open: "
                "end that first (Shift+F5)."
            )

    async def _carry_out(self, wanted: Wanted) -> None:
        """Start the process and pass on what it tells until it ends."""
        last: Bisection | None = None

        def tell(line: str) -> None:
            nonlocal last
            with contextlib.suppress(ValidationError):
                last = Bisection.model_validate_json(line)
                self._send(self._view.replace(under_way=last, starting=False))
                self._session.send_runs(self._session.query)

        try:
            words = self._command(wanted, self._session.workshop().store.path)
            ended = await self._process.run(words, tell)
            problem = ""
            if ended.code and not ended.cancelled and (last is None or last.state in ("running", "failed")):
                problem = f"The bisection failed: {last.why if last and last.why else ended.told}"
            self._send(self._view.replace(problem=problem))
        except OSError as error:
            words = f"The bisection could not be begun ({error.strerror}); see whether Backstep is whole."
            self._send(self._view.replace(problem=words))
        except BackstepError as error:
            self._send(self._view.replace(problem=str(error)))
        self._send(self._view.replace(under_way=None, starting=False))
        await self._show(self._view.run, problem=self._view.problem)
        with contextlib.suppress(BackstepError):
            self._session.send_runs(self._session.query)

    async def _close(self) -> None:
        """End the bisection that goes on, since the session is closed; what it has made is kept."""
        going = self._going
        if going is None or going.done():
            return
        await self._process.let_go()
        going.cancel()
        await asyncio.wait([going])

    async def _show(self, run: int, *, problem: str = "") -> None:
        """Read what there is of a run and send it; what goes on goes on."""
        if not run:
            return
        view = self._view
        asked = BisectView(
            run=run, browser=self._browser, under_way=view.under_way, starting=view.starting, problem=problem
        )
        self._send(asked)
        found = await ask_file(self._session.store, lambda store: _read(store, asked))
        current = self._view
        if current.run == run:
            self._send(
                found.replace(under_way=current.under_way, starting=current.starting, problem=current.problem)
            )

    def _send(self, view: BisectView) -> None:
        self._view = view
        self.changed.send(view)

    def _post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._session.queue(telling(work, lambda words: self._send(self._view.replace(problem=words))))


def _read(store: TraceStore, asked: BisectView) -> BisectView:
    row, steps = store.run(asked.run), store.steps(asked.run)
    found: list[Bisection] = []
    for number, text in store.bisections(asked.run):
        with contextlib.suppress(ValidationError):
            found.append(Bisection.model_validate_json(text).replace(number=number))
    return asked.replace(
        ready=True,
        task=f"{row.task}, seed {row.seed}",
        preset=row.preset,
        llm=row.llm,
        steps=tuple((one.number, one.action) for one in steps),
        bisections=tuple(found),
    )
