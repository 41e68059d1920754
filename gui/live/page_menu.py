"""The context menu of the live page while the person has the page."""

from collections.abc import Callable

from PySide6.QtCore import QUrl
from PySide6.QtWebEngineCore import QWebEngineContextMenuRequest, QWebEnginePage
from PySide6.QtWidgets import QMenu, QWidget

from gui.live.page_strip import Browse
from gui.widgets.copying import to_clipboard

_Action = QWebEnginePage.WebAction
_Edit = QWebEngineContextMenuRequest.EditFlag


def page_menu(
    page: QWebEnginePage,
    request: QWebEngineContextMenuRequest,
    parent: QWidget,
    *,
    browse: Callable[[Browse], object],
    open_tab: Callable[[QUrl], object],
    save_as: Callable[[QUrl, QWebEnginePage.WebAction], object],
    inspect: Callable[[], object],
) -> QMenu:
    """Return the menu for the element under the pointer."""
    menu = QMenu("Page", parent)
    menu.setToolTipsVisible(True)

    def add(text: str, do: Callable[[], object], *, enabled: bool = True) -> None:
        entry = menu.addAction(text)
        entry.setEnabled(enabled)
        entry.triggered.connect(lambda: do())

    link, media = request.linkUrl(), request.mediaUrl()
    picture = request.mediaType() == QWebEngineContextMenuRequest.MediaType.MediaTypeImage
    history = page.history()
    if link.isValid() and not link.isEmpty():
        add("Open link in new &tab", lambda: open_tab(link))
        add("&Save link as…", lambda: save_as(link, _Action.DownloadLinkToDisk))
        add("Copy &link address", lambda: _copy(link))
        menu.addSeparator()
    if picture and media.isValid() and not media.isEmpty():
        add("Open &image in new tab", lambda: open_tab(media))
        add("Sa&ve image as…", lambda: save_as(media, _Action.DownloadImageToDisk))
        add("Copy image address", lambda: _copy(media))
        menu.addSeparator()
    flags = request.editFlags()
    if request.isContentEditable():
        add("&Undo", lambda: page.triggerAction(_Action.Undo), enabled=bool(flags & _Edit.CanUndo))
        add("Re&do", lambda: page.triggerAction(_Action.Redo), enabled=bool(flags & _Edit.CanRedo))
        add("Cu&t", lambda: page.triggerAction(_Action.Cut), enabled=bool(flags & _Edit.CanCut))
    if request.isContentEditable() or request.selectedText():
        add("&Copy", lambda: page.triggerAction(_Action.Copy), enabled=bool(request.selectedText()))
    if request.isContentEditable():
        add("&Paste", lambda: page.triggerAction(_Action.Paste), enabled=bool(flags & _Edit.CanPaste))
    add("Select &all", lambda: page.triggerAction(_Action.SelectAll))
    menu.addSeparator()
    add("&Back", lambda: browse("back"), enabled=history.canGoBack())
    add("&Forward", lambda: browse("forward"), enabled=history.canGoForward())
    add("&Reload", lambda: browse("reload"))
    menu.addSeparator()
    add("&Inspect", inspect)
    return menu


def _copy(url: QUrl) -> None:
    to_clipboard([url.toString(QUrl.ComponentFormattingOption.FullyEncoded)])
