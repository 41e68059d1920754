"""The views of a fork."""

from core.debugger.session_view import AmountView
from core.schema.changes import Changes
from core.schema.record import Record


class PolicyChoice(Record):
    """A policy whose text can be changed."""

    id: str
    text: str
    """The whole file, as it is now or as the run was given it."""
    path: str = ""


class ForkView(Record):
    """The choices for a fork at a step, and its progress."""

    run: int
    step: int
    ready: bool = False
    """Whether the step was read."""
    action: str = ""
    """What the run did there."""
    task: str = ""
    preset: str = ""
    attached: bool = False
    """Whether an attached agent carried the run out, which continues unless a preset is chosen."""
    llm: str = ""
    earlier: Changes = Changes()
    """What holds for the run already."""
    amounts: tuple[AmountView, ...] = ()
    policies: tuple[PolicyChoice, ...] = ()
    offline: bool = False
    """Whether the run's pages got recorded answers only."""
    recorded: bool = False
    """Whether what servers answered was recorded."""
    irreversible: str = ""
    """That going back does not undo what was sent, as a clause; empty if nothing was."""
    busy: bool = False
    made: int | None = None
    """The branch, once it has begun."""
    problem: str = ""
    """Why it cannot be forked, or what went wrong."""
