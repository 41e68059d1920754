"""A recorded step over the live page: the page before it, or before and after it, with the target of the action."""

from typing import get_args

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton, QToolButton, QWidget

from core.debugger.steps.views import ScreenshotView, StepView
from core.debugger.timeline.views import StepPictures
from gui.page.picture import Picture, SliderPicture
from gui.theme.theme import Theme
from gui.widgets.formats import step_text
from gui.widgets.layouts import holding, in_column, in_row
from gui.widgets.remembered import CoverMode
from gui.widgets.words import ElidedLabel, labelled, set_tone

KEY = "Ctrl+Alt+B"
_MODES: dict[CoverMode, tuple[str, str]] = {
    "one": ("Before", "Show the page as the step found it"),
    "side": ("Side by side", "Show the page before the step beside the page after it"),
    "slider": (
        "Slider",
        "Show the page before and after the step with a line between them that can be moved",
    ),
}
_BEFORE_AFTER, _RESTORED = ("Before", "After"), ("As recorded", "As restored")
_LOADING = "Reading the page after the step…"


class StepCover(QWidget):
    """Opaque, over the live page, which stays shown below it; a bar describes the view and leads back."""

    back_requested = Signal()
    pictures_wanted = Signal(int, int)
    """Run and number of a step whose page after it is also needed; `show_pictures` answers."""
    mode_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.mode: CoverMode = "one"
        """How the page before and after the step is shown."""
        self._step: tuple[int, int] | None = None
        self._caption, self._kept = "", "recorded"
        self._after, self._after_view, self._no_after = QImage(), ScreenshotView(), ""
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, False)
        self.setAutoFillBackground(True)
        bar = QFrame(self)
        bar.setProperty("coverBar", True)
        self.title = ElidedLabel("", bar)
        self.title.setFont(theme.text_font(bold=True))
        self._group = QButtonGroup(self)
        self.buttons: dict[CoverMode, QToolButton] = {}
        for mode, (text, words) in _MODES.items():
            button = labelled(QToolButton(bar), text, f"{words} ({KEY} changes it)")
            button.setText(text)
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _on=False, mode=mode: self.set_mode(mode))
            self._group.addButton(button)
            self.buttons[mode] = button
        self.back_button = QPushButton("Back to now (Esc)", bar)
        self.back_button.setToolTip("Show the live page and the current step again (Esc)")
        self.back_button.setProperty("accent", True)
        self.back_button.clicked.connect(self.back_requested)
        modes = in_row(None, *self.buttons.values(), spacing=2)
        in_row(bar, (self.title, 1), modes, self.back_button, margins=(12, 4, 8, 4), spacing=10)
        self.picture = SliderPicture(theme, self)
        self.after = Picture(theme, self)
        self._heads = [ElidedLabel(text, self) for text in _BEFORE_AFTER]
        for head in self._heads:
            head.setFont(theme.heading_font())
            head.setContentsMargins(12, 6, 12, 0)
        left = in_column(None, self._heads[0], (self.picture, 1), spacing=0)
        self._right = holding(in_column(None, self._heads[1], (self.after, 1), spacing=0))
        both = in_row(None, (left, 1), (self._right, 1), spacing=0)
        self.caption = ElidedLabel("", self)
        self.caption.setContentsMargins(12, 4, 12, 6)
        set_tone(self.caption, "dim")
        in_column(self, bar, (holding(both), 1), self.caption, spacing=0)
        self.set_mode("one")
        self.hide()

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        """Cover the page if `step` is a recorded one, uncover it if it is the current one."""
        if step.live:
            self._step = None
            self.hide()
            return
        url = step.row.url if step.row else ""
        caption = step.screenshot.caption or step.action.action
        self._name_sides(_BEFORE_AFTER)
        if (step.run, step.number) != self._step:
            self._after, self._after_view, self._no_after = QImage(), ScreenshotView(), _LOADING
        self._show(step.run, step.number, url, caption)
        self.picture.show_screenshot(step.screenshot)
        self._want_after()
        self._show_after()

    def show_pictures(self, view: StepPictures, before: QImage, after: QImage) -> None:
        """Cover the page with these decoded pictures of a step; its other parts are shown later."""
        row = view.row
        self._name_sides(_RESTORED if view.restored else _BEFORE_AFTER)
        caption = view.before.caption if row is None else f"Step {row.number}: {step_text(row)}"
        self._show(view.run, view.number, row.url if row else "", caption)
        self.picture.show_screenshot(view.before, before, missing=view.no_before)
        self._after, self._after_view, self._no_after = after, view.after, view.no_after
        self._show_after()

    def show_asked(self, view: StepPictures, before: QImage, after: QImage) -> None:
        """Show the answer to `pictures_wanted` if that step still covers the page."""
        if (view.run, view.number) == self._step and not self.isHidden():
            self.show_pictures(view, before, after)

    def set_mode(self, mode: CoverMode) -> None:
        """Show the page before the step alone, next to the one after it, or with a slider between them."""
        changed, self.mode = mode != self.mode, mode
        self.buttons[mode].setChecked(True)
        self._right.setVisible(mode == "side")
        for head in self._heads:
            head.setVisible(mode == "side")
        self._want_after()
        self._show_after()
        if changed:
            self.mode_changed.emit()

    def next_mode(self) -> None:
        """Switch to the next way of showing before and after."""
        modes = get_args(CoverMode)
        self.set_mode(modes[(modes.index(self.mode) + 1) % len(modes)])
        if self.picture.slides:
            self.picture.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _name_sides(self, names: tuple[str, str]) -> None:
        for head, name in zip(self._heads, names, strict=True):
            head.setText(name)
        self.buttons["one"].setText(names[0])
        self._kept = "compared" if names == _RESTORED else "recorded"

    def _show(self, run: int, number: int, url: str, caption: str) -> None:
        self._step, self._caption = (run, number), caption
        self.title.setText(f"Step {number} of run {run}, {self._kept}" + (f" · {url}" if url else ""))
        self.show()
        self.raise_()

    def _want_after(self) -> None:
        if self._step is not None and self.mode != "one" and self._no_after == _LOADING:
            self.pictures_wanted.emit(*self._step)

    def _show_after(self) -> None:
        self.picture.show_after(self._after if self.mode == "slider" else None)
        self.after.show_screenshot(self._after_view, self._after, missing=self._no_after)
        missing = self.after.words if self.mode == "slider" else ""
        caption = " · ".join(filter(None, (self._caption, missing)))
        self.caption.setText(caption)
        self.caption.setVisible(bool(caption))
