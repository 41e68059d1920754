"""The live page: tabs of web views, the browser strip above them, and which tab is current.

While the agent has the page, the page's questions are answered by rule; while the person has it, they are asked.
"""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QObject,
    QPoint,
    QSize,
    Qt,
    QTimer,
    QUrl,
    Signal,
    Slot,
)
from PySide6.QtWebEngineCore import (
    QWebEngineDownloadRequest,
    QWebEnginePage,
)
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QStackedWidget, QWidget

from core.browser.floods import BrowserEvents, FloodLimit, shortened
from core.browser.host import MOST_TABS
from core.schema.action import Action, GoBack, GoForward, NewTab, TabFocus
from core.schema.events import TabId
from core.schema.viewport import VIEWPORT
from gui.live.device import Device
from gui.live.devtools import DevTools
from gui.live.downloads import Downloads
from gui.live.find_bar import FindBar
from gui.live.leaving import Leaving
from gui.live.memory import SpareMemory
from gui.live.page_menu import page_menu
from gui.live.page_strip import Browse, PageStrip, closed, gone_to
from gui.live.profiles import PageProfiles
from gui.live.question_box import QuestionBox
from gui.live.questions import PageQuestions
from gui.live.web_page import WebPage, WebView
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column
from gui.widgets.remembered import Remembered

_DRAW_MS = 100
"""Minimum time between redraws of titles and addresses, because pages can change them endlessly."""
_MOST_TITLES = 5000
"""How many title changes pages may make in a period: each is reported to all clients of the browser."""
_ZOOMS = (0.25, 0.33, 0.5, 0.67, 0.75, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0)


