"""An exemplar: a complete successful trajectory, with what state abstraction needs to follow it; and how exemplars are
chosen, apart from the index, which takes long to load.
"""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from core.schema.record import Record

FORMAT = 1
"""Version of the line in a file; a higher one is refused."""


Status = Literal["new", "reviewed", "retired"]
"""New: nobody has looked at it yet. Reviewed: runs recall it. Retired: it is kept, but recalled no more."""


_YEAR_9999 = 253_370_764_800


class ExemplarReview(Record):
    """Whether an exemplar is in use, by whose decision, and since when."""

    status: Status = "reviewed"
    by: str = ""
    """Who decided it; empty where nobody did: it came so."""
    at: float = 0.0
    """Seconds since the epoch; 0 where nobody did."""
    although: bool = False
    """Whether it is used although it has faults."""

    @field_validator("at")
    @classmethod
    def _no_date(cls, at: float) -> float:
        """Read a number that is no date, such as one in milliseconds, as not known."""
        return at if 0 <= at < _YEAR_9999 else 0.0


class DraftStep(Record):
    """One observation with its actions, which may still be missing."""

    observation: str = ""
    """The page as the LLM saw it, abstracted or whole."""
    raw: str = ""
    """The whole page, where `observation` is what abstraction left of it: for people, in no prompt."""
    thought: str = ""
    actions: tuple[str, ...] = ()
    """In the text form of actions; several where one reply held several."""


class ExemplarStep(DraftStep):
    """One observation with its actions."""

    actions: tuple[str, ...] = Field(min_length=1)


class AbstractionPair(Record):
    """A raw page and its wanted clean observation."""

    state: str
    observation: str


class KeptPrompt(Record):
    """The prompt of another program for the exemplars of a family, by its name there."""

    name: str = Field(min_length=1)
    texts: tuple[str, ...] = ()
    """One for all looks, or one for each."""


class DraftContrast(Record):
    """What was tried on a page, and what would have been right; either may still be empty."""

    observation: str = ""
    """The page, as the LLM saw it."""
    tried: str = ""
    """The action that was wrong, in the text form of actions."""
    right: str = ""
    why: str = ""
    """Why the one is wrong and the other right, in a sentence."""
    names: tuple[str, ...] = ()
    """Actions among them that only a state offers, such as ``select_item``: read by agents that know it."""


class Contrast(DraftContrast):
    """What was tried on a page, and what would have been right."""

    tried: str = Field(min_length=1)
    right: str = Field(min_length=1)


class Draft(Record):
    """An exemplar while it is edited: much of it may still be missing or wrong."""

    id: str = ""
    """Unique in the memory."""
    family: str = ""
    """Exemplars of one family are prompted with together, such as all of ``book-flight``."""
    task: str = ""
    """The instruction."""
    environment: str = ""
    metadata: str = ""
    """The text that is embedded; empty for task and first observation."""
    steps: tuple[DraftStep, ...] = ()
    abstraction: tuple[AbstractionPair, ...] = ()
    """Pairs for explicit abstraction."""
    parser: str = ""
    """Python for implicit abstraction: ``parse(html)`` that returns the clean observation."""
    prompts: tuple[KeptPrompt, ...] = ()
    """Prompts of the memory it was imported from: kept for people and for going out again, sent to nobody."""
    contrasts: tuple[DraftContrast, ...] = ()
    """Mistakes that were made in it and put right, shown as such."""
    source: str = ""
    """Where it came from, such as ``miniwob/click-test seed 3``."""
    tags: tuple[str, ...] = ()
    note: str = ""
    weight: float = Field(default=1.0, ge=0.1, le=10)
    """Its distance from a task is divided by it when runs look exemplars up: with 2 it counts as twice as near."""
    pinned: bool = False
    """Whether it is used before nearer ones wherever its family is voted for."""
    never: tuple[str, ...] = ()
    """Instructions: it is not used for tasks like one of them."""

    @classmethod
    def of(cls, exemplar: "Exemplar") -> "Draft":
        """Return what is edited of an exemplar: all but its review."""
        return Draft.model_validate(exemplar.model_dump(exclude={"format", "review"}))

    def exemplar(self, review: ExemplarReview | None = None) -> "Exemplar":
        """Return it as it would be stored; raises pydantic's ValidationError if it cannot be."""
        return Exemplar.model_validate({**self.model_dump(), "review": review or ExemplarReview()})

    def mistakes(self, step: int) -> tuple[DraftContrast, ...]:
        """Return the contrasts of the look at `step`, from 0: a look that comes twice has them the first time.

        A contrast of a page that is no look has none: its elements could not be found.
        """
        page = self.steps[step].observation
        if any(one.observation == page for one in self.steps[:step]):
            return ()
        return tuple(contrast for contrast in self.contrasts if contrast.observation == page)


