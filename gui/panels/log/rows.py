"""The lines of the Log: what the pages of a step reported, its LLM calls, and what the program did."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from core.browser.log.records import (
    ConsoleEntry,
    DialogEntry,
    ErrorEntry,
    LogEntry,
    LogGap,
    LogKind,
    LogPart,
    Moment,
    RequestEntry,
)
from core.debugger.steps.views import CallView
from core.schema.events import LogLine
from core.schema.formats import as_read, count, dollars, milliseconds, seconds, thousands

Source = LogKind | Literal["call", "program", "note"]
"""What a line is about: a kind of what pages report, an LLM call, the program, or why there is no page log."""

_PLURALS: dict[LogKind, str] = {
    "console": "console lines",
    "error": "errors",
    "request": "requests",
    "dialog": "dialogs",
}
_TYPES = {"Stylesheet": "style", "EventSource": "events", "Ping": "beacon", "WebSocket": "socket"}
"""Types that have a shorter or better known name."""
_MOMENTS: dict[Moment, str] = {
    "before the action": "before",
    "in the action": "action",
    "after the last action": "after",
}


@dataclass(frozen=True)
class LogRow:
    """One line of the list."""

    time: float
    moment: str
    source: Source
    sign: str
    """The kind of line, as a word."""
    tone: str
    text: str
    """As one line."""
    wrong: bool = False
    whole: str = ""
    """For tooltip and copy."""
    of: LogEntry | CallView | LogLine | None = None
    """What it is the line of; None for entries that were left out."""

    @property
    def spoken(self) -> str:
        """The line as a screen reader speaks it."""
        return f"{self.moment} {self.sign} {self.text}".strip()


def page_rows(parts: Iterable[LogPart]) -> list[LogRow]:
    """Return the rows of what pages reported."""
    found: list[LogRow] = []
    for part in parts:
        moment = _MOMENTS[part.moment]
        rows = [_row(entry, moment) for entry in part.log.entries]
        rows += [_gap(gap, moment) for gap in part.log.left_out]
        # A gap comes after the last line before it.
        found += sorted(rows, key=lambda row: row.time)
    return found


def _row(entry: LogEntry, moment: str) -> LogRow:
    match entry:
        case ConsoleEntry():
            wrong = entry.level in ("warning", "error")
            tone = {"error": "bad", "warning": "remedy"}.get(entry.level, "dim")
            named = wrong or entry.level == "debug"
            return _made(
                entry, moment, entry.level if named else "console", tone, entry.text, entry.place, wrong=wrong
            )
        case ErrorEntry():
            return _made(entry, moment, "✗ error", "bad", entry.text, entry.place, wrong=True)
        case DialogEntry():
            text = f"{entry.dialog}: “{entry.text}” {entry.answer or 'answer not known'}"
            return _made(entry, moment, "dialog", "person", text, entry.place)
        case RequestEntry():
            wrong = entry.failed or (entry.status or 0) >= 400
            sign = _TYPES.get(entry.type, entry.type.lower()[:9]) or "request"
            return _made(entry, moment, sign, "bad" if wrong else "dim", _asked(entry), "", wrong=wrong)


def _asked(entry: RequestEntry) -> str:
    if entry.type == "WebSocket":
        said = f": {entry.text}" if entry.text else ""
        size = f" ({_size(entry.bytes)})" if entry.bytes is not None else ""
        return f"{entry.method} {entry.url}{f' {entry.status}' if entry.status else ''}{size}{said}"
    state = str(entry.status) if entry.status is not None else ""
    if entry.failed:
        state = f"✗ {entry.text}" if not state else f"{state} ✗ {entry.text}"
    elif not entry.ended:
        state = f"{state} still open" if state else "still open"
    parts = []
    parts += [milliseconds(entry.milliseconds)] if entry.milliseconds is not None else []
    parts += [_size(entry.bytes)] if entry.bytes is not None else []
    parts += ["begun before"] if entry.began_before else []
    return " · ".join([f"{state or 'ended'} {entry.method} {entry.url}", *parts])


def _size(number: int) -> str:
    return f"{thousands(number)} B" if number < 10_000 else f"{thousands(number // 1000)} kB"


def _made(
    entry: LogEntry, moment: str, sign: str, tone: str, text: str, place: str, *, wrong: bool = False
) -> LogRow:
    left_out = f"\n(… {count(entry.cut, 'further character')} left out)" if entry.cut else ""
    whole = text + (f"\nat {place}" if place else "") + left_out
    return LogRow(
        entry.time, moment, entry.kind, sign, tone, one_line(text), wrong=wrong, whole=whole, of=entry
    )


def _gap(gap: LogGap, moment: str) -> LogRow:
    text = f"… {thousands(gap.count)} {_PLURALS[gap.kind]} left out here: too many came at once"
    return LogRow(gap.after + 1e-6, moment, gap.kind, "left out", "remedy", text, wrong=True, whole=text)


def call_row(call: CallView) -> LogRow:
    """Return the row of an LLM call: what it was for, tokens, cost, time, retries and error."""
    record, usage = call.record, call.record.usage
    retries = sum(retry.attempt for retry in record.retries)
    about = "~" if usage.estimated else ""
    cached = f" ({thousands(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    facts = (
        f"{record.number} {record.purpose}",
        record.asked,
        f"{about}{thousands(usage.prompt_tokens)}{cached} → {about}{thousands(usage.completion_tokens)} tokens",
        dollars(record.cost),
        seconds(record.seconds),
        count(retries, "retry", "retries") if retries else "",
        f"✗ {record.error}" if record.error else "",
    )
    text = " · ".join(filter(None, facts))
    more = (
        "Tokens are estimated here: the server did not count" if usage.estimated else "",
        f"Reasoning: {count(call.reasoning_tokens, 'token')}" if call.reasoning_tokens else "",
        f"For cached prompt tokens: {dollars(call.cached_cost)}" if call.cached_cost else "",
        call.note,
        *(f"{retry.reason} (waited {retry.waited:.1f} s)" for retry in record.retries),
    )
    return LogRow(
        record.started,
        "",
        "call",
        "✗ call" if record.error else "LLM call",
        "bad" if record.error else "agent",
        one_line(text),
        wrong=bool(record.error),
        whole="\n".join(filter(None, (text, *more))),
        of=call,
    )


def program_row(line: LogLine) -> LogRow:
    """Return the row of what the program logged."""
    wrong = line.level != "info"
    return LogRow(
        line.time,
        "",
        "program",
        line.source[:10],
        {"warning": "remedy", "error": "bad"}.get(line.level, "dim"),
        one_line(line.text),
        wrong=wrong,
        whole=line.text,
        of=line,
    )


def note_row(moment: float, text: str) -> LogRow:
    """Return a row that tells why there is no page log."""
    return LogRow(moment, "", "note", "page", "dim", one_line(text), whole=text)


def one_line(text: str) -> str:
    """Return a page's text as one line that is drawn in the order in which it reads."""
    # Its text may run from right to left; the line that contains it does not.
    return f"\u2068{as_read(text[:600].replace(chr(10), ' ⏎ '))}\u2069"


def clock(moment: float) -> str:
    """Return the time of a line as it is read; nothing of a step may have one."""
    if not moment:
        return ""
    return time.strftime("%H:%M:%S", time.localtime(moment)) + f".{int(moment % 1 * 1000):03d}"
