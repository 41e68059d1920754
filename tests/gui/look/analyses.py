"""Draws the pages of the analyses as look draws the window: ``python -m tests.gui.look.analyses OUTDIR``.

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
from core.memory.memory import Memory
from core.schema.exemplar import RecallSettings
from core.schema.signal import Signal
from gui.exemplars.analyses.controller import AnalysesController
from gui.theme.theme import Theme
from tests.gui.exemplars.stand_ins import PlainWindow
from tests.gui.look.studio import draw_all


class Bench:
    """The pages with a real memory, whose work is done when `settle` is called."""

    def __init__(self, folder: Path, settings: QSettings, size: QSize) -> None:
        self.loop = asyncio.new_event_loop()
        self.memory = Memory(index_folder=folder / "index", library=folder / "exemplars.db")
        resources = SimpleNamespace(memory=self.memory, presets=Presets())
        session = SimpleNamespace(
            store=None,
            closers=[],
            worked=Signal(),
            session_changed=Signal(),
            queue=lambda work: self.loop.create_task(work),
            services=lambda: SimpleNamespace(resources=resources),
        )
        theme = Theme(settings)
        self.window = PlainWindow(theme, settings)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        theme.dress(self.tabs)
        self.controller = AnalysesController(self.window, ExemplarServices(session))
        for name, page in self.controller.pages:
            self.tabs.addTab(page, name)
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

    def show(self, at: int) -> None:
        self.tabs.setCurrentIndex(at)


def duplicates(bench: Bench) -> None:
    bench.show(0)
    bench.controller.duplicates.within.setValue(0.45)
    bench.controller.duplicates.find_button.click()


def map_(bench: Bench) -> None:
    bench.show(1)
    bench.controller.map.draw_button.click()
    bench.settle()
    bench.controller.map.show_task("Book the cheapest flight from Oslo to Rome.")


def retrieval(bench: Bench) -> None:
    bench.show(2)
    page = bench.controller.bench
    page.show_task('Enter the password "abc" into both fields and press submit.')
    page.look_up_button.click()


def retrieval_compared(bench: Bench) -> None:
    bench.show(2)
    draft = bench.memory.files.all()[0].replace(metadata="Task: Enter a password and a name.")
    bench.controller.bench.compare_with(draft)
    query = BenchQuery(
        task="Enter a password and press submit.",
        settings=RecallSettings(votes=3, most=4),
        other=RecallSettings(by="exemplars", votes=2, most=2),
    )
    bench.controller.bench.form.show_query(query)
    bench.controller.bench.look_up_button.click()


def leave_one_out(bench: Bench) -> None:
    """Some exemplars of one family are assigned to another, so that there is something to see."""
    bench.show(3)
    for number, one in enumerate(bench.memory.files.all()[::3]):
        wrong = one.replace(id=f"mine/{number}", family=f"other-{number % 4}")
        bench.memory.library().save(wrong)
    bench.controller.leave_one_out.votes.setValue(3)
    bench.controller.leave_one_out.begin_button.click()


STAGES: dict[str, Callable[[Bench], None]] = {
    "duplicates-empty": lambda bench: bench.show(0),
    "duplicates": duplicates,
    "map-empty": lambda bench: bench.show(1),
    "map": map_,
    "retrieval-empty": lambda bench: bench.show(2),
    "retrieval": retrieval,
    "retrieval-compared": retrieval_compared,
    "leave-one-out-empty": lambda bench: bench.show(3),
    "leave-one-out": leave_one_out,
}


def draw(application: QApplication, settings: QSettings, size: QSize, name: str, file: str) -> None:
    bench = Bench(Path(settings.fileName()).parent, settings, size)
    STAGES[name](bench)
    bench.settle()
    bench.tabs.grab().save(file)
    bench.tabs.close()
    bench.memory.close()
    bench.loop.close()


if __name__ == "__main__":
    draw_all(STAGES, draw)
