"""Pictures of steps: those of the filmstrip, and the page before and after a step, large over the live page."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QImage

from core.debugger.timeline.views import StepPictures
from gui.panels.runs.preview import PICTURE
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow
from gui.widgets.decoding import PictureDecoder

if TYPE_CHECKING:
    from core.debugger.timeline.service import TimelineService


class StepPicturesController(FeatureController):
    """Requests pictures of one step at a time; of the steps scrubbed over meanwhile, only the last is next."""

    def __init__(self, window: MainWindow, service: "TimelineService") -> None:
        super().__init__(window)
        self._service = service
        self._reading = False
        self._next: tuple[int, int] | None = None
        self._before = QImage()
        self._decoder = PictureDecoder(self)
        self._decoder.decoded.connect(self._on_decoded)
        self.follow(service.pictured, window.time.film.thumbnails.show_pictures)
        self.follow(service.looked, self._on_looked)
        window.time.film.thumbnails.wanted.connect(service.read_pictures)
        window.time.film.scrubbed.connect(self._on_scrubbed)
        window.time.film.step_requested.connect(self._on_rested)
        window.time.film.scrub_ended.connect(self._on_scrub_ended)
        self._small = PictureDecoder(self)
        self._small.decoded.connect(window.runs.hover.preview.show_picture)
        self.follow(service.hovered, self._on_hovered)
        window.runs.hover.wanted.connect(service.hover)
        cover = window.page.cover
        cover.set_mode(window.remembered.cover_mode)
        cover.mode_changed.connect(self._on_mode)
        window.time.show_mode(cover.mode)
        window.time.mode_wanted.connect(cover.set_mode)
        cover.pictures_wanted.connect(self._ask)
        window.page.messages.pictures_requested.connect(service.look_restored)

    @Slot(int, int)
    def _on_scrubbed(self, run: int, number: int) -> None:
        """Show a step large at once, but not in the panels yet."""
        self.window.run_card.close_card()
        self.window.commands.refresh()
        self._ask(run, number)

    @Slot(int, int)
    def _on_rested(self, *_step: int) -> None:
        self._next = None

    @Slot()
    def _on_scrub_ended(self) -> None:
        """Show the step before again."""
        self._on_rested()
        step, trace = self.window.step_in_view, self.window.session.trace
        if step is None or step.live:
            trace.show_now()
        else:
            trace.show_step(step.run, step.number, step.side)

    @Slot(int, int)
    def _ask(self, run: int, number: int) -> None:
        if self._reading:
            self._next = (run, number)
        else:
            self._reading = True
            self._service.look(run, number)

    @Slot(object)
    def _on_looked(self, view: StepPictures) -> None:
        self._decoder.decode((view, "before"), view.before.data)
        self._decoder.decode((view, "after"), view.after.data)

    @Slot(object)
    def _on_hovered(self, view: StepPictures) -> None:
        ratio = self.window.devicePixelRatioF()
        self._small.decode(view, view.before.data, PICTURE * ratio)

    def _on_decoded(self, key: tuple[StepPictures, str], image: QImage) -> None:
        view, side = key
        if side == "before":
            self._before = image
            return
        self._reading = False
        if view.restored:
            self.window.page.look(view, self._before, image)
            self.window.page.cover.set_mode("side")
        elif self.window.time.film.is_scrubbing:
            self.window.page.look(view, self._before, image)
        else:
            self.window.page.cover.show_asked(view, self._before, image)
        self._before = QImage()
        following, self._next = self._next, None
        if following is not None:
            self._ask(*following)

    def _on_mode(self) -> None:
        self.window.remembered.cover_mode = self.window.page.cover.mode
        self.window.time.show_mode(self.window.page.cover.mode)
