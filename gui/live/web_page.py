"""One page of the embedded browser: its dialogs, popups, downloads and errors never open a box of Qt's own."""

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QObject, QUrl
from PySide6.QtWebEngineCore import (
    QWebEngineCertificateError,
    QWebEnginePage,
    QWebEnginePermission,
    QWebEngineProfile,
)

from core.schema.events import BrowserEvent, BrowserEventKind

LEAVING = "Are you sure you want to leave this page? Changes that you made may not be saved."
Announce = Callable[[BrowserEvent], None]


class WebPage(QWebEnginePage):
    """Answers what a page asks by rule and announces each answer."""

    def __init__(
        self,
        profile: QWebEngineProfile,
        parent: QObject,
        *,
        accept_dialogs: bool,
        announce: Announce,
        open_tab: Callable[["WebPage"], "WebPage"],
    ) -> None:
        super().__init__(profile, parent)
        self._accept = accept_dialogs
        self._announce = announce
        self._open_tab = open_tab
        self.handed_over = False
        self._leaving = QCoreApplication.translate("QWebEnginePage", LEAVING)
        self.certificateError.connect(self._on_certificate_error)
        self.renderProcessTerminated.connect(self._on_terminated)
        self.permissionRequested.connect(self._on_permission)

    def tell(self, kind: BrowserEventKind, text: str) -> None:
        self._announce(BrowserEvent(kind=kind, text=text, tab=self.devToolsId(), url=self.url().toString()))

    def _asked(self, kind: str, message: str, accepted: bool) -> None:
        self.tell(
            "dialog",
            f'The page asked ({kind}): "{message}"; it was {"accepted" if accepted else "dismissed"}.',
        )

    def javaScriptAlert(self, origin: QUrl | str, message: str) -> None:
        self._asked("alert", message, True)

    def javaScriptConfirm(self, origin: QUrl | str, message: str) -> bool:
        # Qt asks this way, too, whether a page may be left; that is never held up by the page.
        leaving = message == self._leaving
        accepted = self._accept or leaving
        self._asked("beforeunload" if leaving else "confirm", "" if leaving else message, accepted)
        return accepted

    def javaScriptPrompt(self, origin: QUrl | str, message: str, default: str) -> tuple[bool, str]:
        self._asked("prompt", message, self._accept)
        return self._accept, default if self._accept else ""

    def javaScriptConsoleMessage(
        self, level: QWebEnginePage.JavaScriptConsoleMessageLevel, message: str, line: int, source: str
    ) -> None:
        # Without this override Qt prints every message of every page to stderr.
        if level == QWebEnginePage.JavaScriptConsoleMessageLevel.ErrorMessageLevel:
            self.tell("console", f"The page logged an error: {message[:500]}")

    def chooseFiles(self, mode: QWebEnginePage.FileSelectionMode, old, accepted):  # type: ignore[no-untyped-def]
        if self.handed_over:
            return super().chooseFiles(mode, old, accepted)
        self.tell("dialog", "The page asked for a file; none was chosen: use the upload action.")
        return []

    def createWindow(self, kind: QWebEnginePage.WebWindowType) -> QWebEnginePage:
        page = self._open_tab(self)
        self.tell("popup", "The page opened a new tab.")
        return page

    def _on_certificate_error(self, error: QWebEngineCertificateError) -> None:
        error.rejectCertificate()
        if not error.isMainFrame():  # A document that fails is told of by whoever drives the page.
            self.tell(
                "certificate", f"The certificate of {error.url().host()} was refused: {error.description()}"
            )

    def _on_terminated(self, status: QWebEnginePage.RenderProcessTerminationStatus, code: int) -> None:
        if status == QWebEnginePage.RenderProcessTerminationStatus.NormalTerminationStatus:
            return
        self.tell("crash", f"The page's renderer ended ({status.name}, code {code}).")

    def _on_permission(self, permission: QWebEnginePermission) -> None:
        permission.deny()
        self.tell("dialog", f"The page asked for {permission.permissionType().name}; it was refused.")
