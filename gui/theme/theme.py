"""The theme of the window: light or dark, as set in the system or chosen, and icons in its colours."""

import importlib.util
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Literal, get_args

from PySide6.QtCore import QObject, QPoint, QRect, QRectF, QSettings, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QIcon,
    QIconEngine,
    QPainter,
    QPalette,
    QPixmap,
)
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLabel, QLineEdit, QProxyStyle, QWidget

from core.storage.resources import RESOURCES
from gui.theme.tokens import SCHEMES, Scheme, Tokens

_SPIN_MARGIN = 5


class PlainTextStyle(QProxyStyle):
    """Draws text literally. Otherwise text that looks like HTML would be rendered, and its images loaded.

    Labels, tooltips and the texts of message boxes are all a QLabel, which a style polishes before its first
    layout. Much of their text comes from pages, tasks and LLMs.
    """

    def __init__(self) -> None:
        super().__init__("Fusion")

    def polish(self, what: Any) -> None:
        """Make a label plain text; Qt calls this for each widget, for the application and for palettes."""
        if isinstance(what, QLabel):
            what.setTextFormat(Qt.TextFormat.PlainText)
        elif isinstance(what, QLineEdit) and isinstance(what.parent(), QAbstractSpinBox):
            # The style sheet's padding has no effect on these.
            what.setTextMargins(_SPIN_MARGIN, 0, 0, 0)
        super().polish(what)


Choice = Literal["system", "light", "dark"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
_KEY = "theme"
_SIZE_KEY = "text size"
TEXT_SIZES = (80, 90, 100, 110, 120, 140, 160)
"""Percent of the normal text size."""
_TEXT_PX = 12.5
_HEADING_PX = 11.5


@cache
def _codicon() -> tuple[str, dict[str, str]]:
    """Return the family of qtawesome's codicon font and its characters by name; both empty if it is missing.

    Only this font and its table of names are read, when the first icon is needed. Importing qtawesome itself would
    load a dozen fonts and a layer over Qt, which takes 170 ms before the window shows.
    """
    spec = importlib.util.find_spec("qtawesome")
    for place in (spec.submodule_search_locations or []) if spec else []:
        fonts = Path(place) / "fonts"
        for font in sorted(fonts.glob("codicon-*.ttf")):
            charmap = fonts / f"{font.stem.replace('codicon-', 'codicon-charmap-')}.json"
            families = QFontDatabase.applicationFontFamilies(QFontDatabase.addApplicationFont(str(font)))
            if families and charmap.is_file():
                names = json.loads(charmap.read_text(encoding="utf-8"))
                return families[0], {name: chr(int(code, 16)) for name, code in names.items()}
    return "", {}


class _Glyph(QIconEngine):
    """Draws one character of the icon font in the current colour each time it paints."""

    def __init__(self, name: str, colour: Callable[[QIcon.Mode], str]) -> None:
        super().__init__()
        self._name = name
        self._colour = colour

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        family, names = _codicon()
        if self._name not in names:
            return
        font = QFont(family)
        font.setPixelSize(max(1, min(rect.width(), rect.height())))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)
        painter.setPen(QColor(self._colour(mode)))
        painter.drawText(QRectF(rect), Qt.AlignmentFlag.AlignCenter, names[self._name])
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _Glyph(self._name, self._colour)


