"""One page of the embedded browser: the person who has it answers its questions; otherwise a rule does."""

import ctypes
from collections.abc import Callable, Sequence

import shiboken6
from PySide6.QtCore import (
    QChildEvent,
    QCoreApplication,
    QEvent,
    QMimeDatabase,
    QObject,
    QPoint,
    Qt,
    QTimer,
    QUrl,
    Signal,
)
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtNetwork import QAuthenticator, QSslCertificate
from PySide6.QtWebEngineCore import (
    QWebEngineCertificateError,
    QWebEnginePage,
    QWebEnginePermission,
    QWebEngineProfile,
)
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QColorDialog, QDialog, QFileDialog, QToolTip, QWidget

from core.browser import dialogs
from core.browser.dialogs import DialogAnswer
from core.browser.floods import BrowserEvents, shortened
from core.browser.host import end_process
from core.schema.events import BrowserEventKind, TabId
from gui.live.page_strip import MOST_OF_A_TIP
from gui.live.questions import Answer, PageQuestion, PageQuestions
from gui.widgets.keys import takes_key

LEAVING = "Are you sure you want to leave this page? Changes that you made may not be saved."
_BROWSING = {Qt.MouseButton.BackButton: "back", Qt.MouseButton.ForwardButton: "forward"}
_PERMISSIONS = {
    QWebEnginePermission.PermissionType.Geolocation: "to know where you are",
    QWebEnginePermission.PermissionType.ClipboardReadWrite: "to read and change the clipboard",
    QWebEnginePermission.PermissionType.MediaAudioCapture: "to use the microphone",
    QWebEnginePermission.PermissionType.MediaVideoCapture: "to use the camera",
    QWebEnginePermission.PermissionType.MediaAudioVideoCapture: "to use camera and microphone",
    QWebEnginePermission.PermissionType.DesktopVideoCapture: "to record the screen",
    QWebEnginePermission.PermissionType.DesktopAudioVideoCapture: "to record the screen and its sound",
    QWebEnginePermission.PermissionType.MouseLock: "to hide the pointer and keep it",
    QWebEnginePermission.PermissionType.LocalFontsAccess: "to list the fonts of this machine",
}


def place_of(url: QUrl) -> str:
    """Return a server as host and port, or a placeholder for a page without a server."""
    port = f":{url.port()}" if url.port() != -1 else ""
    return shortened(url.host(), 120) + port if url.host() else "This page"


