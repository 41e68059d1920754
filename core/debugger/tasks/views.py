"""What the window is told of the user's files of tasks."""

from core.schema.record import Record


class TaskFilesAnswer(Record):
    """What became of adding or removing files of tasks."""

    ok: bool
    text: str
    """What happened, or what is wrong, where, and what to do; a line or more for each file."""
    task: str = ""
    """The first task that was added."""
