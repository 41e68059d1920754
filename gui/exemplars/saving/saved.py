"""That an exemplar was saved, and what would be retrieved for its task from now on."""

from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from core.debugger.exemplars.saving.views import Saved
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column, scrolled
from gui.widgets.rows import Row, Rows
from gui.widgets.words import NoteLabel

_HEIGHT = 118


class SavedNote(QWidget):
    """Shows `Saved`; hidden where nothing was saved."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setContentsMargins(12, 4, 12, 2)
        self.problem = NoteLabel("bad", "", self)
        self.problem.setContentsMargins(12, 0, 12, 2)
        self.rows = Rows(theme, "What would be retrieved for this task")
        self._area = scrolled("What would be retrieved for this task", self.rows)
        self._area.setMaximumHeight(_HEIGHT)
        self._area.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        in_column(self, self.words, self.problem, self._area, margins=(0, 4, 0, 0), spacing=2)
        self.hide()

    def show_saved(self, saved: Saved | None, *, busy: bool) -> None:
        self.setVisible(saved is not None)
        if saved is None:
            return
        self.words.setText(saved_words(saved, busy=busy))
        self.problem.show_text(saved.problem)
        rows = [
            Row(
                one.id,
                icon="check" if one.used else "",
                tone="good" if one.used else "dim",
                word=f"{one.distance:.3f}",
                detail=("this one · " if one.id == saved.id else "")
                + f"family {one.family} · {'goes into the prompt' if one.used else 'not used'}",
                strong=one.id == saved.id,
                key=one.id,
                tooltip=one.task,
            )
            for one in saved.found
        ]
        self._area.setVisible(bool(rows) and not saved.undone)
        self.rows.show_rows(rows)


def saved_words(saved: Saved, *, busy: bool) -> str:
    """Return what came of saving, in words."""
    if saved.undone:
        if saved.version > 1:
            return f"Undone: {saved.id} is as it was before. The version that was saved is kept beside it."
        return f"Undone: {saved.id} is in the archive, where no run finds it."
    name = f"{saved.id}, version {saved.version}" if saved.version > 1 else saved.id
    if not saved.changed:
        result = f"{name} was in the library just so already."
    else:
        result = f"Saved: {name}. It is found from now on."
    if busy:
        return f"{result} Looking it up…"
    if saved.distance is None:
        return (
            result
            if saved.problem
            else f"{result} For this task others are nearer: it is not among the nearest 50."
        )
    place = "it is the nearest" if saved.rank == 1 else f"it comes {_place(saved.rank)}"
    return f"{result} For this very task {place}, at distance {saved.distance:.3f}. {_use(saved)}"


def _use(saved: Saved) -> str:
    """Return whether it would be in the prompt, and if not what to do."""
    if saved.used:
        return "Retrieved now:"
    return (
        f"Yet it is not used: {saved.why} Save it with that family, or have the preset go by exemplars "
        "instead of families."
    )


def _place(rank: int) -> str:
    return {2: "second", 3: "third"}.get(rank, f"{rank}th")
