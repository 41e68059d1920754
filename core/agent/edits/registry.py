"""The edits by name: those of a text, and those that a window requests with plain values."""

from typing import Any, get_args

from core.agent.edits.ask_again import Asked, AskQuestionAgain
from core.agent.edits.edit import RunEdit, TextEdit
from core.agent.edits.next_action import EditAction, EditQueue
from core.agent.edits.page import DropExemplar, EditObservation, EditParser, PinExemplar
from core.agent.edits.reflection import (
    AddRemedy,
    DropRemedy,
    EditExperience,
    EditPlan,
    EditRemedy,
    FireRemedy,
    MoveRemedy,
    OverruleJudgement,
    StartNewTrial,
)
from core.agent.edits.stack import EditFrame, EditReturn, PopFrame, PushPolicy, RestartFrame
from core.agent.edits.state_space import EditMemory, ForceState, PermitAction

TEXTS: dict[str, type[TextEdit]] = {
    one.name: one for one in (EditMemory, EditFrame, EditReturn, EditObservation, EditParser, EditExperience)
}
"""Edits of a text, by the name of the text."""
_WITH_VALUES: tuple[type[RunEdit], ...] = (
    EditAction,
    EditQueue,
    EditPlan,
    OverruleJudgement,
    AddRemedy,
    EditRemedy,
    MoveRemedy,
    DropRemedy,
    FireRemedy,
    StartNewTrial,
    PopFrame,
    RestartFrame,
    PushPolicy,
    ForceState,
    PermitAction,
    DropExemplar,
    PinExemplar,
    AskQuestionAgain,
)
EDITS: dict[str, type[RunEdit]] = {value.__name__: value for value in _WITH_VALUES}
"""Edits that are asked for with values, by the name of their class."""
WITHOUT_VALUES: dict[str, RunEdit] = {
    "StartNewTrial": StartNewTrial(),
    "OverruleJudgement": OverruleJudgement(part="aligned", is_so=True),
    "PopFrame": PopFrame(),
    "RestartFrame": RestartFrame(),
    "ForceState": ForceState(),
    **{f"AskQuestionAgain {what}": AskQuestionAgain(what=what) for what in get_args(Asked)},
}
"""What may be asked for at any time whatever its values, by the name by which `SessionView.refusals` has it."""


def edit_of(name: str, values: dict[str, Any]) -> RunEdit:
    """Return the edit that a window asks for; a wrong name or value is a mistake of the window."""
    return EDITS[name].model_validate(values)
