"""What the window draws of the library of exemplars, and what it may ask for."""

from typing import Literal, Protocol

from core.debugger.exemplars.library.import_views import ImportDeskCommands
from core.memory.checks import Problem
from core.memory.library.records import Counts, Entry, Filter, Order, Retrieval, Row, Standing, Version
from core.memory.library.version_diff import Difference
from core.schema.record import Record
from core.schema.signal import Signal

PAGE = 100
"""Rows that are read at once."""
NEAREST = 200
"""Rows of a list that goes by meaning."""


class Query(Record):
    """Which rows a list has, and in which order."""

    filter: Filter = Filter()
    order: Order = "changed"
    reverse: bool = False
    """Whether the last come first."""
    like: str = ""
    """A text whose nearest by meaning are listed, the nearest first; `order` is not looked at then."""


class Chosen(Record):
    """Exemplars that a command is for: by their ids, or by their places in a list."""

    ids: tuple[str, ...] = ()
    query: Query | None = None
    ranges: tuple[tuple[int, int], ...] = ()
    """Of the list of `query`: from this place on, up to that one, which is not included."""


class ListView(Record):
    """A list as it stands: how long it is, and the rows where the person looks."""

    query: Query = Query()
    ready: bool = False
    """Whether it was read."""
    total: int = 0
    whole: int = 0
    """How many there are without any condition, in the archive or not as the query has it."""
    first: int = 0
    """The place of the first of these rows."""
    rows: tuple[Row, ...] = ()
    distances: tuple[float, ...] = ()
    """From the text that is looked for by meaning, for each row."""
    places: dict[str, int] = {}
    """Where those are that were asked for, as far as they are in the list."""
    waiting: str = ""
    """What is waited for."""
    problem: str = ""


class PageView(Record):
    """More rows of a list."""

    query: Query
    first: int
    rows: tuple[Row, ...] = ()
    problem: str = ""


class CountsView(Record):
    """How many exemplars that a filter lets through have which value, and what else it could ask for."""

    filter: Filter = Filter()
    counts: Counts = Counts()
    offers: dict[str, dict[str, int]] = {}
    """By kind: the values with how many there would be; the kind's own condition is left out of account."""
    without: tuple[tuple[str, int], ...] = ()
    """Where nothing is found: each condition, with how many there would be without it."""


class DetailView(Record):
    """One exemplar whole, with its versions and where it was retrieved."""

    id: str = ""
    entry: Entry | None = None
    read_only: bool = False
    place: str = ""
    """The file that has it, for one of a file."""
    versions: tuple[Version, ...] = ()
    """The oldest first; none for one of a file."""
    retrievals: tuple[Retrieval, ...] = ()
    """The latest first, the first hundreds."""
    standing: Standing = Standing()
    trace: str = ""
    """The database that the window shows: runs of others cannot be opened."""
    told: str = ""
    """The exemplar as a prompt tells it."""
    told_by: str = ""
    """The preset whose prompt that is."""
    problems: tuple[Problem, ...] | None = None
    """What is wrong with it; None where nobody has looked."""
    problem: str = ""
    """Why it cannot be shown."""


class ComparedVersions(Record):
    """Two versions of an exemplar."""

    id: str
    left: int
    right: int
    left_text: str = ""
    right_text: str = ""
    differences: tuple[Difference, ...] = ()


class Undo(Record):
    """How something is taken back."""

    archive: tuple[str, ...] = ()
    bring_back: tuple[str, ...] = ()
    make_current: tuple[tuple[str, int], ...] = ()
    """An id with the version that was current before."""

    @property
    def anything(self) -> bool:
        return bool(self.archive or self.bring_back or self.make_current)


class Told(Record):
    """What was done, or why not."""

    text: str
    bad: bool = False
    undo: Undo = Undo()


JobKind = Literal["check", "read", "import", "export", "index"]


class JobView(Record):
    """The long work that goes on, one at a time."""

    kind: JobKind | None = None
    """None where nothing goes on."""
    doing: str = ""
    done: int = 0
    of: int = 0
    """0 where it is not known how much there is."""


class CheckView(Record):
    """What a check of several has found."""

    checked: int = 0
    of: int = 0
    problems: tuple[Problem, ...] = ()
    more: int = 0
    """Problems beyond those that are told."""
    cancelled: bool = False


class LibraryDeskCommands(Protocol):
    """The library, seen from the window; safe to call from any thread."""

    imports: ImportDeskCommands
    listed: Signal[ListView]
    paged: Signal[PageView]
    counted: Signal[CountsView]
    detailed: Signal[DetailView]
    compared: Signal[ComparedVersions]
    told: Signal[Told]
    working: Signal[JobView]
    checked: Signal[CheckView]

    def list_rows(self, query: Query, keep: tuple[str, ...] = (), anchor: str = "", first: int = 0) -> None:
        """Read a list from now on, and again whenever the library changes.

        The rows around the exemplar `anchor`, else around the place `first`,
        come with it, and the places of those in `keep`.
        """

    def page(self, query: Query, first: int) -> None:
        """Read more rows of the list that was asked for last."""

    def stand(self, keep: tuple[str, ...], anchor: str, first: int) -> None:
        """Say where the person is in the list, for when it is read again by itself."""

    def rest(self) -> None:
        """Watch the library no more: nobody looks at it."""

    def look(self) -> None:
        """Read from the trace where exemplars were retrieved since, and the list again where it has changed."""

    def show(self, id: str) -> None:
        """Read one exemplar; none where the id is empty."""

    def compare(self, id: str, left: int, right: int) -> None:
        """Compare two versions of an exemplar."""

    def make_current(self, id: str, version: int) -> None:
        """Go by this version from now on."""

    def archive(self, chosen: Chosen, archived: bool) -> None:
        """Put exemplars into the archive, or bring them back; those of files are left as they are."""

    def undo(self, undo: Undo) -> None:
        """Take back what was done."""

    def check(self, chosen: Chosen) -> None:
        """Look in the background for what is wrong; one alone is shown with its details."""

    def export(self, chosen: Chosen, form: str, path: str) -> None:
        """Write exemplars as a file, or as a folder where the form has several, in the background."""

    def reindex(self) -> None:
        """Make the index anew in the background."""

    def cancel(self) -> None:
        """End the work that goes on."""
