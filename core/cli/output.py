"""The output of commands: results to stdout, everything else to stderr, errors as one sentence.

What pages, LLMs and files say is printed as it is, without markup. A character
that a terminal acts on, or that hides or reorders others, is printed as its escape sequence.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO

from core.schema.errors import WorldError

if TYPE_CHECKING:
    from core.trace.records import RunRow, StepRow

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # Joiners have a use within emoji and some scripts, and none beside ASCII.
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
"""Control characters, separators of lines, marks of direction, and what takes no room."""
CAPTURED: ContextVar[list[Any] | None] = ContextVar("captured", default=None)
"""Gets the values that `put_json` would write in this context; they are not written."""
_WIDEST_ID = 30
"""The first column is not wrapped up to this width."""
_NARROWEST = 8
"""A column that is wrapped is not narrower."""


def visible(text: str) -> str:
    """Return the text as one line in which each character shows."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def print_any_character() -> None:
    """Let what a terminal's encoding does not have be printed as its escape sequence.

    What goes to a stream that was closed before the start is dropped: Python has None for it, and `print` would
    write errors to stdout.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", closefd=False))
        if reconfigure := getattr(getattr(sys, name), "reconfigure", None):
            reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """Write a line to stderr at once, if anybody can read it."""
    say_lines(visible(text))


def say_lines(text: str) -> None:
    """Write text of several lines to stderr, laid out as by `put_lines`."""
    try:
        print(_hanging(text), file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def put(text: str) -> None:
    """Write a line to stdout at once; raises WorldError if that fails."""
    _write(visible(text))


def put_lines(text: str) -> None:
    """Write text of several lines to stdout. The first is ours, the others are indented and so cannot pass for ours."""
    _write(_hanging(text))


def put_file(text: str) -> None:
    """Write the content of a file to stdout, unchanged unless a terminal shows it."""
    _write("\n".join(map(visible, text.split("\n"))) if sys.stdout.isatty() else text)


def put_json(value: Any) -> None:
    """Write one JSON value to stdout."""
    if (values := CAPTURED.get()) is not None:
        return values.append(value)
    _write(_json(json.dumps(value, indent=2, ensure_ascii=False)))


def put_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table to stdout. What is wider than the terminal is wrapped, except for numbers and the first column."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = [[visible(cell) for cell in row] for row in rows]
    least = 0
    for number, column in enumerate(columns):
        cells = [row[number] for row in shown]
        widest = max(map(cell_len, (column, *cells)))
        whole = (number == 0 and widest <= _WIDEST_ID) or all(cell.isdecimal() or not cell for cell in cells)
        table.add_column(Text(column), overflow="fold", no_wrap=whole)
        least += 1 + (widest if whole else min(widest, _NARROWEST))
    for row in shown:
        table.add_row(*map(Text, row))
    console = Console(soft_wrap=False, highlight=False)
    # Another program gets one line a row, however wide.
    console.width = max(console.width, least) if sys.stdout.isatty() else 1_000_000
    with _stdout(), console.capture() as captured:
        console.print(table)
    _write("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def _hanging(text: str) -> str:
    return "\n  ".join(map(visible, text.replace("\n  ", "\n").split("\n")))


def _write(text: str) -> None:
    with _stdout():
        print(text, flush=True)


@contextmanager
def _stdout() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # A reader that has gone away has seen enough.
        _give_up(sys.stdout)
    except OSError as error:
        _give_up(sys.stdout)
        raise WorldError(
            f"The output could not be written to stdout ({error.strerror}). Free some space, or write it elsewhere."
        ) from error


def _give_up(stream: TextIO) -> None:
    """Let what is left in the buffer go nowhere: at exit it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _json(text: str) -> str:
    """Return the same JSON with escape sequences for what cannot be printed."""
    escaped = re.compile(f"(?!\n)(?:{_UNSEEN.pattern})").sub(lambda found: json.dumps(found[0])[1:-1], text)
    try:
        escaped.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return re.sub("[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], escaped)
    return escaped


def step_line(step: "StepRow") -> str:
    """Return a step as one line of progress."""
    beside = (step.seconds - step.seconds_in_llm) * 1000
    what = step.action or "no action"
    if step.target:
        what += f" {step.target}"
    end = step.outcome if step.outcome == "done" else f"{step.outcome}: {step.message}"
    return f"step {step.number}  {what}  {end}  ({beside:.0f} ms outside the LLM)"


def verdict_word(row: "RunRow") -> str:
    if row.verdict.success is None:
        return row.outcome
    return f"{row.outcome}, {'success' if row.verdict.success else 'no success'}"
