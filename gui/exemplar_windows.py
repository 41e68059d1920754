"""Joins the windows of exemplars to the main window."""

from PySide6.QtCore import QObject

from core.debugger.editor_views import EditorDeskCommands
from gui.exemplar_editor.controller import EditorController
from gui.main_window import MainWindow


class ExemplarWindows(QObject):
    """Makes them; each opens when it is asked to."""

    def __init__(self, editor: EditorDeskCommands, window: MainWindow) -> None:
        super().__init__(window)
        self.editing = EditorController(editor, window.theme, window.remembered, window)
        window.closed.connect(self.editing.flush)