class WebPage(QWebEnginePage):
    """Asks the person while they have the page; otherwise answers by rule. Each answer is reported."""

    said = Signal(str, str)
    """Title and text of a message for the person, who has the page."""
    stayed = Signal()
    """The person has chosen to stay on it."""

    def __init__(
        self,
        profile: QWebEngineProfile,
        parent: QObject,
        *,
        accept_dialogs: bool,
        events: BrowserEvents,
        questions: PageQuestions,
        may_open_tab: Callable[[], bool],
        open_tab: Callable[[], "WebPage"],
    ) -> None:
        super().__init__(profile, parent)
        self._accept = accept_dialogs
        self._events = events
        self._questions = questions
        self._may_open_tab = may_open_tab
        self._open_tab = open_tab
        self._ended = 0
        """The last renderer that was ended."""
        self._leaving = QCoreApplication.translate("QWebEnginePage", LEAVING)
        self.certificateError.connect(self._on_certificate_error)
        self.renderProcessTerminated.connect(self._on_terminated)
        self.permissionRequested.connect(self._on_permission)
        self.authenticationRequired.connect(lambda url, login: self._sign_in(place_of(url), "server", login))
        self.proxyAuthenticationRequired.connect(lambda _, login, host: self._sign_in(host, "proxy", login))
        self.printRequested.connect(self._on_print)

    def tell(self, kind: BrowserEventKind, text: str) -> bool:
        """Report an event; return whether it was reported and not only counted."""
        return self._events.tell(kind, text, self._place)

    def end(self, kind: BrowserEventKind, why: str) -> None:
        """End the renderer of a page that asks for more than it can get, and report why."""
        process = self.renderProcessPid()
        # Requests that the page has already made still arrive.
        if process and process != self._ended and end_process(process):
            self._ended = process
            self.tell(kind, f"{why}; its renderer was ended.")

    def _not_recorded(self, what: str) -> None:
        self.said.emit("⚠ Recording", f"Not recorded: {what}.")

    def _place(self) -> tuple[TabId, str]:
        return self.devToolsId(), self.url().toString()

    # Alert, confirm, prompt, and leaving the page

    def _ask(self, kind: str, origin: QUrl | str, message: str, rule: bool, default: str = "") -> Answer:
        """Return the person's answer or that of the rule, and report it."""
        question = PageQuestion(
            "leave" if kind == "beforeunload" else kind,  # type: ignore[arg-type]
            place_of(QUrl(origin)),
            "Changes that you made may not be saved." if kind == "beforeunload" else message,
            default,
        )
        had_page = self._questions.person_has_page
        asked = self._events.dialogs.ask(self.devToolsId())
        answer = self._questions.ask(question)
        who = " by the person" if answer else " by rule, for the page was taken back" if had_page else ""
        by_rule = answer is None
        planned = self._events.dialogs.planned(kind, default) if by_rule else None
        if planned is not None:
            answer, who = Answer(planned.accepted, planned.text), dialogs.PLANNED
        elif answer is None and asked is not None and kind != "beforeunload":
            self._questions.await_agent(asked, dialogs.SECONDS)
            given, who = dialogs.answer_of(asked, DialogAnswer(rule, default))
            answer = Answer(given.accepted, given.text)
        answer = answer or Answer(rule, default)
        said = "" if kind == "beforeunload" else shortened(message)
        told = dialogs.told(kind, said, DialogAnswer(answer.accepted), who)
        self.tell("dialog", told)
        self._events.dialogs.give(
            kind, message, DialogAnswer(answer.accepted, answer.text), told if by_rule else ""
        )
        if not by_rule and kind == "beforeunload" and not answer.accepted:
            self._not_recorded("you stayed on the page. A replay leaves it")
            self.stayed.emit()
        if had_page and by_rule:
            self.said.emit("A question was answered by rule", told)
        return answer

    def javaScriptAlert(self, origin: QUrl | str, message: str) -> None:
        self._ask("alert", origin, message, True)

    def javaScriptConfirm(self, origin: QUrl | str, message: str) -> bool:
        # Qt also uses this to ask whether a page may be left. By rule, a page can never prevent that.
        leaving = message == self._leaving
        kind = "beforeunload" if leaving else "confirm"
        return self._ask(kind, origin, message, self._accept or leaving).accepted

    def javaScriptPrompt(self, origin: QUrl | str, message: str, default: str) -> tuple[bool, str]:
        answer = self._ask("prompt", origin, message, self._accept, default)
        return answer.accepted, answer.text if answer.accepted else ""

    # Other requests of pages

    def chooseFiles(
        self, mode: QWebEnginePage.FileSelectionMode, old: Sequence[str], accepted: Sequence[str]
    ) -> list[str]:
        if not self._questions.person_has_page:
            self.tell("dialog", "The page asked for a file; none was chosen: use the upload action.")
            return []
        view = self.parent()
        modes = QWebEnginePage.FileSelectionMode
        folder, several = mode == modes.FileSelectUploadFolder, mode == modes.FileSelectOpenMultiple
        title = "Upload a folder" if folder else "Upload files" if several else "Upload a file"
        dialog = QFileDialog(view.main_window() if isinstance(view, WebView) else None, title)
        if folder:
            dialog.setFileMode(QFileDialog.FileMode.Directory)
        else:
            dialog.setFileMode(
                QFileDialog.FileMode.ExistingFiles if several else QFileDialog.FileMode.ExistingFile
            )
            dialog.setNameFilters(_filters(accepted))
        chosen = self._questions.run(dialog)
        files = dialog.selectedFiles() if chosen else []
        dialog.deleteLater()
        return files

    def createWindow(self, kind: QWebEnginePage.WebWindowType) -> QWebEnginePage | None:  # type: ignore[override]
        if not self._may_open_tab():
            # Playwright waits for each new page: refusing one would block its opener.
            self.end("popup", "The page opened too many tabs")
            return None
        self.tell("popup", "The page opened a new tab.")
        return self._open_tab()

    def _sign_in(self, place: str, who: str, login: QAuthenticator) -> None:
        realm = f' for "{shortened(login.realm(), 200)}"' if login.realm() else ""
        wanted = f"The {who} asks for a user name and a password{realm}."
        answer = self._questions.ask(PageQuestion("sign-in", place, wanted, login.user()))
        if answer is not None and answer.accepted:
            login.setUser(answer.text)
            login.setPassword(answer.password)
            done = "the person signed in"
            self._not_recorded(f"you signed in to {place}. A replay is not signed in")
        else:
            _refuse(login)
            by_person = answer is not None
            done = (
                "the person refused"
                if by_person
                else "it was refused: take the page (F6), load it and sign in"
            )
        self.tell("dialog", f"The {who} {place} asked for a user name and a password{realm}; {done}.")

    def _on_certificate_error(self, error: QWebEngineCertificateError) -> None:
        error.rejectCertificate()
        host = shortened(error.url().host())
        if self._questions.person_has_page:
            chain = error.certificateChain()
            whose = f" {_described(chain[0])}" if chain else ""
            self.said.emit(
                "The page was not opened",
                f"The certificate of {host} was refused: {error.description().rstrip('.')}.{whose}",
            )
        if not error.isMainFrame():  # The client that drives the page reports a document that fails to load.
            self.tell("certificate", f"The certificate of {host} was refused: {error.description()}")

    def _on_terminated(self, status: QWebEnginePage.RenderProcessTerminationStatus, code: int) -> None:
        if status == QWebEnginePage.RenderProcessTerminationStatus.NormalTerminationStatus:
            return
        self.tell("crash", f"The page's renderer ended ({status.name}, code {code}).")

    def _on_permission(self, permission: QWebEnginePermission) -> None:
        name = permission.permissionType().name
        if permission.permissionType() == QWebEnginePermission.PermissionType.Notifications:
            permission.deny()  # They could not be displayed.
            self.tell("dialog", f"The page asked for {name}; it was refused: they are not displayed.")
            if self._questions.person_has_page:
                self.said.emit(
                    "The page shows no notifications",
                    f"{place_of(permission.origin())} asked to show notifications. Backstep does not display them, "
                    "so it refused.",
                )
            return
        wanted = _PERMISSIONS.get(permission.permissionType(), name)

        def answered(answer: Answer | None) -> None:
            if not shiboken6.isValid(self) or not permission.isValid():
                return  # The page that asked is gone.
            if answer is not None and answer.accepted:
                self._not_recorded(f"you allowed {name}. A replay refuses it")
            if answer is not None and answer.accepted:
                permission.grant()
                self.tell("dialog", f"The page asked for {name}; the person allowed it.")
            else:
                permission.deny()
                self.tell(
                    "dialog",
                    f"The page asked for {name}; it was refused{' by the person' if answer else ''}.",
                )

        question = PageQuestion("permission", place_of(permission.origin()), f"The page asks {wanted}.")
        self._questions.ask_meanwhile(question, answered)

    def _on_print(self) -> None:
        if self._questions.person_has_page:
            self.said.emit(
                "The page is not printed", "Backstep does not print; Export run (Ctrl+E) keeps pictures."
            )
        self.tell("dialog", "The page asked to be printed; it was refused.")