class PageArea(QWidget):
    """Holds the live tabs of one profile at a time."""

    view_moved = Signal()
    """The current view has moved or changed its scale, or another view is current."""
    said = Signal(str, str)
    """Title and text of a message for the person."""
    browsed = Signal(object)
    """What the person does with the browser buttons, as `Action`s, sent just before it is done."""
    inspected = Signal(object)
    """The view of DevTools to show; None if it was closed."""

    def __init__(
        self, parent: QWidget | None = None, *, accept_dialogs: bool = True, profiles: str = ""
    ) -> None:
        """`profiles` is the folder of the named profiles; by default the user's own."""
        super().__init__(parent)
        self._accept = accept_dialogs
        self.events = BrowserEvents()
        """Events in the pages, for the client that drives them."""
        self._floods = FloodLimit()
        self.leaving = Leaving(self)
        self._addressed = QUrl()
        self._closing: WebView | None = None
        """The tab that the person closes, until its page has agreed."""
        self.zoom = 1.0
        """The page zoom that the person has chosen, while they have the page."""
        self.questions = PageQuestions(self)
        self.devtools = DevTools(self)
        self.find_bar: FindBar | None = None
        self.downloads: Downloads | None = None
        SpareMemory(self)
        self._changed = False
        self._drawing = QTimer(self, singleShot=True, interval=_DRAW_MS)
        self._drawing.timeout.connect(self._draw_names)

        self.strip = PageStrip(self)
        self.strip.address_entered.connect(self._on_address)
        self.strip.refused.connect(lambda why: self.said.emit("That is no address", why))
        self.strip.browsed.connect(self.browse)
        self.strip.left_by_key.connect(self._focus_page)
        self._bar = self.strip.bar
        self._bar.currentChanged.connect(self._on_tab_chosen)
        self._bar.tabCloseRequested.connect(self._on_tab_close)
        self._bar.tabBarClicked.connect(self._on_tab_clicked)
        self._stack = QStackedWidget()
        self._stack.resize(*VIEWPORT)
        self.device = Device(self._stack, self)
        self.device.moved.connect(self.view_moved)
        self._column = in_column(self, self.strip, (self.device, 1), spacing=0)
        self._box = QuestionBox(self.questions, self.device)
        # Created after the stack, because its pages must be deleted before their profiles.
        self.profiles = PageProfiles(profiles, self)
        self.profiles.download_requested.connect(self._on_download)

    def equip(self, theme: Theme, remembered: Remembered) -> None:
        """Set the theme and the settings that are remembered between starts."""
        self.strip.dress(theme)
        self.find_bar = FindBar(theme, self)
        self.find_bar.closed.connect(self._focus_page)
        self._column.insertWidget(1, self.find_bar)
        self.downloads = Downloads(theme, remembered, self)
        self.downloads.changed.connect(self.strip.show_downloads)
        self.downloads.failed.connect(self.said)
        self.strip.downloads_wanted.connect(self.show_downloads)

    # Used by the host, in the GUI thread

    def open_profile(self, name: str | None, viewport: tuple[int, int] = VIEWPORT) -> str:
        """Drop all tabs and open one empty tab in a clean profile, or in the named one; return its id.

        Its pages have a viewport of this width and height. Raises UsageError for a name that cannot be used.
        """
        profile = self.profiles.get(name)
        self._drop_all()
        self.device.set_page_size(QSize(*viewport))
        self._floods.forget()
        self.profiles.use(profile)
        return self.open_tab()

    def open_tab(self) -> str:
        page = self._add()
        page.load(QUrl("about:blank"))
        return page.devToolsId()

    def _add(self, place: int | None = None) -> WebPage:
        assert self.profiles.current is not None
        view = WebView(self.questions, self._stack, self.window)
        self._set_menu_policy(view)
        view.customContextMenuRequested.connect(partial(self._on_menu, view))
        view.zoom_turned.connect(lambda by: self._set_zoom(self.zoom * by))
        view.browsed.connect(self.browse)
        page = WebPage(
            self.profiles.current,
            view,
            accept_dialogs=self._accept,
            events=self.events,
            questions=self.questions,
            may_open_tab=lambda: self._floods.admits("tab", MOST_TABS),
            open_tab=self._add,
        )
        view.setPage(page)
        page.said.connect(self.said)
        page.stayed.connect(lambda: setattr(self, "_closing", None))
        page.titleChanged.connect(lambda: self._on_title(page))
        for changed in (page.urlChanged, page.loadStarted, page.loadFinished):
            changed.connect(self._draw_soon)
        # The engine keeps a zoom factor per server; here the area has one.
        page.urlChanged.connect(lambda: self._keep_zoom(page))
        page.zoomFactorChanged.connect(lambda: self._keep_zoom(page))
        page.windowCloseRequested.connect(lambda: self._on_close_requested(view))
        self._stack.addWidget(view)
        index = self._bar.insertTab(self._bar.count() if place is None else place, "New tab")
        self._bar.setTabData(index, view)
        self._bar.setCurrentIndex(index)
        self._stack.setCurrentWidget(view)
        self._on_current()
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
        """Replace a tab that can still be shown but no longer driven by an empty tab; return its id."""
        view = self.view_of(tab)
        if view is None:
            return self.open_tab()
        page = self._add(self._views().index(view))
        page.load(QUrl("about:blank"))
        self._close_view(view)
        return page.devToolsId()

    def renderer_of(self, tab: str) -> int:
        """Return the process id of a tab's renderer, or 0 if it has none."""
        view = self.view_of(tab)
        return self._page(view).renderProcessPid() if view is not None else 0

    def close_pages(self) -> None:
        """Delete all pages and then their profiles immediately: when the program exits, no event loop runs."""
        going: list[QObject] = [*self.devtools.close(), *self._drop_all()]
        going.extend(self.profiles.close())
        for one in going:
            QCoreApplication.sendPostedEvents(one, QEvent.Type.DeferredDelete.value)

    # Used by the window

    def current_view(self) -> WebView | None:
        widget = self._stack.currentWidget()
        return widget if isinstance(widget, WebView) else None

    def page_scale(self) -> float:
        """Return the number of this widget's pixels per CSS pixel of the page."""
        return self.device.drawn_scale * self.zoom

    def set_handed_over(self, on: bool) -> None:
        """Let the person use the page and the controls around it, or block them again."""
        had, self.questions.person_has_page = self.questions.person_has_page, on
        self.strip.set_handed_over(on)
        for view in self._views():
            self._set_menu_policy(view)
        if on:
            self._focus_page()
        elif had:
            self.questions.end()
            for view in self._views():
                view.refuse_dialogs()
            self.close_search()
            if self.zoom != 1.0:
                self._set_zoom(1.0)
                self.said.emit("The page is at 100 % again", "The agent reads and clicks it at that size.")

    def browse(self, what: Browse) -> None:
        """Run the action of a browser button in the current tab."""
        view = self.current_view()
        if view is None:
            return
        actions = QWebEnginePage.WebAction
        match what:
            case "back" if view.history().canGoBack():
                self._leave(view, (GoBack(),), lambda: view.triggerPageAction(actions.Back))
            case "forward" if view.history().canGoForward():
                self._leave(view, (GoForward(),), lambda: view.triggerPageAction(actions.Forward))
            case "reload":
                self._leave(view, gone_to(view.url()), lambda: view.triggerPageAction(actions.Reload))
            case "stop":
                view.triggerPageAction(actions.Stop)
            case "zoom_in":
                self._set_zoom(next((one for one in _ZOOMS if one > self.zoom + 0.001), _ZOOMS[-1]))
            case "zoom_out":
                self._set_zoom(next((one for one in reversed(_ZOOMS) if one < self.zoom - 0.001), _ZOOMS[0]))
            case "zoom_reset":
                self._set_zoom(1.0)

    def search(self) -> None:
        """Open the find bar."""
        view = self.current_view()
        if view is not None and self.find_bar is not None:
            self.find_bar.open_in(view.page())

    def close_search(self) -> None:
        """Close the find bar."""
        if self.find_bar is not None:
            self.find_bar.close_search()

    def show_downloads(self) -> None:
        if self.downloads is not None:
            self.downloads.open_list(self.strip)

    def inspect(self, *, at_element: bool = False) -> str:
        """Open DevTools on the current tab; return why that is not possible, or an empty string."""
        view = self.current_view()
        if view is None:
            return "No page is open: choose a task (Ctrl+N)."
        self.inspected.emit(self.devtools.open(view.page(), at_element=at_element))
        return ""

    def close_devtools(self) -> None:
        self.devtools.close()
        self.inspected.emit(None)

    # Internal

    def _views(self) -> list[WebView]:
        return [self._bar.tabData(index) for index in range(self._bar.count())]

    @staticmethod
    def _page(view: QWebEngineView) -> WebPage:
        page = view.page()
        assert isinstance(page, WebPage)
        return page

    def view_of(self, tab: str) -> WebView | None:
        return next((view for view in self._views() if self._page(view).devToolsId() == tab), None)

    def _leave(self, view: WebView, actions: tuple[Action, ...], leave: Callable[[], object]) -> None:
        """Leave the page of a tab as the person wants, once what they did there is recorded."""

        def now() -> None:
            if view in self._views():
                self.browsed.emit(actions)
                leave()

        self.leaving.then(now)

    def _on_close_requested(self, view: WebView) -> None:
        tab = self._page(view).devToolsId()
        by_person, self._closing = view is self._closing, None
        if by_person:
            self.browsed.emit(closed(self._bar, self._views().index(view)))
        self._close_view(view)
        by = "the person" if by_person else "its page"
        self.events.tell("tab_closed", f"A tab was closed by {by}.", lambda: (tab, ""))

    @Slot(int)
    def _on_tab_close(self, index: int) -> None:
        view = self._bar.tabData(index)

        def close() -> None:
            if view in self._views():
                self._closing = view
                # A page may ask whether to leave it.
                self._page(view).triggerAction(QWebEnginePage.WebAction.RequestClose)

        self.leaving.then(close)

    def _focus_page(self) -> None:
        if (view := self.current_view()) is not None:
            self.device.setFocus(Qt.FocusReason.OtherFocusReason)
            view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _set_menu_policy(self, view: WebView) -> None:
        policies = Qt.ContextMenuPolicy
        on = self.questions.person_has_page
        view.setContextMenuPolicy(policies.CustomContextMenu if on else policies.NoContextMenu)

    def _on_menu(self, view: WebView, place: QPoint) -> None:
        request = view.lastContextMenuRequest()
        if request is None:
            return
        menu = page_menu(
            view.page(),
            request,
            self,
            browse=self.browse,
            open_tab=self._open_in_tab,
            save_as=partial(self._save_as, view.page()),
            inspect=lambda: self.inspect(at_element=True),
        )
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(view.mapToGlobal(place))  # A menu with its own event loop would block the engine.

    def _save_as(self, page: QWebEnginePage, url: QUrl, action: QWebEnginePage.WebAction) -> None:
        if self.downloads is not None:
            self.downloads.save_as(page, url, action)

    def _open_in_tab(self, url: QUrl) -> None:
        self.browsed.emit((NewTab(), *gone_to(url)))
        self._add().load(url)

    def _set_zoom(self, factor: float) -> None:
        factor = min(max(factor, _ZOOMS[0]), _ZOOMS[-1])
        self.zoom = 1.0 if abs(factor - 1) < 0.03 else factor
        self.strip.show_zoom(self.zoom)
        for view in self._views():
            self._keep_zoom(self._page(view))
        self.view_moved.emit()

    def _keep_zoom(self, page: WebPage) -> None:
        if abs(page.zoomFactor() - self.zoom) > 0.001:
            page.setZoomFactor(self.zoom)

    def _close_view(self, view: WebView) -> None:
        views = self._views()
        if view not in views:
            return
        self._bar.removeTab(views.index(view))
        self._stack.removeWidget(view)
        view.deleteLater()
        if self._bar.count() == 0:
            self.open_tab()
        self._on_current()

    def _drop_all(self) -> list[WebView]:
        views = self._views()
        self.questions.end()
        self.devtools.move_to(None)
        self.close_search()
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
        if isinstance(view, WebView):
            self._stack.setCurrentWidget(view)
            self._on_current()

    @Slot(int)
    def _on_tab_clicked(self, index: int) -> None:
        if self.questions.person_has_page and index not in (-1, self._bar.currentIndex()):
            self.browsed.emit((TabFocus(index=index),))

    def _on_current(self) -> None:
        """Show what belongs to the tab that is now current."""
        self._show_address()
        view = self.current_view()
        page = view.page() if view is not None else None
        self.devtools.move_to(page)
        if self.find_bar is not None:
            self.find_bar.move_to(page)
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
        """Show the current titles and address if they have changed since the last time."""
        if not self._changed:
            return
        self._changed = False
        self._drawing.start()
        for index, view in enumerate(self._views()):
            self.strip.name_tab(index, view.title())
        current = self.current_view()
        if current is not None and current.url() != self._addressed:
            self._show_address()
        self._show_history()

    def _show_address(self) -> None:
        view = self.current_view()
        self._addressed = view.url() if view is not None else QUrl()
        self.strip.show_url(self._addressed)
        self._show_history()

    def _show_history(self) -> None:
        if (view := self.current_view()) is not None:
            history = view.history()
            loading = view.page().isLoading()
            self.strip.show_history(back=history.canGoBack(), forward=history.canGoForward(), loading=loading)

    @Slot(QUrl)
    def _on_address(self, url: QUrl) -> None:
        if (view := self.current_view()) is not None:
            self._leave(view, gone_to(url), lambda: view.load(url))

    @Slot(QWebEngineDownloadRequest)
    def _on_download(self, request: QWebEngineDownloadRequest) -> None:
        name = shortened(request.downloadFileName())
        by_person = self.questions.person_has_page and self.downloads is not None

        def place() -> tuple[TabId, str]:
            page = request.page()
            return page.devToolsId() if page is not None else self.current_tab(), request.url().toString()

        taken = by_person and self.downloads is not None and self.downloads.take(request)
        done = "the person took it" if taken else "it could not be saved" if by_person else "it was refused"
        self.events.tell("download", f"The page offered the download {name}; {done}.", place)
        if not by_person:
            request.cancel()
