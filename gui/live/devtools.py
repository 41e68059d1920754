"""DevTools: the engine's own inspector, joined to the tab that is current."""

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWebEngineCore import QWebEnginePage, QWebEngineProfile
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid


class DevTools(QObject):
    """Has a view of its own while it is open; the inspected page does not know of it.

    It speaks to the page in the browser's process, beside whoever drives the page by the protocol.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.view: QWebEngineView | None = None
        self._page: QWebEnginePage | None = None
        self._profile: QWebEngineProfile | None = None

    def open(self, page: QWebEnginePage, *, at_element: bool = False) -> QWebEngineView:
        """Show a page in the inspector, `at_element` at what the context menu was opened over; returns the view."""
        if self.view is None:
            profile = QWebEngineProfile(self)
            self.view = QWebEngineView()
            self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
            front = QWebEnginePage(profile, self.view)
            front.windowCloseRequested.connect(lambda: QTimer.singleShot(0, self, self.close))
            self.view.setPage(front)
            self._profile = profile
        self.move_to(page)
        if at_element:
            page.triggerAction(QWebEnginePage.WebAction.InspectElement)
        return self.view

    def move_to(self, page: QWebEnginePage | None) -> None:
        """Inspect another page, where the inspector is open."""
        if self.view is None or page is self._page:
            return
        self._leave()
        self._page = page
        if page is not None:
            page.setDevToolsPage(self.view.page())

    def close(self) -> list[QObject]:
        """Let go of the page, and of the inspector; returns what is deleted by the loop, in order."""
        self._leave()
        going: list[QObject] = [one for one in (self.view, self._profile) if one is not None and isValid(one)]
        if self.view in going:
            self.view.hide()
        for one in going:
            one.deleteLater()
        self.view, self._profile = None, None
        return going

    def _leave(self) -> None:
        page, self._page = self._page, None
        if page is not None and isValid(page):
            page.setDevToolsPage(None)  # type: ignore[arg-type]
