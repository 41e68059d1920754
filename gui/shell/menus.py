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
from core.schema.formats import count
from gui.shell.command_set import CommandSet
from gui.shell.docks import PANELS, Docks
from gui.theme.theme import Theme
from gui.widgets.commands import MENU_BAR, PACE, RUN, SUBMENUS, VIEW
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
    """The menu bar, filled by the commands. The tool bar also shows the menus for pace and mechanisms."""

    pace_chosen = Signal(float)

    def __init__(self, commands: CommandSet, docks: Docks, theme: Theme, window: QMainWindow) -> None:
        super().__init__(window)
        self._docks = docks
        self._pace = 0.0
        self.bar = QMenuBar(window)
        self.mechanisms = MechanismsMenu(window)
        menus = {title: QMenu(title, window, toolTipsVisible=True) for title in (*MENU_BAR, *SUBMENUS)}
        self.pace = menus[PACE]
        self._offer_paces()
        entries = [(bound.record.menu, bound.record.place, bound.action) for bound in commands]
        entries += [(*SUBMENUS[title], menus[title].menuAction()) for title in SUBMENUS]
        entries.append((RUN, 6.3, self.mechanisms.menuAction()))
        entries.append((VIEW, 3.1, self._panels(window).menuAction()))
        entries.append((VIEW, 4.1, _themes(theme, window).menuAction()))
        entries.sort(key=lambda entry: entry[1])
        for title, menu in menus.items():
            _fill(menu, [entry[1:] for entry in entries if entry[0] == title])
        for title in MENU_BAR:
            self.bar.addMenu(menus[title])

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

    def _offer_paces(self) -> None:
        self.pace.addSection("Wait between steps of a run")
        add_choices(self.pace, PACES, self.pace_chosen.emit)
        check_choice(self.pace, 0.0)
        self.pace.addSeparator()

    def _panels(self, window: QMainWindow) -> QMenu:
        panels = QMenu("Pa&nels", window)
        self._toggles: dict[str, QAction] = {}
        for record in PANELS:
            action = panels.addAction(f"{record.name.replace('&', '&&')}\t{record.key}")
            self._toggles[record.name] = action
            action.setCheckable(True)
            action.triggered.connect(lambda on, name=record.name: self._on_toggled(name, on))
        panels.aboutToShow.connect(self._show_toggles)
        return panels

    def _show_toggles(self) -> None:
        for name, action in self._toggles.items():
            action.setChecked(self._docks.places[name].is_seen)

    def _on_toggled(self, name: str, on: bool) -> None:
        place = self._docks.places[name]
        if on:
            place.bring()
        else:
            place.put_away()


def _themes(theme: Theme, window: QMainWindow) -> QMenu:
    themes = QMenu("T&heme", window)
    schemes = (("system", "As the &system"), ("light", "&Light"), ("dark", "&Dark"))
    add_choices(themes, schemes, theme.choose)
    themes.aboutToShow.connect(lambda: check_choice(themes, theme.choice))
    return themes


def _fill(menu: QMenu, entries: Iterable[tuple[float, QAction]]) -> None:
    """Add entries in the order of their places, with a line where the whole number changes."""
    group = 0
    for place, action in entries:
        if group and int(place) != group:
            menu.addSeparator()
        group = int(place)
        menu.addAction(action)
