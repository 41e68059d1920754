"""Editing: the editors of the run's texts, of the prompt of a held call, and of the files that agents use."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from core.debugger.editing.views import EditText
from core.debugger.session_view import SessionView
from gui.editing.window import TextEditor
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow
from gui.widgets.editable import ask_line
from gui.widgets.enabled_commands import why_no_edit

if TYPE_CHECKING:
    from core.debugger.editing.service import EditingService

PROMPT = "prompt"


class EditingController(FeatureController):
    """Opens an editor for each offered text, and passes on its requests."""

    def __init__(self, window: MainWindow, service: "EditingService") -> None:
        super().__init__(window)
        self._service = service
        self._session = window.view
        self._places: dict[str, tuple[int | None, int, str]] = {}
        """Run, step and held call at which each text was read."""
        self.editors: dict[str, TextEditor] = {}
        """The open editors, by the name of their text."""
        self.follow(window.session.text_offered, self._show_text, keep="every")
        self.follow(service.changed, self._show_text, keep="every")
        self.follow(service.files_listed, self._choose_file)
        self.follow(window.session.session_changed, self._show_session)
        window.state.file_wanted.connect(service.open_path)
        window.stack.file_wanted.connect(service.open_path)
        window.file_requested.connect(service.open_path)
        window.setting_requested.connect(service.open_setting)
        self.list_files = service.list_files

    @Slot(object)
    def _show_text(self, views: tuple[EditText, ...]) -> None:
        for view in views:
            editor = self.editors.get(view.name)
            if view.asked:
                editor = editor or self._make(view.name)
                self._places[view.name] = self._place
                editor.offer(view)
                self.window.frame.show_beside(editor, "editing/place")
            elif editor is not None:
                editor.show_checked(view)
        self._show_session(self._session)

    def _make(self, name: str) -> TextEditor:
        window = self.window
        editor = self.editors[name] = TextEditor(window.theme, window)
        if "/" in name:
            editor.check_requested.connect(self._service.check)
            editor.apply_requested.connect(lambda name, text: self._service.save(name, text, editor.base))
            editor.try_requested.connect(lambda name, text: self._service.try_here(name, text, editor.base))
            editor.reload_requested.connect(self._service.open)
        else:
            editor.check_requested.connect(window.session.edits.check_text)
            editor.apply_requested.connect(window.session.edits.apply_text)
            editor.reload_requested.connect(window.session.edits.begin_text)
        return editor

    @property
    def _place(self) -> tuple[int | None, int, str]:
        return self._session.run, self._session.step, _held(self._session)

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        before, self._session = self._session, view
        for name, editor in self.editors.items():
            if "/" not in name:
                editor.show_run(self._why_not(name), self._gone_on(name))
            moved = (before.step, before.phase, _held(before)) != (view.step, view.phase, _held(view))
            if moved and editor.isVisible():
                editor.check()

    def _why_not(self, name: str) -> str:
        if name != PROMPT:
            return why_no_edit(self._session, live=True)
        return "" if _held(self._session) else "No LLM call is held"

    def _gone_on(self, name: str) -> str:
        run, step, held = self._places[name]
        if (run, step) == self._place[:2] and (name != PROMPT or held == self._place[2]):
            return ""
        if name == PROMPT:
            return f"{held} has gone on; your draft is kept. Reload (Alt+R) reads what is held now."
        return (
            f"The run has gone on since this was read at step {step}; your draft is kept. Apply replaces "
            "of what there is now, Reload (Alt+R) reads that."
        )

    @Slot(object)
    def _choose_file(self, names: tuple[str, ...]) -> None:
        """Ask which of the files to edit."""
        label = "A policy, preset, state space or prompt:"
        ask_line(self.window, "Edit a file of the agent", label, self._service.open, choices=names, only=True)


def _held(view: SessionView) -> str:
    """Return a description of the held text and its call, or an empty string."""
    if view.held_reply:
        return f"The reply to call {view.held_reply}"
    return f"Call {view.held_call}" if view.held_call else ""


install = EditingController
