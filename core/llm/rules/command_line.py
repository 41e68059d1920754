"""Command lines in a page: a file is found by ``ls`` and deleted by ``rm``."""

import re
from pathlib import PurePosixPath

from core.llm.rules.moves import Move, Scene, act, described
from core.llm.rules.page import FIELD_ROLES
from core.llm.rules.words import verbs_in

_PLACE = re.compile(r"\b(?:terminal|command line|shell)\b", re.IGNORECASE)
_FILE = re.compile(
    r"\bfiles?\b.*?(?:(?P<none>\bno (?:file )?extension)|\bextension\s+\.?(?P<extension>\w+(?:\.\w+)*))",
    re.IGNORECASE,
)
_LISTED = re.compile(r"[$#>] ls\s+(?P<files>[^$#>]*?)(?:\s+\S*[$#>]|$)")
"""What a command line shows after ``ls``, up to its next prompt."""


def is_for_command_line(text: str) -> bool:
    """Return whether an objective asks to delete a file by its extension at a command line."""
    return all((_PLACE.search(text), _FILE.search(text), "delete" in verbs_in(text)))


def at_command_line(scene: Scene) -> Move:
    """Return the next command to type, or a stop where it is done or cannot be."""
    field = next((one for one in scene.page.can("type") if one.role in FIELD_ROLES), None)
    typed = [getattr(one.action, "text", "") for one in scene.history.actions if one.ok]
    if any(text.startswith("rm ") for text in typed):
        return Move(act("stop"), "The file was deleted.", finishes=True)
    if field is None:
        return Move(act("stop"), "The page has no field that commands are typed into.")
    if "ls" not in typed:
        return Move(
            act("type", field, text="ls", enter=True), f"{described(field, first=True)} takes commands."
        )
    wanted = _FILE.search(scene.objective.text)
    listed = _LISTED.findall(" ".join(one.name for one in scene.page.elements))
    extension = f".{wanted['extension']}" if wanted and wanted["extension"] else ""
    files = listed[-1].split() if listed else []
    fitting = [
        file for file in files if (file.endswith(extension) if extension else not PurePosixPath(file).suffix)
    ]
    if not fitting:
        return Move(act("stop"), "No listed file matches.")
    return Move(act("type", field, text=f"rm {fitting[0]}", enter=True), f"{fitting[0]} fits.")
