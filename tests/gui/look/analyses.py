"""Draws the pages of the analyses.

The exemplars are the built-in ones.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from PySide6.QtCore import QSettings, QSize
from PySide6.QtWidgets import QApplication, QTabWidget

from core.agent.presets import Presets
from core.debugger.exemplars.analyses.views import BenchQuery
from core.debugger.exemplars.service import ExemplarServices
from core.exemplars.memory import Memory
from core.schema.exemplar import RecallSettings
from core.schema.signal import Signal
from gui.exemplars.analyses.controller import AnalysesController
from gui.theme.theme import Theme
from tests.gui.exemplars.stand_ins import PlainWindow


class Bench:
    """The pages with a real memory, whose work is done when `settle` is called."""

    def __init__(self, folder: Path, settings: QSettings, size: QSize) -> None:
        self.loop = asyncio.new_event_loop()
        self.memory = Memory(index_folder=folder / "index", library=folder / "exemplars.db")
        resources = SimpleNamespace(memory=self.memory, presets=Presets())
        store = SimpleNamespace(path=folder / "traces.db")
        session = SimpleNamespace(
            store=None,
            closers=[],
            worked=Signal(),
            session_changed=Signal(),
            queue=lambda work: self.loop.create_task(work),
            services=lambda: SimpleNamespace(resources=resources, store=store),
        )
        theme = Theme(settings)
        self.window = PlainWindow(theme, settings)
        self.services = ExemplarServices(session)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        theme.prepare()
        theme.dress(self.tabs)
        self.controller = AnalysesController(self.window, self.services)
        self.retrieval, self.duplicates = self.controller.retrieval, self.controller.duplicates
        self.tabs.addTab(self.retrieval, "Retrieval")
        self.tabs.addTab(self.duplicates, "Duplicates")
        self.tabs.resize(size)
        self.tabs.show()

    def settle(self) -> None:
        """Do all queued work, and draw the result."""
        application = QApplication.instance()
        for _ in range(4):
            while tasks := asyncio.all_tasks(self.loop):
                self.loop.run_until_complete(asyncio.wait(tasks))
            for _ in range(8):
                application.processEvents()
            self.loop.run_until_complete(asyncio.sleep(0.03))

    def close(self) -> None:
        self.tabs.close()
        self.memory.close()
        self.loop.close()

    def show_duplicates(self) -> None:
        self.tabs.setCurrentWidget(self.duplicates)


def retrieval(bench: Bench) -> None:
    bench.retrieval.show_task('Enter the password "abc" into both fields and press submit.')
    bench.retrieval.look_up_button.click()


def retrieval_compared(bench: Bench) -> None:
    draft = bench.memory.files.all()[0].replace(metadata="Task: Enter a password and a name.")
    bench.services.retrieval.compare_with(draft)
    query = BenchQuery(
        task="Enter a password and press submit.",
        settings=RecallSettings(votes=3, most=4),
        other=RecallSettings(by="exemplars", votes=2, most=2),
    )
    bench.retrieval.form.show_query(query)
    bench.retrieval.look_up_button.click()


def retrieval_folded(bench: Bench) -> None:
    bench.retrieval.map_button.click()
    retrieval(bench)


def duplicates(bench: Bench) -> None:
    bench.show_duplicates()
    bench.duplicates.within.setValue(0.45)
    bench.duplicates.commands.by_id["find"].action.trigger()


def working(bench: Bench) -> None:
    duplicates(bench)
    bench.settle()
    page = bench.duplicates
    page.show_view(page.view.replace(busy=True, doing="Comparing all exemplars", done=41, of=126))


def failed(bench: Bench) -> None:
    duplicates(bench)
    bench.settle()
    page = bench.duplicates
    page.show_view(page.view.replace(problem="The embedding could not be reached (timed out). Try again."))


STAGES: dict[str, Callable[[Bench], None]] = {
    "retrieval-empty": lambda bench: None,
    "retrieval": retrieval,
    "retrieval-compared": retrieval_compared,
    "retrieval-folded": retrieval_folded,
    "duplicates-empty": lambda bench: bench.show_duplicates(),
    "duplicates": duplicates,
    "duplicates-working": working,
    "duplicates-failed": failed,
}