FOR_PEOPLE = ("tags", "note", "weight", "pinned", "never")
"""What is said of a trajectory, not a part of it: two that differ only in this are the same trajectory."""


class Exemplar(Draft):
    """A complete trajectory for prompts."""

    format: int = FORMAT
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._/-]{0,119}$")
    family: str = Field(min_length=1)
    task: str = Field(min_length=1)
    steps: tuple[ExemplarStep, ...] = Field(min_length=1)
    contrasts: tuple[Contrast, ...] = ()
    review: ExemplarReview = ExemplarReview()

    @model_validator(mode="before")
    @classmethod
    def _archived(cls, values: Any) -> Any:
        """Read what files said before there was a review."""
        if not isinstance(values, dict) or "archived" not in values:
            return values
        rest = {name: value for name, value in values.items() if name != "archived"}
        return {"review": {"status": "retired"}, **rest} if values["archived"] is True else rest

    @field_validator("format")
    @classmethod
    def _known(cls, version: int) -> int:
        if not 1 <= version <= FORMAT:
            raise ValueError(f"this program reads the formats 1 to {FORMAT}; a newer one made this")
        return version

    @property
    def key(self) -> str:
        """The text that is embedded."""
        return self.metadata or metadata_of(self.task, self.steps[0].observation)


def metadata_of(task: str, observation: str) -> str:
    """Return the text by which a task on a page is looked up."""
    return f"Task: {' '.join(task.split())}\nState:\n{observation}"


REACH = 0.3
"""Without a bound, two exemplars from anywhere outvote the only one of a family, however near it is."""


class RecallSettings(Record):
    """How exemplars are chosen."""

    by: Literal["family", "exemplars"] = "family"
    """Prompt with all of the family that is voted for, or with the nearest exemplars alone."""
    votes: int = Field(default=3, ge=1, le=50)
    """How many of the nearest vote, or go in."""
    reach: float = Field(default=REACH, ge=0, le=2)
    """How much farther than the nearest one may be to have a vote for the family; 2 lets all vote."""
    tokens: int = Field(default=10_000, ge=100, le=1_000_000)
    """Tokens of all exemplars prompted with, at most: the nearest that fit are taken."""
    most: int = Field(default=50, ge=1, le=50)
    """Exemplars prompted with at most."""
    threshold: float | None = Field(default=None, ge=0, le=2)
    """A distance of the nearest beyond which memory is not used."""
    other_environments: bool = True
    """Whether exemplars of other environments count."""
    unreviewed: bool = False
    """Whether new exemplars count, which nobody has reviewed."""


class Retrieved(Record):
    """One exemplar that was retrieved."""

    id: str
    family: str
    task: str
    distance: float
    voted: bool = False
    used: bool = False
    weight: float = 1.0
    """`distance` is divided by it."""
    pinned: bool = False
    problem: str = ""
    """Why it is left out, if it would be used but for its length, its review or what cannot be read of it."""


class ShownExemplar(Record):
    """An exemplar that an attached agent has reported; it is not in our memory."""

    name: str
    text: str


class Recall(Record):
    """The query to the memory, and the result."""

    query: str = ""
    embedding: str = ""
    family: str = ""
    """The family that was voted for."""
    votes: dict[str, int] = {}
    retrieved: tuple[Retrieved, ...] = ()
    """Used ones first, then the nearest that were not, each the nearest first."""
    used: tuple[Exemplar, ...] = ()
    """In the order they are prompted with: the nearest last, next to the task."""
    shown: tuple[ShownExemplar, ...] = ()
    """Of an attached agent, in place of the rest."""
    why: str = ""
    """Why memory was used as it was, or not."""
    problems: tuple[str, ...] = ()
    """Lines of exemplar files that are left out, with file, line and what is wrong."""
