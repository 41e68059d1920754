"""What a run can be opened with."""

from core.schema.messages import LLMChoice
from core.schema.record import Record
from core.schema.task import Task, TaskSource


class PresetOption(Record):
    """A preset of the tool bar."""

    name: str
    title: str
    description: str = ""
    recalls: bool = False
    """Whether it has memory."""


class Catalogue(Record):
    """Everything that can be chosen: sent at the start, and when one of its files changes."""

    tasks: tuple[Task, ...] = ()
    presets: tuple[PresetOption, ...] = ()
    llms: tuple[LLMChoice, ...] = ()
    problems: tuple[str, ...] = ()
    """Files that could not be read, a sentence each."""
    sources: tuple[TaskSource, ...] = ()
    """The user's own files of tasks; what is wrong with one that was asked for is among `problems` too."""
    profiles: tuple[str, ...] = ()
    """The named browser profiles, which keep logins."""
    allowed_profiles: tuple[str, ...] = ()
    """Those that the settings let the embedded browser open."""
