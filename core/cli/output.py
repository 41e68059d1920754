"""How commands speak: results to stdout, everything else to stderr, errors as one sentence."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from core.trace.records import RunRow, StepRow


def say(text: str) -> None:
    """Write a line to stderr at once."""
    print(text, file=sys.stderr, flush=True)


def put_json(value: Any) -> None:
    """Write one JSON value to stdout."""
    print(json.dumps(value, indent=2, ensure_ascii=False), flush=True)


def put_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table to stdout, cut to the terminal's width."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*(cell.replace("[", r"\[") for cell in row))
    console = Console(width=None if sys.stdout.isatty() else 200, soft_wrap=False, highlight=False)
    console.print(table)


def step_line(step: StepRow) -> str:
    """Return a step as one line of progress."""
    beside = (step.seconds - step.seconds_in_llm) * 1000
    what = step.action or "no action"
    if step.target:
        what += f" {step.target}"
    end = step.outcome if step.outcome == "done" else f"{step.outcome}: {step.message}"
    return f"step {step.number}  {what}  {end}  ({beside:.0f} ms beside the LLM)"


def verdict_word(row: RunRow) -> str:
    if row.verdict.success is None:
        return row.outcome
    return f"{row.outcome}, {'success' if row.verdict.success else 'no success'}"
