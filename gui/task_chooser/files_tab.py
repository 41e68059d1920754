"""The chooser's list of the user's own files of tasks, and what became of adding or removing one."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from core.debugger.snapshots import TaskFilesAnswer
from core.environments.own_tasks import TaskSource
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import count
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import ElidedLabel, EmptyText, NoteLabel, OrWords, labelled, set_tone

_HIGHEST_ANSWER = 130
_NO_FILES = "There are no task files of yours yet. Add one below, or drop it here."
_ABOUT = (
    "A task file (TOML or JSON) or WebArena's configuration, a file or a folder of them. A file stays where "
    "it is; what you change in it holds the next time you open the chooser or one of its tasks."
)


class TaskFilesTab(QWidget):
    """Shows each file with its tasks, its path and its problem, and a button to take it out."""

    remove_requested = Signal(str)
    """The path of a file."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._sources: tuple[TaskSource, ...] = ()
        self.remove_buttons: list[QPushButton] = []
        self._cards = QWidget(self)
        self._column = QVBoxLayout(self._cards)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        scroll = labelled(QScrollArea(self), "Task files")
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._cards)
        self.or_words = OrWords(scroll, self)
        self.or_words.say(_NO_FILES)
        about = EmptyText(_ABOUT, self)
        about.setContentsMargins(0, 0, 0, 0)
        in_column(self, about, (self.or_words, 1), margins=(12, 12, 12, 10), spacing=10)

    def show_sources(self, sources: tuple[TaskSource, ...]) -> None:
        """Replace the list by these."""
        if sources == self._sources:
            return
        self._sources = sources
        while self._column.count():
            item = self._column.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.remove_buttons = []
        for source in sources:
            self._column.addWidget(self._card(source))
        self._column.addStretch(1)
        self.or_words.say("" if sources else _NO_FILES)

    def _card(self, source: TaskSource) -> QWidget:
        card = QFrame(self._cards)
        card.setProperty("card", True)
        name = ElidedLabel(source.name, card, mode=Qt.TextElideMode.ElideMiddle)
        name.setFont(self._theme.text_font(bold=True))
        name.setAccessibleName(f"Task file {source.name}")
        facts = QLabel(_facts(source), card)
        facts.setFont(self._theme.small_font())
        set_tone(facts, "dim")
        path = str(source.path)
        takes_out = "Take its tasks out of the list; the file itself stays as it is"
        remove = key_button("Remove", takes_out, "", lambda: self.remove_requested.emit(path), card)
        remove.setAccessibleName(f"Remove {source.name}")
        self.remove_buttons.append(remove)
        head = in_row(None, (name, 1), facts, remove, spacing=10)
        place = ElidedLabel(path, card, mode=Qt.TextElideMode.ElideMiddle)
        place.setFont(self._theme.machine_font())
        set_tone(place, "dim")
        column = in_column(card, head, place, margins=(12, 8, 10, 9), spacing=4)
        if source.problem:
            column.addWidget(NoteLabel("bad", f"✗ {source.problem}", card))
        return card


class FilesAnswer(QScrollArea):
    """What became of the last request, with a mark; gone while there is nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.words = NoteLabel("good", parent=self)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setWidget(self.words)
        self.hide()

    def say(self, answer: TaskFilesAnswer | None) -> None:
        """Show an answer, or nothing."""
        self.setVisible(answer is not None)
        if answer is None:
            return
        self.words.show_text(("✓ " if answer.ok else "✗ ") + answer.text)
        self.words.setAccessibleName(answer.text)
        set_tone(self.words, "good" if answer.ok else "bad")
        self._fit()

    def resizeEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        wanted = self.words.heightForWidth(max(self.viewport().width(), 100))
        self.setFixedHeight(min(wanted + 2, _HIGHEST_ANSWER))


def _facts(source: TaskSource) -> str:
    kind = "task file" if source.kind == "tasks" else "WebArena"
    tasks = count(len(source.tasks), "task") if source.tasks else "no tasks"
    return " · ".join([kind, tasks] if source.remembered else [kind, tasks, "this time only"])