class WebView(QWebEngineView):
    """Handles the page's keys and wheel for the window, and closes a colour picker that nobody can answer.

    Tooltips of elements are shown as normal tooltips, shortened if they are too long.
    """

    zoom_turned = Signal(float)
    """The person turns the wheel with Ctrl, or pinches with two fingers: the zoom factor, 1 for no change."""
    browsed = Signal(str)
    """The person presses a button of the mouse that goes ``back`` or ``forward``."""

    def __init__(self, questions: PageQuestions, parent: QWidget, window: Callable[[], QWidget]) -> None:
        """`window` returns the window that shows the view; the view itself lies in a scene."""
        super().__init__(parent)
        self._questions = questions
        self.main_window = window
        self._popup = QPoint()
        """Where the last list was moved that the engine has opened for a field."""

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), shortened(self.toolTip(), MOST_OF_A_TIP), self)
            return True
        return super().event(event)

    def childEvent(self, event: QChildEvent) -> None:
        super().childEvent(event)
        child = event.child()
        if event.added() and isinstance(child, QWidget) and child.windowType() == Qt.WindowType.Dialog:
            # It is a window of its own: in the scene it would be drawn as a part of the page.
            child.overrideWindowFlags(child.windowFlags() | Qt.WindowType.BypassGraphicsProxyWidget)
        if event.added() and child.isWidgetType():
            child.installEventFilter(self)
            # It becomes a dialog only after this event.
            QTimer.singleShot(0, self, self.refuse_dialogs)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The engine places it when it shows it, and once more afterwards.
        if event.type() in (QEvent.Type.Show, QEvent.Type.Move) and isinstance(watched, QWidget):
            self._place_list(watched)
        if isinstance(event, QWheelEvent) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if event.angleDelta().y():
                self.zoom_turned.emit(1.1 if event.angleDelta().y() > 0 else 1 / 1.1)
            return True
        if isinstance(event, QMouseEvent) and event.button() in _BROWSING:
            # The engine would go there by itself, unrecorded.
            if event.type() == QEvent.Type.MouseButtonPress and self._questions.person_has_page:
                self.browsed.emit(_BROWSING[event.button()])
            return True
        if (
            isinstance(event, QNativeGestureEvent)
            and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture
        ):
            self.zoom_turned.emit(1 + event.value())
            return True
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and self._stops(event):
            return True
        return super().eventFilter(watched, event)

    def _place_list(self, popup: QWidget) -> None:
        """Move a list of a field to where the field is drawn.

        The engine takes the view to lie unscaled in the corner of the window.
        """
        if popup.isWindow() and not isinstance(popup, QDialog) and popup.pos() != self._popup:
            self._popup = self.mapToGlobal(popup.pos() - self.main_window().geometry().topLeft())
            popup.move(self._popup)

    def _stops(self, event: QKeyEvent) -> bool:
        """Let Esc stop a page that is loading; return whether the key was used for that."""
        if not self._questions.person_has_page or not self.page().isLoading():
            return False
        return takes_key(event, lambda: self.page().triggerAction(QWebEnginePage.WebAction.Stop))

    def refuse_dialogs(self) -> None:
        """Close the colour pickers that the person cannot answer."""
        if self._questions.person_has_page:
            return
        for dialog in self.findChildren(QColorDialog):
            dialog.reject()
            page = self.page()
            assert isinstance(page, WebPage)
            page.tell("dialog", "The page asked for a colour; none was chosen: fill in the field.")


