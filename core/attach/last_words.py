"""What a program's last output says of its end: the error of a traceback with its place, or else the last lines.

Tracebacks are those of Python (chains, groups, syntax errors, and boxes as by Rich) and of Node.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

KEPT = 400
"""Lines of output that are enough for it."""
_LAST_LINES = 3
_LATER_LINES = 12
"""So many lines may follow an error that the program ended by, such as the rest of its message."""
_PY_FRAME = re.compile(r'[\s|>]*File "(.+)", line (\d+)')
_RICH_FRAME = re.compile(r"│ ([^\s│❱].*):(\d+)(?: in(?: .+?)?)?\s*│$")
_RICH_WRAPPED = re.compile(r"│ ((?:/|[A-Za-z]:\\)\S*)\s*│$")
"""The beginning of a path that goes on in the next line."""
_GROUPED = re.compile(r"\s+\| ?")
_GROUP_PART = re.compile(r"\s+\+[-+]+ [\d.]+ -+$")
_NOT_ERRORS = ("Traceback (most recent", "Exception Group Traceback", "[Previous line repeated")
_SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")
_NODE_FRAME = re.compile(r"\s+at (?:.* \()?(?:async )?(?:file://)?(.+?):(\d+):\d+\)?")
_NODE_PLACE = re.compile(r"\S.*:\d+")
_NODE_ERROR = re.compile(r"(?:Uncaught )?\[?[\w.]*(?:Error|Exception|Rejection|Warning)\b|\(node:\d+\)")
_NODE_CAUSE = re.compile(r"\s+\[cause\]: (.*)")
_NODE_REST = re.compile(r"Node\.js v|\(Use `node|\s|[{}\]]")
_CARETS = re.compile(r"\s*\^+\s*$")
_FOREIGN = re.compile(r"site-packages|dist-packages|/lib(?:64)?/python3|node_modules|^[<]|^node:|^internal/")
_BORDER = " \t│┃|╭╰╮╯─━═*#=+-"


class _Frame(NamedTuple):
    file: str
    line: str


class _Error(NamedTuple):
    words: str
    at: int
    """The line that has the words."""
    end: int
    """The last line that belongs to it."""


def last_words(output: Sequence[str], folder: Path) -> str:
    """Return what the last lines of a program's output say of its end, in one line; `folder` is where it ran."""
    lines = [line.rstrip() for line in output]
    found = [one for one in (_of_python(lines, folder), _of_node(lines, folder)) if one is not None]
    if not found:
        return _told(lines)
    error = max(found, key=lambda one: one.at)
    later = [line for line in lines[error.end + 1 :] if _words(line)]
    if len(later) > _LATER_LINES:
        return _told(lines)
    return " · ".join([error.words, *map(_words, later[-1:])])


def _told(lines: Iterable[str]) -> str:
    return " · ".join(list(filter(None, map(_words, lines)))[-_LAST_LINES:])


def _words(line: str) -> str:
    """Return a line without its frame; nothing of one that is decoration."""
    return line.strip(_BORDER) if any(map(str.isalnum, line)) else ""


def _with_place(words: str, frames: Sequence[_Frame], folder: Path) -> str:
    """Add the last frame in a file of the program's own, or else the last."""
    own = [frame for frame in frames if not _FOREIGN.search(frame.file.replace("\\", "/"))]
    own = own or [frame for frame in frames if not frame.file.startswith(("node:", "<"))]
    if not own:
        return words
    file = Path(own[-1].file)
    shown = file.relative_to(folder) if file.is_relative_to(folder) else file
    return f"{words} ({shown}, line {own[-1].line})"


# Python


def _of_python(lines: Sequence[str], folder: Path) -> _Error | None:
    """Return the last error that ends a traceback, with its parts if it is a group."""
    frames: list[_Frame] = []
    group: list[str] = []
    error, source = None, ""
    expected = ignored = False
    begun = ""
    for at, line in enumerate(lines):
        ignored = ignored or line.startswith("Exception ignored ")
        if frame := _PY_FRAME.match(line) or _RICH_FRAME.match(line):
            frames.append(_Frame(begun + frame[1], frame[2]))
            begun, expected, source = "", True, ""
            continue
        begun = begun + wrapped[1] if (wrapped := _RICH_WRAPPED.match(line)) else ""
        grouped = bool(_GROUPED.match(line) or _GROUP_PART.match(line))
        expected = expected or bool(_GROUP_PART.match(line))
        text = _GROUPED.sub("", line, count=1) if grouped else line
        if not expected or not (text[:1].isalpha() or text[:1] == "_") or text.startswith(_NOT_ERRORS):
            source = source or text.strip()
            continue
        words = _with_place(text, frames, folder)
        if text.startswith(_SYNTAX_ERRORS) and source.strip(_BORDER) == source:
            words = f"{words} · {source}"
        frames, expected = [], False
        if ignored and error is not None:
            error = error._replace(end=at)
        else:
            group = [*group, words] if grouped else [words]
            head, *parts = group
            error = _Error(f"{head}: {'; '.join(parts)}" if parts else head, at, at)
        ignored = False
        if not grouped:
            group = []
    return error


# Node


def _of_node(lines: Sequence[str], folder: Path) -> _Error | None:
    """Return the last error that ended the program, or that was written with its stack."""
    frames, source = list[_Frame](), ""
    carets = next((at for at in range(len(lines) - 1, 1, -1) if _thrown_at(lines, at)), None)
    stacks = [at for at, line in enumerate(lines) if _NODE_FRAME.match(line)]
    begun = [at for at in stacks if at - 1 not in stacks and not lines[at - 1].startswith(" ")]
    if carets is not None:
        file, _, line = lines[carets - 2].removeprefix("file://").rpartition(":")
        frames, source = [_Frame(file, line)], lines[carets - 1].strip()
        at = next((at for at in range(carets + 1, len(lines)) if lines[at]), carets)
    elif begun and begun[-1]:
        near = range(begun[-1] - 1, max(begun[-1] - _LATER_LINES, -1), -1)
        at = next((at for at in near if _NODE_ERROR.match(lines[at])), begun[-1] - 1)
    else:
        return None
    end = next((one for one in stacks if at < one), at)
    while end + 1 < len(lines) and (not lines[end + 1] or _NODE_REST.match(lines[end + 1])):
        end += 1
    stack = lines[at + 1 : end + 1]
    inner = [_Frame(*frame.groups()) for line in stack if (frame := _NODE_FRAME.match(line))]
    words = lines[at].removesuffix(" {")
    words = words[1:-1] if words.startswith("[") and words.endswith("]") else words
    words = _with_place(words, [*inner[::-1], *frames], folder)
    if source and lines[at].startswith("SyntaxError"):
        words = f"{words} · {source}"
    causes = [f"cause: {cause[1]}" for line in stack if (cause := _NODE_CAUSE.match(line))]
    return _Error(" · ".join([words, *causes[:1]]), at, end)


def _thrown_at(lines: Sequence[str], at: int) -> bool:
    """Return whether a line marks what was thrown, below its place in a file and the source there."""
    return bool(_CARETS.fullmatch(lines[at]) and _NODE_PLACE.fullmatch(lines[at - 2]))
