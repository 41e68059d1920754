"""A recorded step over the live page: the page before or after it, or both, with the target of the action."""

from typing import NamedTuple, get_args

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from core.debugger.steps.views import ScreenshotView, Side, StepView
from core.debugger.timeline.views import StepPictures
from gui.page.picture import Picture, SliderPicture
from gui.theme.theme import Theme
from gui.widgets.layouts import holding, in_column, in_row
from gui.widgets.remembered import CoverMode, ShownPage
from gui.widgets.words import ElidedLabel, set_tone

_BEFORE_AFTER, _RESTORED = ("Before", "After"), ("As recorded", "As restored")


class _Shown(NamedTuple):
    view: ScreenshotView = ScreenshotView()
    image: QImage | None = None
    """Decoded before, if it is not None."""


_LOADING = _Shown(ScreenshotView(missing="Reading the picture…"))


class StepCover(QWidget):
    """Opaque, over the live page, which stays shown below it."""

    pictures_wanted = Signal(int, int)
    """Run and number of a step of which both pictures are needed; `show_pictures` answers."""
    mode_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.mode: CoverMode = "one"
        """How the page before and after the step is shown."""
        self.title = ""
        """Which page is shown, in words."""
        self.shown: ShownPage = "live"
        """Which page is in view."""
        self._side: Side = "before"
        self._step: tuple[int, int] | None = None
        self._caption = ""
        self._shown: dict[Side, _Shown] = {"before": _LOADING, "after": _LOADING}
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, False)
        self.setAutoFillBackground(True)
        self.picture, self.after = SliderPicture(theme), Picture(theme)
        areas = [QScrollArea(self), QScrollArea(self)]
        for area, picture in zip(areas, (self.picture, self.after), strict=True):
            area.setFrameShape(QFrame.Shape.NoFrame)
            area.setWidgetResizable(True)
            area.setWidget(picture)
            area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._heads = [ElidedLabel(text, self) for text in _BEFORE_AFTER]
        for head in self._heads:
            head.setFont(theme.heading_font())
            head.setContentsMargins(12, 6, 12, 0)
        left = in_column(None, self._heads[0], (areas[0], 1), spacing=0)
        self._right = holding(in_column(None, self._heads[1], (areas[1], 1), spacing=0))
        both = in_row(None, (left, 1), (self._right, 1), spacing=0)
        self.caption = ElidedLabel("", self)
        self.caption.setContentsMargins(12, 4, 12, 6)
        set_tone(self.caption, "dim")
        in_column(self, (holding(both), 1), self.caption, spacing=0)
        self.set_mode("one")
        self.hide()

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        """Cover the page if `step` is a recorded one, uncover it if it is the current one."""
        if step.live:
            self._step, self._side, self.shown = None, "before", "live"
            self.hide()
            return
        if (step.run, step.number) != self._step or self.shown == "restored":
            self._shown = {"before": _LOADING, "after": _LOADING}
        shot = step.screenshot
        self._shown[step.side] = _Shown(shot)
        self._side = step.side
        self._show(step.run, step.number, step.observation.url, shot.caption or step.action.action)

    def show_pictures(self, view: StepPictures, before: QImage, after: QImage) -> None:
        """Cover the page with these decoded pictures of a step; its other parts are shown later."""
        row = view.row
        self._shown = {"before": _Shown(view.before, before), "after": _Shown(view.after, after)}
        caption = view.before.caption if row is None else f"Step {row.number}: {row.in_words}"
        self._show(view.run, view.number, row.url if row else "", caption, restored=view.restored)

    def show_asked(self, view: StepPictures, before: QImage, after: QImage) -> None:
        """Show the answer to `pictures_wanted` if that step still covers the page."""
        if (view.run, view.number) == self._step and not self.isHidden():
            self.show_pictures(view, before, after)

    def set_mode(self, mode: CoverMode) -> None:
        """Show one page, the page before the step next to the one after it, or both with a slider between them."""
        changed, self.mode = mode != self.mode, mode
        self._draw()
        if changed:
            self.mode_changed.emit()

    @property
    def is_of_panels(self) -> bool:
        """Whether the left picture is the page that the panels describe."""
        return self.shown == "before" or (self.shown == "after" and self.mode == "one")

    def set_fitted(self, on: bool) -> None:
        """Draw the pages scaled to fit, or at their own size with scrolling."""
        for picture in (self.picture, self.after):
            picture.set_fitted(on)

    def next_mode(self) -> None:
        """Switch to the next way of showing before and after."""
        modes = get_args(CoverMode)
        self.set_mode(modes[(modes.index(self.mode) + 1) % len(modes)])
        if self.picture.slides:
            self.picture.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show(self, run: int, number: int, url: str, caption: str, *, restored: bool = False) -> None:
        self._step, self._caption = (run, number), caption
        names = _RESTORED if restored else _BEFORE_AFTER
        for head, name in zip(self._heads, names, strict=True):
            head.setText(name)
        self.shown = "restored" if restored else self._side
        which = f"Step {number} of run {run}, as recorded and as restored"
        if not restored:
            which = f"{names[self._side == 'after']} step {number} of run {run}, recorded"
        self.title = f"{which} · {url}" if url else which
        self._draw()
        self.show()
        self.raise_()

    def _draw(self) -> None:
        beside, one = self.mode == "side", self.mode == "one"
        self._right.setVisible(beside)
        for head in self._heads:
            head.setVisible(beside)
        if self._step is None:
            return
        left = self._shown[self._side if one else "before"]
        self.picture.show_screenshot(left.view, left.image)
        after = self._shown["after"]
        if not one:
            self.after.show_screenshot(after.view, after.image)
        self.picture.show_after(self.after.image if self.mode == "slider" else None)
        missing = self.after.words if self.mode == "slider" else ""
        caption = " · ".join(filter(None, (self._caption, missing)))
        self.caption.setText(caption)
        self.caption.setVisible(bool(caption))
        if not one and _LOADING in self._shown.values():
            self.pictures_wanted.emit(*self._step)
