"""Library, editor, saving and recording of exemplars; opened by key, menu, the tree of runs and each other."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot

from core.debugger.evaluations.records import Subject
from core.debugger.exemplars.library.views import Chosen
from core.debugger.steps.views import StepView
from core.schema.exemplar import Exemplar
from gui.exemplars.editor.controller import EditorController
from gui.exemplars.library.controller import LibraryController
from gui.exemplars.saving.controller import RecordingController, SavingController
from gui.shell.feature import AskingController, FeatureController
from gui.shell.main_window import MainWindow
from gui.shell.undo import Done, Reversible

if TYPE_CHECKING:
    from core.debugger.exemplars.changes import ExemplarChange, ExemplarChanges
    from core.debugger.exemplars.service import ExemplarServices
    from gui.exemplars.analyses.controller import AnalysesController
    from gui.exemplars.library.library_window import LibraryWindow


_AFTER_MS = 3000
"""By then, the main window is shown and has opened its task."""


def install(window: MainWindow, services: "ExemplarServices") -> "ExemplarsController":
    return ExemplarsController(window, services)


class ExemplarsController(FeatureController):
    """Has a controller for each window, and passes on requests between them."""

    def __init__(self, window: MainWindow, services: "ExemplarServices") -> None:
        super().__init__(window)
        self._services = services
        self._task: tuple[str, str] | None = None
        """The task of the current run, and its first page as a prompt shows it."""
        self._shown_task: tuple[str, str] | None = None
        self._draft: Exemplar | None = None
        """The exemplar that is being edited and is not saved."""
        self._shown_draft: Exemplar | None = None
        self.changes = ChangesController(window, services.changes)
        self.library = LibraryController(window, services.library, services.imports)
        self.editor = EditorController(window, services.editor)
        self.saving = SavingController(window, services.saving)
        self.recording = RecordingController(window, services.recording)
        self.analyses: AnalysesController | None = None
        """Created when the library is opened."""
        window.exemplars.library_requested.connect(self.library.open)
        window.exemplar_requested.connect(self.library.open)
        window.retire_requested.connect(
            lambda id: services.library.review(Chosen(ids=(id,)), "retired", False)
        )
        window.runs.keep_requested.connect(self.saving.open)
        self.recording.recorded.connect(self.saving.open)
        self.saving.edit_requested.connect(self.editor.open_draft)
        self.editor.edited.connect(self._on_edited)
        self.library.made.connect(self._on_library_made)
        window.step_shown.connect(self._on_step)
        window.closed.connect(self._on_closed)
        QTimer.singleShot(_AFTER_MS, self, self.library.prepare)

    @Slot(object)
    def _on_library_made(self, shown: "LibraryWindow") -> None:
        """Add the other pages, which are only imported now, and connect the library's requests."""
        from gui.exemplars.analyses.controller import AnalysesController

        self.analyses = AnalysesController(self.window, self._services)
        self.analyses.exemplar_opened.connect(self.library.open)
        shown.tabs.addTab(self.analyses.retrieval, "Retrieval")
        shown.tabs.addTab(self.analyses.duplicates, "Duplicates")
        shown.run_opened.connect(self.window.show_run)
        page = shown.page
        page.edit_requested.connect(self.editor.open)
        page.copy_requested.connect(self.editor.open_copy)
        page.new_requested.connect(self.editor.open_new)
        page.worth_requested.connect(lambda id: self.window.worth_requested.emit(Subject(name=id)))
        page.detail.evaluation_opened.connect(self.window.evaluation_requested)
        shown.watched.connect(lambda _on: self._update_pages())
        shown.tabs.currentChanged.connect(lambda _at: self._update_pages())
        self.window.library_made.emit(shown)

    @Slot(object)
    def _on_step(self, view: StepView) -> None:
        """Store the first page of the current run: with the task it is used to look up exemplars."""
        page = view.observation.clean or view.observation.raw
        instruction = self.window.view.instruction
        if view.live and view.number == 1 and instruction and page:
            self._task = (instruction, page)
            self._update_pages()

    @Slot(object)
    def _on_edited(self, exemplar: Exemplar | None) -> None:
        self._draft = exemplar
        self._update_pages()

    def _update_pages(self) -> None:
        """Pass the task of the run and the edited exemplar to the page of lookups, if it is visible."""
        shown, analyses = self.library.shown, self.analyses
        if shown is None or analyses is None or not shown.isVisible():
            return
        if shown.tabs.currentWidget() is not analyses.retrieval:
            return
        if self._task is not None and self._task != self._shown_task:
            self._shown_task = self._task
            analyses.retrieval.show_task(*self._task)
        if self._draft != self._shown_draft:
            self._shown_draft = self._draft
            self._services.retrieval.compare_with(self._draft)

    @Slot()
    def _on_closed(self) -> None:
        if self.library.shown is not None:
            self.library.shown.close()


class ChangesController(AskingController):
    """Records each change of exemplars on their undo stack."""

    def __init__(self, window: MainWindow, service: "ExemplarChanges") -> None:
        super().__init__(window, service.answered)
        self._service = service
        self.follow(service.changed, self._on_made, keep="every")

    @Slot(object)
    def _on_made(self, changes: "tuple[ExemplarChange, ...]") -> None:
        for change in changes:
            undo, redo = partial(self._exchange, change, True), partial(self._exchange, change, False)
            self.window.exemplar_history.record(Reversible(change.words, undo, redo))

    def _exchange(self, change: "ExemplarChange", back: bool, done: Done) -> None:
        self.ask(self._service.exchange, change, back=back, answer=done)
