"""Whether the filmstrip stands still while one scrolls and scrubs through a long run, and what its pictures take.

    python -m tests.benchmarks.bench_film [--steps 1000] [--pictures 60]

Offscreen, on a strip 1280 pixels wide over a real database, whose steps have pictures
of 1280 by 800 pixels. `round` is one turn of the event loop: all that the window could
not do meanwhile.
"""

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSettings
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from core.debugger.timeline.service import TimelineService
from core.debugger.timeline.views import StepPictures
from core.schema.step import Observed
from core.trace.blobs import hash_of
from core.trace.store import TraceStore
from gui.panels.timeline.film import FilmStrip
from gui.theme.theme import Theme
from gui.widgets.decoding import PictureDecoder
from gui.widgets.relay import Relay
from tests.core.debugger.stand_ins import StandInSession
from tests.core.trace.making import records, start

_PATIENCE = 60.0


def picture(number: int) -> bytes:
    """Return a PNG of a page with many small things."""
    chance = random.Random(number)
    image = QImage(1280, 800, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    for _ in range(300):
        colour = QColor.fromHsv(chance.randrange(360), 120, 220)
        painter.fillRect(chance.randrange(1280), chance.randrange(800), 60, 18, colour)
        painter.drawText(chance.randrange(1200), chance.randrange(800), "words of a page " * 2)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return data.data()


def write(store: TraceStore, steps: int, pictures: list[bytes]) -> int:
    run = store.begin_run(start())
    for number in range(1, steps + 1):
        store.begin_step(run, number)
        data = pictures[number % len(pictures)]
        for record in records():
            if isinstance(record, Observed):
                record = record.replace(html="", screenshot=hash_of(data))
                store.save_phase(run, number, record, blobs=((data, "image/png"),))
            else:
                store.save_phase(run, number, record)
    return run


class Bench:
    """A strip on a database, and how long the event loop takes for each round."""

    def __init__(self, application: QApplication, store: TraceStore, folder: str) -> None:
        self.application = application
        self.session = StandInSession(store=store)
        self.service = TimelineService(self.session)  # type: ignore[arg-type]
        self.film = FilmStrip(Theme(QSettings(f"{folder}/bench.ini", QSettings.Format.IniFormat)))
        self.film.thumbnails.wanted.connect(self.service.read_pictures)
        self.decoder = PictureDecoder(self.film)
        self.looked: list[StepPictures] = []
        relays = (
            (self.service.pictured, self.film.thumbnails.show_pictures),
            (self.service.changed, self.film.show_times),
            (self.service.looked, lambda view: self.decoder.decode(view, view.before.data)),
        )
        for source, slot in relays:
            Relay(source, parent=self.film).received.connect(slot)
        self.decoder.decoded.connect(lambda view, _image: self.looked.append(view))
        self.film.resize(1280, 92)
        self.film.show()
        self.rounds: list[float] = []

    def round(self) -> None:
        begun = time.perf_counter()
        self.application.processEvents()
        self.rounds.append((time.perf_counter() - begun) * 1000)

    def until(self, met: Callable[[], object]) -> float:
        """Return how many milliseconds it takes."""
        begun = time.perf_counter()
        while not met():
            self.round()
            time.sleep(0.001)  # Lets the threads that decode have Python between two rounds.
            if time.perf_counter() - begun > _PATIENCE:
                raise SystemExit("The filmstrip did not get there.")
        return (time.perf_counter() - begun) * 1000

    def loaded(self) -> bool:
        film = self.film
        seen = (
            step
            for at, step in enumerate(film.view.steps)
            if film.cell(at).intersects(film.viewport().rect())
        )
        return all(film.thumbnails.of(step.picture) is not None for step in seen)

    def tell(self, what: str, taken: list[float] | None = None) -> None:
        rounds, self.rounds = sorted(self.rounds), []
        part = f"  each {statistics.median(taken):6.1f} ms" if taken else " " * 16
        print(
            f"{what:<34}{part}  round {rounds[len(rounds) * 99 // 100]:5.1f} ms (99 %), {rounds[-1]:5.1f} ms worst"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--pictures", type=int, default=60)
    options = parser.parse_args()
    application = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        store = TraceStore.open(Path(folder) / "traces.db")
        pictures = [picture(number) for number in range(options.pictures)]
        run = write(store, options.steps, pictures)
        bench = Bench(application, store, folder)
        film, bar = bench.film, bench.film.horizontalScrollBar()
        bench.service.read_times(run)
        shown = bench.until(lambda: bool(film.view.steps))
        filled = bench.until(bench.loaded)
        bench.tell(f"{options.steps} steps listed, strip filled", [shown + filled])
        for at in range(0, bar.maximum(), max(bar.maximum() // 400, 1)):
            bar.setValue(at)
            bench.round()
        bench.tell("scrolled from end to end")
        taken = []
        for at in range(0, bar.maximum(), max(bar.maximum() // 12, 1)):
            bar.setValue(at)
            bench.round()
            taken.append(bench.until(bench.loaded))
        bench.tell("scrolled to a place, strip filled", taken)
        taken = []
        for number in range(1, options.steps, max(options.steps // 30, 1)):
            bench.looked.clear()
            bench.service.look(run, number)
            taken.append(bench.until(lambda: bench.looked))
        bench.tell("a step large, read and decoded", taken)
        print(
            f"thumbnails take {film.thumbnails.total_bytes / 1e6:.1f} MB; a picture {len(pictures[0]) / 1e3:.0f} kB"
        )
        film.deleteLater()
        bench.session.close()
        store.close()
    application.quit()


if __name__ == "__main__":
    main()
