"""What Next action says of outcomes, and where there is no action."""

from core.debugger.snapshots import SessionView

OUTCOMES = {
    "none": ("", "dim"),
    "thinking": ("asking the LLM…", "dim"),
    "pending": ("not done yet", "dim"),
    "done": ("✓ done", "good"),
    "failed": ("✗ failed", "bad"),
    "skipped": ("skipped", "dim"),
}
"""The word and the tone of each outcome."""


def words_without_action(session: SessionView) -> str:
    """Return why there is no action to show, and what to do."""
    if session.run is None and session.mode != "opening":
        return (
            "No task is open. Choose one with Ctrl+N; the agent's next action shows here before it happens."
        )
    if session.mode == "failed" and session.phase is not None:
        return "The last phase failed, and the message under the page says why. F10 tries it again."
    if session.mode in ("ended", "failed"):
        return "The run has ended. Click a step in Runs & steps to see its action."
    return "No action yet. F10 asks for the next one and stops before it is taken."
