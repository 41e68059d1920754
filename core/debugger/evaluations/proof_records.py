"""What a change of files is proved by, and what came of it."""

from difflib import unified_diff
from typing import Literal

from core.schema.record import Record

ASKED_AGAIN = 4
"""Cases, at most, that fail with a change and not without it and are done again with and without it."""
TIMES_AGAIN = 2
"""How often each of them is: what fails only with the change each time is harmed by it."""


class Candidate(Record):
    """A change of files that may mend a failed run."""

    what: str
    """It in a sentence."""
    origin: Literal["cause", "LLM", "person"] = "person"
    """Who proposed it; a coding agent counts as a person."""
    kind: str = ""
    """The kind of the cause that it cures, if it comes from one."""
    files: dict[str, str] = {}
    """New texts of whole files, by their path in the config folder."""
    base: dict[str, str] = {}
    """Their texts before; a file that is new is not among them."""
    step: int = 0
    """The step to which its cause leads; 0 for none."""
    rest: str = ""
    """A hash of all other files of agents when it was made; empty if it is not known."""

    @property
    def diffs(self) -> list[list[str]]:
        """What it changes, as the lines of a unified diff of each file. The first two are its heading."""
        pairs = ((name, self.base.get(name, "").splitlines(), text) for name, text in self.files.items())
        return [
            list(unified_diff(before, text.splitlines(), name, name, n=1, lineterm=""))
            for name, before, text in pairs
        ]

    @property
    def diff(self) -> str:
        """What it changes, as a unified diff."""
        return "\n".join("\n".join(lines) for lines in self.diffs)


class Spot(Record):
    """A task, its seed, and the how manieth time."""

    task: str
    seed: int
    time: int = 1


class RepairPlan(Record):
    """What a repair is proved by. The three sets of spots have nothing in common with each other."""

    candidates: tuple[Candidate, ...]
    own: Spot
    """The run that is to be mended."""
    choosing: tuple[Spot, ...] = ()
    """Those by which a candidate is chosen."""
    sealed: tuple[Spot, ...] = ()
    """Those that are looked at once, when a candidate has been chosen."""
    others: tuple[Spot, ...] = ()
    """Those that passed without a change."""
    repeated: bool = False
    """Whether the first two sets repeat the run's own task and seed."""


Outcome = Literal["proven", "mended", "harmful", "not mended", "inconclusive", "not tried"]
"""``proven``: it mends, harms nothing that was tried, and holds on the sealed cases. ``mended``: it does where it was
chosen, but not on the sealed cases, or there were too few cases to choose by or to seal. ``harmful``: something that
passes fails with it, each time."""


class Pairs(Record):
    """Runs on the same cases without a change and with it."""

    judged: int = 0
    """Pairs of which both runs were judged."""
    unchanged: int = 0
    """Successes without the change."""
    changed: int = 0
    """Successes with it."""
    mended: int = 0
    """Pairs that succeed only with it."""
    harmed: int = 0
    """Pairs that succeed only without it."""
    low: float = -1.0
    high: float = 1.0
    """The 95 % interval of the difference of the shares of successes (Newcombe), as if it had been known how many
    pairs there are."""

    @property
    def words(self) -> str:
        return f"unchanged {self.unchanged} of {self.judged}, changed {self.changed} of {self.judged}"


class CandidateProof(Record):
    """What came of a candidate."""

    candidate: Candidate
    outcome: Outcome = "not tried"
    why: str = ""
    """It in a sentence."""
    again: Pairs = Pairs()
    """The failed run again, from its step or from its start."""
    chosen: Pairs = Pairs()
    evidence: float = 1.0
    """How much likelier these pairs are if the change helps than if it has no effect."""
    others: int = 0
    """Cases that had passed and were tried with it."""
    others_harmed: int = 0
    """Those of them that fail with it and not without it, except for those that did so by chance."""
    harmed: tuple[int, ...] = ()
    """Runs with it that fail, where those without it pass; one of them, at least, also when both are made again."""
    differs: tuple[int, ...] = ()
    """Runs with it that failed where those without it passed, and not so when both were made again."""
    unclear: tuple[int, ...] = ()
    """Runs with it that failed where those without it passed, and that were not made again often enough."""
    sealed: Pairs = Pairs()
    run: int | None = None
    """The failed run again with it."""
    runs: int = 0
    """Those with it, and those without a change."""
    cost: float | None = None
    """US dollars of these runs and of what had to be tried again; None if no call had a price."""

    @property
    def sentence(self) -> str:
        """The figures, those of harm first."""
        parts = [f"{len(self.harmed)} harmed"] if self.harmed else []
        if self.differs:
            parts.append(f"{len(self.differs)} failed by chance")
        if self.unclear:
            parts.append(f"{len(self.unclear)} failed and not made again")
        pairs = self.chosen if self.chosen.judged else self.again
        if pairs.judged:
            parts.append(pairs.words)
        if self.sealed.judged:
            parts.append(f"sealed {self.sealed.changed} of {self.sealed.judged}")
        if self.others:
            parts.append(f"{self.others - self.others_harmed} of {self.others} others unharmed")
        return ", ".join(parts)


class Proof(Record):
    """What is known of the candidates of a repair so far."""

    run: int
    name: str = ""
    """Of the evaluation that has the runs."""
    candidates: tuple[CandidateProof, ...] = ()
    cost: float | None = None
    """US dollars of all tries; None if no call had a price."""
    runs: int = 0
    why: str = ""
    """Why it ended before it was known; empty if it did not."""

    @property
    def best(self) -> CandidateProof | None:
        """The candidate that was proven."""
        return next((each for each in self.candidates if each.outcome == "proven"), None)
