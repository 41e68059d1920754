"""Files of the agent that were written while a run was fixed, with what is needed to put them back."""

from collections.abc import Iterable

from core.debugger.editing.files import AgentFiles
from core.schema.record import Record


class SavedFile(Record):
    """A file that was written."""

    run: int
    """The run that was being fixed when it was written last."""
    own: str | None
    """The user's own text before the first time; None if there was none."""
    before: str
    """The text that held before it was written without being kept; empty if there was no such file."""
    written: str | None = None
    """The user's own text after the last time."""
    is_kept: bool = False


class SavedFiles:
    """Holds the texts of all files that were written, the oldest first."""

    def __init__(self) -> None:
        self._files: dict[str, SavedFile] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._files)

    def unkept(self, run: int) -> tuple[str, ...]:
        """Return the files that were saved for a run and not kept."""
        return tuple(name for name, file in self._files.items() if file.run == run and not file.is_kept)

    def before(self, name: str) -> str:
        """Return the text of a file that is not kept, as it was before it was saved."""
        return self._files[name].before

    def hold(self, name: str, run: int, files: AgentFiles) -> None:
        """Hold the text of a file that is about to be written."""
        now = files.read(name) if name in files.names() else ""
        file = self._files.get(name)
        if file is None:
            file = SavedFile(run=run, own=files.own_text(name), before=now)
        elif file.is_kept:
            file = file.replace(before=now, is_kept=False)
        self._files[name] = file.replace(run=run)

    def note_written(self, names: Iterable[str], files: AgentFiles) -> None:
        for name in names:
            self._files[name] = self._files[name].replace(written=files.own_text(name))

    def keep(self, names: Iterable[str]) -> None:
        for name in names:
            self._files[name] = self._files[name].replace(is_kept=True)

    def forget_unwritten(self, files: AgentFiles) -> None:
        """Hold no longer what has the text from before the first time."""
        self._files = {name: file for name, file in self._files.items() if files.own_text(name) != file.own}

    def revert(self, files: AgentFiles) -> tuple[str, ...]:
        """Put all files back, and return those that were changed elsewhere since, which stay as they are.

        Raises DataError.
        """
        changed = []
        for name, file in tuple(self._files.items()):
            if files.own_text(name) != file.written:
                changed.append(name)
            elif file.own is None:
                files.delete(name)
            else:
                files.write(name, file.own)
            del self._files[name]
        return tuple(changed)
