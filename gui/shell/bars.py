"""The tool bar and the status bar: what is running, how to continue, and the current position."""

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, SignalInstance, Slot
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QLabel,
    QMenu,
    QSizePolicy,
    QStatusBar,
    QToolBar,
    QToolButton,
    QWidget,
)

from core.debugger.catalogue import Catalogue, PresetOption
from core.debugger.session_view import SessionView
from core.schema.formats import count, dollars, milliseconds
from core.schema.messages import LLMChoice
from core.schema.step import Origin
from gui.shell.command_set import CommandSet
from gui.shell.menus import KEY as MECHANISMS_KEY
from gui.shell.menus import add_choices, check_choice, tooltip_words, value_words
from gui.theme.theme import Theme
from gui.widgets.buttons import ICON_BESIDE_TEXT, PickerButton, icon_button
from gui.widgets.layouts import holding, in_row
from gui.widgets.origin import OriginMark
from gui.widgets.remembered import OpenedTask
from gui.widgets.search import SearchField
from gui.widgets.words import ElidedLabel, set_flag, set_tone

_SEARCH_IDLE_MS = 60
_WIDEST_TASK = 360
_LEGEND: tuple[Origin, ...] = ("agent", "person", "remedy")
Choices = Sequence[PresetOption | LLMChoice]
_FOLDS = {"mechanisms": 6, "search": 7, "preset": 8, "llm": 9, "words": 11, "task": 12}
"""Parts other than buttons that collapse when space is short, with their rank as in `BarPlace.folds`.

The search field shrinks to its icon, and texts next to icons are hidden. The other parts move to the menu of the
More button.
"""
_SPACING = 4
_EDGE = 14
"""Space at both ends of the bar."""


