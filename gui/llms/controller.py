"""The settings of the user's LLMs: a dialog that opens with the list."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from core.debugger.llms.views import LLMAnswer, LLMList
from gui.llms.dialog import SettingsDialog
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.llms.service import LLMService


class LLMSettingsController(FeatureController):
    """Opens the dialog, passes on its entries, and shows the results."""

    def __init__(self, window: MainWindow, service: "LLMService") -> None:
        super().__init__(window)
        self._service = service
        self._dialog: SettingsDialog | None = None
        self.follow(service.changed, self._show_list)
        self.follow(service.answered, self._show_answer)
        window.llm_settings_requested.connect(service.list_llms)

    @Slot(object)
    def _show_list(self, listed: LLMList) -> None:
        if self._dialog is None:
            self._dialog = SettingsDialog(self.window.theme, listed.servers, self.window)
            self._dialog.test_requested.connect(self._service.test)
            self._dialog.save_requested.connect(self._service.save)
            self._dialog.remove_requested.connect(self._service.remove)
        self._dialog.show_llms(listed.entries, listed.chosen)
        self._dialog.open()

    @Slot(object)
    def _show_answer(self, answer: LLMAnswer) -> None:
        if self._dialog is not None:
            self._dialog.show_answer(answer)


install = LLMSettingsController
