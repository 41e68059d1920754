"""The views of the exemplar editor."""

from typing import Literal, NamedTuple

from core.debugger.catalogue import PresetOption
from core.debugger.editing.words import Word
from core.debugger.exemplars.library.views import ExemplarPrompt
from core.exemplars.editing.draft_files import KeptDraft
from core.exemplars.editing.reading import TextProblem
from core.exemplars.library.records import Version
from core.schema.exemplar import Draft, ExemplarReview
from core.schema.record import Record

SaveWay = Literal["save", "over", "copy"]
"""``over`` is a new version on top of whatever is there by now, ``copy`` a new exemplar under a free id."""


class PageChoice(Record):
    """A page that the program can be tried on."""

    kind: Literal["step", "pair"]
    number: int
    """The step of the source run, or which pair, from 1."""
    title: str


class OpenedExemplar(Record):
    """The exemplar that is edited, and its place in the library."""

    serial: int = 0
    """Another one whenever another exemplar is opened."""
    key: str = ""
    text: str = ""
    """What the editing begins with."""
    base: str | None = None
    """The text with which there is nothing to be saved; None if it is not stored as it is opened."""
    id: str = ""
    """Its id in the library; empty if it is not there yet."""
    version: int = 0
    """The version that was opened or saved last; 0 for none."""
    saved: float = 0.0
    """When that was stored, in seconds since the epoch."""
    review: ExemplarReview = ExemplarReview()
    origin: str = ""
    """Where it came from, in words."""
    run: int | None = None
    """The run that it came from."""
    note: str = ""
    """What is to be known of it: that it is a copy, or a draft."""


class Checked(Record):
    """The findings in a text at one edit."""

    edit: int = -1
    """The number that the window gave the edit."""
    problems: tuple[TextProblem, ...] = ()
    draft: Draft | None = None
    """What the text says; None if it cannot be read. What follows is then of the last text that could."""
    tokens: int = 0
    """About how many its trajectory has in a prompt."""
    look_tokens: tuple[int, ...] = ()
    preset: str = ""
    prompt: ExemplarPrompt = ExemplarPrompt()
    """The part of the prompt that shows it, exactly as the agent would send it."""


class ParserTrial(Record):
    """The result of the program on a page."""

    page: str
    running: bool = False
    text: str = ""
    error: str = ""
    seconds: float = 0.0
    page_tokens: int = 0
    """Tokens of the page's lines."""
    tokens: int = 0
    """Tokens of what the program left."""
    note: str = ""


class NewText(NamedTuple):
    """A text to put in place of the one on screen, as an edit that can be undone."""

    text: str
    note: str
    """What is to be known of it."""


class EditorView(Record):
    """Everything that the editor shows besides the text itself."""

    opened: OpenedExemplar | None = None
    checked: Checked = Checked()
    versions: tuple[Version, ...] = ()
    trial: ParserTrial | None = None
    pages: tuple[PageChoice, ...] = ()
    pages_note: str = ""
    presets: tuple[PresetOption, ...] = ()
    drafts: tuple[KeptDraft, ...] = ()
    """Drafts of others than the one in view."""
    notice: str = ""
    problem: str = ""
    words: tuple[Word, ...] = ()
    """What can be completed in the text."""