class ToolBar(QToolBar):
    """Offers what `Catalogue` contains and shows what is chosen in `SessionView`."""

    preset_chosen = Signal(str)
    llm_chosen = Signal(str)
    task_reopened = Signal(object)
    """An `OpenedTask` from the recent ones."""
    search_wanted = Signal(str)

    def __init__(
        self,
        theme: Theme,
        commands: CommandSet,
        pace_menu: QMenu,
        mechanisms_menu: QMenu,
        parent: QWidget,
    ) -> None:
        super().__init__("Tool bar", parent)
        self._theme = theme
        self._actions = {bound.record.id: bound.action for bound in commands}
        places = {bound.record.id: bound.record.bar for bound in commands if bound.record.bar is not None}
        folds = _FOLDS | {name: place.folds for name, place in places.items() if place.folds}
        self._folds = sorted(folds, key=folds.__getitem__)
        """Names of the parts in the order in which they collapse."""
        self._worded = [name for name, place in places.items() if not place.folds]
        """Buttons with text next to the icon. The others show their text in the tooltip."""
        self._catalogue = Catalogue()
        self._session = SessionView()
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(ICON_BESIDE_TEXT)
        self.task = PickerButton(theme, "Task", width=170, parent=self)
        self.preset = PickerButton(theme, "Preset", width=140, parent=self)
        self.llm = PickerButton(theme, "LLM", width=156, parent=self)
        self.mechanisms = PickerButton(theme, "Mechanisms", width=104, icon="settings", parent=self)
        self.mechanisms.setMenu(mechanisms_menu)
        self.task.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.task.setMaximumWidth(_WIDEST_TASK)
        pickers = (self.preset, self.mechanisms, self.llm)
        self._holders: dict[str, QAction] = {}
        """The container of each part of the bar, by name. A hidden container takes no space."""
        self.buttons: dict[str, QToolButton] = {}
        """The command buttons, by command name."""
        self._is_searching = False
        for name, picker in (
            ("task", self.task),
            *zip(("preset", "mechanisms", "llm"), pickers, strict=True),
        ):
            self._holders[name] = self.addWidget(picker)
        for picker, key in zip(pickers, ("Ctrl+Shift+S", MECHANISMS_KEY, "Ctrl+Shift+M"), strict=True):
            QShortcut(QKeySequence(key), self, partial(self._open_menu, picker))
        self.addSeparator()
        for name, place in sorted(places.items(), key=lambda item: item[1].at):
            button = self.buttons[name] = QToolButton(self)
            button.setDefaultAction(self._actions[name])
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setAutoRaise(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            if name not in self._worded:
                _show_word(button, on=False)
            if place.accent:
                button.setProperty("accent", True)
            if name == "run":
                button.setMenu(pace_menu)
                button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
            self._holders[name] = self.addWidget(button)
        space = QWidget(self)
        space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(space)
        self.search = SearchField(theme, "Search runs (Ctrl+K)", self)
        self.search.setToolTip("Find runs by instruction, thought, action or answer (Ctrl+K)")
        self.search.setMinimumWidth(120)
        self.search.setMaximumWidth(186)
        self._holders["search"] = self.addWidget(self.search)
        self.search.installEventFilter(self)
        find = self.search.toolTip().removesuffix(" (Ctrl+K)")
        self._before: QWidget | None = None
        """What had the focus before the search field."""
        self.search_button = icon_button(theme, "search", find, self.focus_search, self, key="Ctrl+K")
        self.more = icon_button(theme, "ellipsis", "More commands", None, self)
        self.more.setMenu(QMenu(self))
        self.more.menu().setToolTipsVisible(True)
        self.more.menu().aboutToShow.connect(self._fill_more)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        for name, button in (("search_button", self.search_button), ("more", self.more)):
            button.setProperty("wordless", True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self._holders[name] = self.addWidget(button)
            self._holders[name].setVisible(False)
        self._idle = QTimer(self, singleShot=True, interval=_SEARCH_IDLE_MS)
        self._idle.timeout.connect(self._on_search)
        self.search.textChanged.connect(lambda _text: self._idle.start())
        self.search.next_wanted.connect(self._on_search)
        theme.changed.connect(self._fit)
        self.show_session(SessionView())
        self.show_catalogue(Catalogue())
        self.show_recent(())

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these presets and LLMs."""
        self._catalogue = catalogue
        self._fill(self.preset.menu(), catalogue.presets, self.preset_chosen)
        self._fill(self.llm.menu(), catalogue.llms, self.llm_chosen)
        self.llm.menu().addSeparator()
        self.llm.menu().addAction(self._actions["llm_settings"])
        self.show_session(self._session)

    def show_recent(self, recent: tuple[OpenedTask, ...]) -> None:
        """Offer these tasks next to the chooser."""
        menu = self.task.menu()
        menu.clear()
        menu.addActions([self._actions[name] for name in ("new_task", "again", "next_seed")])
        if recent:
            menu.addSection("Opened lately")
        for opened in recent:
            text = opened.url or f"{opened.task} · seed {opened.seed}"
            action = menu.addAction(text.replace("&", "&&"))
            action.triggered.connect(lambda _on, opened=opened: self.task_reopened.emit(opened))

    def show_session(self, view: SessionView) -> None:
        """Show what is chosen."""
        self._session = view
        task = f"{view.task} · seed {view.seed}" if view.task else "choose…"
        self.task.show_value(task, f"{view.instruction or 'Choose a task'} (Ctrl+N)")
        self._show_choice(
            self.preset, view.preset, self._catalogue.presets, "Choose the preset (Ctrl+Shift+S)"
        )
        if view.attached:
            self.preset.show_value(
                "none",
                "An attached agent does not use a preset. A preset that you choose here applies to later runs",
            )
        self._show_choice(self.llm, view.llm, self._catalogue.llms, "Choose the LLM (Ctrl+Shift+M)")
        self.mechanisms.show_value(value_words(view.mechanisms), tooltip_words(view.mechanisms))
        if view.attached:
            self.mechanisms.show_value("none", "An attached agent has no mechanisms to switch")
        self._fit()

    def focus_search(self) -> None:
        """Focus the search field. If it has shrunk to its icon, show it in place of other parts."""
        self._is_searching = True
        if (focus := self.window().focusWidget()) is not self.search:
            self._before = focus
        self._fit()
        if (layout := self.layout()) is not None:
            layout.activate()  # A field that has no layout yet cannot take the focus.
        self.search.reach()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        leaves = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and not self.search.text()
        if watched is self.search and leaves and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # Else Esc would go back to the current step.
            return True
        if watched is self.search and leaves and event.type() == QEvent.Type.KeyPress:
            back = self._before if self._before is not None and self._before.isVisible() else self.window()
            back.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        if watched is self.search and event.type() == QEvent.Type.FocusOut and not self.search.text():
            self._is_searching = False
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        """Collapse as many parts as needed to fit the available width."""
        room = self.width() - _EDGE
        level = next((one for one in range(len(self._folds)) if self._needed(one) <= room), len(self._folds))
        folded = self._folded(level)
        # Of space to spare the search field takes what it can, and the task the rest.
        grows = 0 if "search" in folded else self.search.maximumWidth() - self.search.minimumWidth()
        spare = max(0, room - self._needed(level) - grows)
        self.task.setMinimumWidth(min(_WIDEST_TASK, self.task.minimumSizeHint().width() + spare))
        for name in self._worded:
            _show_word(self.buttons[name], on="words" not in folded)
        for name, holder in self._holders.items():
            shown = name not in folded
            if name == "search_button":
                shown = "search" in folded
            elif name == "more":
                shown = bool(folded - {"search", "words"})
            if holder.isVisible() != shown:
                holder.setVisible(shown)

    def _folded(self, level: int) -> frozenset[str]:
        kept = {"search"} if self._is_searching or self.search.text() else set()
        return frozenset(self._folds[:level]) - kept

    def _needed(self, level: int) -> int:
        """Return the width that the bar needs when this many parts are collapsed."""
        folded = self._folded(level)
        total = 2 * _SPACING + 12  # The separator between pickers and commands.
        for name, widget in self._parts():
            if name in folded or (name == "search_button" and "search" not in folded):
                continue
            if name == "more" and not folded - {"search", "words"}:
                continue
            width = widget.minimumSizeHint().width() if name == "task" else widget.sizeHint().width()
            if name == "search":
                width = widget.minimumWidth()
            if name in self._worded and "words" in folded:
                width -= widget.fontMetrics().horizontalAdvance(self._actions[name].iconText())
            total += width + _SPACING
        return total

    def _parts(self) -> Iterator[tuple[str, QWidget]]:
        for name, holder in self._holders.items():
            yield name, self.widgetForAction(holder)

    def _fill_more(self) -> None:
        """Fill the More menu with the collapsed parts."""
        menu = self.more.menu()
        menu.clear()
        titles = {"task": "&Task", "preset": "&Preset", "llm": "&LLM", "mechanisms": "&Mechanisms"}
        for name in reversed(self._folds):
            if name in ("search", "words") or self._holders[name].isVisible():
                continue
            if name in titles:
                inner = getattr(self, name).menu()
                inner.setTitle(titles[name])
                menu.addMenu(inner)
            else:
                menu.addAction(self._actions[name])

    def _open_menu(self, picker: PickerButton) -> None:
        if picker.isVisible():
            picker.showMenu()
        else:
            picker.menu().popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def _fill(self, menu: QMenu, choices: Choices, chosen: SignalInstance) -> None:
        menu.clear()
        menu.setToolTipsVisible(True)
        titles = ((choice.name, choice.title.replace("&", "&&")) for choice in choices)
        for action, one in zip(add_choices(menu, titles, chosen.emit), choices, strict=True):
            action.setToolTip(one.description or one.title)
        if not choices:
            menu.addAction("Nothing to choose from yet").setEnabled(False)

    def _show_choice(self, picker: PickerButton, name: str, choices: Choices, tooltip: str) -> None:
        title = next((choice.title for choice in choices if choice.name == name), name)
        picker.show_value(title, tooltip)
        check_choice(picker.menu(), name)

    def _on_search(self) -> None:
        self._idle.stop()
        self.search_wanted.emit(self.search.text().strip())


def _show_word(button: QToolButton, *, on: bool) -> None:
    """Show an action's text next to its icon, or only the icon."""
    style = Qt.ToolButtonStyle
    wanted = style.ToolButtonTextBesideIcon if on else style.ToolButtonIconOnly
    if button.toolButtonStyle() != wanted or not on:
        button.setToolButtonStyle(wanted)
        set_flag(button, "wordless", not on)
    button.setAccessibleName("" if on else button.defaultAction().iconText())


class StatusLine(QStatusBar):
    """Shows `SessionView` in one line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.facts = ElidedLabel("", self)
        self.facts.setFont(theme.small_font())
        self.doing = ElidedLabel("", self)
        self.doing.setFont(theme.small_font())
        left = in_row(None, self.facts, (self.doing, 1), margins=(12, 0, 0, 0), spacing=16)
        self.addWidget(holding(left), 1)
        marks = [OriginMark(theme, origin, self) for origin in _LEGEND]
        self.saved = QLabel(self)
        for widget in (*marks, self.saved):
            widget.setFont(theme.small_font())
        legend = in_row(None, *marks, self.saved, margins=(0, 0, 10, 0), spacing=14)
        self.addPermanentWidget(holding(legend))
        self.show_session(SessionView())

    @Slot(object)
    def show_session(self, view: SessionView) -> None:
        self.facts.setText(_facts(view))
        self.doing.setText("" if view.mode in ("failed", "ended") else view.message)
        self.saved.setText("✓ saved" if view.saved else "✗ not saved")
        self.saved.setToolTip(
            "Every sealed step is in the database"
            if view.saved
            else "The last change could not be saved. What was saved before is kept"
        )
        set_tone(self.saved, "good" if view.saved else "bad")


def _facts(view: SessionView) -> str:
    """Return the status bar's line, such as ``4 of at most 30 page actions · phase review · 3 calls · …``."""
    if view.run is None:
        return {"opening": "opening the task…", "failed": "no run"}.get(view.mode, "no task is open")
    limit = f"{view.page_actions} of at most {count(view.most_page_actions, 'page action')}"
    parts = [] if view.attached else [limit]
    if view.phase and view.mode not in ("ended", "failed"):
        parts.append(f"phase {view.phase}")
    parts.append(count(view.calls, "call"))
    parts.append(count(view.tokens, "token"))
    if view.cost is not None:
        parts.append(dollars(view.cost))
    if view.beside_llm_ms is not None:
        parts.append(f"{milliseconds(view.beside_llm_ms)} outside the LLM")
    return " · ".join(parts)
