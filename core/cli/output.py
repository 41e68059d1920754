"""The output of commands: results to stdout, everything else to stderr, errors as one sentence."""

import json
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.schema.record import Record
    from core.trace.records import RunRow, StepRow

_WIDEST = 40
"""How wide a column stays before the last one is cut."""


def say(text: str) -> None:
    """Write a line to stderr at once."""
    print(text, file=sys.stderr, flush=True)


def put(text: str) -> None:
    """Write a line to stdout at once; a reader that has gone away has seen enough."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # What is left in the buffer must not be flushed into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def put_json(value: Any) -> None:
    """Write one JSON value to stdout."""
    put(json.dumps(value, indent=2, ensure_ascii=False))


def put_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table to stdout, cut to the terminal's width."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        last = number == len(columns) - 1
        widest = max((len(row[number]) for row in rows), default=0)
        table.add_column(
            column,
            overflow="ellipsis",
            no_wrap=True,
            min_width=None if last else min(max(widest, len(column)), _WIDEST),
        )
    for row in rows:
        table.add_row(*(cell.replace("[", r"\[") for cell in row))
    width = None if sys.stdout.isatty() else 200
    console = Console(width=width, soft_wrap=False, highlight=False)
    with console.capture() as captured:
        console.print(table)
    put(captured.get().rstrip("\n"))


def step_line(step: "StepRow") -> str:
    """Return a step as one line of progress."""
    beside = (step.seconds - step.seconds_in_llm) * 1000
    what = step.action or "no action"
    if step.target:
        what += f" {step.target}"
    end = step.outcome if step.outcome == "done" else f"{step.outcome}: {step.message}"
    return f"step {step.number}  {what}  {end}  ({beside:.0f} ms beside the LLM)"


def verdict_word(row: "RunRow") -> str:
    if row.verdict.success is None:
        return row.outcome
    return f"{row.outcome}, {'success' if row.verdict.success else 'no success'}"


class LineTeller:
    """Prints a record as a line of JSON each time it changes, if requested."""

    def __init__(self, *, as_lines: bool) -> None:
        self._as_lines = as_lines

    def tell(self, record: "Record") -> None:
        if not self._as_lines:
            return
        try:
            print(record.model_dump_json(), flush=True)
        except OSError:
            # Whoever had asked has gone away: what is stored is enough.
            self._as_lines = False
            os.kill(os.getpid(), signal.SIGTERM)
