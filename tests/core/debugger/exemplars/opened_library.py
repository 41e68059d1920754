"""The service of the library on a worker of its own, with real exemplars and traces and without a browser."""

import contextlib
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from core.agent.resources import agent_resources_of
from core.debugger.exemplars.changes import ExemplarChanges
from core.debugger.exemplars.library.importing import ImportService
from core.debugger.exemplars.library.service import LibraryService
from core.debugger.worker import Worker
from core.exemplars.library.records import Provenance
from core.exemplars.library.store import Library
from core.llm.registry import open_llms
from core.schema.exemplar import Exemplar
from core.schema.signal import Signal
from core.settings.settings import Settings
from core.trace.store import TraceStore

SECONDS = 120.0


class OpenedLibrary:
    """Keeps the last view of each kind, and every notice."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        settings = Settings(database=folder / "traces.db")
        self.llms = open_llms(settings, config_folder=folder / "config")
        self.resources = agent_resources_of(
            folder / "config",
            data=folder,
            embedding=lambda: self.llms.embedding(self.services.settings.embedding),
        )
        self.store = TraceStore.open(folder / "traces.db")
        self.failures: list[BaseException] = []
        self.worker = Worker()
        self.worker.on_failure = self.failures.append
        self.worker.start()
        self.services = SimpleNamespace(
            resources=self.resources, store=self.store, settings=settings, llms=self.llms
        )
        self.session = SimpleNamespace(
            services=lambda: self.services,
            store=self.store,
            session=SimpleNamespace(preset="plain"),
            queue=self._queue,
            log=lambda *words: None,
            closers=[],
            worked=Signal(),
        )
        self.changes = ExemplarChanges(self.session)  # type: ignore[arg-type]
        self.service = LibraryService(self.session, self.changes)  # type: ignore[arg-type]
        self.imports = ImportService(self.service)
        self.views: dict[str, Any] = {}
        self.sent: dict[str, list[Any]] = {}
        self._changed = threading.Condition()
        for name in ("listed", "paged", "counted", "detailed", "compared", "noticed", "changed", "checked"):
            getattr(self.service, name).connect(lambda view, name=name: self._keep(name, view))
        self.changes.changed.connect(lambda change: self._keep("made", change))
        self.changes.answered.connect(lambda answer: self._keep("answered", answer.problem))
        self.imports.changed.connect(lambda view: self._keep("planned", view))

    def _queue(self, work: Coroutine[Any, Any, None]) -> None:
        with contextlib.suppress(RuntimeError):  # The worker has ended.
            self.worker.post(work)

    def _keep(self, name: str, view: Any) -> None:
        with self._changed:
            self.views[name] = view
            self.sent.setdefault(name, []).append(view)
            self._changed.notify_all()

    def wait(self, name: str, condition: Callable[[Any], object] = lambda view: True) -> Any:
        """Return the last view of a kind, once it is as it is to be; a view serves once."""

        def met() -> bool:
            return name in self.views and bool(condition(self.views[name]))

        with self._changed:
            found = self._changed.wait_for(met, SECONDS)
            assert found, f"waited in vain for {name}; the last were {self.views}, {self.failures}"
            return self.views.pop(name)

    def put(self, exemplar: Exemplar, **provenance: Any) -> None:
        """Save an exemplar as another program would."""
        library = Library.open(self.folder / "exemplars.db")
        library.save(exemplar, Provenance(**provenance))
        library.close()

    def close(self) -> None:
        for close in self.session.closers:
            self.worker.post(close()).result(SECONDS)
        self.worker.stop()
        self.resources.memory.close()
        self.store.close()
        assert not self.failures
