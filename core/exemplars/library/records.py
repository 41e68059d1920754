"""The library's data about its exemplars, and the differences of two versions."""

import getpass
import time
from typing import Literal, NamedTuple, get_args

from pydantic import Field

from core.schema.exemplar import Draft, Exemplar, ExemplarReview, Status
from core.schema.record import Record

LIBRARY_NAME = "exemplars.db"
"""The database in the data folder."""

Origin = Literal[
    "agent run",  # an agent did it by itself
    "branch",  # a run that a person took back and corrected
    "demonstration",  # a person did it in the page
    "by hand",  # a person wrote it
    "import",  # it came from another program or person
    "recorded",  # written actions were carried out
    "file",  # a file of exemplars in the user's folder
    "bundled",  # comes with the program; read only
]
READ_ONLY: tuple[Origin, ...] = ("bundled",)


ProofKind = Literal["replay", "worth", "credit", "neighbour"]
"""What was found out about exemplars by trying, and by a comparison with all others."""
NEAR_DUPLICATE = 0.15
"""The distance up to which two exemplars are taken to say nearly the same.

Measured with the built-in embedding, which takes one number for another: of
the 63 exemplars that come with the program 6 pairs lie at 0 and the next at
0.29; of the 115 texts of 23 families of Synapse's MiniWoB++ tasks 44 lie at
0, 17 up to 0.15, 3 from there to 0.2 and 30 from there to 0.3. What lies
within 0.15 differs in numbers, signs or a short word.
"""


def review_now(status: Status, *, although: bool = False) -> ExemplarReview:
    """Return a review by the person who uses this program, of this moment; `although` it may have faults."""
    try:
        person = getpass.getuser()
    except (KeyError, OSError):  # A system that has no name for its user.
        person = ""
    return ExemplarReview(status=status, by=person, at=time.time(), although=although)


def first_review(origin: Origin) -> ExemplarReview:
    """Return the review that one of this origin begins with: imports and demonstrations are new."""
    return ExemplarReview(status="new") if origin in ("import", "demonstration") else review_now("reviewed")


def about_family(name: str) -> str:
    """Return what a proof about a family is kept under; no id has a space."""
    return f"family {name}"


class Provenance(Record):
    """Where an exemplar came from, as far as it is known."""

    origin: Origin = "by hand"
    run: int | None = None
    """Its run in the trace."""
    step: int | None = None
    """The step of the run at which it ends."""
    llm: str = ""
    """Who decided the actions; empty for a person."""
    site: str = ""
    """The host of the pages, such as ``shop.example``."""
    file: str = ""
    """The path of the file that it was imported from, or that it is in."""


class Entry(Record):
    """One exemplar of the library, whole."""

    exemplar: Exemplar
    provenance: Provenance = Provenance()
    version: int = 1
    """The version that is current."""
    made: float = 0.0
    """Seconds since the epoch."""
    changed: float = 0.0
    tokens: int = 0
    """About how many its trajectory has in a prompt."""

    @property
    def read_only(self) -> bool:
        return self.provenance.origin in READ_ONLY


class RetrievalRecord(Record):
    """In how many runs an exemplar was retrieved; those of evaluations are counted apart."""

    retrieved: int = Field(default=0, ge=0)
    used: int = 0
    successes: int = 0
    """Of the runs that it was used in, those that were a success."""
    failures: int = 0
    measured: int = 0
    """Runs of evaluations that it was used in: what they found is its worth."""


