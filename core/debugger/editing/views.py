"""Texts that a person edits."""

import re
from typing import Any

from core.debugger.editing.words import Word
from core.exemplars.editing.reading import TextProblem
from core.schema.errors import BackstepError, DataError
from core.schema.record import Record

_LINE = re.compile(r"\bline (\d+)", re.IGNORECASE)


class EditText(Record):
    """A text of the run, a held prompt or a file that a person edits."""

    name: str
    title: str
    hint: str = ""
    language: str = "text"
    text: str = ""
    base: str | None = None
    """The text of the user's own file when this was read or saved; None if there was none, or if it is no file."""
    problem: str = ""
    """Why it cannot be applied as it stands."""
    problems: tuple[TextProblem, ...] = ()
    """All that is known to be wrong in it and has a line."""
    words: tuple[Word, ...] = ()
    """What can be completed in it."""
    bundled: str | None = None
    """The text of the bundled file in whose place it stands, or will; None if there is none."""
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

    @property
    def told(self) -> str:
        """The problem, and how many more there are."""
        more = len(self.problems) - 1
        return f"{self.problem} ({more} more in the margin: F8)" if more > 0 else self.problem

    def wrong(self, error: BackstepError) -> "EditText":
        """Return this with what an error says is wrong."""
        found = error.problems if isinstance(error, DataError) else ()
        if not found and (line := _LINE.search(str(error))):
            found = ((int(line[1]), str(error)),)
        problems = tuple(TextProblem(line=max(1, line), column=1, text=text) for line, text in found)
        return self.replace(problem=str(error), problems=problems)


class RefusedEdit(Record):
    """An edit of the run that was not carried out."""

    name: str
    values: dict[str, Any]
    problem: str
