"""Files of the agent that were written while a run was fixed, with what is needed to put them back."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

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

    @contextmanager
    def writing(self, names: Iterable[str], run: int, files: AgentFiles) -> Iterator[None]:
        """Hold the texts of files that are written in the block; nothing is held where that fails."""
        earlier = dict(self._files)
        for name in names:
            self._files[name] = self._held(name, run, files)
        try:
            yield
        except BaseException:
            self._files = earlier
            raise
        for name in names:
            self._files[name] = self._files[name].replace(written=files.own_text(name))

    def _held(self, name: str, run: int, files: AgentFiles) -> SavedFile:
        now = files.read(name) if name in files.names() else ""
        own, file = files.own_text(name), self._files.get(name)
        if file is None or file.written != own:  # It is new, or was changed elsewhere since.
            return SavedFile(run=run, own=own, before=now)
        return file.replace(run=run, is_kept=False, before=now if file.is_kept else file.before)

    def keep(self, names: Iterable[str]) -> None:
        for name in names:
            self._files[name] = self._files[name].replace(is_kept=True)

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
