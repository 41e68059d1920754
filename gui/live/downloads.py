"""Downloads of the person: saved in a folder, with progress, in a list that opens from the page strip."""

from pathlib import Path

from PySide6.QtCore import QObject, QPoint, QStandardPaths, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWebEngineCore import QWebEngineDownloadRequest, QWebEnginePage
from PySide6.QtWidgets import QFileDialog, QFrame, QProgressBar, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from core.browser.floods import shortened
from core.schema.formats import as_read, count
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.remembered import Remembered
from gui.widgets.words import ElidedLabel, Paragraph, set_tone, small_label

_MOST = 20
"""Maximum number of listed downloads; the oldest are removed first."""
_State = QWebEngineDownloadRequest.DownloadState
_REASONS = {
    one
    for one in QWebEngineDownloadRequest.DownloadInterruptReason
    if one != QWebEngineDownloadRequest.DownloadInterruptReason.UserCanceled
}
"""Reasons that Qt has a text for; for the others it returns the text of a cancelled download."""
_CUT = "the server closed the connection too early"
_UNITS = ("B", "kB", "MB", "GB")


class Downloads(QObject):
    """Accepts downloads and reports their status."""

    changed = Signal(str, str)
    """The text of the list's button and its tooltip."""
    failed = Signal(str, str)
    """Title and text of a message for the person."""

    def __init__(self, theme: Theme, remembered: Remembered, parent: QWidget) -> None:
        super().__init__(parent)
        self._remembered = remembered
        self._as: dict[str, str] = {}
        """For each address: where the person wants to save what is loaded from it."""
        self.rows: list[DownloadRow] = []
        self._theme = theme
        self.list = QFrame(parent, Qt.WindowType.Popup)
        self.list.setProperty("question", True)
        self.list.setAccessibleName("Downloads")
        self.folder_words = ElidedLabel("", self.list, mode=Qt.TextElideMode.ElideMiddle, tone="dim")
        self.folder_button = QPushButton("Change folder…", self.list, autoDefault=False)
        self.folder_button.setToolTip("Save downloads in another folder from now on")
        self.folder_button.clicked.connect(self._choose_folder)
        self.empty = Paragraph("Nothing was downloaded yet.", self.list)
        set_tone(self.empty, "dim")
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        foot = in_row(None, (self.folder_words, 1), self.folder_button, spacing=8)
        in_column(self.list, self.empty, self._column, foot, margins=(12, 10, 12, 10), spacing=10)
        self.list.setFixedWidth(380)
        self._tell_folder()

    @property
    def folder(self) -> str:
        """The folder in which downloads are saved."""
        places = QStandardPaths
        usual = places.writableLocation(places.StandardLocation.DownloadLocation) or str(Path.home())
        return self._remembered.downloads or usual

    def take(self, request: QWebEngineDownloadRequest) -> bool:
        """Save a download that the person wants; return whether a path for it was found."""
        wanted = self._as.pop(request.url().toString(), "")
        folder, name = (str(Path(wanted).parent), Path(wanted).name) if wanted else (self.folder, "")
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            request.cancel()
            told = (
                f"The folder {folder} is not writable ({error.strerror}). Choose another folder (Ctrl+Alt+J)."
            )
            self.failed.emit("The download was not saved", told)
            return False
        request.setDownloadDirectory(folder)
        if name:
            request.setDownloadFileName(name)
        row = DownloadRow(self._theme, request, self.list)
        row.changed.connect(self._tell)
        row.failed.connect(lambda text: self.failed.emit("A download has failed", text))
        self.rows.insert(0, row)
        self._column.insertWidget(0, row)
        for old in self.rows[_MOST:]:
            if not old.running:
                self.rows.remove(old)
                old.deleteLater()
        request.accept()
        self._tell()
        return True

    def save_as(self, page: QWebEnginePage, url: QUrl, action: QWebEnginePage.WebAction) -> None:
        """Ask where to save a link or a picture, and load it."""
        name = url.fileName() or "download"
        dialog = QFileDialog(self.list.parentWidget(), "Save as", str(Path(self.folder) / name))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def chosen(path: str) -> None:
            if isValid(page):
                self._as[url.toString()] = path
                page.triggerAction(action)

        dialog.fileSelected.connect(chosen)
        dialog.open()

    def open_list(self, under: QWidget) -> None:
        """Open the list below a widget."""
        self.list.adjustSize()
        corner = under.mapToGlobal(QPoint(under.width() - self.list.width(), under.height() + 4))
        self.list.move(corner)
        self.list.show()

    def _choose_folder(self) -> None:
        self.list.hide()
        dialog = QFileDialog(self.list.parentWidget(), "Save downloads in", self.folder)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._set_folder)
        dialog.open()

    def _set_folder(self, folder: str) -> None:
        self._remembered.downloads = folder
        self._tell_folder()

    def _tell_folder(self) -> None:
        self.folder_words.setText(f"Saved in {self.folder}")

    def _tell(self) -> None:
        self.empty.setVisible(not self.rows)
        running = [row for row in self.rows if row.running]
        known = [row.share for row in running if row.share is not None]
        share = f" {sum(known) / len(known):.0%}".replace("%", " %") if known else "…"
        words = f"{len(running)} loading{share}" if running else count(len(self.rows), "download")
        if self.list.isVisible():
            self.list.adjustSize()
        self.changed.emit(words if self.rows else "", "Show the downloads")


