"""What the list of breakpoints and that of watches say, row by row."""

from core.debugger.breakpoints.views import BreakpointView, WatchView
from core.debugger.breakpoints.watch import WatchKind
from gui.widgets.rows import Row

WATCH_KINDS: dict[WatchKind, str] = {
    "expression": "expression",
    "css": "CSS",
    "xpath": "XPath",
    "script": "script",
}
_LONGEST = 300
"""Characters of a value that are shown; the tooltip has more."""


def breakpoint_row(view: BreakpointView) -> Row:
    breakpoint = view.breakpoint
    logs = breakpoint.then == "log"
    facts = (f"×{view.hits}" if view.hits else "", "only logs" if logs else "")
    small = (
        f"if {breakpoint.condition}" if breakpoint.condition else "",
        f"lets the first {breakpoint.ignore} pass" if breakpoint.ignore else "",
        "" if breakpoint.enabled else "switched off",
    )
    return Row(
        text=breakpoint.label(),
        icon=_icon(view),
        tone="text" if breakpoint.enabled else "dim",
        word=" · ".join(fact for fact in facts if fact),
        detail="\n".join(line for line in small if line),
        quiet=not breakpoint.enabled,
        key=breakpoint.number,
        checked=breakpoint.enabled,
        tooltip=f"Breakpoint {breakpoint.number}. Enter edits it, Space switches it, Delete removes it.",
    )


def watch_row(view: WatchView) -> Row:
    watch = view.watch
    kind = "" if watch.kind == "expression" else WATCH_KINDS[watch.kind]
    value = view.error or view.text or "not read yet"
    word = "no value" if view.error else "changed" if view.changed else ""
    return Row(
        text=watch.text,
        icon="warning" if view.error else "debug-breakpoint-data" if view.changed else "eye",
        tone="remedy" if view.error or view.changed else "dim",
        word=" · ".join(part for part in (kind, word) if part),
        detail=value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…",
        strong=view.changed,
        machine=True,
        key=watch.number,
        checked=watch.on_change,
        tooltip=f"{value[: 10 * _LONGEST]}\nEnter edits it, Space lets a change of it stop the run, "
        "Delete removes it.",
    )


def _icon(view: BreakpointView) -> str:
    kind = "-log" if view.breakpoint.then == "log" else "-conditional" if view.breakpoint.condition else ""
    return f"debug-breakpoint{kind}{'' if view.breakpoint.enabled else '-disabled'}"
