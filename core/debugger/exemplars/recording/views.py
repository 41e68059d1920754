"""What the window draws of recording an exemplar by hand."""

from core.schema.record import Record
from core.trace.records import StepRow


class RecordingView(Record):
    """Whether the person's doings in the page are being recorded, and how far that is."""

    recording: bool = False
    starting: bool = False
    run: int = 0
    steps: int = 0
    last: StepRow | None = None


class RecordedSteps(Record):
    """A recording that was ended, to be kept."""

    run: int
    steps: tuple[int, ...]
