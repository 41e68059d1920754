"""The state spaces of the installation and of the user's folder, which wins; read anew when edited."""

import re
from collections.abc import Iterable
from pathlib import Path

from core.agent.spaces.file import StateSpace, read_space
from core.schema.errors import DataError, UsageError
from core.settings.user_file import near
from core.storage.resources import RESOURCES

SPACES = RESOURCES / "state_spaces"


class Spaces:
    """Finds a space by its name, or the one that is meant for an environment and a page."""

    def __init__(self, folders: Iterable[Path] = (SPACES,)) -> None:
        self._folders = tuple(folders)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._files()))

    def get(self, name: str) -> StateSpace:
        """Return a space as its file has it now; raises UsageError for an unknown name, DataError for a bad file."""
        path = self._files().get(name)
        if path is None:
            raise UsageError(f'There is no state space "{name}"; {near(name, self.names())}')
        return read_space(path)

    def for_page(self, environment: str, url: str) -> StateSpace | None:
        """Return the space that is meant for pages of this environment and URL, or None.

        Raises DataError where a file that could be meant is wrong.
        """
        for name in self.names():
            space = self.get(name)
            if space.environments and environment not in space.environments:
                continue
            if space.url and not re.search(space.url, url):
                continue
            if space.environments or space.url:
                return space
        return None

    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each file that cannot be used."""
        found: list[str] = []
        for name in self.names():
            try:
                self.get(name)
            except DataError as error:
                found.append(str(error))
        return tuple(found)

    def _files(self) -> dict[str, Path]:
        return {path.stem: path for folder in self._folders for path in sorted(folder.glob("*.toml"))}
