"""Editing of the settings file."""

import json
from pathlib import Path

from core.debugger.editing.views import EditText
from core.schema.errors import BackstepError
from core.settings.settings import FILE_NAME, FileSettings
from core.settings.user_file import UserFile

SETTINGS = f"settings/{FILE_NAME}"
"""Its name among the files that can be edited."""


def checked_settings(target: Path, text: str) -> EditText:
    """Return the text of the settings file with what is wrong in it."""
    view = EditText(
        name=SETTINGS,
        title="The settings file",
        language="toml",
        text=text,
        note=f"Saves to {target}. Settings are read when Backstep starts.",
        why_no_try="Settings are read when Backstep starts. Save them, and restart Backstep.",
    )
    try:
        UserFile(target, text).validated(FileSettings)
    except BackstepError as error:
        return view.replace(problem=str(error))
    return view


def with_key(text: str, key: str, settings: FileSettings) -> tuple[str, int]:
    """Return the text of the settings file with a line for this key, and which line it is.

    A key that the file lacks is added as a comment, before the first table.
    """
    lines = text.splitlines(keepends=True)
    end = next((at for at, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    for at, line in enumerate(lines[:end]):
        if line.lstrip("# \t").partition("=")[0].strip() == key:
            return text, at + 1
    if end and not lines[end - 1].endswith("\n"):
        lines[end - 1] += "\n"
    value = settings.model_dump(mode="json")[key]
    added = f"# {key} = {json.dumps('' if value is None else value)}\n"
    return "".join([*lines[:end], added, *lines[end:]]), end + 1
