"""The arguments for the window."""

from pathlib import Path

from core.debugger.attach.views import AttachRequest
from core.schema.record import Record


class WindowArguments(Record):
    """The task, run or agent that the window opens."""

    task: str
    seed: int = 0
    url: str = ""
    instruction: str = ""
    chosen: bool = False
    """Whether the task was asked for, and is not the default one."""
    preset: str = ""
    llm: str = ""
    task_files: tuple[Path, ...] = ()
    webarena: tuple[Path, ...] = ()
    attach: AttachRequest | None = None
    """The agent to attach, in place of opening a task."""
    run: int | None = None
    """The stored run to show, in place of opening a task."""
    step: int = 0
    """Its step to show."""
