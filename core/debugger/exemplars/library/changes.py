"""Into the archive and out of it, back to another version, and all of this taken back."""

import asyncio
from collections.abc import Callable

from core.debugger.exemplars.library.views import Told, Undo
from core.memory.memory import Memory

_PIECE = 50
"""Exemplars that are changed in one go."""


class LibraryChanges:
    """Changes exemplars and says what was done, with how it is taken back."""

    def __init__(self, memory: Callable[[], Memory]) -> None:
        self._memory = memory

    def make_current(self, id: str, version: int) -> Told:
        """Raises NotInLibraryError and LibraryError."""
        library = self._memory().library()
        before = library.get(id).version
        library.make_current(id, version)
        return Told(
            text=f"Version {version} of {id} is the current one.", undo=Undo(make_current=((id, before),))
        )

    async def archive(self, ids: tuple[str, ...], *, archived: bool) -> Told:
        """Raises NotInLibraryError and LibraryError."""
        done, refused = await self._archive(ids, archived=archived)
        what = f"“{done[0]}” was" if len(done) == 1 else f"{len(done)} exemplars were"
        texts = [f"{what} {'archived' if archived else 'brought back'}."] if done else []
        if refused:
            whose = f"“{refused[0]}” is" if len(refused) == 1 else f"{len(refused)} are"
            texts.append(f"{whose} read only, of a file: take it out of the file, or keep a copy (Ctrl+D).")
        if not texts:
            texts = ["Nothing was changed: they are " + ("in the archive." if archived else "in use.")]
        undo = Undo(bring_back=done) if archived else Undo(archive=done)
        return Told(text=" ".join(texts), bad=not done and bool(refused), undo=undo)

    async def undo(self, undo: Undo) -> Told:
        """Raises NotInLibraryError and LibraryError."""
        archived, _ = await self._archive(undo.archive, archived=True)
        back, _ = await self._archive(undo.bring_back, archived=False)
        library = self._memory().library()
        for id, version in undo.make_current:
            library.make_current(id, version)
        parts = [f"{len(archived)} archived"] if archived else []
        parts += [f"{len(back)} brought back"] if back else []
        parts += [f"{len(undo.make_current)} at the version before"] if undo.make_current else []
        return Told(text=f"It was taken back: {', '.join(parts) or 'nothing was left to do'}.")

    async def _archive(
        self, ids: tuple[str, ...], *, archived: bool
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return those that were changed, and those that are of files."""
        memory = self._memory()
        if not ids:
            return (), ()
        of_files = {one.id for _, one in memory.file_members()}
        done: list[str] = []
        kept = [id for id in ids if id not in of_files]
        for at in range(0, len(kept), _PIECE):
            library = memory.library()
            for id in kept[at : at + _PIECE]:
                if library.get(id).exemplar.archived != archived:
                    library.archive(id, archived=archived)
                    done.append(id)
            await asyncio.sleep(0)
        return tuple(done), tuple(id for id in ids if id in of_files)
