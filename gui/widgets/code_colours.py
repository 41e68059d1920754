"""Colours of code in an editor, line by line, with the lexers of pygments.

A line begins in the state in which the line before it ended, so an edit colours only what it changes. A long text is
coloured in slices between events.
"""

from functools import cache
from time import perf_counter
from typing import Any

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextCursor, QTextDocument

from gui.theme.theme import Theme
from gui.widgets.lined_text import in_utf16

_State = tuple[str, tuple[str, ...], tuple[str, ...]]
"""At the end of a line: the part of the text, the stack of its lexer, and that of Jinja."""

_SLICE = 0.008
"""Seconds of colouring between two rounds of the event loop."""
_LONGEST = 5_000
"""A line with more characters has no colours."""
_ROOT = ("root",)
_LEXERS = {"text": "markdown", "jinja": "markdown", "front matter": "toml", "tool call": "json"}
"""The lexer of a language or of a part of a text, if it has another name."""
_TAGGED = ("markdown", "jinja")
"""Languages with Jinja tags: prompts, and policies with conditions."""
_TONES = {
    "Comment": "code_comment",
    "Comment.Preproc": "code_word",
    "Literal": "code_number",
    "Literal.String": "code_text",
    "Literal.String.Escape": "code_number",
    "Keyword": "code_word",
    "Keyword.Constant": "code_number",
    "Operator.Word": "code_word",
    "Name": "code_key",
    "Name.Entity": "",
    "Generic.Heading": "code_key",
    "Generic.Subheading": "code_key",
    "Generic.Strong": "text",
}
"""The colour of a type of token and those below it."""


class CodeColours(QSyntaxHighlighter):
    """Colours a document, which is its parent."""

    def __init__(self, document: QTextDocument, theme: Theme, language: str) -> None:
        super().__init__(document)
        self._theme = theme
        self._language = language
        self._states: list[_State] = []
        """The states of lines; a line has the index of its own."""
        self._end = 0.0
        """When this round ends; 0 before it begins."""
        self._left = QTextCursor()
        """The first line that is not coloured yet."""
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._go_on)
        theme.changed.connect(self._recolour)

    def highlightBlock(self, text: str) -> None:
        block, before = self.currentBlock(), self.previousBlockState()
        is_first = not block.previous().isValid()
        if not self._end:
            self._end = perf_counter() + _SLICE
            self._soon.start()
        if perf_counter() > self._end or (before < 0 and not is_first):
            self.setCurrentBlockState(-1)
            if self._left.isNull() or block.position() < self._left.position():
                self._left = QTextCursor(block)
            return
        state = (self._language, _ROOT, _ROOT) if is_first else self._states[before]
        if len(text) <= _LONGEST:
            state = self._colour(text, state, is_first)
        if state not in self._states:
            self._states.append(state)
        self.setCurrentBlockState(self._states.index(state))

    def _colour(self, text: str, state: _State, is_first: bool) -> _State:
        part, stack, tags = state
        stack = self._show(_LEXERS.get(part, part), text, stack)
        if self._language in _TAGGED and ("{" in text or tags != _ROOT):
            tags = self._show("jinja", text, tags)
        following = _following(part, text, is_first)
        return following, stack if following == part else _ROOT, tags

    def _show(self, lexer: str, text: str, stack: tuple[str, ...]) -> tuple[str, ...]:
        """Colour a line that begins in a state of a lexer; return the state in which it ends."""
        tokens, end = _tokens(lexer, text, stack)
        places = in_utf16(text, [place for place, _, _ in tokens] + [len(text)])
        for place, (_, kind, _), after in zip(places, tokens, places[1:], strict=False):
            name = str(kind)[6:]
            if (tone := _tone(name)) and (lexer, name) != ("python", "Name"):
                look = QTextCharFormat()
                look.setForeground(self._theme.colour(tone))
                if name.startswith("Generic"):
                    look.setFontWeight(QFont.Weight.Bold)
                self.setFormat(place, after - place, look)
        return end

    def _go_on(self) -> None:
        self._end = 0.0
        block = self._left.block()
        self._left = QTextCursor()
        while block.isValid() and block.userState() >= 0:
            block = block.next()
        if block.isValid():
            with QSignalBlocker(self.document()):  # It would say that the text has changed.
                self.rehighlightBlock(block)

    def _recolour(self) -> None:
        with QSignalBlocker(self.document()):
            self.rehighlight()


@cache
def _tone(name: str) -> str:
    """Return the colour of the nearest type in the table; an empty string for that of plain text."""
    return _TONES[name] if name in _TONES else _tone(name.rpartition(".")[0]) if name else ""


def _following(part: str, text: str, is_first: bool) -> str:
    """Return what the line after this one belongs to: front matter, a tool call, or what is around them."""
    if text.startswith("### ") and part in ("text", "tool call"):
        return "tool call" if text.startswith("### tool_call ") else "text"
    if text.rstrip() == "+++" and (part == "front matter" or (part == "markdown" and is_first)):
        return "front matter" if is_first else "markdown"
    return part


def _tokens(
    name: str, text: str, stack: tuple[str, ...]
) -> tuple[list[tuple[int, Any, str]], tuple[str, ...]]:
    """Return the tokens of a line, each with its place, and the state in which it ends."""
    from pygments.lexer import ExtendedRegexLexer, LexerContext, RegexLexer

    lexer = _lexer(name)
    if not isinstance(lexer, RegexLexer):
        return list(lexer.get_tokens_unprocessed(text)), _ROOT
    context = LexerContext(f"{text}\n", 0, stack=list(stack))
    tokens = list(ExtendedRegexLexer.get_tokens_unprocessed(lexer, context=context))
    if context.stack[-1] == "basic-string":  # It ends with the line in TOML, even if the quotes are missing.
        context.stack.pop()
    return tokens, tuple(context.stack)


@cache
def _lexer(name: str) -> Any:
    """Return the lexer of a language, which is imported when it is first needed."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment

    lexer = get_lexer_by_name(name)
    if name != "jinja":
        return lexer
    known = lexer.tokens  # Without comments of several lines.
    note = [(r"#\}", Comment, "#pop"), (r"[^#]+|#", Comment)]
    root = [(r"\{#", Comment, "note"), *known["root"]]
    return type("JinjaLexer", (type(lexer),), {"tokens": {**known, "root": root, "note": note}})()
