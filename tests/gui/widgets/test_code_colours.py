"""Colours of code: what each language shows, over several lines, and how readable they are."""

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.theme.tokens import SCHEMES
from gui.widgets.code_editor import CodeEditor
from gui.widgets.lined_text import in_utf16

POLICY = """+++
description = "Searches"
+++

# Instruction

{% if permitted("note") %}
Note it.
{% endif %}
"""
CODE = ("code_key", "code_text", "code_word", "code_number", "code_comment", "text")


@pytest.fixture
def editor(theme, qtbot: QtBot) -> CodeEditor:
    editor = CodeEditor(theme)
    qtbot.addWidget(editor)
    editor.resize(500, 300)
    editor.show()
    return editor


def colour_of(editor: CodeEditor, words: str) -> str:
    """Return the name of the colour in which words are shown in the end, or nothing for that of plain text."""
    while editor.document().lastBlock().userState() < 0:
        QApplication.processEvents()
    text = editor.document().toPlainText()
    at = in_utf16(text, [text.index(words)])[0]
    block = editor.document().findBlock(at)
    for part in block.layout().formats():
        if part.start <= at - block.position() < part.start + part.length:
            shown = part.format.foreground().color().name()
            return next((name for name in CODE if editor._theme.colour(name).name() == shown), "")
    return ""


@pytest.mark.parametrize(
    ("language", "text", "words", "colour"),
    [
        ("toml", 'a = "b" # c', "a", "code_key"),
        ("toml", 'a = "b" # c', '"b"', "code_text"),
        ("toml", 'a = "b" # c', "# c", "code_comment"),
        ("toml", "[state.action]", "state", "code_word"),
        ("toml", "a = '''\nb = 1\n'''", "b = 1", "code_text"),
        ("toml", 'a = "not closed\nb = 1', "b", "code_key"),
        ("toml", "a = [\n  12,\n]", "12", "code_number"),
        ("json", '{"a": null}', "null", "code_number"),
        ("json", '{"a": "b"}', '"b"', "code_text"),
        ("python", "len(a) > 3", "len", "code_key"),
        ("python", "len(a) > 3", "3", "code_number"),
        ("python", "page.url == 'b'", "page", ""),
        ("jinja", "{{ task }} {% if a %}", "task", "code_key"),
        ("jinja", "{{ task }} {% if a %}", "if", "code_word"),
        ("jinja", "{#- one\ntwo -#}\nthree", "two", "code_comment"),
        ("jinja", "{#- one\ntwo -#}\nthree", "three", ""),
        ("jinja", "{% if\n  both %}", "both", "code_key"),
        ("text", "### system\nDo {{ it }}", "### system", "code_key"),
        ("text", "### system\nDo {{ it }}", "it }}", ""),
        ("text", '### tool_call click\n{"ref": 12}', "12", "code_number"),
        ("text", '### tool_call click\n{"ref": 12}\n### user\n13', "13", ""),
        ("markdown", POLICY, "description", "code_key"),
        ("markdown", POLICY, "# Instruction", "code_key"),
        ("markdown", POLICY, "permitted", "code_key"),
        ("markdown", POLICY, '"note"', "code_text"),
        ("markdown", POLICY, "Note it.", ""),
    ],
)
def test_a_language_has_its_colours(editor, language, text, words, colour):
    editor.begin(text, language=language)
    assert colour_of(editor, words) == colour


def test_what_is_typed_changes_the_colours_of_the_lines_below(editor, qtbot: QtBot):
    editor.begin("a = 1\nb = 2", language="toml")
    qtbot.keyClicks(editor, "c = '''")
    assert colour_of(editor, "b = 2") == "code_text"
    editor.undo()
    assert colour_of(editor, "b = 2") == "code_key"


def test_characters_that_qt_counts_twice_shift_no_colours(editor):
    editor.begin('a = "😀😀" # c', language="toml")
    assert colour_of(editor, "# c") == "code_comment"


def test_a_long_text_is_coloured_bit_by_bit_and_counts_as_not_edited(editor):
    told = []
    editor.textChanged.connect(lambda: told.append(1))
    text = "\n".join(f'key_{number} = "value {number}" # {"x" * 60}' for number in range(4_000))
    editor.begin(text, language="toml")
    assert editor.document().lastBlock().userState() == -1
    assert colour_of(editor, "key_3999") == "code_key"
    assert (told, editor.edited, editor.document().isUndoAvailable()) == ([], False, False)


def test_a_line_too_long_to_colour_at_once_has_no_colours(editor):
    editor.begin(f'a = "{"x" * 10_000}"\nb = 1', language="toml")
    assert (colour_of(editor, "a ="), colour_of(editor, "b =")) == ("", "code_key")


def test_another_theme_has_other_colours(editor, theme):
    editor.begin("a = 1", language="toml")
    before = theme.colour("code_key")
    theme.choose("light" if theme.scheme == "dark" else "dark")
    assert theme.colour("code_key") != before
    assert colour_of(editor, "a") == "code_key"


def luminance(colour: QColor) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.getRgbF()[:3]
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", CODE)
def test_code_is_readable_on_each_ground_that_a_line_may_have(scheme, name):
    tokens = SCHEMES[scheme]
    panel = QColor(tokens.panel)
    grounds = [panel, QColor(tokens.selected)]
    for tone in (tokens.bad, tokens.remedy, tokens.good, tokens.dim):
        shade, part = QColor(tone), 30 / 255
        mixed = [a * part + b * (1 - part) for a, b in zip(shade.getRgbF(), panel.getRgbF(), strict=True)]
        grounds.append(QColor.fromRgbF(*mixed[:3]))
    for ground in grounds:
        dark, light = sorted((luminance(ground), luminance(QColor(getattr(tokens, name)))))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, ground.name()