class Theme(QObject):
    """Has the current colours and fonts, and reports changes.

    `changed` is sent after palette and style sheet are set, which repaints every widget: only what was made in the
    colours of before has to be made again.
    """

    changed = Signal()
    text_resized = Signal(float)
    """The factor by which the text size changed."""

    def __init__(self, settings: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        stored = settings.value(_KEY, "system")
        self._choice: Choice = next((choice for choice in CHOICES if choice == stored), "system")
        sized = str(settings.value(_SIZE_KEY, "100"))
        self.text_size = next((one for one in TEXT_SIZES if str(one) == sized), 100)
        """Percent."""
        self._window: QWidget | None = None
        self.tokens: Tokens = SCHEMES[self.scheme]
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_changed)

    @property
    def choice(self) -> Choice:
        return self._choice

    @property
    def scheme(self) -> Scheme:
        """Light or dark; asks the system if it decides."""
        if self._choice != "system":
            return self._choice
        dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return "dark" if dark else "light"

    def choose(self, choice: Choice) -> None:
        """Use this scheme from now on and remember it."""
        self._choice = choice
        self._settings.setValue(_KEY, choice)
        self._apply()

    def prefer(self, choice: Choice) -> None:
        """Use this scheme unless the person has chosen one; it is not remembered."""
        if choice != self._choice and not self._settings.contains(_KEY):
            self._choice = choice
            self._apply()

    def resize_text(self, percent: int) -> None:
        """Use this text size from now on and remember it; existing windows adapt."""
        ratio, self.text_size = percent / self.text_size, percent
        if ratio == 1:
            return
        self._settings.setValue(_SIZE_KEY, str(percent))
        for widget in QApplication.allWidgets():
            font = widget.font()
            if widget.testAttribute(Qt.WidgetAttribute.WA_SetFont) and font.pointSizeF() > 0:
                font.setPointSizeF(font.pointSizeF() * ratio)
                widget.setFont(font)
        self._apply()
        self.text_resized.emit(ratio)

    def step_text(self, steps: int) -> None:
        """Change to the next larger or smaller text size, if there is one."""
        at = TEXT_SIZES.index(self.text_size) + steps
        self.resize_text(TEXT_SIZES[max(0, min(at, len(TEXT_SIZES) - 1))])

    def scaled(self, pixels: int) -> int:
        """Return a length that is `pixels` at normal text size, scaled to the current text size."""
        return round(pixels * self.text_size / 100)

    def size_window(self, window: QWidget, width: int, height: int) -> None:
        """Resize a window to this size at normal text size, or larger with larger text if the screen has space."""
        normal = QSize(width, height)
        room = window.screen().availableSize()
        window.resize(QSize(self.scaled(width), self.scaled(height)).boundedTo(room).expandedTo(normal))

    def prepare(self) -> None:
        """Apply the current theme to the application: its style, palette and font."""
        if not isinstance(QApplication.style(), PlainTextStyle):
            QApplication.setStyle(PlainTextStyle())
        QApplication.setPalette(palette(self.tokens))
        QApplication.setFont(self.text_font())

    def dress(self, window: QWidget) -> None:
        """Apply the style sheet to `window`, and later changes too.

        Do so when it is built: Qt styles a widget anew each time it gets another parent.
        """
        self._window = window
        window.setStyleSheet(style_sheet(self.scheme))

    def icon(self, name: str, *, accent: bool = False, tone: str = "text") -> QIcon:
        """Return a codicon in the colour of `tone`, or for an accent button in the colour used on the accent.

        The icon follows the theme; it is empty if the font does not have the name.
        """

        def colour(mode: QIcon.Mode) -> str:
            if mode == QIcon.Mode.Disabled:
                return self.tokens.faint
            return str(getattr(self.tokens, "on_accent" if accent else tone))

        return QIcon(_Glyph(name, colour))

    def colour(self, token: str) -> QColor:
        return QColor(getattr(self.tokens, token))

    def text_font(self, *, bold: bool = False) -> QFont:
        return self._sized(QFont(QApplication.font().family()), _TEXT_PX, bold)

    def heading_font(self) -> QFont:
        return self.small_font(bold=True)

    def small_font(self, *, bold: bool = False) -> QFont:
        return self._sized(QFont(QApplication.font().family()), _HEADING_PX, bold)

    def machine_font(self) -> QFont:
        """For text that a machine wrote or will read."""
        return self._sized(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont), 12.0, False)

    def _sized(self, font: QFont, pixels: float, bold: bool) -> QFont:
        screen = QGuiApplication.primaryScreen()
        dpi = screen.logicalDotsPerInchY() if screen else 96.0
        font.setPointSizeF(pixels * 72 / dpi * self.text_size / 100)
        font.setBold(bold)
        return font

    def _on_system_changed(self) -> None:
        if self._choice == "system":
            self._apply()

    def _apply(self) -> None:
        self.tokens = SCHEMES[self.scheme]
        if self._window is not None:
            self.prepare()
            self._window.setStyleSheet(style_sheet(self.scheme))
        self.changed.emit()


def style_sheet(scheme: Scheme) -> str:
    """Return resources/themes/window.qss with its ``$token`` names filled in."""
    template = Template((RESOURCES / "themes" / "window.qss").read_text(encoding="utf-8"))
    icons = (RESOURCES / "icons").as_posix()
    return template.substitute(SCHEMES[scheme].as_dict(), icons=icons, scheme=scheme)


def palette(tokens: Tokens) -> QPalette:
    """Return the tokens as Qt's colour roles, for everything that the style sheet does not name."""
    roles = QPalette.ColorRole
    made = QPalette()
    for role, colour in (
        (roles.Window, tokens.window),
        (roles.WindowText, tokens.text),
        (roles.Base, tokens.panel),
        (roles.AlternateBase, tokens.raised),
        (roles.Text, tokens.text),
        (roles.PlaceholderText, tokens.dim),
        (roles.Button, tokens.raised),
        (roles.ButtonText, tokens.text),
        (roles.BrightText, tokens.bad),
        (roles.ToolTipBase, tokens.raised),
        (roles.ToolTipText, tokens.text),
        (roles.Highlight, tokens.selected),
        (roles.HighlightedText, tokens.text),
        (roles.Accent, tokens.agent),
        (roles.Link, tokens.agent),
        (roles.LinkVisited, tokens.person),
        (roles.Light, tokens.raised),
        (roles.Midlight, tokens.raised),
        (roles.Mid, tokens.line),
        (roles.Dark, tokens.line),
        (roles.Shadow, tokens.window),
    ):
        made.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText, roles.HighlightedText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(tokens.faint))
    return made
