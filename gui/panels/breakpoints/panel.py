"""Breakpoints: what stops a run, and below it the watches with their values."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QComboBox, QPushButton, QToolButton, QWidget

from core.debugger.breakpoints.kinds.actions import RequestBegins
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.kinds.problems import Failure, NotAligned
from core.debugger.breakpoints.views import BreakpointView, BreaksView, Watch, WatchKind, WatchValue
from core.debugger.steps.views import StepView
from gui.panels.breakpoints.expression_field import ExpressionField
from gui.theme.theme import Theme
from gui.widgets.buttons import ElidedButton, icon_button
from gui.widgets.keys import takes_key
from gui.widgets.layouts import FlowLayout, Section, in_column, in_row, in_sections
from gui.widgets.rows import Row, Rows
from gui.widgets.words import EmptyText, NoteLabel, labelled

_WATCH_KINDS: dict[WatchKind, tuple[str, str]] = {
    "expression": ("expression", "run.cost"),
    "css": ("CSS", "#price"),
    "xpath": ("XPath", "//h1"),
    "script": ("script", "document.title"),
}
"""The name of each kind, and an example of it."""
_LONGEST = 300
"""Maximum number of characters of a value; the tooltip shows more."""
_NONE = "No breakpoints yet. Add one (Ctrl+Shift+B), or choose a common one:"
_TO_HIT = "Back to the last hit: show the last step before the one in view at which one stops (Ctrl+F5)"
_TO_CHANGE = "Back to the last change of the chosen watch, before the step in view (Ctrl+Shift+F5)"
_COMMON: tuple[tuple[str, Breakpoint], ...] = (
    ("A step is judged not aligned", NotAligned()),
    ("Anything fails", Failure()),
    ("The page sends something", RequestBegins()),
)


def breakpoint_row(view: BreakpointView) -> Row:
    breakpoint = view.breakpoint
    logs = breakpoint.then == "log"
    facts = (f"×{view.hits}" if view.hits else "", "only logs" if logs else "")
    small = (
        f"if {breakpoint.condition}" if breakpoint.condition else "",
        f"ignores the first {breakpoint.ignore}" if breakpoint.ignore else "",
        "" if breakpoint.enabled else "switched off",
    )
    return Row(
        text=breakpoint.label(),
        icon=_icon(view),
        tone="text" if breakpoint.enabled else "dim",
        word=" · ".join(filter(None, facts)),
        detail="\n".join(filter(None, small)),
        quiet=not breakpoint.enabled,
        key=breakpoint.number,
        checked=breakpoint.enabled,
        tooltip=f"Breakpoint {breakpoint.number}. Enter edits it, Space switches it, Delete removes it.",
    )


def watch_row(view: WatchValue) -> Row:
    watch = view.watch
    kind = "" if watch.kind == "expression" else _WATCH_KINDS[watch.kind][0]
    value = view.error or view.text or "not read yet"
    word = "no value" if view.error else "changed" if view.changed else ""
    return Row(
        text=watch.text,
        icon="warning" if view.error else "debug-breakpoint-data" if view.changed else "eye",
        tone="remedy" if view.error or view.changed else "dim",
        word=" · ".join(filter(None, (kind, word))),
        detail=value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…",
        strong=view.changed,
        machine=True,
        key=watch.number,
        checked=watch.on_change,
        tooltip=f"{value[: 10 * _LONGEST]}\nEnter edits it, Space lets a change of it stop the run, "
        "Delete removes it.",
    )


def _icon(view: BreakpointView) -> str:
    kind = "-log" if view.breakpoint.then == "log" else "-conditional" if view.breakpoint.condition else ""
    return f"debug-breakpoint{kind}{'' if view.breakpoint.enabled else '-disabled'}"


class WatchField(QWidget):
    """Asks for a watch with Enter. The typed text stays until it is accepted, and Esc cancels a change."""

    watch_wanted = Signal(object)
    """A `Watch`, new if its number is 0; answered through `show_answer`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._changed: Watch | None = None
        read = "An expression is evaluated at every step; the other kinds read the live page"
        self.kind = labelled(QComboBox(), "Kind of watch", read)
        for kind, (words, _) in _WATCH_KINDS.items():
            self.kind.addItem(words, kind)
        self.kind.currentIndexChanged.connect(self._on_kind)
        self.kind.setMinimumWidth(60)
        self.text = ExpressionField(theme, "Watch")
        self.text.entered.connect(self.send)
        self.button = QPushButton("Add")
        self.button.clicked.connect(self.send)
        self.problem = NoteLabel("bad")
        top = in_row(None, (self.kind, 1), self.button, spacing=5)
        in_column(self, self.text, top, self.problem, margins=(10, 3, 10, 4), spacing=4)
        self._begin(None)

    @Slot()
    def send(self) -> None:
        """Request the typed watch; an empty text is not a watch."""
        text = self.text.text().strip()
        if not text:
            self.text.setFocus()
            return
        self.problem.show_text("")
        changed = self._changed or Watch(text=text)
        self.watch_wanted.emit(changed.replace(kind=self.kind.currentData(), text=text))

    def change(self, watch: Watch) -> None:
        """Edit a watch of the list in this line."""
        self._begin(watch)
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)
        self.text.selectAll()

    @Slot(str)
    def show_answer(self, problem: str) -> None:
        """Clear the line if the watch was accepted; otherwise show what is wrong with it."""
        if problem:
            self.problem.show_text(f"✗ {problem}")
            self.text.setFocus()
        else:
            self._begin(None)

    def event(self, event: QEvent) -> bool:
        # Esc is a command of the window, except when it cancels the change of a watch.
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        cancels = escape and self._changed is not None
        return (cancels and takes_key(event, lambda: self._begin(None))) or super().event(event)

    def _begin(self, watch: Watch | None) -> None:
        self._changed = watch
        kind = watch.kind if watch else self.kind.currentData()
        self.kind.setCurrentIndex(self.kind.findData(kind))
        self.text.setText(watch.text if watch else "")
        self.button.setText("Change" if watch else "Add")
        change, add = (
            "Save the watch (Enter), or leave it as it is (Esc)",
            "Add it to the watches (Enter)",
        )
        self.button.setToolTip(change if watch else add)
        self.problem.show_text("")
        self._on_kind()

    def _on_kind(self) -> None:
        kind: WatchKind = self.kind.currentData()
        self.text.completing = kind == "expression"
        self.text.setPlaceholderText(f"Watch such as {_WATCH_KINDS[kind][1]}")


