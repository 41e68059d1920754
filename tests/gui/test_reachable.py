"""Every window can be used without a mouse and without eyes: menus of rows, names, focus and the order of Tab."""

import importlib
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSettings, QSize, Qt
from PySide6.QtGui import QAccessible, QContextMenuEvent, QFont, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QGraphicsView,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QSlider,
    QTabBar,
    QTableView,
    QTextEdit,
    QWidget,
)

from gui.theme.theme import TEXT_SIZES
from gui.widgets.item_views import RowMenu
from tests.gui.look.analyses import Bench
from tests.gui.look.judging import is_unplaced
from tests.gui.look.studio import Studio

STAGES = (
    "main_window.review",
    "main_window.recorded",
    "main_window.answering",
    "panels.plan_edited",
    "panels.state",
    "panels.exemplar_read",
    "panels.breakpoints",
    "dialogs.welcome",
    "dialogs.chooser",
    "dialogs.task_files",
    "dialogs.settings",
    "dialogs.keys",
    "dialogs.editor",
    "dialogs.origin",
    "editing.editor",
    "editor.editor_versions",
    "library.library_versions",
    "library.library_import",
    "library.library_export",
    "saving.saving",
    "saving.recording",
    "branching.fork",
    "ask_again.ask_again",
    "ask_again.compare",
    "attach.attach_running",
    "evaluations.evaluations",
    "evaluations.evaluations_new",
    "evaluations.evaluations_failures",
    "evaluations.evaluations_ask_bisect",
    "evaluations.evaluations_ask_worth",
    "palette.palette_found",
    "analyses",
)
SIZE = QSize(1280, 800)
INTERACTIVE = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QGraphicsView,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    QTextEdit,
)


class QuickStudio(Studio):
    """Waits no longer for what is drawn than a test has to."""

    def settle(self) -> None:
        end = time.process_time() + 0.03  # Of this process, as there.
        while time.process_time() < end:
            self.application.processEvents()


