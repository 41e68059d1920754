"""An exemplar as an agent would tell it: the messages, or the end of the system message, of a preset's prompt."""

import tomllib

from core.agent.presets import PromptFiles
from core.agent.prompt_builder import EXEMPLARS, UNSAID, exemplar_messages
from core.agent.resources import Knowledge
from core.llm.repair import ReplyFormat
from core.llm.tokens import count_tokens
from core.schema.errors import BackstepError
from core.schema.exemplar import Exemplar
from core.schema.messages import Message
from core.schema.record import Record


class Way(Record):
    """What of a preset decides how exemplars are told."""

    form: ReplyFormat = "tools"
    turn: str = PromptFiles.model_fields["turn"].default
    """The template of one observation."""

    @classmethod
    def of_text(cls, preset_text: str) -> "Way":
        """Return that of a preset as it was stored with a run; what cannot be read there is as usual."""
        try:
            preset = tomllib.loads(preset_text)
        except tomllib.TOMLDecodeError:
            preset = {}
        form = preset.get("reply_format")
        turn = preset.get("prompts", {}).get("turn", cls.model_fields["turn"].default)
        return cls(form=form if form in ("json", "lines") else "tools", turn=str(turn))


class Told(Record):
    """One exemplar in a prompt."""

    messages: tuple[Message, ...] = ()
    tokens: int = 0
    note: str = ""
    """Why there are no messages, or what is to be known of them."""


def messages_of(exemplar: Exemplar, knowledge: Knowledge, way: Way) -> tuple[Message, ...]:
    """Return the trajectory by the templates as they are now.

    Raises DataError where a template wants to know more than an exemplar says.
    """
    prompts = knowledge.prompts
    if way.form == "tools":
        text = prompts.render(EXEMPLARS, **{**UNSAID, "exemplars": (exemplar,)})
        return (Message(role="system", text=text),)
    return exemplar_messages(
        exemplar, way.form, lambda **more: prompts.render(way.turn, **{**UNSAID, **more})
    )


def told_by(knowledge: Knowledge, preset_name: str, exemplar: Exemplar) -> Told:
    """Return it as a preset tells it now; what is wrong with preset or templates is the note."""
    try:
        preset = knowledge.presets.get(preset_name)
        way = Way(form=preset.reply_format, turn=preset.prompts.turn)
        messages = messages_of(exemplar, knowledge, way)
    except BackstepError as error:
        return Told(note=str(error))
    notes = []
    if way.form == "tools":
        notes.append("This preset replies by tools: exemplars end its system message.")
    if not preset.has("memory"):
        notes.append("It has no [memory], so it shows exemplars only once its memory is switched on.")
    tokens = sum(count_tokens(one.text) for one in messages)
    return Told(messages=messages, tokens=tokens, note=" ".join(notes))