def _filters(accepted: Sequence[str]) -> list[str]:
    """Return file dialog filters for the extensions and MIME types that a page accepts."""
    patterns = [f"*{one}" for one in accepted if one.startswith(".")]
    types = QMimeDatabase()
    for name in (one for one in accepted if "/" in one):
        group = name.removesuffix("*") if name.endswith("/*") else ""
        found = (
            [one for one in types.allMimeTypes() if one.name().startswith(group)]
            if group
            else [types.mimeTypeForName(name)]
        )
        patterns += [pattern for one in found for pattern in one.globPatterns()]
    everything = ["All files (*)"]
    return (
        [f"What the page accepts ({' '.join(dict.fromkeys(patterns))})", *everything]
        if patterns
        else everything
    )


def _described(certificate: QSslCertificate) -> str:
    """Return a certificate's subject, its issuer and its expiry date."""
    subject = ", ".join(certificate.subjectInfo(QSslCertificate.SubjectInfo.CommonName)) or "nobody"
    issuer = ", ".join(certificate.issuerInfo(QSslCertificate.SubjectInfo.CommonName)) or "nobody"
    until = certificate.expiryDate().toString("yyyy-MM-dd")
    return shortened(f"It is for {subject}, issued by {issuer}, valid until {until}.", 400)


def _refuse(login: QAuthenticator) -> None:
    """Set a login to null, so that the engine gives up and shows the server's answer.

    An empty user name would be sent again and again, until the engine gives up on the page.
    """
    # WORKAROUND: PySide has no assignment of a QAuthenticator, whose only member is a pointer (6.11); its docs:
    # https://doc.qt.io/qt-6/qwebenginepage.html#authenticationRequired
    none = QAuthenticator()
    pointers = [ctypes.c_void_p.from_address(shiboken6.getCppPointer(one)[0]) for one in (login, none)]
    pointers[0].value, pointers[1].value = pointers[1].value, pointers[0].value
