"""An exemplar as text: the messages, or the end of the system message, of a preset's prompt."""

import tomllib

from core.agent.presets import PromptFiles
from core.agent.prompt_builder import EXEMPLARS, exemplar_messages
from core.agent.resources import AgentResources
from core.llm.costs import count_tokens
from core.llm.repair import ReplyFormat
from core.schema.errors import BackstepError
from core.schema.exemplar import Draft
from core.schema.messages import Message
from core.schema.record import Record


class Way(Record):
    """The settings of a preset that decide how a prompt shows exemplars."""

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
        return "\n\n".join(f"─── {one.role} ───\n{one.text.strip()}" for one in self.messages)


def messages_of(exemplar: Draft, resources: AgentResources, way: Way) -> tuple[Message, ...]:
    """Return the trajectory by the templates as they are now.

    Raises DataError if a template wants to know more than an exemplar says.
    """
    prompts = resources.prompts
    if way.form == "tools":
        text = prompts.render(EXEMPLARS, exemplars=(exemplar,))
        return (Message(role="system", text=text),)
    return exemplar_messages(exemplar, way.form, lambda **more: prompts.render(way.turn, **more))


def prompt_of(exemplar: Draft, resources: AgentResources, preset_name: str) -> ExemplarPrompt:
    """Return it as a preset shows it to the LLM now; what is wrong with preset or templates is the note."""
    try:
        preset = resources.presets.get(preset_name)
        way = Way(form=preset.reply_format, turn=preset.prompts.turn)
        messages = messages_of(exemplar, resources, way)
    except BackstepError as error:
        return ExemplarPrompt(note=str(error))
    notes = []
    if way.form == "tools":
        notes.append("This preset replies with tools, so exemplars are at the end of its system message.")
    if not preset.has("memory"):
        notes.append("It has no [memory], so it shows exemplars only after its memory is switched on.")
    tokens = sum(count_tokens(one.text) for one in messages)
    return ExemplarPrompt(messages=messages, tokens=tokens, note=" ".join(notes))
