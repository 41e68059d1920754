"""The texts of a run that can be edited, by name."""

from core.agent.edits.edit import TextEdit
from core.agent.edits.page import EditObservation, EditParser
from core.agent.edits.reflection import EditExperience
from core.agent.edits.stack import EditFrame, EditReturn
from core.agent.edits.state_space import EditMemory

TEXTS: dict[str, type[TextEdit]] = {
    one.name: one for one in (EditMemory, EditFrame, EditReturn, EditObservation, EditParser, EditExperience)
}
