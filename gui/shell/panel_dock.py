"""The docks around the live page: a column of sections that scrolls, and pages of which one is shown."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDockWidget, QFrame, QScrollArea, QStackedWidget, QWidget

from gui.shell.places import PanelPage, StackSection
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.item_views import FittedList
from gui.widgets.layouts import FlowLayout, holding, in_column, in_row, reveal
from gui.widgets.words import ElidedLabel, small_label

_LIST_SHARE = 0.22
"""The part of a column's height that a list of actions takes at most; longer ones scroll."""

_LEAST_PAGE = 280
"""Minimum width in pixels of the pages below the live page."""


class PanelDock(QDockWidget):
    """Has the title bar of a window while it floats, and none in the main window."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(name, parent)
        self.setObjectName(f"dock.{name}")
        self._no_title = QWidget(self)
        self._no_title.setFixedHeight(0)
        self.setTitleBarWidget(self._no_title)
        self.topLevelChanged.connect(self._on_floating)

    @property
    def is_docked(self) -> bool:
        return not self.isHidden() and not self.isFloating()

    def _on_floating(self, floating: bool) -> None:
        # Without a widget of its own, a floating dock gets the title bar of the desktop, which moves it.
        self.setTitleBarWidget(None if floating else self._no_title)  # type: ignore[arg-type]

    def _window_buttons(self, theme: Theme, close: str) -> tuple[QWidget, QWidget]:
        floating = f"Float {self.windowTitle()} in a window of its own, or dock it again"
        float_button = icon_button(
            theme, "multiple-windows", floating, lambda: self.setFloating(not self.isFloating()), size=12
        )
        close_button = icon_button(theme, "close", close, self.put_away, size=12)
        for button in (float_button, close_button):
            button.setFixedSize(20, 20)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return float_button, close_button

    def put_away(self) -> None:
        """Hide the dock."""
        self.hide()


class _Column(QScrollArea):
    """Scrolls, and is as wide as its content needs; lists of actions in it take a part of its height."""

    most = 0
    """The largest minimum width in pixels; in a window that is too narrow for more, it scrolls horizontally."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.fit()
        return super().eventFilter(watched, event)

    def fit(self) -> None:
        """Take the width that the content needs, if there is room."""
        if (content := self.widget()) is not None:
            least = content.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
            self.setMinimumWidth(min(least, self.most or least))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for shown in self.findChildren(FittedList):
            shown.limit(round(event.size().height() * _LIST_SHARE))


class StackDock(PanelDock):
    """A column of sections. The first has the buttons of the dock in its title."""

    def __init__(self, theme: Theme, name: str, sections: Sequence[StackSection], parent: QWidget) -> None:
        super().__init__(name, parent)
        self.sections = sections
        for button in self._window_buttons(theme, "Hide these panels; their keys show them again"):
            sections[0].title.row.addWidget(button)
        self.area = _Column()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        shares = [(section, int(section.stretched)) for section in sections]
        rest = 0 if any(section.stretched for section in sections) else 1
        self.area.setWidget(holding(in_column(None, *shares, rest, spacing=0)))
        self.setWidget(self.area)
        for section in sections:
            section.wanted.connect(lambda section=section: self._bring(section))
            section.left.connect(lambda section=section: self._put_away(section))

    def allow_width(self, most: int) -> None:
        """Let the column be as narrow as this, even if its content is wider."""
        self.area.most = most
        self.area.fit()

    def _bring(self, section: StackSection) -> None:
        self.show()
        self.raise_()
        if section.folded:
            section.fold_wanted.emit(False)
        reveal(section)

    def _put_away(self, section: StackSection) -> None:
        if all(other.folded for other in self.sections if other is not section):
            self.hide()
        else:
            section.fold_wanted.emit(True)


class PagesDock(PanelDock):
    """Pages in groups, each with a button in one line above them."""

    front_changed = Signal(str)
    """The name of the page that is in front."""

    def __init__(
        self, theme: Theme, name: str, groups: Mapping[str, Sequence[PanelPage]], parent: QWidget
    ) -> None:
        super().__init__(name, parent)
        self.pages = [page for pages in groups.values() for page in pages]
        self._last = self.pages[0]
        """The page that was in front before one on request."""
        self._shown = QStackedWidget()
        self._shown.setMinimumWidth(_LEAST_PAGE)
        self.fact = small_label(theme)
        self.fact.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._labels: list[QWidget] = []
        choice = QWidget()
        row = FlowLayout(choice, spacing=6, one_row=True)
        for group, pages in groups.items():
            label = ElidedLabel(group or "│", tone="" if group else "dim")
            label.setFont(theme.heading_font())
            self._labels.append(label)
            row.addWidget(label)
            for page in pages:
                row.addWidget(page.button)
                self._shown.addWidget(page)
                page.wanted.connect(lambda page=page: self.bring(page))
                page.left.connect(lambda page=page: self._put_away(page))
                page.fact_shown.connect(lambda: self.fact.setText(self.front.fact))
        buttons = self._window_buttons(theme, "Hide these panels; their keys show them again")
        head = holding(in_row(None, choice, (self.fact, 1), *buttons, margins=(10, 3, 6, 3), spacing=6))
        head.setProperty("dockTitle", True)
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWidget(holding(in_column(None, head, (self._shown, 1), spacing=0)))
        self.pages[0].button.setChecked(True)
        theme.text_resized.connect(self._fit_labels)
        self._fit_labels()

    def _fit_labels(self) -> None:
        """Make the headings as high as the buttons beside them."""
        for label in self._labels:
            label.setFixedHeight(self.pages[0].button.sizeHint().height())

    @property
    def front(self) -> PanelPage:
        return self.pages[self._shown.currentIndex()]

    def bring(self, page: PanelPage) -> None:
        """Show the dock with this page."""
        self.choose(page)
        self.show()
        self.raise_()

    def choose(self, page: PanelPage) -> None:
        """Put a page in front of the others."""
        if not page.on_request:
            self._last = page
        page.button.show()
        page.button.setChecked(True)
        self._shown.setCurrentWidget(page)
        self.fact.setText(page.fact)
        self.front_changed.emit(page.name)

    def put_away(self) -> None:
        self._put_away(self.front)

    def _put_away(self, page: PanelPage) -> None:
        if not page.on_request:
            self.hide()
            return
        page.button.hide()
        if page is self.front:
            self.choose(self._last)
