"""How a download of the person stands, told as the engine tells it: a state before the bytes that belong to it."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWebEngineCore import QWebEngineDownloadRequest
from pytestqt.qtbot import QtBot

from gui.live.downloads import DownloadRow
from gui.theme.theme import Theme

State = QWebEngineDownloadRequest.DownloadState


class Request(QObject):
    """A download whose last bytes come with its end, in one word of the engine."""

    receivedBytesChanged = Signal()  # noqa: N815
    totalBytesChanged = Signal()  # noqa: N815
    stateChanged = Signal(object)  # noqa: N815
    isFinishedChanged = Signal()  # noqa: N815

    def __init__(self) -> None:
        super().__init__()
        self._state, self._come = State.DownloadInProgress, 0

    def end(self, state: State, come: int) -> None:
        self._state = state
        self.stateChanged.emit(state)
        self._come = come
        self.receivedBytesChanged.emit()
        self.isFinishedChanged.emit()

    def state(self) -> State:
        return self._state

    def receivedBytes(self) -> int:
        return self._come

    def totalBytes(self) -> int:
        return 3000

    def downloadDirectory(self) -> str:
        return "/downloads"

    def downloadFileName(self) -> str:
        return "report.csv"


def row_of(request: Request, qtbot: QtBot, theme: Theme) -> DownloadRow:
    row = DownloadRow(theme, request, None)  # type: ignore[arg-type]
    qtbot.addWidget(row)
    return row


def test_what_is_saved_is_told_with_the_bytes_that_came_with_its_end(qtbot: QtBot, theme: Theme) -> None:
    request = Request()
    row = row_of(request, qtbot, theme)
    request.end(State.DownloadCompleted, 3000)
    assert (row.words.text(), row.running) == ("✓ Saved, 3.0 kB", False)


def test_a_cancelled_one_says_so(qtbot: QtBot, theme: Theme) -> None:
    request = Request()
    row = row_of(request, qtbot, theme)
    request.end(State.DownloadCancelled, 0)
    assert (row.words.text(), row.running) == ("Cancelled", False)
