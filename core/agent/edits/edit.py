"""The base of all edits: their context, their result, and the parsing of texts that people write."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import ClassVar, TypeVar

from core.agent.resources import AgentResources
from core.agent.run_history import RunHistory
from core.agent.state import RunState
from core.llm.named_elements import NotOneError, numbered
from core.schema.action import Action, Named
from core.schema.action_space import Permissible
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError, UsageError
from core.schema.record import Record
from core.schema.step import Phase
from core.settings.user_file import UserFile
from core.trace.records import InterventionKind

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class EditContext:
    """What an edit can read; it changes only `state`."""

    state: RunState
    resources: AgentResources
    history: RunHistory
    since_judged: tuple["RunEdit", ...] = ()
    """The edits since the current step was judged, which another judgement must not lose."""


class Changed(Record):
    """What an edit has changed, as texts that are stored with the run."""

    before: str
    after: str
    kind: InterventionKind | None = None
    """What it is called in the trace, if that is not the edit's own."""
    message: str
    """What follows from it, in a sentence."""


class RunEdit(Record, ABC):
    """One thing that a person changes; a new kind is a subclass."""

    kind: ClassVar[InterventionKind]
    """What it is called in the trace."""
    again: ClassVar[Phase | None] = None
    """The phase that is done again, where the step has done it already and has not acted."""

    @abstractmethod
    def apply(self, context: EditContext) -> Changed:
        """Change the state; raises UsageError or DataError, with what cannot be taken back changed nowhere."""


@dataclass(frozen=True)
class Undoable:
    """An edit that was carried out, with the run as it was before."""

    edit: RunEdit
    changed: Changed
    before: RunState
    number: int = field(default_factory=count(1).__next__)
    """Counts the edits of all runs."""

    @property
    def kind(self) -> InterventionKind:
        """What it is called in the trace."""
        return self.changed.kind or self.edit.kind


class TextEdit(RunEdit):
    """An edit of a text; `offered` returns its present value."""

    text: str
    name: ClassVar[str]
    """What it is asked for by."""
    title: ClassVar[str]
    """What the text is, as the window names it."""
    language: ClassVar[str] = "text"
    """``text``, ``toml``, ``python`` or ``markdown``."""
    hint: ClassVar[str] = ""
    """How it is to be written, in a sentence."""
    model: ClassVar[type[Record] | None] = None
    """Whose keys it has, if it is TOML."""

    @classmethod
    @abstractmethod
    def offered(cls, context: EditContext) -> str:
        """Return the text as it is now; raises UsageError if there is nothing to edit."""


def need_before_action(state: RunState, after: Phase) -> None:
    """Raise UsageError unless the step has done the phase `after`, and has not acted."""
    if not state.unacted:
        raise UsageError("The step's action has been carried out; change the next step, or go back first.")
    if not state.has_done(after):
        raise UsageError(f"This step has not done {after} yet; step further (F9), then change it.")


def as_toml(record: Record, *names: str) -> str:
    """Return fields of a record as TOML."""
    import tomlkit  # Loading it takes a while.

    return tomlkit.dumps(record.model_dump(mode="json", include=set(names) or None, exclude_none=True))


def from_toml(text: str, what: str, model: type[R]) -> R:
    """Return the record that TOML holds; raises DataError with line and nearest key."""
    return UserFile(Path(f"{what}.toml"), text).validated(model)


def written_action(text: str, permissible: Permissible) -> Action:
    """Return the action that a person wrote, its arguments in their places; raises UsageError if it is none."""
    try:
        action = parse_action(text, permissible.own_names)
    except ActionSyntaxError as error:
        raise UsageError(str(error)) from error
    allowed = permissible.action(action.name)
    return allowed.placed(action) if isinstance(action, Named) and allowed is not None else action


def permissible_action(text: str, permissible: Permissible) -> Action:
    """Return the action that a person wrote, with numbers for roles and names; raises UsageError if it cannot be."""
    try:
        action = numbered(written_action(text, permissible), permissible, {})
    except NotOneError as error:
        raise UsageError(str(error)) from error
    if problem := permissible.problem(action):
        raise UsageError(problem)
    return action
