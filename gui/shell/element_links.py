"""Marks one element wherever it is shown: in the page, the observation and the permissible actions.

It is the element under the mouse, in the page or as a ref in a text, or else the pinned one.
"""

from collections.abc import Iterable
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from core.debugger.live_page import Picked
from core.debugger.session_view import SessionView
from core.debugger.steps.views import Side, StepView
from core.schema.observation import Box, Element, Ref
from gui.shell.parts import WindowParts
from gui.widgets.enabled_commands import RESTING
from gui.widgets.ref_links import RefLinks

_NOT_DONE = ("none", "thinking", "pending")
"""Outcomes of an action that has not changed the page yet, so its elements are still where they were read."""


class _Hovered(NamedTuple):
    ref: Ref
    box: Box | None
    """The element's current box according to the page, when the mouse is over the page."""


class ElementLinks(QObject):
    """Follows the mouse over the page and over the texts of the panels."""

    pinned_changed = Signal()

    def __init__(self, window: WindowParts) -> None:
        super().__init__(window)
        self._window = window
        self._session = SessionView()
        self._step: StepView | None = None
        self._elements: dict[Ref, Element] = {}
        self._hovered: _Hovered | None = None
        self._over_page = False
        self.pinned: Ref | None = None
        texts = (window.observation.raw, window.observation.clean, window.prompt.text, window.action.thought)
        self._texts = RefLinks(texts, self)
        self._texts.hovered.connect(self._on_text)
        self._texts.chosen.connect(self.toggle)
        window.permissible.highlight_requested.connect(self._on_text)
        page = window.page
        page.hovered.connect(self._on_page)
        page.hover_ended.connect(self._on_page_left)
        page.pressed.connect(self._on_pressed)
        page.scrolled.connect(self._draw)

    def show_step(self, step: StepView) -> None:
        """Resolve refs to elements of this step. A pinned element stays pinned if the step contains it."""
        before, self._step = self._step, step
        same_run = before is not None and before.run == step.run
        self._elements = {element.ref: element for element in step.observation.elements}
        if before is None or not same_run or _place(before) != _place(step):
            self._hovered = None
        if not same_run or self.pinned not in self._elements:
            self._set_pinned(None)
        self._draw()

    def show_session(self, view: SessionView) -> None:
        self._session = view
        if view.handed_over:
            self._on_page_left()

    def show_picked(self, picked: Picked) -> None:
        """Use the element that the page reports under the mouse."""
        if self._over_page and self._asks_page:
            self._hover(_Hovered(picked.ref, picked.box) if picked.ref is not None else None)

    def pin(self, ref: Ref | None) -> None:
        """Pin an element until another step is shown or Esc is pressed; None unpins it."""
        self._set_pinned(ref if ref in self._elements else None)
        self._draw()

    def toggle(self, ref: Ref | None = None) -> None:
        """Pin or unpin an element, by default the one under the mouse or at a text's cursor."""
        if ref is None:
            ref = self._hovered.ref if self._hovered is not None else self._texts.at_cursor()
        self.pin(None if ref == self.pinned else ref)

    @property
    def _asks_page(self) -> bool:
        """Whether the live page can be queried: it is idle and nothing covers it."""
        page, view = self._window.page, self._session
        return view.mode in RESTING and not (view.handed_over or page.covered or page.pointing)

    def _on_text(self, ref: Ref | None) -> None:
        self._hover(_Hovered(ref, None) if ref is not None else None)

    def _on_page(self, x: float, y: float) -> None:
        self._over_page = True
        if self._asks_page:
            self._window.session.live_page.point(x, y, final=False)
        elif self._window.page.covered:
            element = _at(self._elements.values(), x, y)
            self._hover(_Hovered(element.ref, element.box) if element is not None else None)

    def _on_page_left(self) -> None:
        self._over_page = False
        self._hover(None)

    def _on_pressed(self) -> None:
        if self._hovered is not None:
            self.toggle(self._hovered.ref)

    def _hover(self, hovered: _Hovered | None) -> None:
        if hovered != self._hovered:
            self._hovered = hovered
            self._draw()

    def _set_pinned(self, ref: Ref | None) -> None:
        if ref != self.pinned:
            self.pinned = ref
            self.pinned_changed.emit()

    def _draw(self) -> None:
        window, hovered = self._window, self._hovered
        ref = hovered.ref if hovered is not None else self.pinned
        element = self._elements.get(ref) if ref is not None else None
        box = hovered.box if hovered is not None and hovered.box is not None else self._box(element)
        line, uses = self._words(ref, element)
        window.page.mark(box, line, uses, pinned=ref is not None and ref == self.pinned)
        reveal = ref is not None and (self._over_page or ref == self.pinned)
        window.observation.show_element(ref, reveal=reveal)
        window.permissible.show_element(ref, reveal=reveal)

    def _box(self, element: Element | None) -> Box | None:
        """Return where an element is in the page or the screenshot, if that is still known."""
        step, page = self._step, self._window.page.live_page
        if element is None or step is None:
            return None
        if step.live and page.scrolled:  # In the screenshot, the mouse only finds outlined elements.
            return next((outline.box for outline in page.outlines if outline.ref == element.ref), None)
        there = element.in_viewport and (not step.live or step.action.outcome in _NOT_DONE)
        return element.box if there else None

    def _words(self, ref: Ref | None, element: Element | None) -> tuple[str, str]:
        if ref is None or self._step is None:
            return "", ""
        if element is None:
            return f"[{ref}]", "Not in the observation of this step"
        if self._step.live and self._step.action.outcome not in _NOT_DONE:
            return element.line(), "As it was observed before the action"
        view = self._step.permissible
        actions = [
            f"{row.text} (next)" if row.ref == view.chosen_ref and row.text == view.chosen else row.text
            for row in view.rows
            if row.ref == ref
        ]
        return element.line(), " · ".join(actions) or "No action is permissible on it"


def _place(step: StepView) -> tuple[int, bool, Side]:
    return step.number, step.live, step.side


def _at(elements: Iterable[Element], x: float, y: float) -> Element | None:
    """Return the smallest element at a point of the viewport."""
    there = [
        element
        for element in elements
        if element.in_viewport
        and 0 <= x - element.box.x <= element.box.width
        and 0 <= y - element.box.y <= element.box.height
    ]
    return min(there, key=lambda one: one.box.width * one.box.height, default=None)
