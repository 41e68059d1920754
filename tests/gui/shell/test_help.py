"""The documentation window: pages, links, headings, pictures, search."""

import pkgutil
from importlib import import_module

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QWidget

import gui
from gui.shell.docks import PANELS
from gui.shell.help import DOCS, SECTIONS, HelpWindow, KeysDialog, section_for
from gui.shell.main_window import MainWindow
from tests.test_documentation import anchors_of

IMAGE = QTextDocument.ResourceType.ImageResource.value


@pytest.fixture
def docs(qtbot, theme):
    docs = HelpWindow(theme)
    qtbot.addWidget(docs)
    docs.show()
    qtbot.waitExposed(docs)
    return docs


def test_the_documentation_opens_at_its_contents_and_once_only(window: MainWindow, qtbot):
    window.actions_by_name["docs"].trigger()
    window.actions_by_name["docs"].trigger()
    (shown,) = window.findChildren(HelpWindow)
    assert shown.isVisible()
    assert shown.windowTitle() == "Backstep documentation – Backstep"


def in_view(help: HelpWindow) -> str:
    """Return the first heading that is shown."""
    pages = help.pages
    block = pages.cursorForPosition(pages.viewport().rect().topLeft()).block()
    while block.isValid() and not block.blockFormat().headingLevel():
        block = block.next()
    return block.text()


def test_f1_in_a_panel_opens_the_heading_with_its_name_again_after_the_page_was_scrolled(
    window: MainWindow, qtbot
):
    for name in (*(place.name for place in PANELS), "State"):
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        window.docks.go_to(name)
        window.actions_by_name["help"].trigger()
        (shown,) = window.findChildren(HelpWindow)
        assert (shown.windowTitle(), in_view(shown)) == ("The window – Backstep", name)
    shown.pages.verticalScrollBar().setValue(0)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.actions_by_name["help"].trigger()
    assert in_view(shown) == "State"


def test_f1_in_a_modal_dialog_opens_its_page_over_the_dialog(window: MainWindow, qtbot):
    window.actions_by_name["keys"].trigger()
    (dialog,) = window.findChildren(KeysDialog)
    qtbot.waitUntil(dialog.isActiveWindow)
    QTest.keyClick(dialog, Qt.Key.Key_F1)
    qtbot.waitUntil(lambda: bool(dialog.findChildren(HelpWindow)))
    (shown,) = dialog.findChildren(HelpWindow)
    assert shown.windowTitle() == "The window – Backstep"


def dialogs_of(kind: type[QWidget]) -> set[type[QWidget]]:
    """Return all classes below one."""
    below = set(kind.__subclasses__())
    return below.union(*(dialogs_of(one) for one in kind.__subclasses__()))


def test_each_dialog_and_window_has_a_section():
    for module in pkgutil.walk_packages(gui.__path__, "gui."):
        import_module(module.name)
    ours = {kind for kind in dialogs_of(QDialog) if kind.__module__.startswith("gui.")}
    without = {kind.__name__ for kind in ours if not section_for(kind)}
    assert without == {"HelpWindow", "WatchedWindow"}, "Add it to SECTIONS in gui/shell/help.py"


def test_each_section_is_a_heading_of_the_documentation():
    for section in set(SECTIONS.values()):
        page, _, anchor = section.partition("#")
        assert (DOCS / page).exists(), section
        assert not anchor or anchor in anchors_of(DOCS / page), section


def test_a_link_leads_to_another_page_and_back(docs: HelpWindow, qtbot):
    qtbot.waitUntil(docs.isActiveWindow)
    docs.pages.open_link(QUrl("debugging.md"))
    assert docs.windowTitle() == "Debugging – Backstep"
    QTest.keyClick(docs, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: docs.windowTitle() == "Backstep documentation – Backstep")


def test_a_link_to_a_heading_leads_to_that_heading(docs: HelpWindow):
    docs.pages.open_link(QUrl("debugging.md#go-back-on-a-branch"))
    at = docs.pages.cursorForPosition(docs.pages.viewport().rect().topLeft()).block()
    assert docs.pages.verticalScrollBar().value() > 0
    assert "Go back on a branch" in (at.text(), at.next().text())


def test_an_address_on_the_web_is_handed_to_the_system(docs: HelpWindow, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url) or True)
    docs.pages.open_link(QUrl("https://example.org/"))
    assert opened == [QUrl("https://example.org/")]
    assert docs.windowTitle() == "Backstep documentation – Backstep"


def test_an_address_that_no_program_opens_is_shown(docs: HelpWindow, monkeypatch):
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: False)
    docs.pages.open_link(QUrl("https://example.org/"))
    assert docs.problem.isVisible()
    assert "https://example.org/" in docs.problem.text()
    docs.pages.open_link(QUrl("tasks.md"))
    assert not docs.problem.isVisible()


def test_a_picture_is_no_wider_than_the_page(docs: HelpWindow):
    docs.pages.open_link(QUrl("getting-started.md"))
    picture = docs.pages.loadResource(IMAGE, QUrl("../pictures/recorded-dark.png"))
    assert 0 < picture.width() <= docs.pages.viewport().width()


def test_words_are_found_and_after_the_last_match_the_first(docs: HelpWindow):
    docs.search.setText("documentation")
    QTest.keyClick(docs.search, Qt.Key.Key_Return)
    first = docs.pages.textCursor().position()
    assert docs.pages.textCursor().selectedText() == "documentation"
    QTest.keyClick(docs.search, Qt.Key.Key_Return)
    assert docs.pages.textCursor().position() == first


def test_a_change_of_the_theme_keeps_the_page(docs: HelpWindow, theme):
    docs.pages.open_link(QUrl("tasks.md"))
    theme.choose("dark")
    assert docs.windowTitle() == "Tasks – Backstep"
