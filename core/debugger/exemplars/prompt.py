"""An exemplar as text: the messages, or the end of the system message, of a preset's prompt."""

import tomllib

from core.agent.presets import PromptFiles
from core.agent.prompt_builder import EXEMPLARS, exemplar_messages
from core.agent.resources import AgentResources
from core.debugger.exemplars.library.views import ExemplarPrompt
from core.exemplars.placeholders import filled
from core.llm.costs import count_tokens
from core.llm.repair import ReplyFormat
from core.schema.errors import BackstepError, DataError
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


def messages_of(exemplar: Draft, resources: AgentResources, way: Way) -> tuple[Message, ...]:
    """Return the trajectory by the templates as they are now.

    Raises DataError if a template wants to know more than an exemplar says.
    """
    prompts, exemplar = resources.prompts, filled(exemplar, "")
    if way.form == "tools":
        text = prompts.render(EXEMPLARS, exemplars=(exemplar,))
        return (Message(role="system", text=text),)
    return exemplar_messages(exemplar, way.form, lambda **more: prompts.render(way.turn, **more))


def written(exemplar: Draft, resources: AgentResources, way: Way) -> ExemplarPrompt:
    """Return the trajectory with its tokens; what is wrong with the templates is the note."""
    try:
        messages = messages_of(exemplar, resources, way)
    except DataError as error:
        return ExemplarPrompt(note=str(error))
    return ExemplarPrompt(messages=messages, tokens=sum(count_tokens(message.text) for message in messages))


def prompt_of(exemplar: Draft, resources: AgentResources, preset_name: str) -> ExemplarPrompt:
    """Return it as a preset shows it to the LLM now; what is wrong with preset or templates is the note."""
    try:
        preset = resources.presets.get(preset_name)
    except BackstepError as error:
        return ExemplarPrompt(note=str(error))
    prompt = written(exemplar, resources, Way(form=preset.reply_format, turn=preset.prompts.turn))
    notes = [prompt.note] if prompt.note else []
    if prompt.messages and preset.reply_format == "tools":
        notes.append("This preset replies with tools, so exemplars are at the end of its system message.")
    if prompt.messages and not preset.has("memory"):
        notes.append("It has no [memory], so it shows exemplars only after its memory is switched on.")
    return prompt.replace(note=" ".join(notes))