class LibraryRow(Record):
    """One exemplar as lists show it."""

    id: str
    family: str
    task: str
    environment: str = ""
    site: str = ""
    origin: Origin = "by hand"
    run: int | None = None
    step: int | None = None
    file: str = ""
    llm: str = ""
    made: float = 0.0
    changed: float = 0.0
    tags: tuple[str, ...] = ()
    note: str = ""
    review: ExemplarReview = ExemplarReview()
    version: int = 1
    steps: int = 0
    """How many looks it has."""
    contrasts: int = 0
    tokens: int = 0
    weight: float = 1.0
    pinned: bool = False
    standing: RetrievalRecord = RetrievalRecord()
    plays: bool | None = None
    """Whether its last replay was a success; None if there was none, or nobody could judge."""
    played: float | None = None
    """When it was replayed last, in seconds since the epoch."""
    played_version: int | None = None
    worth: float | None = None
    """How much more often tasks were a success with it than without, from -1 to 1, as last measured."""
    worth_low: float | None = None
    worth_high: float | None = None
    """The 95 % interval of `worth`."""
    worth_version: int | None = None
    credit: float | None = None
    """How much likelier it made the actions of steps, from -1 to 1, on average."""
    nearest: str | None = None
    """The id of the nearest other one, when all were compared last."""
    distance: float | None = None
    """To the nearest other one."""
    taken_for: str | None = None
    """The family that would be found for it without itself."""

    @property
    def read_only(self) -> bool:
        return self.origin in READ_ONLY

    @property
    def is_played_old(self) -> bool:
        """Whether it was changed since it was replayed."""
        return self.played is not None and self.played_version != self.version

    @property
    def is_worth_old(self) -> bool:
        """Whether it was changed since its worth was measured, as far as is known."""
        return self.worth is not None and self.worth_version not in (None, self.version)


Measure = Literal[
    "retrieved", "used", "helped", "plays", "played", "worth", "credit", "distance", "taken_for"
]
"""What was found out about exemplars: by runs, by trying, and by comparing them."""
Order = Literal[
    "changed", "made", "family", "id", "tokens", "task", "environment", "origin", "site", "llm", "steps",
    "status", "file", "run", "weight", Measure,
]  # fmt: skip
"""What comes first: the latest, the largest, or the first by the alphabet. Equal ones come by id.

Those of which a measure is not known come last, also in the reverse order.
"""
DESCENDING: tuple[Order, ...] = (
    "changed", "made", "tokens", "steps", "run", "weight", "retrieved", "used", "helped", "played", "worth", "credit",
)  # fmt: skip
"""Orders in which the largest comes first."""
Finding = Literal[
    "never played",
    "does not play",
    "plays",
    "changed since played",
    "never used",
    "used",
    "harmful",
    "helpful",
    "worth unknown",
    "near duplicate",
    "of another family",
    "not compared",
]
"""What lists can be narrowed to. Harmful and helpful: the interval of the worth is on one side of 0."""


IN_USE: tuple[Status, ...] = ("new", "reviewed")
"""What lists show if nothing else is asked for: all that is not retired."""
ANY: tuple[Status, ...] = get_args(Status)


class Filter(Record):
    """A filter of exemplars: all conditions must be met; an empty one is always met."""

    words: str = ""
    """Words that occur in task, family, id, tags, note, thoughts or actions; the last may be only begun."""
    family: str = ""
    environment: str = ""
    site: str = ""
    origin: Origin | Literal[""] = ""
    tags: tuple[str, ...] = ()
    """All of them."""
    llm: str = ""
    run: int | None = None
    file: str = ""
    found: tuple[Finding, ...] = ()
    """All of them."""
    made_from: float | None = None
    """Seconds since the epoch, this moment included."""
    made_until: float | None = None
    """The same, not included."""
    statuses: tuple[Status, ...] = IN_USE
    """Any of these."""


NEW = Filter(statuses=("new",))
"""What waits for a review."""


class LibraryRows(Record):
    """Some rows of a list."""

    rows: tuple[LibraryRow, ...] = ()
    total: int = 0
    """How many the filter lets through in all."""
    offset: int = 0


class Counts(Record):
    """How many exemplars that match a filter have each value."""

    total: int = 0
    tokens: int = 0
    families: int = 0
    by: dict[str, dict[str, int]] = {}
    """By family, environment, site, origin, llm, file, run, tag and finding, then by value, the most frequent first."""


class Edits(Record):
    """Changes of many exemplars; what is empty or None stays as it is."""

    add: tuple[str, ...] = ()
    """Tags."""
    remove: tuple[str, ...] = ()
    family: str = ""
    weight: float | None = None
    pinned: bool | None = None
    never: tuple[str, ...] = ()
    """Instructions that are added."""

    def of(self, exemplar: Exemplar) -> Exemplar:
        """Return the changed exemplar."""
        left = (tag for tag in exemplar.tags if tag not in self.remove)
        return exemplar.replace(
            tags=tuple(dict.fromkeys((*left, *self.add))),
            family=self.family or exemplar.family,
            weight=exemplar.weight if self.weight is None else self.weight,
            pinned=exemplar.pinned if self.pinned is None else self.pinned,
            never=tuple(dict.fromkeys((*exemplar.never, *self.never))),
        )


