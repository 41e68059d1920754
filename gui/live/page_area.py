"""The live page: tabs of web views, an address line, and which of them is current."""

import shiboken6
from PySide6.QtCore import QRect, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWebEngineCore import QWebEngineDownloadRequest, QWebEngineProfile
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from core.browser.host import BrowserEvent
from gui.live.web_page import Announce, WebPage


class PageArea(QWidget):
    """Holds the live tabs of one profile at a time."""

    view_moved = Signal()
    """The current view lies elsewhere, or another one is current."""
    address_entered = Signal(str)
    """The person, who has the page, wants to go to this address."""

    def __init__(self, parent: QWidget | None = None, *, accept_dialogs: bool = True, profiles: str = "") -> None:
        super().__init__(parent)
        self._accept = accept_dialogs
        self._profiles = profiles
        self._profile: QWebEngineProfile | None = None
        self._announce: Announce = lambda event: None
        self._handed_over = False

        self._bar = QTabBar(self)
        self._bar.setDocumentMode(True)
        self._bar.setExpanding(False)
        self._bar.setElideMode(Qt.TextElideMode.ElideRight)
        self._bar.setAccessibleName("Tabs of the live page")
        self._bar.currentChanged.connect(self._on_tab_chosen)
        self._address = QLineEdit(self)
        self._address.setReadOnly(True)
        self._address.setObjectName("address")
        self._address.setAccessibleName("Address of the live page")
        self._address.setPlaceholderText("No page is open: choose a task (Ctrl+N)")
        self._address.returnPressed.connect(lambda: self.address_entered.emit(self._address.text()))
        self._stack = QStackedWidget(self)

        line = QHBoxLayout()
        line.setContentsMargins(8, 4, 8, 4)
        line.addWidget(self._address)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._bar)
        layout.addLayout(line)
        layout.addWidget(self._stack, 1)

    def set_announce(self, announce: Announce) -> None:
        """Send what happens in the pages to `announce`, in the GUI thread."""
        self._announce = announce

    # What the host does with it, in the GUI thread

    def open_profile(self, name: str | None) -> str:
        """Drop all tabs and begin with one empty tab in a clean profile, or the named one; returns its id."""
        self._drop_all()
        profile = QWebEngineProfile(name, self) if name else QWebEngineProfile(self)
        if name and self._profiles:
            profile.setPersistentStoragePath(f"{self._profiles}/{name}")
            profile.setPersistentCookiesPolicy(
                QWebEngineProfile.PersistentCookiesPolicy.ForcePersistentCookies
            )
        profile.downloadRequested.connect(self._on_download)
        old, self._profile = self._profile, profile
        tab = self.open_tab()
        if old is not None:
            old.deleteLater()
        return tab

    def open_tab(self) -> str:
        return self._add().devToolsId()

    def _add(self) -> WebPage:
        assert self._profile is not None
        view = QWebEngineView(self._stack)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        page = WebPage(
            self._profile,
            view,
            accept_dialogs=self._accept,
            announce=lambda event: self._announce(event),
            open_tab=lambda _: self._add(),
        )
        page.handed_over = self._handed_over
        view.setPage(page)
        page.load(QUrl("about:blank"))
        page.titleChanged.connect(lambda title: self._set_title(view, title))
        page.urlChanged.connect(lambda _: self._show_address())
        page.windowCloseRequested.connect(lambda: self._close_view(view))
        self._stack.addWidget(view)
        index = self._bar.addTab("New tab")
        self._bar.setTabData(index, view)
        self._bar.setCurrentIndex(index)
        self._stack.setCurrentWidget(view)
        self._show_address()
        self.view_moved.emit()
        return page

    def tabs(self) -> tuple[str, ...]:
        return tuple(self._page(view).devToolsId() for view in self._views())

    def current_tab(self) -> str:
        view = self.current_view()
        return self._page(view).devToolsId() if view else ""

    def activate_tab(self, tab: str) -> None:
        view = self._view(tab)
        if view is not None:
            self._bar.setCurrentIndex(self._views().index(view))

    def close_tab(self, tab: str) -> None:
        view = self._view(tab)
        if view is not None:
            self._close_view(view)

    def reload_crashed(self, tab: str) -> None:
        """Load the tab's URL in a new renderer."""
        view = self._view(tab)
        if view is None:
            return
        page = self._page(view)
        page.crashed = False
        view.reload()

    def close_pages(self) -> None:
        """Delete all pages and then their profile, at once: left to the interpreter's end, they crash it."""
        views = self._views()
        self._drop_all()
        for view in views:
            shiboken6.delete(view)
        profile, self._profile = self._profile, None
        if profile is not None:
            shiboken6.delete(profile)

    # What the window does with it

    def current_view(self) -> QWebEngineView | None:
        widget = self._stack.currentWidget()
        return widget if isinstance(widget, QWebEngineView) else None

    def view_of(self, tab: str) -> QWebEngineView | None:
        return self._view(tab)

    def view_rect(self) -> QRect:
        """Return where the current web view lies inside this widget."""
        return QRect(self._stack.mapTo(self, self._stack.rect().topLeft()), self._stack.size())

    def set_handed_over(self, on: bool) -> None:
        """Let the person choose addresses, files and tabs, or take that back."""
        self._handed_over = on
        self._address.setReadOnly(not on)
        policy = Qt.ContextMenuPolicy.DefaultContextMenu if on else Qt.ContextMenuPolicy.NoContextMenu
        for view in self._views():
            view.setContextMenuPolicy(policy)
            self._page(view).handed_over = on
        if on and (view := self.current_view()) is not None:
            view.setFocus(Qt.FocusReason.OtherFocusReason)

    # Inside

    def _views(self) -> list[QWebEngineView]:
        return [self._bar.tabData(index) for index in range(self._bar.count())]

    @staticmethod
    def _page(view: QWebEngineView) -> WebPage:
        page = view.page()
        assert isinstance(page, WebPage)
        return page

    def _view(self, tab: str) -> QWebEngineView | None:
        return next((view for view in self._views() if self._page(view).devToolsId() == tab), None)

    def _close_view(self, view: QWebEngineView) -> None:
        views = self._views()
        if view not in views:
            return
        tab = self._page(view).devToolsId()
        self._bar.removeTab(views.index(view))
        self._stack.removeWidget(view)
        view.deleteLater()
        if self._bar.count() == 0:
            self._add()
        self._announce(BrowserEvent(kind="tab_closed", text="A tab was closed.", tab=tab))
        self._show_address()
        self.view_moved.emit()

    def _drop_all(self) -> None:
        for view in self._views():
            self._stack.removeWidget(view)
            view.setParent(None)
            view.deleteLater()
        while self._bar.count():
            self._bar.removeTab(0)

    @Slot(int)
    def _on_tab_chosen(self, index: int) -> None:
        view = self._bar.tabData(index) if index >= 0 else None
        if isinstance(view, QWebEngineView):
            self._stack.setCurrentWidget(view)
            self._show_address()
            self.view_moved.emit()

    def _set_title(self, view: QWebEngineView, title: str) -> None:
        views = self._views()
        if view in views:
            index = views.index(view)
            self._bar.setTabText(index, title if len(title) < 40 else title[:39] + "…")
            self._bar.setTabToolTip(index, title)

    def _show_address(self) -> None:
        view = self.current_view()
        url = view.url().toString() if view is not None else ""
        self._address.setText("" if url == "about:blank" else url)
        self._address.setCursorPosition(0)

    @Slot(QWebEngineDownloadRequest)
    def _on_download(self, request: QWebEngineDownloadRequest) -> None:
        request.cancel()
        self._announce(
            BrowserEvent(
                kind="download",
                text=f"The page offered the download {request.downloadFileName()}; it was refused.",
                tab=self.current_tab(),
                url=request.url().toString(),
            )
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.view_moved.emit()