@pytest.fixture(scope="module", params=STAGES)
def shown(request, qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A window with sample data, as it is drawn to be looked at."""
    folder = tmp_path_factory.mktemp("shown")
    settings = QSettings(str(folder / "look.ini"), QSettings.Format.IniFormat)
    settings.setValue("theme", "light")
    if request.param == "analyses":
        yield from _analyses(folder, settings)
        return
    module, _, stage = request.param.partition(".")
    studio = QuickStudio(qapp, settings, SIZE)
    found = getattr(importlib.import_module(f"tests.gui.look.{module}"), stage)(studio)
    for _ in range(5):
        qapp.processEvents()
    window = found or studio.window
    yield SimpleNamespace(window=window, studio=studio)
    studio.window.close()
    for kept in getattr(studio, "kept", ()):
        if hasattr(kept, "close") and not isinstance(kept, QWidget):
            kept.close()
    studio.window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _analyses(folder: Path, settings: QSettings) -> Iterator[SimpleNamespace]:
    """The pages of the library's window that analyse it."""
    bench = Bench(folder, settings, SIZE)
    yield SimpleNamespace(window=bench.tabs, studio=SimpleNamespace(window=bench.window))
    bench.settle()
    bench.memory.close()
    bench.loop.close()
    bench.tabs.close()
    bench.tabs.deleteLater()
    bench.window.deleteLater()


def inside(window: QWidget, kind: type | tuple[type, ...]) -> list[QWidget]:
    """Return the widgets of a window that can be seen once their tab or panel is in front."""
    return [
        one
        for one in window.findChildren(QWidget)
        if isinstance(one, kind) and one.window() is window.window() and _belongs(one, window)
    ]


def _belongs(widget: QWidget, window: QWidget) -> bool:
    """Return whether a widget is the window's own, and no part of another one that people use."""
    above = widget.parentWidget()
    while above is not None and above is not window:
        if isinstance(above, QComboBox | QAbstractSpinBox | QHeaderView | QTabBar) or (
            isinstance(above, QLineEdit | QAbstractItemView) and not isinstance(widget, QLineEdit)
        ):
            return False
        if above.isWindow() and above.windowType() in (Qt.WindowType.Popup, Qt.WindowType.ToolTip):
            return False
        above = above.parentWidget()
    return not (widget.isWindow() and widget.windowType() in (Qt.WindowType.Popup, Qt.WindowType.ToolTip))


def described(widget: QWidget) -> str:
    above = [widget]
    while (parent := above[-1].parentWidget()) is not None:
        above.append(parent)
    names = (f"{type(one).__name__}[{one.objectName() or one.accessibleName()}]" for one in above[:4])
    return " < ".join(names)


def name_of(widget: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name).replace("&", "").strip()


def test_every_list_has_a_menu_for_its_rows_and_copies_them(shown):
    for view in inside(shown.window, QAbstractItemView):
        if (
            isinstance(view, QHeaderView)
            or view.window().objectName() == "qt_completer"
            or _only_chooses(view)
        ):
            continue
        menu = view.findChild(RowMenu, options=Qt.FindChildOption.FindDirectChildrenOnly)
        assert menu is not None, f"{described(view)} has no context menu"
        model = view.model()
        if not model.rowCount():
            continue
        index = model.index(0, 0)
        texts = [entry.text for entry in menu.all_entries(index)]
        assert "Copy as JSON" in texts, described(view)
        QApplication.clipboard().clear()
        next(entry for entry in menu.all_entries(index) if entry.begins).do()
        assert QApplication.clipboard().text().strip(), f"{described(view)} copies nothing"
        next(entry for entry in menu.all_entries(index) if entry.text == "Copy as JSON").do()
        assert len(QApplication.clipboard().text()) > 2, described(view)


def _only_chooses(view: QAbstractItemView) -> bool:
    """Return whether a view only offers what a field beside it takes; it has no focus of its own."""
    return isinstance(view, QListView) and view.focusPolicy() == Qt.FocusPolicy.NoFocus


def test_the_menu_key_opens_the_menu_of_the_current_row(shown):
    for view in inside(shown.window, QAbstractItemView):
        menu = view.findChild(RowMenu, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if menu is None or not view.model().rowCount() or not view.isVisible():
            continue
        view.setCurrentIndex(view.model().index(0, 0))
        if not view.currentIndex().isValid():
            continue
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())
        QApplication.sendEvent(view, event)
        opened = QApplication.activePopupWidget()
        assert opened is not None, described(view)
        opened.close()
        return


def test_everything_that_is_used_has_a_name(shown):
    for widget in inside(shown.window, INTERACTIVE):
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus and not isinstance(widget, QAbstractButton):
            continue
        if widget.objectName().startswith("qt_") or not widget.isEnabledTo(widget.parentWidget()):
            continue
        assert name_of(widget), f"{described(widget)} has no name"


def test_no_two_neighbours_have_the_same_name(shown):
    seen: dict[tuple[int, str, type], QWidget] = {}
    for widget in inside(shown.window, INTERACTIVE):
        if widget.isHidden() or widget.objectName().startswith("qt_") or not (name := name_of(widget)):
            continue
        if isinstance(widget, QTabBar) and widget.geometry().right() < 0:
            continue  # Qt keeps those that it may need again outside of the window.
        key = (id(widget.parentWidget()), name, type(widget))
        assert key not in seen, f"{described(widget)} has the name {name!r} of its neighbour"
        seen[key] = widget


def test_every_button_is_reached_by_tab(shown):
    chain: set[int] = set()
    top = shown.window.window()
    widget = top.nextInFocusChain()
    while widget is not top and id(widget) not in chain:
        chain.add(id(widget))
        widget = widget.nextInFocusChain()
    for button in inside(shown.window, QAbstractButton):
        if button.isHidden() or button.objectName().startswith("qt_"):
            continue
        # Of a group one has the Tab key, and arrow keys go on to the others.
        group = button.group().buttons() if button.group() is not None else [button]
        reached = any(one.focusPolicy() & Qt.FocusPolicy.TabFocus and id(one) in chain for one in group)
        keyed = not button.shortcut().isEmpty()
        assert reached or keyed, f"{described(button)} is reached by the mouse alone"


def test_what_takes_the_mouse_takes_the_keyboard_too(shown):
    for widget in inside(
        shown.window, (QAbstractItemView, QGraphicsView, QAbstractSpinBox, QComboBox, QLineEdit)
    ):
        if isinstance(widget, QHeaderView) or widget.objectName().startswith("qt_") or _only_chooses(widget):
            continue
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus, f"{described(widget)} is not reached by Tab"


def test_what_has_the_focus_looks_otherwise(shown, qapp):
    """Each kind of widget is tried once in a window, in both themes."""
    top = shown.window.window()
    top.activateWindow()
    for choice in ("light", "dark"):
        shown.studio.window.theme.choose(choice)
        tried = set()
        for widget in inside(shown.window, INTERACTIVE):
            kind = (type(widget), *(str(widget.property(name)) for name in _LOOKS))
            usable = widget.isVisible() and widget.isEnabled() and not widget.visibleRegion().isEmpty()
            if not usable or kind in tried or not widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                continue
            tried.add(kind)
            widget.setFocus(Qt.FocusReason.TabFocusReason)
            if not widget.hasFocus():
                continue  # It passes the focus on.
            focused = widget.grab().toImage()
            widget.clearFocus()
            assert widget.grab().toImage() != focused, f"{described(widget)} hides the focus ({choice})"


def test_no_line_of_text_is_cut_in_half_at_the_largest_size(shown, qapp):
    theme = shown.studio.window.theme
    before = theme.text_size
    theme.resize_text(TEXT_SIZES[-1])
    for _ in range(_TURNS):  # Layouts follow the text after some turns of the event loop.
        QTest.qWait(10)
        cut = [*_low_rows(shown.window, theme.text_font()), *_low_words(shown.window)]
        if not cut:
            break
    theme.resize_text(before)
    assert cut == []


def test_everything_that_is_seen_was_placed_by_a_layout(shown):
    loose = [described(widget) for widget in inside(shown.window, QWidget) if is_unplaced(widget)]
    assert loose == []


def _low_rows(window: QWidget, font: QFont) -> Iterator[str]:
    for view in inside(window, QAbstractItemView):
        if not isinstance(view, QHeaderView) and view.isVisible() and view.model().rowCount():
            first = view.model().index(0, 0)
            line = QFontMetrics(first.data(Qt.ItemDataRole.FontRole) or font).height()
            is_table = isinstance(view, QTableView)  # Its first column may be hidden.
            height = view.rowHeight(0) if is_table else view.visualRect(first).height()
            if height < line:
                yield f"{described(view)}: {height} of {line} pixels"


def _low_words(window: QWidget) -> Iterator[str]:
    for widget in inside(window, (QLabel, QPushButton, QLineEdit, QComboBox)):
        line = widget.fontMetrics().height()
        if widget.height() < line and name_of(widget) and not widget.visibleRegion().isEmpty():
            yield f"{described(widget)}: {widget.height()} of {line} pixels"


_TURNS = 200
_LOOKS = ("accent", "chip", "flat", "person", "picker", "wordless", "framed", "checked", "readOnly")
