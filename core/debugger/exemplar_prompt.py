"""How an agent would tell one exemplar: the messages, or the end of the system message, of a preset's prompt."""

from core.agent.knowledge import Knowledge
from core.agent.prompting import EXEMPLARS, UNSAID, exemplar_messages
from core.errors import BackstepError
from core.llm.protocol import Message
from core.llm.tokens import count_tokens
from core.memory.exemplar import Exemplar
from core.model import Record


class Told(Record):
    """One exemplar in a prompt."""

    messages: tuple[Message, ...] = ()
    tokens: int = 0
    note: str = ""
    """Why there are no messages, or what is to be known of them."""


def told_by(knowledge: Knowledge, preset_name: str, exemplar: Exemplar) -> Told:
    """Return it by the preset's templates as they are now; what is wrong with these is the note."""
    try:
        preset = knowledge.presets.get(preset_name)
        if preset.reply_format == "tools":
            text = knowledge.prompts.render(EXEMPLARS, **{**UNSAID, "exemplars": (exemplar,)})
            messages: tuple[Message, ...] = (Message(role="system", text=text),)
            notes = ["This preset replies by tools: exemplars end its system message."]
        else:
            turn = preset.prompts.turn
            messages = exemplar_messages(
                exemplar,
                preset.reply_format,
                lambda **more: knowledge.prompts.render(turn, **{**UNSAID, **more}),
            )
            notes = []
    except BackstepError as error:
        return Told(note=str(error))
    if not preset.has("memory"):
        notes.append("It has no [memory], so it shows exemplars only once its memory is switched on.")
    tokens = sum(count_tokens(one.text) for one in messages)
    return Told(messages=messages, tokens=tokens, note=" ".join(notes))
