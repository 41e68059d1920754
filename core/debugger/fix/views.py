"""The views of a fix."""

from typing import Literal

from core.debugger.causes.records import Patch
from core.debugger.editing.views import EditText
from core.debugger.jobs import JobView
from core.schema.record import Record

MOST_SEEDS = 50
"""Other seeds that a family may be run at."""
PlaceKind = Literal["policy", "state space", "prompt", "preset", "exemplar", "action"]


class Clue(Record):
    """A step that may have decided the run, with the reason."""

    step: int
    reason: str
    file: str = ""
    """The name of the file that is at fault by it; empty if none is."""
    line: int = 0
    """Where in the file, from 1; 0 if it is not known."""
    patch: Patch | None = None
    """A change of the file that may mend it."""


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


class FamilyResult(Record):
    """The task at other seeds, before and after the change."""

    name: str
    """Of the evaluation."""
    fixed: int = 0
    """The run that was made with what was changed; 0 for none."""
    before: tuple[int, int] = (0, 0)
    """Successes, and how many runs were judged."""
    after: tuple[int, int] = (0, 0)
    seeds: int
    """At how many other seeds, or how often at the same where the task has none."""
    done: int = 0
    total: int

    @property
    def sentence(self) -> str:
        (good, judged), (good_after, judged_after) = self.before, self.after
        return f"{good} of {judged} before, {good_after} of {judged_after} after"


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
    """The likeliest first."""
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
    family: FamilyResult | None = None
    family_busy: bool = False
    notice: str = ""
    problem: str = ""

    @property
    def patch(self) -> Patch | None:
        """The change that the cause of the step proposes, if it is of what is in view."""
        patch = next((clue.patch for clue in self.clues if clue.step == self.step), None)
        return (
            patch if patch is not None and self.place is not None and patch.file == self.place.name else None
        )

    @property
    def reason(self) -> str:
        """What speaks for the step."""
        return next((clue.reason for clue in self.clues if clue.step == self.step), "You chose this step.")
