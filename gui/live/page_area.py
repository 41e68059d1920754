"""The live page: tabs of web views, an address line, and which of them is current.

What a page asks never opens a box of Qt's own: dialogs, popups, downloads and errors are answered by rule.
"""

from collections.abc import Callable

from PySide6.QtCore import (
    QChildEvent,
    QCoreApplication,
    QEvent,
    QObject,
    QRect,
    QStandardPaths,
    Qt,
    QTimer,
    QUrl,
    Signal,
    Slot,
)
from PySide6.QtGui import QHelpEvent, QResizeEvent
from PySide6.QtWebEngineCore import (
    QWebEngineCertificateError,
    QWebEngineDownloadRequest,
    QWebEnginePage,
    QWebEnginePermission,
    QWebEngineProfile,
    QWebEngineSettings,
)
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QColorDialog, QStackedWidget, QToolTip, QWidget

from core.browser.floods import BrowserEvents, FloodLimit, shortened
from core.browser.host import MOST_TABS, end_process, profile_folder
from core.schema.events import BrowserEventKind, TabId
from gui.live.memory import SpareMemory
from gui.live.page_strip import MOST_OF_A_TIP, PageStrip
from gui.widgets.layouts import in_column

LEAVING = "Are you sure you want to leave this page? Changes that you made may not be saved."
_DRAW_MS = 100
"""Titles and addresses are drawn at most so often: pages change them without end."""
_MOST_TITLES = 5000
"""How often pages may change their titles in a while: each change is told to all who follow the browser."""


class WebPage(QWebEnginePage):
    """Answers what a page asks by rule and announces each answer."""

    def __init__(
        self,
        profile: QWebEngineProfile,
        parent: QObject,
        *,
        accept_dialogs: bool,
        events: BrowserEvents,
        may_open_tab: Callable[[], bool],
        open_tab: Callable[[], "WebPage"],
    ) -> None:
        super().__init__(profile, parent)
        self._accept = accept_dialogs
        self._events = events
        self._may_open_tab = may_open_tab
        self._open_tab = open_tab
        self.handed_over = False
        self._ended = 0
        """The renderer that was ended last."""
        self._leaving = QCoreApplication.translate("QWebEnginePage", LEAVING)
        self.certificateError.connect(self._on_certificate_error)
        self.renderProcessTerminated.connect(self._on_terminated)
        self.permissionRequested.connect(self._on_permission)

    def tell(self, kind: BrowserEventKind, text: str) -> bool:
        """Tell of an event; returns whether it was told, or only counted."""
        return self._events.tell(kind, text, self._place)

    def end(self, kind: BrowserEventKind, why: str) -> None:
        """End the renderer of a page that takes more than it can be given, and tell why."""
        process = self.renderProcessPid()
        # What the page has asked for before still comes.
        if process and process != self._ended and end_process(process):
            self._ended = process
            self.tell(kind, f"{why}; its renderer was ended.")

    def _place(self) -> tuple[TabId, str]:
        return self.devToolsId(), self.url().toString()

    def _asked(self, kind: str, message: str, accepted: bool) -> None:
        self.tell(
            "dialog",
            f'The page asked ({kind}): "{shortened(message)}"; it was {"accepted" if accepted else "dismissed"}.',
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

    def chooseFiles(self, mode: QWebEnginePage.FileSelectionMode, old, accepted):  # type: ignore[no-untyped-def]
        if self.handed_over:
            return super().chooseFiles(mode, old, accepted)
        self.tell("dialog", "The page asked for a file; none was chosen: use the upload action.")
        return []

    def createWindow(self, kind: QWebEnginePage.WebWindowType) -> QWebEnginePage | None:  # type: ignore[override]
        if not self._may_open_tab():
            # Playwright waits for each new page: to refuse one would leave its opener standing still.
            self.end("popup", "The page asked for new tabs without end")
            return None
        self.tell("popup", "The page opened a new tab.")
        return self._open_tab()

    def _on_certificate_error(self, error: QWebEngineCertificateError) -> None:
        error.rejectCertificate()
        if not error.isMainFrame():  # A document that fails is reported by whoever drives the page.
            self.tell(
                "certificate",
                f"The certificate of {shortened(error.url().host())} was refused: {error.description()}",
            )

    def _on_terminated(self, status: QWebEnginePage.RenderProcessTerminationStatus, code: int) -> None:
        if status == QWebEnginePage.RenderProcessTerminationStatus.NormalTerminationStatus:
            return
        self.tell("crash", f"The page's renderer ended ({status.name}, code {code}).")

    def _on_permission(self, permission: QWebEnginePermission) -> None:
        permission.deny()
        self.tell("dialog", f"The page asked for {permission.permissionType().name}; it was refused.")


class WebView(QWebEngineView):
    """Refuses what the engine would open over the agent's page for a person to answer: a colour picker.

    What elements say in tool tips is shown as any tool tip is, without what is too long for one.
    """

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), shortened(self.toolTip(), MOST_OF_A_TIP), self)
            return True
        return super().event(event)

    def childEvent(self, event: QChildEvent) -> None:
        super().childEvent(event)
        if event.added():
            # It is only about to become a dialog.
            QTimer.singleShot(0, self, self.refuse_colours)

    def refuse_colours(self) -> None:
        """Close colour pickers, unless the page is the person's."""
        page = self.page()
        if not isinstance(page, WebPage) or page.handed_over:
            return
        for dialog in self.findChildren(QColorDialog):
            dialog.reject()
            page.tell("dialog", "The page asked for a colour; none was chosen: fill in the field.")


