"""Joins the windows of exemplars to the main window and to each other: library, editor, saving and recording."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.experiments.records import Subject
from core.debugger.snapshots import Catalogue, SessionView, StepView
from core.schema.exemplar import Exemplar
from gui.exemplars.analyses.controller import AnalysisController
from gui.exemplars.editor.controller import EditorController
from gui.exemplars.library.controller import LibraryController
from gui.features.exemplar_desks import ExemplarDesks
from gui.features.keep_windows import KeepWindows
from gui.shell.main_window import MainWindow
from gui.widgets.relay import Relay

if TYPE_CHECKING:
    from gui.exemplars.library.library_window import LibraryWindow
    from gui.experiments.controller import ProvingController

_AFTER_MS = 3000
"""The main window has shown itself and opened its task by then."""


class ExemplarWindows(QObject):
    """Opens them by their keys, from the menus, from the tree of runs, and from each other."""

    compare_requested = Signal(int, int)
    """Two runs, to be shown side by side."""

    def __init__(self, desks: ExemplarDesks, window: MainWindow) -> None:
        super().__init__(window)
        self._desks = desks
        self._window = window
        self._catalogue = Catalogue()
        self._instruction = ""
        self._task: tuple[str, str] | None = None
        """The task of the run under way, and its first page as a prompt shows it."""
        self._told_task: tuple[str, str] | None = None
        self._draft: Exemplar | None = None
        """What is being edited and not saved."""
        self._told_draft: Exemplar | None = None
        parts = window.theme, window.remembered, window
        self.library = LibraryController(desks.library, *parts)
        self.editing = EditorController(desks.editor, *parts)
        self.analyses = AnalysisController(desks.analyses, *parts)
        self.keeps = KeepWindows(desks.keeps, desks.records, window)
        self.proving: ProvingController | None = None
        """Once the library was opened."""
        self._join_makers()
        self._join_library()
        catalogue = Relay(window.commands.catalogue_changed, keep="latest", parent=self)
        catalogue.received.connect(self._show_catalogue)
        session = Relay(window.commands.session_changed, keep="latest", parent=self)
        session.received.connect(self._show_session)
        self._relays = (catalogue, session)
        window.step_shown.connect(self._on_step)
        window.closed.connect(self._on_closed)
        QTimer.singleShot(_AFTER_MS, self, self.library.prepare)

    def _join_makers(self) -> None:
        self.keeps.keeping.edit_requested.connect(self.editing.open_draft)
        self.editing.edited.connect(self._on_edited)

    def _join_library(self) -> None:
        self.library.run_opened.connect(self._window.show_run)
        self._window.actions_by_name["library"].triggered.connect(lambda: self.library.open())
        self._window.exemplars.library_requested.connect(self.library.open)
        self.library.made.connect(self._on_made)
        self.analyses.exemplar_opened.connect(self.library.open)

    @Slot(object)
    def _on_made(self, shown: "LibraryWindow") -> None:
        """Add the other pages, which are loaded only now, and join what the library asks."""
        from gui.experiments.controller import ProvingController

        proving = self.proving = ProvingController(
            self._desks.proving, self._window.theme, self._window.remembered, self._window
        )
        for name, page in (*self.analyses.pages, *proving.pages):
            shown.add_page(name, page)
        proving.exemplar_opened.connect(self.library.open)
        proving.run_opened.connect(self._window.show_run)
        proving.compare_requested.connect(self.compare_requested)
        proving.show_catalogue(self._catalogue)
        proving.refresh()
        shown.edit_requested.connect(self.editing.open)
        shown.copy_requested.connect(self.editing.open_copy)
        shown.new_requested.connect(self.editing.open_new)
        shown.worth_requested.connect(self._on_worth)
        shown.replay_requested.connect(self._on_replay)
        shown.watched.connect(lambda _on: self._tell_pages())
        shown.tabs.currentChanged.connect(lambda _at: self._tell_pages())

    # What the person does

    def _on_worth(self, ids: tuple[str, ...]) -> None:
        if self.proving is not None and ids:
            self.proving.show_worth(Subject(name=ids[0]))
            self._show(self.proving.worth)

    def _on_replay(self, ids: tuple[str, ...]) -> None:
        if self.proving is not None and ids:
            self.proving.replay_these(ids)
            self._show(self.proving.replay)

    def _show(self, page: QWidget) -> None:
        if self.library.shown is not None:
            self.library.shown.show_page(page)

    # What the other windows are told

    @Slot(object)
    def _show_catalogue(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        if self.proving is not None:
            self.proving.show_catalogue(catalogue)

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        self._instruction = view.instruction

    @Slot(object)
    def _on_step(self, view: StepView) -> None:
        """Note the first page of the run under way: by it and the task exemplars are looked up."""
        page = view.observation.clean or view.observation.raw
        if view.live and view.number == 1 and self._instruction and page:
            self._task = (self._instruction, page)
            self._tell_pages()

    @Slot(object)
    def _on_edited(self, exemplar: Exemplar | None) -> None:
        self._draft = exemplar
        self._tell_pages()

    def _tell_pages(self) -> None:
        """Tell the map and the bench of the task, and the bench of what is edited, where somebody looks at them."""
        shown = self.library.shown
        if shown is None or not shown.isVisible() or self.proving is None:
            return
        page = shown.tabs.currentWidget()
        if page not in (self.analyses.map, self.analyses.bench):
            return
        if self._task is not None and self._task != self._told_task:
            self._told_task = self._task
            self.analyses.show_task(*self._task)
        if self._draft != self._told_draft:
            self._told_draft = self._draft
            self.analyses.compare_with(self._draft)

    @Slot()
    def _on_closed(self) -> None:
        for relay in self._relays:
            relay.close()
        self.editing.flush()
        if self.proving is not None:
            self.proving.close()
        if self.library.shown is not None:
            self.library.shown.close()
