"""The lines of the page's log: each entry, and each gap, in one line of words."""

import time
from dataclasses import dataclass

from core.browser.log.records import (
    ConsoleEntry,
    DialogEntry,
    ErrorEntry,
    LogEntry,
    LogGap,
    LogKind,
    Moment,
    RequestEntry,
)
from core.debugger.timeline.views import PageLogView
from gui.widgets.formats import count, milliseconds, thousands

_PLURALS: dict[LogKind, str] = {
    "console": "console lines",
    "error": "errors",
    "request": "requests",
    "dialog": "dialogs",
}
_TYPES = {"Stylesheet": "style", "EventSource": "events", "Ping": "beacon", "WebSocket": "socket"}
"""Types that are told by a shorter word, or a better known one."""
_BEFORE, _IN, _AFTER = "before", "action", "after"
_MOMENTS: dict[Moment, str] = {
    "before the action": _BEFORE,
    "in the action": _IN,
    "after the last action": _AFTER,
}


@dataclass(frozen=True)
class LogRow:
    """One line of the list."""

    time: float
    moment: str
    kind: LogKind
    sign: str
    """What kind of line it is, in a word."""
    tone: str
    text: str
    """In one line."""
    wrong: bool = False
    whole: str = ""
    """For tooltip and copy."""


def lines_of(view: PageLogView) -> list[LogRow]:
    found: list[LogRow] = []
    for part in view.parts:
        moment = _MOMENTS[part.moment]
        rows = [_row(entry, moment) for entry in part.log.entries]
        rows += [_gap(gap, moment) for gap in part.log.left_out]
        # A gap stands behind the last line before it.
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
    return LogRow(entry.time, moment, entry.kind, sign, tone, one_line(text), wrong=wrong, whole=whole)


def _gap(gap: LogGap, moment: str) -> LogRow:
    text = f"… {thousands(gap.count)} {_PLURALS[gap.kind]} left out here: the first and the last were kept"
    return LogRow(gap.after + 1e-6, moment, gap.kind, "left out", "remedy", text, wrong=True, whole=text)


def one_line(text: str) -> str:
    """Return a text that a page wrote as one line that draws no other way than it reads."""
    line = text[:600].replace("\n", " ⏎ ")
    shown = "".join("\ufffd" if _is_odd(letter) else letter for letter in line)
    # Its letters may run from right to left; the line that holds it does not.
    return f"\u2068{shown}\u2069"


def _is_odd(letter: str) -> bool:
    return (letter < " " or letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") or (
        "\ud800" <= letter <= "\udfff"
    )


def clock(moment: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(moment)) + f".{int(moment % 1 * 1000):03d}"
