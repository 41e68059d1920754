"""Reports OpenTelemetry spans of agents, chains and tools as policies.

It supports the conventions for generative AI (``gen_ai.*``) and those of OpenInference. It does not import
OpenTelemetry: any object with the fields of a span works.
"""

from __future__ import annotations

from typing import Any

from backstep_sdk._post import post

_LONGEST = 2000
"""Letters of the attributes that are noted of a span."""
_LONGEST_VALUE = 200
_OPERATIONS = {
    "invoke_agent": "agent",
    "create_agent": "",
    "execute_tool": "tool",
    "invoke_workflow": "chain",
}
_NAMES = {"agent": "gen_ai.agent.name", "tool": "gen_ai.tool.name", "chain": "gen_ai.workflow.name"}
_ARGUMENTS = ("gen_ai.tool.call.arguments", "input.value", "gen_ai.agent.description")
"""What a policy was called with, where the span says it as it begins."""
_POLICIES = ("agent", "chain", "tool")


class SpanProcessor:
    """Reports the spans of a TracerProvider to Backstep when they begin and end."""

    def __init__(self) -> None:
        self._policies: set[str] = set()
        """The spans that have begun as policies and have not ended."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Begin a policy, where the span is one of an agent, a chain or a tool."""
        try:
            self._begin(span)
        except Exception:  # Whoever traces must not fail for it.
            return

    def on_end(self, span: Any) -> None:
        """End the policy, and note the span's attributes."""
        try:
            self._end(span)
        except Exception:
            return

    def _on_ending(self, span: Any) -> None:
        """Do nothing before a span has ended; OpenTelemetry calls it."""

    def shutdown(self) -> None:
        """There is nothing to close."""

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """All that there was has been told."""
        return True

    def _begin(self, span: Any) -> None:
        given = dict(span.attributes or {})
        kind = _kind(span.name, given)
        if kind not in _POLICIES:
            return
        argument = next((str(given[name]) for name in _ARGUMENTS if given.get(name)), "")
        parent = "" if span.parent is None else _id(span.parent)
        id = _id(span.get_span_context())
        self._policies.add(id)
        post("policy", id=id, parent=parent, name=_name(span.name, kind, given), argument=_cut(argument))

    def _end(self, span: Any) -> None:
        given = dict(span.attributes or {})
        kind = _kind(span.name, given)
        if not kind:
            return
        id = _id(span.get_span_context())
        post("note", text=_noted(span, kind, given))
        if id in self._policies:
            self._policies.discard(id)
            failed = getattr(span.status.status_code, "name", "") == "ERROR"
            said = span.status.description or "The span ended with an error."
            post("policy end", id=id, error=said if failed else "")


def _kind(name: str, given: dict[str, Any]) -> str:
    """Return what a span is of, such as ``tool`` or ``llm``; empty for what is of no agent."""
    if said := given.get("openinference.span.kind"):
        return str(said).lower()
    # Some say the operation only as the span ends; the conventions have it in the name.
    operation = str(given.get("gen_ai.operation.name") or name.partition(" ")[0])
    if operation in _OPERATIONS:
        return _OPERATIONS[operation]
    return "llm" if "gen_ai.operation.name" in given else ""


def _name(name: str, kind: str, given: dict[str, Any]) -> str:
    operation, _, rest = name.partition(" ")
    return str(given.get(_NAMES[kind]) or (rest if operation in _OPERATIONS and rest else name))


def _noted(span: Any, kind: str, given: dict[str, Any]) -> str:
    seconds = ((span.end_time or 0) - (span.start_time or 0)) / 1e9
    said = ", ".join(f"{name}={_cut(str(value))}" for name, value in sorted(given.items()))
    said = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
    return f"{kind} {span.name}, {seconds:.3f} s" + (f": {said}" if said else "")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _id(context: Any) -> str:
    return f"span-{context.trace_id:032x}-{context.span_id:016x}"
