"""The views of the library, of an import, and of two versions that are compared."""

from typing import TYPE_CHECKING

from core.debugger.jobs import JobView
from core.exemplars.editing.toml_text import text_of
from core.exemplars.exchange.plan import ImportChoices, ImportPlan
from core.exemplars.library.records import (
    Counts,
    Entry,
    Filter,
    LibraryRow,
    Order,
    Retrieval,
    RetrievalRecord,
    Version,
    VersionDifference,
    differences,
)
from core.exemplars.problem import Problem
from core.schema.exemplar import Draft
from core.schema.messages import Message
from core.schema.record import Record

if TYPE_CHECKING:
    from core.exemplars.library.store import Library

PAGE = 100
"""Rows that are read at once."""
NEAREST = 200
"""Rows of a list of the nearest."""
SHOWN = 2000
"""Entries of an import, and problems of a check, that are listed one by one."""


class Query(Record):
    """The filter and order of a list."""

    filter: Filter = Filter()
    order: Order = "changed"
    reverse: bool = False
    """Whether the last come first."""
    like: str = ""
    """A text whose nearest by the embedding are listed, the nearest first; `order` is not looked at then."""


class Chosen(Record):
    """The exemplars of a command: by their ids, or by their places in a list."""

    ids: tuple[str, ...] = ()
    query: Query | None = None
    ranges: tuple[tuple[int, int], ...] = ()
    """Of the list of `query`: from this place on, up to that one, which is not included."""


class ListView(Record):
    """A list: its length, and the visible rows; or only more of its rows, with `query` and `first`."""

    query: Query = Query()
    ready: bool = False
    """Whether it was read."""
    total: int = 0
    whole: int = 0
    """How many there are of these statuses without any other condition."""
    new: int = 0
    """How many wait for a review, whatever the query."""
    first: int = 0
    """The place of the first of these rows."""
    rows: tuple[LibraryRow, ...] = ()
    distances: tuple[float, ...] = ()
    """From the text whose nearest are listed, for each row."""
    places: dict[str, int] = {}
    """Where those are that were asked for, as far as they are in the list."""
    compared: float | None = None
    """When all exemplars were compared with each other last, in seconds since the epoch."""
    is_compared_old: bool = False
    """Whether exemplars were changed since."""
    embedding: str = ""
    """The one that is set."""
    embeddings: tuple[str, ...] = ()
    """The others that the settings name."""
    waiting: str = ""
    """What is waited for."""
    problem: str = ""


class CountsView(Record):
    """How many exemplars that match a filter have each value, and the other values to filter by."""

    filter: Filter = Filter()
    counts: Counts = Counts()
    offers: dict[str, dict[str, int]] = {}
    """By kind: the values with how many there would be; the kind's own condition is left out of account."""
    without: tuple[tuple[str, int], ...] = ()
    """If nothing is found: each condition, with how many there would be without it."""


class ExemplarPrompt(Record):
    """One exemplar in a prompt."""

    messages: tuple[Message, ...] = ()
    tokens: int = 0
    note: str = ""
    """Why there are no messages, or what is to be known of them."""

    @property
    def text(self) -> str:
        """The messages under each other, or why there are none."""
        if len(self.messages) < 2:
            return self.messages[0].text.strip() if self.messages else self.note
        return "\n\n".join(f"─── {message.role} ───\n{message.text.strip()}" for message in self.messages)


class ProofLine(Record):
    """One thing that was found out about an exemplar."""

    when: float = 0.0
    """Seconds since the epoch."""
    what: str
    result: str
    good: bool | None = None
    """None if it is neither good nor bad."""
    why: str = ""
    evaluation: int | None = None
    """The evaluation that found it, if the window can open it."""
    run: int | None = None
    """The run and step that it is about, if the window can open them."""
    step: int = 1


class DetailView(Record):
    """One whole exemplar, with its versions and retrievals."""

    id: str = ""
    entry: Entry | None = None
    fault: str = ""
    """Its first fault, for which runs do not recall it unless a person says so."""
    versions: tuple[Version, ...] = ()
    """The oldest first; none for one of a file."""
    retrievals: tuple[Retrieval, ...] = ()
    """The latest first, the first hundreds."""
    standing: RetrievalRecord = RetrievalRecord()
    proofs: tuple[ProofLine, ...] = ()
    """The latest first."""
    trace: str = ""
    """The database that the window shows: runs of others cannot be opened."""
    prompt: str = ""
    """The exemplar as a prompt shows it to the LLM."""
    preset: str = ""
    """The preset whose prompt that is."""
    problem: str = ""
    """Why it cannot be shown."""


class Notice(Record):
    """What was done, or why not."""

    text: str
    bad: bool = False
    change: str = ""
    """The name of the change, where it can be undone."""


class LibraryJob(JobView):
    """The current job; there is one at a time."""

    importing: bool = False
    """Whether it is of an import, whose dialog shows it as well."""


class CheckView(Record):
    """The findings of a check."""

    checked: int = 0
    of: int = 0
    problems: tuple[Problem, ...] = ()
    more: int = 0
    """Problems beyond those that are listed."""
    cancelled: bool = False


class ImportView(Record):
    """An import, before it is done."""

    choices: ImportChoices = ImportChoices()
    plan: ImportPlan | None = None
    """What it would do; None if the files are not read."""
    done: bool = False
    problem: str = ""
    """Why the files cannot be read or imported."""


class ComparedVersions(Record):
    """Two versions of an exemplar."""

    id: str
    left: int
    right: int | None = None
    """None for the draft in the editor."""
    left_text: str = ""
    right_text: str = ""
    differences: tuple[VersionDifference, ...] = ()


def compare_versions(
    library: "Library", id: str, left: int, right: int | None, draft: Draft | None = None
) -> ComparedVersions:
    """Compare a version with another one, or with a draft; raises LibraryError."""
    before, after = library.at(id, left), draft if right is None else library.at(id, right)
    assert after is not None
    return ComparedVersions(
        id=id,
        left=left,
        right=right,
        left_text=text_of(before),
        right_text=text_of(after),
        differences=differences(before, after),
    )
