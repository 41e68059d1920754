"""What may have caused a run to fail: the cause, what speaks for it, where it lies, and how sure that is."""

from typing import Literal

from core.schema.observation import Ref
from core.schema.record import Record

Certainty = Literal["sure", "likely", "possible"]
"""``sure``: the trace shows that it happened and that a success did otherwise. ``likely``: the trace shows that it
happened. ``possible``: it is known to cause such failures, and nothing speaks against it."""
WEIGHTS: dict[Certainty, float] = {"sure": 3.0, "likely": 2.0, "possible": 1.0}
"""What a certainty adds to the rank of a cause."""

EvidencePart = Literal[
    "page", "state", "prompt", "reply", "action", "exemplar", "policy", "log", "judge", "success"
]
"""The part of a step that evidence is of; ``success``: of a step of the successful run."""


class Evidence(Record):
    """Something in the trace that speaks for a cause."""

    step: int
    """0 for a whole run."""
    part: EvidencePart
    text: str
    run: int | None = None
    """The run it is of, if that is not the failed one."""
    ref: Ref | None = None
    """The element of the page that it is about."""

    @property
    def where(self) -> str:
        """What it is of, such as ``run 7, step 3, page``; of a whole run without the step."""
        run = f"run {self.run}" if self.run is not None else ""
        return ", ".join(filter(None, (run, f"step {self.step}" if self.step else "", self.part)))


class Patch(Record):
    """A change of one file: what is there once is replaced."""

    file: str
    """The name of the file, such as ``state_spaces/shop.toml``."""
    find: str
    put: str


class Cause(Record):
    """One cause of a failed run."""

    kind: str = ""
    """The name of its kind, such as ``state-not-recognised``; filled in where causes are gathered."""
    step: int
    """The step at which it took effect."""
    what: str
    """It in a sentence."""
    evidence: tuple[Evidence, ...] = ()
    file: str = ""
    """The name of the file to change; empty if no file of the agent is at fault."""
    line: int = 0
    """Where in the file, from 1; 0 if it is not known."""
    field: str = ""
    """What of the step it is about, where there is no file, such as ``action``."""
    certainty: Certainty = "possible"
    why: str = ""
    """Why it is so sure, in a sentence."""
    weight: float = 0.0
    """Of causes that are as sure, the largest is first, from 0 to 1; that of the kind, where it is 0."""
    patch: Patch | None = None

    @property
    def rank(self) -> float:
        return WEIGHTS[self.certainty] + self.weight

    @property
    def place(self) -> str:
        """The file and line, or the step and its field."""
        if self.file:
            return f"{self.file}:{self.line}" if self.line else self.file
        return f"step {self.step}{f', {self.field}' if self.field else ''}"


ElementKind = Literal["state", "action", "policy", "exemplar"]


class Suspicion(Record):
    """How suspicious one state, action, policy or exemplar is."""

    kind: ElementKind
    name: str
    """Of an action, with its state: ``results.select_item``."""
    failed: int
    """Failed runs that used it."""
    passed: int
    score: float
    """From 0 to 1."""
    run: int | None = None
    """A failed run that used it; None if there is none."""
