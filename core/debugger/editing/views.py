"""Texts that a person edits."""

from typing import Any

from core.schema.record import Record


class EditText(Record):
    """A text of the run, a held prompt or a file that a person edits."""

    name: str
    title: str
    hint: str = ""
    language: str = "text"
    text: str = ""
    problem: str = ""
    """Why it cannot be applied as it stands."""
    note: str = ""
    """What is to be known before it is applied, such as where a file is saved."""
    preview: str = ""
    """The prompt that would result for the step in view, or why there is none; empty if nothing is shown."""
    why_no_try: str = ""
    """Why it cannot be saved and tried at once in the current step."""
    applied: bool = False
    """Whether this is what was applied last."""
    asked: bool = False
    """Whether the person has just asked for it, so that the editor is opened."""
    line: int = 0
    """The line at which it is to be edited, from 1; 0 for where the cursor is."""


class RefusedEdit(Record):
    """An edit of the run that was not carried out."""

    name: str
    values: dict[str, Any]
    problem: str
