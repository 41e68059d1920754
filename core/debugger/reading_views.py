"""What the window may ask to be read of a run beside the step in view."""

from typing import Protocol

from core.debugger.page_log_views import PageLogView
from core.debugger.time_views import TimeView
from core.debugger.why_views import WhyQuestion, WhyView
from core.signal import Signal


class ReadingDeskCommands(Protocol):
    """Reading beside the run, seen from the window; safe to call from any thread.

    Of what is asked for in a row only the last may come. Signals are sent
    from the worker's thread.
    """

    logged: Signal[PageLogView]
    explained: Signal[WhyView]
    timed: Signal[TimeView]

    def read_log(self, run: int, step: int) -> None:
        """Read the log of the page in a step."""

    def explain(self, question: WhyQuestion) -> None:
        """Look where a text of a step stands; a question without text tells what can be looked for."""

    def read_times(self, run: int) -> None:
        """Read where the time of a run went."""