class DownloadRow(QWidget):
    """One download: name, progress, result, and buttons for it."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, theme: Theme, request: QWebEngineDownloadRequest, parent: QWidget) -> None:
        super().__init__(parent)
        self._request: QWebEngineDownloadRequest | None = request
        self._path = str(Path(request.downloadDirectory()) / request.downloadFileName())
        self.running = True
        self.share: float | None = None
        """Progress from 0 to 1; None if the server does not send the size."""
        self.name = ElidedLabel(as_read(shortened(Path(self._path).name, 200)), self)
        self.words = small_label(theme, self)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(4)
        self.cancel_button = icon_button(theme, "close", "Cancel the download", self.cancel, self, size=12)
        folder = "Open the folder of the download"
        self.folder_button = icon_button(theme, "folder-opened", folder, self._open_folder, self)
        texts = in_column(None, self.name, self.bar, self.words, spacing=2)
        in_row(self, (texts, 1), self.folder_button, self.cancel_button, spacing=6)
        request.receivedBytesChanged.connect(self._on_progress)
        request.totalBytesChanged.connect(self._on_progress)
        # The engine reports a state before the bytes that belong to it, but reports the end after them.
        request.isFinishedChanged.connect(self._on_finished)
        request.stateChanged.connect(self._on_state)
        request.destroyed.connect(self._on_gone)
        self._on_progress()

    def cancel(self) -> None:
        if self.running and self._request is not None:
            self._request.cancel()

    def _on_progress(self) -> None:
        if self._request is None or not self.running:
            return
        come, whole = self._request.receivedBytes(), self._request.totalBytes()
        self.share = come / whole if whole > 0 else None
        self.bar.setRange(0, 100 if whole > 0 else 0)
        self.bar.setValue(round(100 * (self.share or 0)))
        self.words.setText(f"{_bytes(come)} of {_bytes(whole)}" if whole > 0 else _bytes(come))
        self.changed.emit()

    def _on_finished(self) -> None:
        if self._request is None:
            return
        self._path = str(Path(self._request.downloadDirectory()) / self._request.downloadFileName())
        if self._request.state() == _State.DownloadCompleted:
            self._finish(f"✓ Saved, {_bytes(self._request.receivedBytes())}")
        elif self.running:
            self._finish("Cancelled")

    def _on_state(self, state: QWebEngineDownloadRequest.DownloadState) -> None:
        if self._request is None or state != _State.DownloadInterrupted:
            return
        # An interrupted download could be resumed, so the engine does not report it as finished.
        known = self._request.interruptReason() in _REASONS
        why = self._request.interruptReasonString() if known else _CUT
        self._finish(f"✗ Failed: {why}", tone="bad")
        self.failed.emit(f"{self.name.text()} was not saved: {why}. Load it again, or choose another folder.")

    def _on_gone(self) -> None:
        self._request = None
        if self.running and isValid(self):
            self._finish("Cancelled: its page was closed")

    def _finish(self, words: str, *, tone: str = "dim") -> None:
        self.words.setText(words)
        set_tone(self.words, tone)
        self.bar.hide()
        self.cancel_button.hide()
        self.running, self.share = False, None  # Set before `changed`, so that receivers see the final state.
        self.changed.emit()

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(self._path).parent)))


def _bytes(number: float) -> str:
    for unit in _UNITS:
        if number < 1000 or unit == _UNITS[-1]:
            break
        number /= 1000
    return f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.1f} {unit}"
