"""The menus of the window."""

from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QLabel,
    QMainWindow,
    QMenu,
    QMenuBar,
    QSpinBox,
    QWidget,
    QWidgetAction,
)

from core.debugger.session_view import AmountView, MechanismView
from gui.shell.docks import PLACES, Docks
from gui.theme.theme import Theme
from gui.widgets.formats import count
from gui.widgets.layouts import in_row

KEY = "Ctrl+Shift+H"
_NONE = "No mechanisms to switch yet: open a task (Ctrl+N)"
PACES: tuple[tuple[float, str], ...] = (
    (0.0, "No wait"),
    (0.5, "Half a second"),
    (1.0, "One second"),
    (2.0, "Two seconds"),
    (5.0, "Five seconds"),
)
_FILE = (
    ("new_task", "add_tasks", "again", "next_seed"),
    ("export", "import"),
    ("llm_settings",),
    ("quit",),
)
"""Commands in groups, with separators between them."""
_RUN = (
    ("run", "step", "over", "into", "out", "phase", "run_to_step", "run_to_subtask", "to_call", "stop"),
    ("fix", "back", "fork", "bisect", "keep", "back_to_hit", "back_to_change"),
    ("add_breakpoint", "add_watch"),
    ("success", "failure"),
    ("max_steps",),
    ("attach",),
)
_ACTION = (("accept", "skip", "fire_remedy"), ("point", "show_target", "handover", "record"))
_PAGE = (
    ("page_back", "page_forward", "page_reload", "page_address"),
    ("zoom_in", "zoom_out", "zoom_reset"),
    ("downloads",),
)
_VIEW = (
    ("palette", "search_runs", "find", "library", "evaluations", "background_work", "notify"),
    ("previous", "next_recorded", "play_back", "before_after", "now", "why", "pin_element"),
)
_EDIT = (
    ("undo_edit", "redo_edit"),
    ("edit_file",),
    (
        "edit_prompt",
        "edit_observation",
        "edit_parser",
        "edit_memory",
        "edit_frame",
        "edit_return",
        "edit_lessons",
    ),
    ("judge_right", "judge_wrong", "judge_subtask", "judge_task"),
    ("edit_plan", "add_remedy", "new_trial"),
    ("pop_policy", "restart_policy", "push_policy", "force_state", "permit", "pin_exemplar"),
)
_AGAIN = (
    (
        "ask_again",
        "again_plan",
        "again_recall",
        "again_abstraction",
        "again_remedies",
        "again_judgement",
        "recognise",
    ),
)


