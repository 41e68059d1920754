"""The memory of a program run: exemplars from files, their index, and the embedding that made it."""

from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import UsageError
from core.memory.files import EXEMPLARS, ExemplarFiles
from core.memory.records import Recall, RecallSettings

if TYPE_CHECKING:
    # Loading FAISS takes long, which only a run that recalls has to wait for.
    from core.memory.embedding import Embedding, OnProgress
    from core.memory.index import ExemplarIndex


class Memory:
    """Finds exemplars; its index is made when it is first asked, and anew where an exemplar has changed."""

    def __init__(
        self,
        folders: Iterable[Path] = (EXEMPLARS,),
        *,
        index_folder: Path | None = None,
        embedding: "Callable[[], Embedding] | None" = None,
    ) -> None:
        """`embedding` gives the one to be used, the built-in one without it; it is asked for only when needed."""
        self.files = ExemplarFiles(folders)
        self._index_folder = index_folder
        self._embedding = embedding
        self._index: ExemplarIndex | None = None
        self.on_progress: OnProgress | None = None
        """Told how many of how many texts are embedded, while the index is made."""

    def instead(self, place: Path | None) -> "Memory":
        """Return a memory of the exemplars of a folder or a file in place of these; None is of none.

        Raises UsageError where there are none, and DataError where a file is wrong.
        """
        own = None
        if place is not None and self._index_folder is not None:
            own = self._index_folder / "others" / sha256(str(place).encode()).hexdigest()[:16]
        made = Memory(() if place is None else (place,), index_folder=own, embedding=self._embedding)
        made.on_progress = self.on_progress
        if place is not None and not made.files.all():
            raise UsageError(
                f"{place} holds no exemplars: choose a file that ends in .jsonl, or a folder of such files."
            )
        return made

    async def recall(self, query: str, settings: RecallSettings, *, environment: str = "") -> Recall:
        """Look `query` up; raises DataError where a file is wrong and LLMError where the embedding's server fails."""
        from core.memory.recalling import recall

        index = self._ready()
        await index.refresh(self.files.all(), self.on_progress)
        return await recall(query, index, settings, environment=environment)

    def _ready(self) -> "ExemplarIndex":
        if self._index is None:
            from core.memory.embedding import HashedWords
            from core.memory.index import ExemplarIndex

            embedding = self._embedding() if self._embedding is not None else HashedWords()
            self._index = ExemplarIndex(embedding, self._index_folder)
        return self._index
