"""Breakpoints and watches: the panel, its dialog, and additions from other panels."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.views import BreakChange, Watch
from gui.panels.breakpoints.editor import BreakpointEditor, Offers
from gui.shell.feature import AskingController
from gui.shell.main_window import MainWindow
from gui.shell.undo import Done, Reversible

if TYPE_CHECKING:
    from core.debugger.breakpoints.service import BreakpointsService


class BreakpointsController(AskingController):
    """Passes on requests; each answer goes to the widget that asked."""

    def __init__(self, window: MainWindow, service: "BreakpointsService") -> None:
        super().__init__(window, service.answered)
        self._service = service
        self.editor: BreakpointEditor | None = None
        self.follow(service.changed, window.breakpoints.show_breaks)
        self.follow(service.made, self._on_made, keep="every")
        self._connect_panels()
        service.announce()

    def _connect_panels(self) -> None:
        window, panel, service = self.window, self.window.breakpoints, self._service
        panel.add_requested.connect(self.add)
        panel.edit_requested.connect(self._edit)
        panel.breakpoint_wanted.connect(self._asking(service.add))
        panel.breakpoint_replaced.connect(self._asking(service.replace))
        panel.breakpoint_removed.connect(self._asking(service.remove))
        panel.breakpoint_switched.connect(self._asking(service.enable))
        panel.watch_wanted.connect(self._on_watch_wanted)
        panel.watch_replaced.connect(self._asking(service.replace_watch))
        panel.watch_removed.connect(self._asking(service.remove_watch))
        panel.hit_wanted.connect(service.back_to_hit)
        panel.change_wanted.connect(service.back_to_change)
        for other in (window.state, window.stack, window.permissible, window.log):
            other.breakpoint_wanted.connect(self._on_wanted_elsewhere)

    def _asking(self, command: Callable[..., object]) -> Callable[..., None]:
        """Return a function that passes on a request of the panel; a refusal is shown over the page."""
        return lambda *wish: self.ask(command, *wish, answer=self._say)

    @Slot()
    def add(self) -> None:
        """Open the dialog for a new breakpoint."""
        self._edit(None)

    @Slot(object)
    def _edit(self, breakpoint: Breakpoint | None) -> None:
        window = self.window
        self.editor = BreakpointEditor(window.theme, breakpoint, _offers(window), window)
        self.editor.breakpoint_wanted.connect(self._on_edited)
        self.editor.finished.connect(self._on_finished)
        self.editor.open()

    @Slot()
    def _on_finished(self) -> None:
        if self.editor is not None:
            self.editor.deleteLater()
            self.editor = None

    def _answer_editor(self, editor: BreakpointEditor, problem: str) -> None:
        """Pass the answer to the dialog, unless it was closed in between."""
        if self.editor is editor:
            editor.show_answer(problem)

    @Slot(object)
    def _on_edited(self, breakpoint: Breakpoint) -> None:
        editor = self.editor
        if editor is None:
            return
        command = self._service.replace if breakpoint.number else self._service.add
        self.ask(command, breakpoint, answer=partial(self._answer_editor, editor))

    @Slot(object)
    def _on_wanted_elsewhere(self, breakpoint: Breakpoint) -> None:
        """Add a breakpoint from another panel, and show where it was added."""
        self.window.place("Breakpoints").bring()
        self.ask(self._service.add, breakpoint, answer=self._say)

    @Slot(object)
    def _on_watch_wanted(self, watch: Watch) -> None:
        command = self._service.replace_watch if watch.number else self._service.add_watch
        self.ask(command, watch, answer=self.window.breakpoints.field.show_answer)

    @Slot(object)
    def _on_made(self, changes: tuple[BreakChange, ...]) -> None:
        """Record the change for undo."""
        for change in changes:
            undo = partial(self._exchange, change.after, change.before)
            redo = partial(self._exchange, change.before, change.after)
            self.window.history.record(Reversible(_words_of(change), undo, redo))

    def _exchange(
        self, now: Breakpoint | Watch | None, wanted: Breakpoint | Watch | None, done: Done
    ) -> None:
        self.ask(self._service.exchange, now, wanted, answer=done)

    def _say(self, problem: str) -> None:
        if problem:
            self.window.page.messages.say("Not done", problem)


def _words_of(change: BreakChange) -> str:
    """Return a description of the change, for example ``remove the breakpoint state item is entered``."""
    before, after = change.before, change.after
    one = after or before
    assert one is not None
    what = f"watch {one.text}" if isinstance(one, Watch) else f"breakpoint {one.label()}"
    if before is None:
        return f"add the {what}"
    if after is None:
        return f"remove the {what}"
    if isinstance(after, Breakpoint) and before == after.replace(enabled=not after.enabled):
        return f"{'enable' if after.enabled else 'disable'} the {what}"
    return f"edit the {what}"


def _offers(window: MainWindow) -> Offers:
    """Return the names in the step in view."""
    step = window.step_in_view
    if step is None:
        return Offers()
    frames = (*step.stack.frames, *step.stack.finished)
    states = [step.state.state, *(state.name for state in step.state.states)]
    return Offers(
        state=_each_once(states),
        policy=_each_once([frame.policy for frame in frames]),
        action=_each_once([row.name for row in step.permissible.rows]),
    )


def _each_once(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


install = BreakpointsController