class MechanismsMenu(QMenu):
    """A check box for each mechanism. The menu stays open, so that several can be switched one after another."""

    switched = Signal(str, bool)
    """Name, and whether it should be on. The menu shows the value that the session reports."""
    amount_set = Signal(str, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("&Mechanisms", parent)
        self._views: tuple[MechanismView, ...] = ()
        self._actions: dict[str, QAction] = {}
        self._amounts: dict[str, AmountRow] = {}
        self.setToolTipsVisible(True)
        self.as_preset = QAction("Reset to the &preset", self)
        self.as_preset.setToolTip("Switch all back to what the preset says")
        self.as_preset.triggered.connect(self._on_as_preset)
        self._fill()

    def show_mechanisms(self, views: tuple[MechanismView, ...]) -> None:
        """Show these mechanisms, with those that are on checked."""
        if _shape(views) != _shape(self._views):
            self._views = views
            self._fill()
        self._views = views
        for view in views:
            action = self._actions[view.name]
            action.setChecked(view.on)
            action.setText(f"{view.title.replace('&', '&&')}\t{state_words(view)}")
            tips = (view.description, f"The preset has it {_on_or_off(view.by_preset)}.")
            action.setToolTip(" ".join(tip for tip in tips if tip))
            if view.amount is not None:
                self._amounts[view.name].show_amount(view.amount, enabled=view.on)
        self.as_preset.setEnabled(bool(changed(views)))

    def _fill(self) -> None:
        for action in self.actions():
            self.removeAction(action)
            if action is not self.as_preset:
                action.deleteLater()
        self._actions, self._amounts = {}, {}
        if not self._views:
            self.addAction(_NONE).setEnabled(False)
            return
        self.addAction("Mechanisms, from the next step on").setEnabled(False)
        for view in self._views:
            action = QAction(view.title, self, checkable=True)
            action.triggered.connect(lambda on, name=view.name: self.switched.emit(name, on))
            self.addAction(action)
            self._actions[view.name] = action
            if view.amount is not None:
                self._add_amount(view.name)
        self.addSeparator()
        self.addAction(self.as_preset)

    def _add_amount(self, name: str) -> None:
        row = self._amounts[name] = AmountRow(self)
        row.amount_set.connect(lambda value: self.amount_set.emit(name, value))
        holder = QWidgetAction(self)
        holder.setDefaultWidget(row)
        self.addAction(holder)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        action = self.actionAt(event.position().toPoint())
        if action is not None and action.isCheckable() and action.isEnabled():
            action.trigger()
        else:
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        action = self.activeAction()
        keys = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() in keys and action is not None and action.isCheckable() and action.isEnabled():
            action.trigger()
        else:
            super().keyPressEvent(event)

    def _on_as_preset(self) -> None:
        for view in changed(self._views):
            if view.on != view.by_preset:
                self.switched.emit(view.name, view.by_preset)
            if view.amount is not None and _is_set(view):
                self.amount_set.emit(view.name, view.amount.by_preset)


class AmountRow(QWidget):
    """A number below the check box of its mechanism."""

    amount_set = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = QLabel(self)
        self.spin = QSpinBox(self)
        self.spin.setKeyboardTracking(False)
        self.spin.valueChanged.connect(self.amount_set)
        in_row(self, self.spin, (self.label, 1), margins=(34, 0, 10, 3))

    def show_amount(self, amount: AmountView, *, enabled: bool) -> None:
        preset = "" if amount.value == amount.by_preset else f" (preset: {amount.by_preset})"
        self.label.setText(f"{amount.label}{preset}")
        with QSignalBlocker(self.spin):
            self.spin.setRange(amount.least, amount.most)
            self.spin.setValue(amount.value)
        self.spin.setAccessibleName(amount.label)
        self.setEnabled(enabled)


def _shape(views: tuple[MechanismView, ...]) -> list[tuple[str, bool]]:
    """Return the values that determine which rows the menu has."""
    return [(view.name, view.amount is not None) for view in views]


def changed(views: tuple[MechanismView, ...]) -> tuple[MechanismView, ...]:
    """Return the mechanisms that differ from the preset."""
    return tuple(view for view in views if view.on != view.by_preset or _is_set(view))


def _is_set(view: MechanismView) -> bool:
    return view.amount is not None and view.amount.value != view.amount.by_preset


def state_words(view: MechanismView) -> str:
    """Return, for example, ``on, by the preset`` or ``off, by you; preset: on``."""
    if view.on == view.by_preset:
        return f"{_on_or_off(view.on)}, by the preset"
    return f"{_on_or_off(view.on)}, by you; preset: {_on_or_off(view.by_preset)}"


def value_words(views: tuple[MechanismView, ...]) -> str:
    """Return, for example, ``5/7 ◆1``: how many are on, and how many the person changed."""
    if not views:
        return "–"
    on = sum(1 for view in views if view.on)
    yours = len(changed(views))
    return f"{on}/{len(views)}" + (f" ◆{yours}" if yours else "")


def tooltip_words(views: tuple[MechanismView, ...]) -> str:
    """Return the tooltip text of the menu's button, with its key."""
    others = changed(views)
    if not others:
        return f"Mechanisms of the agent: switch them on and off ({KEY})"
    changes = ", ".join(_described(view) for view in others)
    return f"{count(len(others), 'mechanism')} switched otherwise than the preset: {changes} ({KEY})"


def _described(view: MechanismView) -> str:
    """Return, for example, ``Remedies off`` or ``Remedies 4``."""
    if view.on and view.amount is not None and _is_set(view):
        return f"{view.title} {view.amount.value}"
    return f"{view.title} {_on_or_off(view.on)}"


def _on_or_off(on: bool) -> str:
    return "on" if on else "off"


def add_choices(
    menu: QMenu, choices: Iterable[tuple[Any, str]], choose: Callable[[Any], object]
) -> list[QAction]:
    """Add an entry with a text for each value, of which one is checked at a time; return the entries."""
    group = QActionGroup(menu)
    for value, text in choices:
        action = QAction(text, menu, checkable=True)
        action.setData(value)
        action.triggered.connect(lambda _on, value=value: choose(value))
        group.addAction(action)
    menu.addActions(group.actions())
    return group.actions()


def check_choice(menu: QMenu, value: object) -> None:
    """Check the entry of a value."""
    for action in menu.actions():
        if action.isCheckable():
            action.setChecked(action.data() == value)


class Menus(QObject):
    """File, Edit, Run, Action, Page, View and Help. The tool bar also shows the menus for pace and mechanisms."""

    pace_chosen = Signal(float)

    def __init__(self, actions: dict[str, QAction], docks: Docks, theme: Theme, window: QMainWindow) -> None:
        super().__init__(window)
        self._actions = actions
        self._docks = docks
        self._theme = theme
        self._pace = 0.0
        self.bar = QMenuBar(window)
        self.pace = self._pace_menu(window)
        self._fill("&File", _FILE)
        edit = self._fill("&Edit", _EDIT)
        edit.addSeparator()
        self._fill("Ask agai&n for", _AGAIN, into=edit)
        run = self._fill("&Run", _RUN)
        run.addMenu(self.pace)
        self.mechanisms = MechanismsMenu(window)
        run.addMenu(self.mechanisms)
        self._fill("&Action", _ACTION)
        self._fill("&Page", _PAGE)
        self._view = self._fill("&View", _VIEW)
        self._view.addSeparator()
        self._fill_view()
        self._fill("&Help", (("help", "docs", "keys", "welcome"),))

    def show_pace(self, seconds: float) -> None:
        """Check the current pace."""
        self._pace = seconds
        check_choice(self.pace, seconds)

    def faster(self) -> None:
        shorter = [pace for pace, _words in PACES if pace < self._pace]
        if shorter:
            self.pace_chosen.emit(shorter[-1])

    def slower(self) -> None:
        longer = [pace for pace, _words in PACES if pace > self._pace]
        if longer:
            self.pace_chosen.emit(longer[0])

    def _fill(self, title: str, groups: tuple[tuple[str, ...], ...], *, into: QMenu | None = None) -> QMenu:
        menu = (self.bar if into is None else into).addMenu(title)
        menu.setToolTipsVisible(True)
        for at, names in enumerate(groups):
            if at:
                menu.addSeparator()
            menu.addActions([self._actions[name] for name in names])
        return menu

    def _pace_menu(self, window: QMainWindow) -> QMenu:
        menu = QMenu("Pa&ce", window)
        menu.setToolTipsVisible(True)
        menu.addSection("Wait between steps of a run")
        add_choices(menu, PACES, self.pace_chosen.emit)
        check_choice(menu, 0.0)
        menu.addSeparator()
        menu.addActions([self._actions["faster"], self._actions["slower"]])
        return menu

    def _fill_view(self) -> None:
        self._toggles: dict[str, QAction] = {}
        panels = self._view.addMenu("Pa&nels")
        for place in PLACES:
            action = self._toggles[place.name] = panels.addAction(
                f"{place.name.replace('&', '&&')}\t{place.key}"
            )
            action.setCheckable(True)
            action.triggered.connect(lambda on, name=place.name: self._on_toggled(name, on))
        panels.aboutToShow.connect(self._show_toggles)
        self._view.addAction(self._actions["time_bar"])
        self._view.addSeparator()
        themes = self._view.addMenu("T&heme")
        schemes = (("system", "As the &system"), ("light", "&Light"), ("dark", "&Dark"))
        add_choices(themes, schemes, self._theme.choose)
        check_choice(themes, self._theme.choice)
        self._fill("Text si&ze", (("text_larger", "text_smaller", "text_normal"),), into=self._view)
        layouts = (("layout_watch", "layout_debug", "layout_curate"), ("fold_panel", "reset_layout"))
        self._fill("&Layout", layouts, into=self._view)

    def _show_toggles(self) -> None:
        for name, action in self._toggles.items():
            action.setChecked(not self._docks.by_name[name].isHidden())

    def _on_toggled(self, name: str, on: bool) -> None:
        dock = self._docks.by_name[name]
        if on:
            dock.bring()
        else:
            dock.hide()
