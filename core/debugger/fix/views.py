"""The views of a fix."""

from typing import Literal

from core.debugger.causes.records import Certainty, Evidence
from core.debugger.editing.views import EditText
from core.debugger.evaluations.proof_records import Candidate, CandidateProof
from core.debugger.jobs import JobView
from core.schema.record import Record

PlaceKind = Literal["policy", "state space", "prompt", "preset", "exemplar", "action"]


class Clue(Record):
    """What may have decided the run, and a change that may mend it."""

    step: int
    what: str
    """It in a sentence."""
    why: str = ""
    """What speaks for it, in a sentence."""
    certainty: Certainty | Literal[""] = ""
    """Of a cause; empty for what is none, such as the last step."""
    evidence: tuple[Evidence, ...] = ()
    file: str = ""
    """The name of the file that is at fault by it; empty if none is."""
    line: int = 0
    """Where in the file, from 1; 0 if it is not known."""
    candidate: Candidate | None = None
    """A change of files that may mend it."""
    proof: CandidateProof | None = None
    """What came of the change; None if it was not tried yet."""
    stale: bool = False
    """Whether other files of the agent were changed since the proof."""
    proving: bool = False
    in_use: bool = False
    """Whether the change is what the files are now."""

    def has(self, candidate: Candidate) -> bool:
        """Return whether this is the clue of a change."""
        return self.candidate is not None and self.candidate.files == candidate.files

    def is_like(self, other: "Clue") -> bool:
        """Return whether both are of the same step and change, whatever came of it."""
        mine, theirs = ((one.step, one.what, one.candidate and one.candidate.files) for one in (self, other))
        return mine == theirs

    @property
    def place(self) -> str:
        """File and line, if a file is at fault."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def is_good(self) -> bool:
        """Whether the change mended failures and harmed nothing that was tried."""
        return self.proof is not None and self.proof.outcome in ("proven", "mended") and not self.proving

    @property
    def can_be_kept(self) -> bool:
        return self.is_good and not self.in_use


class CausesView(Record):
    """What may have made the run in view fail."""

    run: int = 0
    clues: tuple[Clue, ...] = ()
    words: str = ""
    """Why there are none."""


class FixPlace(Record):
    """Something that can be changed at a step."""

    kind: PlaceKind
    name: str
    """The name of a file, the id of an exemplar, or ``action``."""
    title: str
    policy: str = ""
    """The id, if it is a policy that this run has a text of its own for."""
    line: int = 1
    """Where to look first, from 1."""


class Rerun(Record):
    """The run with the change."""

    run: int
    step: int = 1
    """The step it began at."""
    fresh: bool = False
    """Whether it began with the task, not at the step."""
    state: Literal["going on", "waiting", "ended", "failed", "left", "lost"] = "going on"
    success: bool | None = None
    unchanged: bool = False
    """Whether the text was run again as it was."""
    steps: int = 0
    words: str = ""
    """How it ended, or what it waits for."""


class FixView(JobView):
    """A run, the step to fix, the change, and the result."""

    run: int = 0
    step: int = 0
    ready: bool = False
    about: str = ""
    """The task and its seed."""
    success: bool | None = None
    before: str = ""
    """How the run ended, in words."""
    out_of_budget: bool = False
    going_on: bool = False
    """Whether the run has not ended."""
    attached: bool = False
    """Whether an agent of the user's own carried the run out, whose files are elsewhere."""
    steps: tuple[tuple[int, str], ...] = ()
    """The steps that you can go back to, each with its action."""
    clues: tuple[Clue, ...] = ()
    """Those with a proven change first, then the likeliest."""
    chosen: int = -1
    """Which of them is looked at; -1 for none."""
    places: tuple[FixPlace, ...] = ()
    """What can be changed at the step, the likeliest first."""
    place: FixPlace | None = None
    text: EditText | None = None
    """The file or the action as it would be; `asked` where it was just read."""
    recognised: str = ""
    """The state of the step's page and what would be permissible there, with the text."""
    irreversible: str = ""
    """What going back does not undo, in a sentence."""
    why_not: str = ""
    """Why the run cannot continue from the step."""
    llm: str = ""
    """The LLM that answers when it is run again."""
    rerun: Rerun | None = None
    saved: tuple[str, ...] = ()
    """The files that were saved since, and can be restored."""
    unkept: tuple[str, ...] = ()
    """Those of them that were saved for this run, and not kept."""
    proposer: str = ""
    """The LLM that can be asked for a change; empty if there is none."""
    proposing: bool = False
    """Whether it is being asked."""
    proving: int = 0
    """The run, this one or another, for which a change is being proved; 0 if none is."""
    proof_says: str = ""
    """What is going on in that proof."""
    notice: str = ""
    problem: str = ""

    @property
    def clue(self) -> Clue | None:
        """The clue that is looked at."""
        return self.clues[self.chosen] if 0 <= self.chosen < len(self.clues) else None

    @property
    def patched(self) -> str | None:
        """The text in view with the change of the clue; None if it has none of it."""
        candidate = self.clue.candidate if self.clue is not None else None
        return (
            candidate.files.get(self.place.name) if candidate is not None and self.place is not None else None
        )