def merged(kept: Exemplar, other: Exemplar) -> Exemplar:
    """Return one with what another one says to people besides its own; where both say something, its own stays."""
    note = kept.note
    if other.note.strip() and other.note.strip() not in note:
        note = f"{note.rstrip()}\n{other.note.strip()}".lstrip()
    return kept.replace(
        tags=tuple(dict.fromkeys((*kept.tags, *other.tags))),
        note=note,
        weight=other.weight if kept.weight == 1 else kept.weight,
        pinned=kept.pinned or other.pinned,
        never=tuple(dict.fromkeys((*kept.never, *other.never))),
    )


class Version(Record):
    """One saved state of an exemplar."""

    number: int
    saved: float
    why: str = ""
    tokens: int = 0
    current: bool = False


class CurrentVersion(Record):
    """Which version of an exemplar is current, and its review."""

    id: str
    version: int
    review: ExemplarReview = ExemplarReview()
    content: str = ""
    """Of one that is in a file of the user: all of it as JSON, since no version of it is kept."""


class Retrieval(Record):
    """One time that an exemplar was looked up for a run."""

    id: str
    trace: str
    """The database of traces that has the run."""
    run: int
    step: int
    when: float = 0.0
    distance: float = 0.0
    voted: bool = False
    used: bool = False
    """Whether it was recalled to be used, or a person added it."""
    outcome: str = ""
    """How the run ended, as far as it has."""
    success: bool | None = None


class VersionDifference(Record):
    """One part that is not the same in both; a part that one of them lacks is empty there."""

    part: str
    """Such as ``family`` or ``look 2, thought``."""
    before: str = ""
    after: str = ""


_ORDER = ("id", "family", "task", "environment", "metadata", "step", "abstraction", "parser", "contrast")
"""In which order parts that differ are listed; all others come last."""


def differences(before: Draft, after: Draft) -> tuple[VersionDifference, ...]:
    """Return what differs, in the order of the parts; nothing for equal ones."""
    left, right = _parts(before), _parts(after)

    def rank(name: str) -> int:
        kind = name.partition(" ")[0]
        return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)

    return tuple(
        VersionDifference(part=name, before=left.get(name, ""), after=right.get(name, ""))
        for name in sorted({**left, **right}, key=rank)
        if left.get(name, "") != right.get(name, "")
    )


def _parts(draft: Draft) -> dict[str, str]:
    """Return all that an exemplar says, by name, such as ``look 2, thought``."""
    parts = {
        name: getattr(draft, name)
        for name in ("id", "family", "task", "environment", "metadata", "source", "note")
    }
    parts["tags"] = ", ".join(draft.tags)
    parts |= {"weight": f"{draft.weight:g}", "pinned": "yes" if draft.pinned else "no"}
    parts["never"] = "\n".join(draft.never)
    for number, step in enumerate(draft.steps, start=1):
        parts[f"step {number}, observation"] = step.observation
        parts[f"step {number}, whole page"] = step.raw
        parts[f"step {number}, thought"] = step.thought
        parts[f"step {number}, actions"] = "\n".join(step.actions)
    for number, contrast in enumerate(draft.contrasts, start=1):
        for name in ("observation", "tried", "right", "why"):
            parts[f"contrast {number}, {name}"] = getattr(contrast, name)
    for number, one in enumerate(draft.abstraction, start=1):
        parts[f"abstraction {number}, state"] = one.state
        parts[f"abstraction {number}, observation"] = one.observation
    return {**parts, "parser": draft.parser}


class LibraryChange(NamedTuple):
    """What the index needs to know of an exemplar that was saved or reviewed."""

    number: int
    id: str
    family: str
    environment: str
    text: int
    status: Status
    weight: float
    pinned: bool
