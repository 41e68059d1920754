"""Joins the Breakpoints panel, its dialog and the other panels to the desk of breakpoints and watches."""

from collections import deque
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Slot

from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.views import BreakDeskCommands
from core.debugger.breakpoints.watch import Watch
from gui.panels.breakpoints.editor import BreakpointEditor
from gui.panels.breakpoints.fields import Offers
from gui.shell.main_window import MainWindow
from gui.widgets.relay import Relay

Answer = Callable[[str], None]


class Breaks(QObject):
    """Sends what is wanted to the desk; each of its answers goes to whoever asked, in their order."""

    def __init__(self, desk: BreakDeskCommands, window: MainWindow) -> None:
        super().__init__(window)
        self._desk = desk
        self._window = window
        self._asked: deque[Answer] = deque()
        self.editor: BreakpointEditor | None = None
        changed = Relay(desk.changed, keep="latest", parent=self)
        changed.received.connect(window.breakpoints.show_breaks)
        answered = Relay(desk.answered, keep="every", parent=self)
        answered.received.connect(self._show_answers)
        for relay in (changed, answered):
            window.closed.connect(relay.close)
        self._connect_panels()

    def _connect_panels(self) -> None:
        window, panel = self._window, self._window.breakpoints
        panel.add_requested.connect(self.add)
        panel.edit_requested.connect(self._edit)
        panel.breakpoint_wanted.connect(self._on_wanted)
        panel.breakpoint_replaced.connect(self._on_replaced)
        panel.breakpoint_removed.connect(self._on_removed)
        panel.breakpoint_switched.connect(self._on_switched)
        panel.watch_wanted.connect(self._on_watch_wanted)
        panel.watch_replaced.connect(self._on_watch_replaced)
        panel.watch_removed.connect(self._on_watch_removed)
        panel.hit_wanted.connect(self._desk.back_to_hit)
        panel.change_wanted.connect(self._desk.back_to_change)
        for other in (window.state, window.stack, window.permissible, window.calls):
            other.breakpoint_wanted.connect(self._on_wanted_elsewhere)

    @Slot()
    def add(self) -> None:
        """Open the dialog for a new breakpoint."""
        self._edit(None)

    @Slot(object)
    def _edit(self, breakpoint: Breakpoint | None) -> None:
        window = self._window
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
        """Tell the dialog, unless it was closed meanwhile."""
        if self.editor is editor:
            editor.show_answer(problem)

    @Slot(object)
    def _on_edited(self, breakpoint: Breakpoint) -> None:
        editor = self.editor
        if editor is None:
            return
        self._asked.append(partial(self._answer_editor, editor))
        if breakpoint.number:
            self._desk.replace(breakpoint)
        else:
            self._desk.add(breakpoint)

    @Slot(object)
    def _on_wanted(self, breakpoint: Breakpoint) -> None:
        self._asked.append(self._say)
        self._desk.add(breakpoint)

    @Slot(object)
    def _on_wanted_elsewhere(self, breakpoint: Breakpoint) -> None:
        """Add what another panel offers, and show where it went."""
        dock = self._window.dock("Breakpoints")
        dock.show()
        dock.raise_()
        self._on_wanted(breakpoint)

    @Slot(object)
    def _on_replaced(self, breakpoint: Breakpoint) -> None:
        self._asked.append(self._say)
        self._desk.replace(breakpoint)

    @Slot(int)
    def _on_removed(self, number: int) -> None:
        self._asked.append(self._say)
        self._desk.remove(number)

    @Slot(int, bool)
    def _on_switched(self, number: int, on: bool) -> None:
        self._asked.append(self._say)
        self._desk.enable(number, on)

    @Slot(object)
    def _on_watch_wanted(self, watch: Watch) -> None:
        self._asked.append(self._window.breakpoints.show_watch_answer)
        if watch.number:
            self._desk.replace_watch(watch)
        else:
            self._desk.add_watch(watch)

    @Slot(object)
    def _on_watch_replaced(self, watch: Watch) -> None:
        self._asked.append(self._say)
        self._desk.replace_watch(watch)

    @Slot(int)
    def _on_watch_removed(self, number: int) -> None:
        self._asked.append(self._say)
        self._desk.remove_watch(number)

    @Slot(object)
    def _show_answers(self, answers: tuple[str, ...]) -> None:
        for answer in answers:
            if self._asked:
                self._asked.popleft()(answer)

    def _say(self, problem: str) -> None:
        if problem:
            self._window.page.messages.say("Not done", problem)


def _offers(window: MainWindow) -> Offers:
    """Return the names that the step in view knows."""
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
