"""DevTools: the engine's own inspector, attached to the current tab."""

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWebEngineCore import QWebEnginePage, QWebEngineProfile
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid


class DevTools(QObject):
    """Has its own view while it is open; the inspected page cannot detect it.

    It talks to the page inside the browser's process, in parallel to the client that drives the page over the
    protocol.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.view: QWebEngineView | None = None
        self._page: QWebEnginePage | None = None
        self._profile: QWebEngineProfile | None = None

    def open(self, page: QWebEnginePage, *, at_element: bool = False) -> QWebEngineView:
        """Show a page in the inspector, `at_element` at the element of the context menu; return the view."""
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
        """Inspect another page if the inspector is open."""
        if self.view is None or page is self._page:
            return
        self._leave()
        self._page = page
        if page is not None:
            page.setDevToolsPage(self.view.page())

    def close(self) -> list[QObject]:
        """Release the page and the inspector; return the objects that the event loop deletes, in order."""
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
