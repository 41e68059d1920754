"""A real session with a real browser and no window: commands go in, snapshots are waited for."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from core.browser.chromium import ChromiumHost
from core.debugger.catalogue import Catalogue
from core.debugger.editing.views import EditText
from core.debugger.live_page import LivePageView, Picked
from core.debugger.services import Services, open_services
from core.debugger.session import Session
from core.debugger.session_view import RunsView, SessionView
from core.debugger.steps.views import PersonQuestion, StepView
from core.environments.registry import Environments
from core.schema.events import LogLine
from core.settings.settings import LLMSettings, Settings
from core.trace.records import RunRow, StepRow
from core.trace.store import TraceStore
from tests.core.stage import llms_for, need_chromium, settings_for
from tests.llm_server import LLMServer

SECONDS = 120.0
_LOOK = 0.05
"""So often it is looked whether something is so."""


class Live:
    """Keeps the last snapshot of each kind, and all that were sent of the session."""

    def __init__(self, session: Session, config: Path, database: Path) -> None:
        self.session = session
        self.config = config
        self.database = database
        self.view = SessionView()
        self.views: list[SessionView] = []
        self.step: StepView | None = None
        self.step_views: list[StepView] = []
        self.runs = RunsView()
        self.catalogue = Catalogue()
        self.page = LivePageView()
        self.question: PersonQuestion | None = None
        self.picked: Picked | None = None
        self.text: EditText | None = None
        self.lines: list[LogLine] = []
        self._changed = threading.Condition()
        session.session_changed.connect(lambda view: self._keep("view", view, self.views))
        session.step_changed.connect(lambda view: self._keep("step", view, self.step_views))
        session.runs_changed.connect(lambda view: self._keep("runs", view))
        session.catalogue_changed.connect(lambda view: self._keep("catalogue", view))
        session.live_page_changed.connect(lambda view: self._keep("page", view))
        session.question_asked.connect(lambda view: self._keep("question", view))
        session.picked.connect(lambda view: self._keep("picked", view))
        session.text_offered.connect(lambda view: self._keep("text", view))
        session.logged.connect(lambda line: self._keep("last_line", line, self.lines))

    def _keep(self, name: str, value: Any, history: list[Any] | None = None) -> None:
        with self._changed:
            setattr(self, name, value)
            if history is not None:
                history.append(value)
            self._changed.notify_all()

    def wait(self, condition: Callable[[], object], what: str = "", seconds: float = SECONDS) -> None:
        """Wait until a snapshot meets the condition, and until what is being read beside it has been sent."""
        end = time.monotonic() + seconds
        with self._changed:
            # Not all that is waited for comes with a snapshot.
            while not (met := self._changed.wait_for(condition, _LOOK)) and time.monotonic() < end:
                pass
        assert met, f"waited in vain for {what or condition}; the session is {self.view}"
        self.settle()

    @property
    def told(self) -> str:
        """What the last command came to that had something to tell."""
        return self.view.told.text if self.view.told is not None else ""

    def wait_mode(self, *modes: str) -> SessionView:
        self.wait(lambda: self.view.mode in modes, f"mode {modes}")
        return self.view

    def wait_phase(self, phase: str | None) -> None:
        """Wait until the session rests before `phase`."""
        self.wait(
            lambda: self.view.phase == phase and self.view.mode in ("waiting", "failed"), f"phase {phase}"
        )

    def settle(self) -> None:
        """Wait until every command given so far has been looked at, and what is being read has been sent."""
        done = threading.Event()

        async def mark() -> None:
            await self.session._publisher.settled()
            done.set()

        self.session.queue(mark())
        assert done.wait(SECONDS)

    def open(self, task: str = "miniwob/click-test-2", seed: int = 0, **more: str) -> None:
        """Open a task and wait until its first page has been read, as far as no LLM is asked."""
        before = self.view.run
        self.session.tasks.open(task, seed, **more)
        self.wait(
            lambda: self.view.run not in (None, before) and self.view.phase in ("abstract", "decide"),
            "an opened task",
        )
        self.wait_mode("waiting")

    def to_review(self) -> StepView:
        self.session.run_commands.step()
        self.wait_phase("review")
        assert self.step is not None
        return self.step

    def store(self) -> TraceStore:
        return TraceStore.open(self.database, read_only=True)

    def steps(self, run: int) -> tuple[StepRow, ...]:
        with closing(self.store()) as store:
            return store.steps(run)

    def row(self, run: int) -> RunRow:
        with closing(self.store()) as store:
            return store.run(run)

    def interventions(self, run: int) -> list[tuple[str, str, str, str]]:
        """Return kind, before, after and who of each, oldest first."""
        with closing(self.store()) as store:
            return [(one.kind, one.before, one.after, one.who) for one in store.interventions(run)]


def settings_in(folder: Path, server: LLMServer, **more: Any) -> Settings:
    entry = LLMSettings(base_url=server.base_url, model="test-model", attempts=1)
    return settings_for(folder / "traces.db", llms={"test": entry, "other": entry}, **more)


def live_session(folder: Path, settings: Settings, config: Path, executable: str = "") -> Live:
    """Return a session that has not been started."""
    path = executable or need_chromium()

    async def open_it() -> Services:
        return await open_services(
            settings,
            ChromiumHost(path, profiles=str(settings.database.parent / "profiles")),
            llms=llms_for(settings),
            environments=Environments(),
            config=config,
        )

    return Live(Session(open_it, who="tester"), config, settings.database)
