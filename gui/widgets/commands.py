"""A command of the window as one record, in the `COMMANDS` of the class whose objects carry it out.

Menus, tool bar, palette, keys, tooltips, Help and enabling are made from these records (`gui.shell.command_set`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

FILE, EDIT, RUN, ACTION, PAGE, VIEW, HELP = "&File", "&Edit", "&Run", "&Action", "&Page", "&View", "&Help"
MENU_BAR = (FILE, EDIT, RUN, ACTION, PAGE, VIEW, HELP)
CHANGE, AGAIN, PACE, TEXT_SIZE, LAYOUT = "&Change the run", "Ask agai&n for", "Pa&ce", "Text si&ze", "&Layout"
SUBMENUS = {
    CHANGE: (EDIT, 3.0),
    AGAIN: (EDIT, 3.1),
    PACE: (RUN, 6.2),
    TEXT_SIZE: (VIEW, 4.2),
    LAYOUT: (VIEW, 4.3),
}
"""Menu and place of each submenu of commands."""
Do = Callable[[Any], object]
WhyNot = Callable[[Any], str]


class BarPlace(NamedTuple):
    """A command's button in the tool bar."""

    at: int
    folds: int = 0
    """Rank in which buttons move to the More menu if space is short. 0 stays, with its text beside the icon."""
    text: str = ""
    """The button's text, if it is not the menu's."""
    accent: bool = False


class Face(NamedTuple):
    """What a command is called while it does something else, such as Pause instead of Run."""

    title: str
    words: str = ""
    icon: str = ""
    text: str = ""
    """Text in the tool bar."""
    tone: str = "text"


@dataclass(frozen=True)
class Command:
    """A command. Its functions get the object that has it in its `COMMANDS`."""

    id: str
    title: str
    """Text in the menu, with the access key."""
    key: str
    """Several are separated by ``or``; the first one is shown."""
    icon: str
    menu: str
    place: float
    """Place in the menu: commands with the same whole number stand together, in the order of the fraction."""
    words: str
    """What it does, in a tooltip and in the palette."""
    do: Do
    why_not: WhyNot = lambda _owner: ""
    """Returns why it is unavailable now, with what to do, or an empty string."""
    help: str = ""
    """Page and heading of the documentation; by default those of its owner."""
    bar: BarPlace | None = None
    checked: Callable[[Any], bool] | None = None
    """Returns whether its check mark is set; None has none."""
    one_of: str = ""
    """Name of the group of which one command is checked at a time."""
    face: Callable[[Any], Face | None] = lambda _owner: None
    """Returns what it is called now, or None for its title."""
