"""Joins the settings dialog to what answers it."""

from PySide6.QtCore import QObject, Slot

from core.debugger.llms.views import DeskAnswer, LLMDeskCommands, LLMEntry, LLMList
from gui.llms.dialog import EndpointPreset, LLMForm, SettingsDialog, TestResult
from gui.shell.main_window import MainWindow
from gui.widgets.relay import Relay


class LLMSettingsController(QObject):
    """Opens the dialog, sends its forms to the desk and shows what comes back."""

    def __init__(self, desk: LLMDeskCommands, window: MainWindow) -> None:
        super().__init__(window)
        self._desk = desk
        self._window = window
        self._dialog: SettingsDialog | None = None
        self._listed = Relay(desk.listed, keep="latest", parent=self)
        self._listed.received.connect(self._show_list)
        self._answered = Relay(desk.answered, keep="latest", parent=self)
        self._answered.received.connect(self._show_answer)

    @Slot()
    def open(self) -> None:
        """Ask for the list; the dialog opens with it."""
        self._desk.list_llms()

    @Slot(object)
    def _show_list(self, listed: LLMList) -> None:
        if self._dialog is None:
            servers = tuple(EndpointPreset(**server.model_dump()) for server in listed.servers)
            self._dialog = SettingsDialog(self._window.theme, servers, self._window)
            self._dialog.test_requested.connect(self._on_test)
            self._dialog.save_requested.connect(self._on_save)
            self._dialog.remove_requested.connect(self._desk.remove)
        self._dialog.show_llms(
            tuple(LLMForm(**entry.model_dump()) for entry in listed.entries), listed.chosen
        )
        self._dialog.open()

    @Slot(object)
    def _show_answer(self, answer: DeskAnswer) -> None:
        if self._dialog is not None:
            self._dialog.show_result(TestResult(ok=answer.ok, text=answer.text))

    @Slot(object)
    def _on_test(self, form: LLMForm) -> None:
        self._desk.test(_entry(form), form.key)

    @Slot(object)
    def _on_save(self, form: LLMForm) -> None:
        self._desk.save(_entry(form), form.key)


def _entry(form: LLMForm) -> LLMEntry:
    return LLMEntry(**form.model_dump(exclude={"key"}))
