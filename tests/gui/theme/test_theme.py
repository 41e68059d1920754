import re

import pytest
from PySide6.QtCore import QSettings, QSize
from PySide6.QtWidgets import QFrame, QWidget
from pytestqt.qtbot import QtBot

from gui.theme.theme import Theme, style_sheet
from gui.theme.tokens import DARK, LIGHT, SCHEMES


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_style_sheet_has_every_name_filled_in(scheme):
    assert not re.search(r"\$\w", style_sheet(scheme))


@pytest.mark.parametrize("tokens", SCHEMES.values(), ids=SCHEMES.keys())
@pytest.mark.parametrize("ink", ["text", "dim", "agent", "person", "remedy", "good", "bad"])
def test_words_can_be_read_on_every_surface(tokens, ink):
    for surface, least in (("panel", 4.5), ("window", 4.0), ("raised", 4.0)):
        assert contrast(getattr(tokens, ink), getattr(tokens, surface)) >= least


@pytest.mark.parametrize("tokens", SCHEMES.values(), ids=SCHEMES.keys())
def test_words_on_an_accent_can_be_read(tokens):
    for accent in ("agent", "person", "remedy", "good"):
        assert contrast(tokens.on_accent, getattr(tokens, accent)) >= 4.0


def test_the_choice_is_remembered(qapp, settings: QSettings):
    Theme(settings).choose("dark")
    assert Theme(settings).choice == "dark"
    assert Theme(settings).tokens is DARK


def test_what_the_settings_file_says_is_used_until_the_person_chooses_and_not_remembered(
    qapp, settings: QSettings
):
    theme = Theme(settings)
    theme.prefer("dark")
    assert (theme.choice, theme.tokens) == ("dark", DARK)
    assert Theme(settings).choice == "system"
    theme.choose("light")
    theme.prefer("dark")
    assert theme.tokens is LIGHT
    theme.choose("system")
    theme.prefer("dark")
    assert theme.choice == "system"


def test_a_choice_that_nobody_knows_counts_as_the_systems(qapp, settings: QSettings):
    settings.setValue("theme", "purple")
    assert Theme(settings).choice == "system"


def test_choosing_changes_the_window_at_once(qtbot: QtBot, settings: QSettings):
    theme, window = Theme(settings), QWidget()
    qtbot.addWidget(window)
    theme.choose("light")
    theme.prepare()
    theme.dress(window)
    with qtbot.waitSignal(theme.changed):
        theme.choose("dark")
    assert DARK.panel in window.styleSheet()
    assert LIGHT.panel not in window.styleSheet()


def test_an_icon_follows_the_theme(qtbot: QtBot, settings: QSettings):
    theme = Theme(settings)
    theme.choose("light")
    icon = theme.icon("search")
    light = icon.pixmap(QSize(32, 32)).toImage()
    theme.choose("dark")
    dark = icon.pixmap(QSize(32, 32)).toImage()
    assert light != dark


def test_a_card_of_the_window_does_not_look_like_that_of_an_element_in_the_page(
    qtbot: QtBot, settings: QSettings
):
    theme, window = Theme(settings), QWidget()
    qtbot.addWidget(window)
    theme.choose("light")
    theme.prepare()
    theme.dress(window)
    card = QFrame(window)
    card.setProperty("card", True)
    card.resize(60, 40)
    window.show()
    assert card.grab().toImage().pixelColor(30, 0).name() == LIGHT.line
