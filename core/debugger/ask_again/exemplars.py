"""Exemplars for a prompt that is asked again: which there are, and how the step's prompt would tell each."""

from collections.abc import Sequence

from core.agent.prompt_builder import EXEMPLARS, exemplar_parts
from core.agent.resources import AgentResources
from core.debugger.ask_again.views import ExemplarChoice, WrittenExemplar
from core.debugger.exemplars.prompt import Way, messages_of
from core.llm.repair import ReplyFormat
from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar
from core.schema.messages import Message, PromptPart
from core.trace.encoding import Prompt

CHANGED = (
    "The prompt's templates, or exemplars, were edited since this was sent: one that is switched in is told as "
    "they are now."
)

MOST = 5000
"""Exemplars that can be chosen from."""


class Teller:
    """Tells exemplars as the preset of a run does, by the templates as they are now."""

    def __init__(self, knowledge: AgentResources, preset_text: str, form: ReplyFormat) -> None:
        self._knowledge = knowledge
        self._way = Way(form=form, turn=Way.of_text(preset_text).turn)
        self._memory = knowledge.memory

    def choices(self) -> tuple[ExemplarChoice, ...]:
        """Return what the memory has, by family and id, at most `MOST`; raises LibraryError and DataError."""
        rows = self._memory.listing().page(order="family", limit=MOST).rows
        return tuple(ExemplarChoice(id=one.id, family=one.family, task=one.task) for one in rows)

    def written(self, id: str) -> WrittenExemplar:
        """Return an exemplar as the prompt tells it.

        Raises UsageError where there is none of that id, and DataError where
        the template wants to know more than an exemplar says.
        """
        exemplar = self._memory.exemplar(id)
        if exemplar is None:
            raise UsageError(f"There is no exemplar {id} in the memory any more; choose another one.")
        if self._way.form == "tools":
            text, parts = "", self._in_text(exemplar)
            if parts:
                text = parts[0][1]
            else:
                raise UsageError(
                    f"The template {EXEMPLARS} does not tell exemplars one after the other: none can be switched."
                )
            return WrittenExemplar(id=id, family=exemplar.family, task=exemplar.task, text=text)
        messages = self._messages(exemplar)
        return WrittenExemplar(id=id, family=exemplar.family, task=exemplar.task, messages=messages)

    def note(self, prompt: Prompt) -> str:
        """Return what is to be known before an exemplar is switched in, or nothing."""
        for part in prompt.parts:
            if part.kind != "exemplar":
                continue
            exemplar = self._memory.exemplar(part.id)
            if exemplar is None or self._said(exemplar) != _sent(prompt.messages, part):
                return CHANGED
        return ""

    def _said(self, exemplar: Exemplar) -> object:
        if self._way.form != "tools":
            return self._messages(exemplar)
        found = self._in_text(exemplar)
        return found[0][1] if found else None

    def _messages(self, exemplar: Exemplar) -> tuple[Message, ...]:
        return messages_of(exemplar, self._knowledge, self._way)

    def _in_text(self, exemplar: Exemplar) -> list[tuple[PromptPart, str]]:
        texts = [self._knowledge.prompts.render(EXEMPLARS, exemplars=some) for some in ((), (exemplar,))]
        parts = [one for one in exemplar_parts(texts[-1], texts, [exemplar]) if one.kind == "exemplar"]
        return [(one, texts[-1][one.start : one.end]) for one in parts]


def _sent(messages: Sequence[Message], part: PromptPart) -> object:
    if part.messages:
        return tuple(messages[part.message : part.message + part.messages])
    return messages[part.message].text[part.start : part.end]