class PageArea(QWidget):
    """Holds the live tabs of one profile at a time."""

    view_moved = Signal()
    """The current view lies elsewhere, or another one is current."""

    def __init__(
        self, parent: QWidget | None = None, *, accept_dialogs: bool = True, profiles: str = ""
    ) -> None:
        super().__init__(parent)
        self._accept = accept_dialogs
        data = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation)
        self.profiles = profiles or f"{data}/profiles"
        """The folder of the named profiles."""
        self._profile: QWebEngineProfile | None = None
        self._kept: dict[str, QWebEngineProfile] = {}
        self.events = BrowserEvents()
        """What happens in the pages, for whoever drives them."""
        self._floods = FloodLimit()
        self._handed_over = False
        self._addressed = QUrl()
        SpareMemory(self)
        self._changed = False
        self._drawing = QTimer(self, singleShot=True, interval=_DRAW_MS)
        self._drawing.timeout.connect(self._draw_names)

        self._strip = PageStrip(self)
        self._strip.address_entered.connect(self._on_address)
        self._bar = self._strip.bar
        self._bar.currentChanged.connect(self._on_tab_chosen)
        self._stack = QStackedWidget(self)
        in_column(self, self._strip, (self._stack, 1), spacing=0)

    # What the host does with it, in the GUI thread

    def open_profile(self, name: str | None) -> str:
        """Drop all tabs and begin with one empty tab in a clean profile, or the named one; returns its id.

        Raises UsageError for a name that cannot be used.
        """
        profile = self._named(name) if name else QWebEngineProfile(self)
        self._drop_all()
        self._floods.forget()
        old, self._profile = self._profile, profile
        # A link to a program such as mail would start it, outside the window.
        unknown = QWebEngineSettings.UnknownUrlSchemePolicy.DisallowUnknownUrlSchemes
        profile.settings().setUnknownUrlSchemePolicy(unknown)
        if old is not profile:
            profile.downloadRequested.connect(self._on_download)
            self._let_go(old)
        return self.open_tab()

    def _named(self, name: str) -> QWebEngineProfile:
        # The engine wants one profile object a folder: it is kept until the end.
        if name not in self._kept:
            folder = str(profile_folder(self.profiles, name))
            profile = QWebEngineProfile(name, self)
            profile.setPersistentStoragePath(folder)
            profile.setCachePath(f"{folder}/cache")
            profile.setPersistentCookiesPolicy(
                QWebEngineProfile.PersistentCookiesPolicy.ForcePersistentCookies
            )
            self._kept[name] = profile
        return self._kept[name]

    def _let_go(self, profile: QWebEngineProfile | None) -> None:
        if profile is None:
            return
        profile.downloadRequested.disconnect(self._on_download)
        if profile not in self._kept.values():
            profile.deleteLater()

    def open_tab(self) -> str:
        page = self._add()
        page.load(QUrl("about:blank"))
        return page.devToolsId()

    def _add(self, place: int | None = None) -> WebPage:
        assert self._profile is not None
        view = WebView(self._stack)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        page = WebPage(
            self._profile,
            view,
            accept_dialogs=self._accept,
            events=self.events,
            may_open_tab=lambda: self._floods.admits("tab", MOST_TABS),
            open_tab=self._add,
        )
        page.handed_over = self._handed_over
        view.setPage(page)
        page.titleChanged.connect(lambda: self._on_title(page))
        page.urlChanged.connect(self._draw_soon)
        page.windowCloseRequested.connect(lambda: self._on_close_requested(view))
        self._stack.addWidget(view)
        index = self._bar.insertTab(self._bar.count() if place is None else place, "New tab")
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
        view = self.view_of(tab)
        if view is not None:
            self._bar.setCurrentIndex(self._views().index(view))

    def close_tab(self, tab: str) -> None:
        view = self.view_of(tab)
        if view is not None:
            self._close_view(view)

    def replace_tab(self, tab: str) -> str:
        """Put an empty tab in the place of one that can be shown but not driven any more; returns its id."""
        view = self.view_of(tab)
        if view is None:
            return self.open_tab()
        page = self._add(self._views().index(view))
        page.load(QUrl("about:blank"))
        self._close_view(view)
        return page.devToolsId()

    def renderer_of(self, tab: str) -> int:
        """Return the process id of the renderer of a tab, or 0 where it has none."""
        view = self.view_of(tab)
        return self._page(view).renderProcessPid() if view is not None else 0

    def close_pages(self) -> None:
        """Let go of all pages and then of their profiles, at once: at the end of the program no loop runs."""
        going: list[QObject] = list(self._drop_all())
        profiles = {*self._kept.values(), *([self._profile] if self._profile is not None else [])}
        self._profile = None
        self._kept.clear()
        going.extend(profiles)
        for profile in profiles:
            profile.deleteLater()
        for one in going:
            QCoreApplication.sendPostedEvents(one, QEvent.Type.DeferredDelete.value)

    # What the window does with it

    def current_view(self) -> QWebEngineView | None:
        widget = self._stack.currentWidget()
        return widget if isinstance(widget, QWebEngineView) else None

    def view_rect(self) -> QRect:
        """Return where the current web view lies inside this widget."""
        return QRect(self._stack.mapTo(self, self._stack.rect().topLeft()), self._stack.size())

    def page_scale(self) -> float:
        """Return how many pixels of this widget a CSS pixel of the page has."""
        return 1.0

    def set_handed_over(self, on: bool) -> None:
        """Let the person choose addresses, files and tabs, or take that back."""
        self._handed_over = on
        self._strip.set_handed_over(on)
        policy = Qt.ContextMenuPolicy.DefaultContextMenu if on else Qt.ContextMenuPolicy.NoContextMenu
        for view in self._views():
            view.setContextMenuPolicy(policy)
            self._page(view).handed_over = on
            view.refuse_colours()
        if on and (current := self.current_view()) is not None:
            current.setFocus(Qt.FocusReason.OtherFocusReason)

    # Inside

    def _views(self) -> list[WebView]:
        return [self._bar.tabData(index) for index in range(self._bar.count())]

    @staticmethod
    def _page(view: QWebEngineView) -> WebPage:
        page = view.page()
        assert isinstance(page, WebPage)
        return page

    def view_of(self, tab: str) -> WebView | None:
        return next((view for view in self._views() if self._page(view).devToolsId() == tab), None)

    def _on_close_requested(self, view: QWebEngineView) -> None:
        tab = self._page(view).devToolsId()
        self._close_view(view)
        self.events.tell("tab_closed", "A tab was closed by its page.", lambda: (tab, ""))

    def _close_view(self, view: QWebEngineView) -> None:
        views = self._views()
        if view not in views:
            return
        self._bar.removeTab(views.index(view))
        self._stack.removeWidget(view)
        view.deleteLater()
        if self._bar.count() == 0:
            self.open_tab()
        self._show_address()
        self.view_moved.emit()

    def _drop_all(self) -> list[WebView]:
        views = self._views()
        self._bar.blockSignals(True)
        while self._bar.count():
            self._bar.removeTab(0)
        self._bar.blockSignals(False)
        for view in views:
            self._stack.removeWidget(view)
            view.setParent(None)
            view.deleteLater()
        return views

    @Slot(int)
    def _on_tab_chosen(self, index: int) -> None:
        view = self._bar.tabData(index) if index >= 0 else None
        if isinstance(view, QWebEngineView):
            self._stack.setCurrentWidget(view)
            self._show_address()
            self.view_moved.emit()

    def _on_title(self, page: WebPage) -> None:
        if self._floods.admits("title", _MOST_TITLES):
            self._draw_soon()
        else:
            page.end("hang", "The page changed its title without end")

    @Slot()
    def _draw_soon(self) -> None:
        self._changed = True
        if not self._drawing.isActive():
            self._draw_names()

    @Slot()
    def _draw_names(self) -> None:
        """Show the titles and the address as they are now, where they have changed since the last time."""
        if not self._changed:
            return
        self._changed = False
        self._drawing.start()
        for index, view in enumerate(self._views()):
            self._strip.name_tab(index, view.title())
        current = self.current_view()
        if current is not None and current.url() != self._addressed:
            self._show_address()

    def _show_address(self) -> None:
        view = self.current_view()
        self._addressed = view.url() if view is not None else QUrl()
        self._strip.show_url(self._addressed)

    @Slot(QUrl)
    def _on_address(self, url: QUrl) -> None:
        if (view := self.current_view()) is not None:
            view.load(url)

    @Slot(QWebEngineDownloadRequest)
    def _on_download(self, request: QWebEngineDownloadRequest) -> None:
        request.cancel()
        name = shortened(request.downloadFileName())

        def place() -> tuple[TabId, str]:
            page = request.page()
            return page.devToolsId() if page is not None else self.current_tab(), request.url().toString()

        self.events.tell("download", f"The page offered the download {name}; it was refused.", place)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.view_moved.emit()