class BreakpointsPanel(QWidget):
    """Shows `BreaksView`; requests breakpoints and watches by emitting them complete."""

    add_requested = Signal()
    edit_requested = Signal(object)
    """The `Breakpoint` to edit in the dialog."""
    breakpoint_wanted = Signal(object)
    """A new `Breakpoint`."""
    breakpoint_replaced = Signal(object)
    breakpoint_removed = Signal(int)
    breakpoint_switched = Signal(int, bool)
    watch_wanted = Signal(object)
    """A `Watch` as typed, new if its number is 0; answered through `field.show_answer`."""
    watch_replaced = Signal(object)
    """A `Watch` of the list with its check box switched."""
    watch_removed = Signal(int)
    hit_wanted = Signal(int, int)
    """Run and step before which to look for the last hit."""
    change_wanted = Signal(int, int, int)
    """The number of a watch, and run and step before which to look for its last change."""
    emptied = Signal(str)
    """Why there is nothing to list; an empty string if there is something."""
    state_changed = Signal()
    """The set of available commands has changed."""
    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = BreaksView()
        self._place: tuple[int, int] | None = None
        """Run and number of the step in view."""
        in_column(self, in_sections(self._breakpoints_section(), self._watches_section()))
        self.show_breaks(BreaksView())

    @property
    def chosen(self) -> Breakpoint | None:
        """The breakpoint of the current row."""
        number = self.breakpoints.key
        found = (one.breakpoint for one in self._view.breakpoints if one.breakpoint.number == number)
        return next(found, None)

    @property
    def chosen_watch(self) -> Watch | None:
        """The watch of the current row, or else the first."""
        watches = [watch.watch for watch in self._view.watches]
        chosen = next((watch for watch in watches if watch.number == self.watches.key), None)
        return chosen or next(iter(watches), None)

    @property
    def can_go_to_hit(self) -> bool:
        return self._place is not None and any(one.breakpoint.enabled for one in self._view.breakpoints)

    @property
    def can_go_to_change(self) -> bool:
        return self._place is not None and self.chosen_watch is not None

    @Slot(object)
    def show_breaks(self, view: BreaksView) -> None:
        """Replace what is shown with `view`; text that is being typed stays."""
        self._view = view
        self.breakpoints.show_rows(breakpoint_row(one) for one in view.breakpoints)
        self.breakpoints.setVisible(bool(view.breakpoints))
        self.none.setVisible(not view.breakpoints)
        self.problems.show_text("\n".join(f"⚠ {problem}" for problem in view.problems))
        self.watches.show_rows(watch_row(watch) for watch in view.watches)
        self.watches.setVisible(bool(view.watches))
        self.watches_section.show_fact("checked: a change stops" if view.watches else "")
        on = sum(1 for one in view.breakpoints if one.breakpoint.enabled)
        total = len(view.breakpoints)
        fact = f"{on} on" if on == total else f"{on} of {total} on"
        self.fact_changed.emit(fact if total else "")
        listed = view.breakpoints or view.watches or view.problems
        self.emptied.emit("" if listed else "none · Ctrl+Shift+B")
        self._refresh()

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        """Search backwards from this step."""
        self._place = (step.run, step.number) if step.number else None
        self._refresh()

    @Slot()
    def begin_watch(self) -> None:
        """Focus the line that adds a watch."""
        self.field.text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def go_to_hit(self) -> None:
        if self._place is not None and self.can_go_to_hit:
            self.hit_wanted.emit(*self._place)

    @Slot()
    def go_to_change(self) -> None:
        watch = self.chosen_watch
        if self._place is not None and watch is not None:
            self.change_wanted.emit(watch.number, *self._place)

    def _breakpoints_section(self) -> QWidget:
        self.breakpoints = Rows(self._theme, "Breakpoints")
        self.breakpoints.chosen.connect(self._on_edit)
        self.breakpoints.toggled.connect(self.breakpoint_switched.emit)
        self.breakpoints.selected.connect(self._refresh)
        self.edit_action = self._action(self.breakpoints, "Edit…", "F2", self._on_edit)
        self.log_action = self._action(self.breakpoints, "Only log", "L", self._on_log)
        self.log_action.setCheckable(True)
        self.remove_action = self._action(self.breakpoints, "Delete", "Del", self._on_remove)
        self.none = QWidget()
        around = QWidget()
        row = FlowLayout(around)
        row.setContentsMargins(10, 0, 10, 0)
        for words, breakpoint in _COMMON:
            button = ElidedButton(f"+ {words}", "Add this breakpoint")
            button.clicked.connect(lambda _on, wanted=breakpoint: self.breakpoint_wanted.emit(wanted))
            row.addWidget(button)
        in_column(self.none, EmptyText(_NONE), around, margins=(0, 0, 0, 4), spacing=0)
        self.problems = NoteLabel("remedy")
        self.problems.setContentsMargins(10, 1, 10, 3)
        self.section = Section(self._theme, "Stop when", self.problems, self.breakpoints, self.none)
        add = "Add a breakpoint (Ctrl+Shift+B)"
        self.hit_button = self._tool(self.section, "debug-reverse-continue", _TO_HIT, self.go_to_hit)
        self.add_button = self._tool(self.section, "add", add, self.add_requested.emit)
        return self.section

    def _watches_section(self) -> QWidget:
        self.watches = Rows(self._theme, "Watches")
        self.watches.chosen.connect(self._on_edit_watch)
        self.watches.toggled.connect(self._on_watch_toggled)
        self.watches.selected.connect(self._refresh)
        self.edit_watch_action = self._action(self.watches, "Edit", "F2", self._on_edit_watch)
        self.stop_action = self._action(self.watches, "Stop when it changes", "S", self._on_stop)
        self.stop_action.setCheckable(True)
        self.remove_watch_action = self._action(self.watches, "Delete", "Del", self._on_remove_watch)
        self.field = WatchField(self._theme)
        self.field.watch_wanted.connect(self.watch_wanted)
        self.watches_section = Section(self._theme, "Watches", self.watches, self.field)
        section, icon = self.watches_section, "debug-reverse-continue"
        self.change_button = self._tool(section, icon, _TO_CHANGE, self.go_to_change)
        return section

    def _action(self, rows: Rows, text: str, key: str, slot: Callable[[], object]) -> QAction:
        """Add a command to the context menu of a list; its key works while the list has the focus."""
        action = QAction(text, rows, shortcut=QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(lambda: slot())
        rows.addAction(action)
        return action

    def _tool(self, section: Section, icon: str, words: str, slot: Callable[[], object]) -> QToolButton:
        button = icon_button(self._theme, icon, words, slot)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        section.head.addWidget(button)
        return button

    def _on_edit(self) -> None:
        if self.chosen is not None:
            self.edit_requested.emit(self.chosen)

    def _on_log(self) -> None:
        if self.chosen is not None:
            changed = self.chosen.replace(then="stop" if self.chosen.then == "log" else "log")
            self.breakpoint_replaced.emit(changed)

    def _on_remove(self) -> None:
        if self.chosen is not None:
            self.breakpoint_removed.emit(self.chosen.number)

    def _on_edit_watch(self) -> None:
        if self.chosen_watch is not None:
            self.field.change(self.chosen_watch)

    def _on_watch_toggled(self, number: int, on: bool) -> None:
        watch = next((one.watch for one in self._view.watches if one.watch.number == number), None)
        if watch is not None:
            self.watch_replaced.emit(watch.replace(on_change=on))

    def _on_stop(self) -> None:
        if self.chosen_watch is not None:
            self._on_watch_toggled(self.chosen_watch.number, not self.chosen_watch.on_change)

    def _on_remove_watch(self) -> None:
        if self.chosen_watch is not None:
            self.watch_removed.emit(self.chosen_watch.number)

    def _refresh(self) -> None:
        chosen, watch = self.chosen, self.chosen_watch
        for action in (self.edit_action, self.log_action, self.remove_action):
            action.setEnabled(chosen is not None)
        self.log_action.setChecked(chosen is not None and chosen.then == "log")
        for action in (self.edit_watch_action, self.stop_action, self.remove_watch_action):
            action.setEnabled(watch is not None)
        self.stop_action.setChecked(watch is not None and watch.on_change)
        self.hit_button.setEnabled(self.can_go_to_hit)
        self.change_button.setEnabled(self.can_go_to_change)
        self.state_changed.emit()
