"""Command lines in a page: a file is found by ``ls`` and deleted by ``rm``."""

import re

from core.llm.rules.moves import Move, Scene, act, described, stopped
from core.llm.rules.objective import Objective
from core.llm.rules.page import FIELD_ROLES

_PLACE = re.compile(r"\b(?:terminal|command line|shell)\b", re.IGNORECASE)
_FILE = re.compile(
    r"\bfiles?\b.*?(?:\bno (?:file )?extension|\bextension\s+\.?(?P<extension>\w+(?:\.\w+)*))", re.IGNORECASE
)
_LISTED = re.compile(r"[$#>] ls\s+(?P<files>[^$#>]*?)(?:\s+\S*[$#>]|$)")
"""What a command line shows after ``ls``, up to its next prompt."""


def is_for_command_line(objective: Objective) -> bool:
    """Return whether an objective asks to delete a file by its extension at a command line."""
    text = objective.text
    return bool(_PLACE.search(text) and _FILE.search(text) and "delete" in objective.verbs)


def at_command_line(scene: Scene) -> Move:
    """Return the next command to type, or a stop where it is done or cannot be."""
    field = next((element for element in scene.page.can("type") if element.role in FIELD_ROLES), None)
    typed = [getattr(action.action, "text", "") for action in scene.history.actions if action.ok]
    if any(text.startswith("rm ") for text in typed):
        return stopped("The file was deleted.", finishes=True)
    if field is None:
        return stopped("The page has no field that commands are typed into.")
    takes = f"{described(field, first=True)} takes commands."
    if "ls" not in typed:
        return Move(act("type", field, text="ls", enter=True), takes)
    wanted = _FILE.search(scene.objective.text)
    listed = _LISTED.findall(" ".join(element.name for element in scene.page.elements))
    files = listed[-1].split() if listed else []
    if wanted is not None and wanted["extension"]:
        fitting = [file for file in files if file.endswith(f".{wanted['extension']}")]
    else:
        fitting = [file for file in files if "." not in file.lstrip(".")]
    if not fitting:
        return stopped("No listed file matches.")
    return Move(act("type", field, text=f"rm {fitting[0]}", enter=True), takes)
