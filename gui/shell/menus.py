"""The menus of the window."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMainWindow, QMenu, QMenuBar

from gui.shell.docks import PLACES, Docks
from gui.shell.mechanisms_menu import MechanismsMenu
from gui.theme.theme import Theme

PACES: tuple[tuple[float, str], ...] = (
    (0.0, "No wait"),
    (0.5, "Half a second"),
    (1.0, "One second"),
    (2.0, "Two seconds"),
    (5.0, "Five seconds"),
)

_GOING_ON = (
    "run",
    "step",
    "over",
    "into",
    "out",
    "phase",
    "run_to_step",
    "run_to_subtask",
    "stop",
    "",
    "back",
    "fork",
    "bisect",
    "keep",
    "back_to_hit",
    "back_to_change",
    "",
    "add_breakpoint",
    "add_watch",
)
_REVIEW = ("accept", "ask_again", "skip", "fire_remedy", "edit_plan", "point", "handover", "record")
_ENDING = ("success", "failure", "", "max_steps")
_RECORDED = ("previous", "next_recorded", "now", "why")


class Menus(QObject):
    """File, Run, View and Help; the tool bar shows the menus of pace and mechanisms too."""

    pace_chosen = Signal(float)

    def __init__(self, actions: dict[str, QAction], docks: Docks, theme: Theme, window: QMainWindow) -> None:
        super().__init__(window)
        self._actions = actions
        self._docks = docks
        self._theme = theme
        self._pace = 0.0
        self.bar = QMenuBar(window)
        self.pace = self._pace_menu(window)
        self._fill(
            "&File",
            (
                "new_task",
                "add_tasks",
                "again",
                "next_seed",
                "",
                "export",
                "import",
                "",
                "llm_settings",
                "",
                "quit",
            ),
        )
        run = self._fill(
            "&Run",
            (
                *_GOING_ON,
                "",
                *_REVIEW,
                "",
                *_RECORDED,
                "",
                "success",
                "failure",
                "",
                "max_steps",
            ),
        )
        run.addMenu(self.pace)
        self.mechanisms = MechanismsMenu(window)
        run.addMenu(self.mechanisms)
        self._view = self._fill("&View", ("search_runs", "find", "library", ""))
        self._fill_view()
        self._fill("&Help", ("docs", "keys", "welcome"))

    def show_pace(self, seconds: float) -> None:
        """Mark this pace as the one in force."""
        self._pace = seconds
        for action in self.pace.actions():
            if action.isCheckable():
                action.setChecked(action.data() == seconds)

    def faster(self) -> None:
        shorter = [pace for pace, _words in PACES if pace < self._pace]
        if shorter:
            self.pace_chosen.emit(shorter[-1])

    def slower(self) -> None:
        longer = [pace for pace, _words in PACES if pace > self._pace]
        if longer:
            self.pace_chosen.emit(longer[0])

    def _fill(self, title: str, names: tuple[str, ...]) -> QMenu:
        menu = self.bar.addMenu(title)
        menu.setToolTipsVisible(True)
        for name in names:
            if name:
                menu.addAction(self._actions[name])
            else:
                menu.addSeparator()
        return menu

    def _pace_menu(self, window: QMainWindow) -> QMenu:
        menu = QMenu("Pa&ce", window)
        menu.setToolTipsVisible(True)
        menu.addSection("Wait between steps of a run")
        group = QActionGroup(menu)
        for seconds, words in PACES:
            action = QAction(words, menu, checkable=True)
            action.setData(seconds)
            action.setChecked(seconds == 0)
            action.triggered.connect(lambda _on, seconds=seconds: self.pace_chosen.emit(seconds))
            group.addAction(action)
            menu.addAction(action)
        menu.addSeparator()
        menu.addAction(self._actions["faster"])
        menu.addAction(self._actions["slower"])
        return menu

    def _fill_view(self) -> None:
        self._toggles: dict[str, QAction] = {}
        for place in PLACES:
            name = place.name.replace("&", "&&")
            action = QAction(f"{name}\t{place.key}", self._view, checkable=True)
            action.triggered.connect(lambda on, name=place.name: self._on_toggled(name, on))
            self._view.addAction(action)
            self._toggles[place.name] = action
        self._view.aboutToShow.connect(self._on_view)
        self._view.addAction(self._actions["time_bar"])
        self._view.addSeparator()
        themes = self._view.addMenu("&Theme")
        group = QActionGroup(themes)
        for choice, words in (("system", "As the &system"), ("light", "&Light"), ("dark", "&Dark")):
            action = QAction(words, themes, checkable=True)
            action.setChecked(self._theme.choice == choice)
            action.triggered.connect(lambda _on, choice=choice: self._theme.choose(choice))
            group.addAction(action)
            themes.addAction(action)
        self._view.addAction(self._actions["reset_layout"])

    def _on_view(self) -> None:
        for name, action in self._toggles.items():
            action.setChecked(not self._docks.by_name[name].isHidden())

    def _on_toggled(self, name: str, on: bool) -> None:
        dock = self._docks.by_name[name]
        dock.setVisible(on)
        if on:
            dock.raise_()
