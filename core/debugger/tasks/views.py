"""The result of a change of the task files."""

from core.schema.record import Record


class TaskFilesAnswer(Record):
    """The result of adding or removing task files."""

    ok: bool
    text: str
    """What happened, or what is wrong, where, and what to do; a line or more for each file."""
    task: str = ""
    """The first task that was added."""
