"""The commands of the window as actions: gathered from those who carry them out, and enabled as they say."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from gui.theme.theme import Theme
from gui.widgets.commands import MENU_BAR, SUBMENUS, Command, Face


@dataclass
class BoundCommand:
    """A command with the object that carries it out, and its action."""

    record: Command
    owner: Any
    action: QAction
    help: str
    """Page and heading of the documentation."""
    face: Face | None = None
    why_not: str = ""
    """Why it is unavailable now, or an empty string."""

    @property
    def key(self) -> str:
        """Its key in the notation of the operating system."""
        return self.action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)


class CommandSet(QObject):
    """All commands, in the order of the menus; `by_id` has each by its id.

    `owners` have them in `COMMANDS`; each comes with its page and heading of the documentation, and can
    have `is_ready`: whether its commands can be carried out yet.
    """

    early = Signal(str)
    """The title of a command that was triggered before its owner was ready."""

    def __init__(self, theme: Theme, owners: Iterable[tuple[object, str]], parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        declared = [(record, *owned) for owned in owners for record in getattr(owned[0], "COMMANDS", ())]
        declared.sort(key=lambda entry: _order(entry[0]))
        groups: dict[str, QActionGroup] = {}
        self.by_id: dict[str, BoundCommand] = {}
        for record, owner, help in declared:
            action = QAction(parent, checkable=record.checked is not None)
            action.setObjectName(f"action.{record.id}")
            action.setShortcuts([QKeySequence(key) for key in record.key.split(" or ")])
            # The icon is drawn for the accent colour of its button and would be invisible in a menu.
            action.setIconVisibleInMenu(record.bar is None or not record.bar.accent)
            if record.one_of:
                groups.setdefault(record.one_of, QActionGroup(self)).addAction(action)
            self.by_id[record.id] = bound = BoundCommand(record, owner, action, record.help or help)
            action.triggered.connect(lambda _on=False, bound=bound: self._do(bound))
            self._show(bound)

    def __iter__(self) -> Iterator[BoundCommand]:
        return iter(self.by_id.values())

    def refresh(self) -> None:
        """Enable only the commands that make sense now, and show what they do now."""
        for bound in self:
            record, owner = bound.record, bound.owner
            why_not, face = record.why_not(owner), record.face(owner)
            bound.action.setEnabled(not why_not)
            if record.checked is not None:
                bound.action.setChecked(record.checked(owner))
            if (face, why_not) != (bound.face, bound.why_not):
                bound.face, bound.why_not = face, why_not
                self._show(bound)

    def _do(self, bound: BoundCommand) -> None:
        if getattr(bound.owner, "is_ready", True):
            bound.record.do(bound.owner)
        else:
            self.early.emit(plain(bound.record.title))
        self.refresh()

    def _show(self, bound: BoundCommand) -> None:
        record, action = bound.record, bound.action
        face = bound.face or Face(record.title)
        accent = record.bar is not None and record.bar.accent
        action.setText(face.title)
        action.setIconText(face.text or (record.bar and record.bar.text) or plain(record.title))
        if icon := face.icon or record.icon:
            action.setIcon(self._theme.icon(icon, accent=accent, tone=face.tone))
        words = bound.why_not or face.words or record.words
        action.setToolTip(f"{words} ({bound.key})" if bound.key else words)


def _order(record: Command) -> tuple[float, ...]:
    """Return the place of a command in the order of the menu bar, with its submenus in their places.

    Commands of other windows are in no menu: their menu is empty.
    """
    if record.menu in SUBMENUS:
        menu, place = SUBMENUS[record.menu]
        return ("", *MENU_BAR).index(menu), place, record.place
    return ("", *MENU_BAR).index(record.menu), record.place


def plain(text: str) -> str:
    """Return a menu text without its mnemonic and ellipsis."""
    return text.replace("&", "").rstrip("…")
