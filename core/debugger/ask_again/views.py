"""The views of a question that is asked again."""

import difflib
from collections import Counter

from pydantic import Field

from core.schema.messages import Message, PromptPart
from core.schema.record import Record


class Question(Record):
    """The question to ask at a step."""

    run: int
    step: int
    messages: tuple[Message, ...] = ()
    """Empty for those that were sent."""
    llm: str = ""
    """Empty for the run's own."""
    temperature: float | None = Field(default=None, ge=0, le=5)
    """None for what was sent."""
    count: int = Field(default=5, ge=1, le=100)


class ReplyAgain(Record):
    """One reply, read as the agent would have read it."""

    action: str = ""
    thought: str = ""
    problem: str = ""
    """Why there is no usable action, or no reply."""
    more: tuple[str, ...] = ()
    """Further actions of the same reply."""
    reply: str = ""
    """All of it as text, if it is an answer to an attached agent, whose actions it names in its own words."""
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


class WhatIf(Record):
    """The result of a question. It is stored with its step and does not change the run."""

    number: int = 0
    """Given by the trace."""
    run: int
    step: int
    call: int
    """The call that was asked again."""
    llm: str
    temperature: float | None = None
    count: int
    """Answers that were asked for."""
    when: float
    """Seconds since the epoch."""
    recorded: str = ""
    """The action that the run took, as text."""
    messages: tuple[Message, ...] = ()
    """What was asked, if it was changed; else empty. Pictures are left out."""
    changed: tuple[str, ...] = ()
    """The lines of the prompt that were removed (``-``) and added (``+``)."""
    answers: tuple[ReplyAgain, ...] = ()

    @property
    def distribution(self) -> tuple[tuple[str, int], ...]:
        """Return the actions with how often each was proposed, the most frequent first; none usable is empty."""
        counts = Counter(answer.action for answer in self.answers)
        return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


class Attribution(Record):
    """How an exemplar influenced the LLM at one step: asked with all exemplars, and without this one."""

    id: str
    family: str = ""
    trace: str = ""
    run: int
    step: int
    llm: str
    temperature: float | None = None
    action: str
    """What the step did: how often it is answered is counted."""
    with_same: int = 0
    with_all: int = 0
    """Answers that came, with all exemplars."""
    without_same: int = 0
    without_all: int = 0
    when: float = 0.0
    success: bool | None = None
    """Whether the run was a success, as far as it was known."""

    @property
    def share(self) -> float | None:
        """By how much likelier the action was with it, from -1 to 1."""
        if not self.with_all or not self.without_all:
            return None
        return self.with_same / self.with_all - self.without_same / self.without_all


class ExemplarChoice(Record):
    """An exemplar of the library that can be added."""

    id: str
    family: str
    task: str


class WrittenExemplar(ExemplarChoice):
    """An exemplar as the step's prompt would show it: as messages, or as a part of a text."""

    messages: tuple[Message, ...] = ()
    text: str = ""

    @property
    def content(self) -> str | tuple[Message, ...]:
        return self.messages or self.text


class AskView(Record):
    """What can be asked at a step, and what was asked."""

    run: int
    step: int
    recorded: str = ""
    """The action that the run took, or what its attached agent was answered."""
    reply: str = ""
    """The recorded reply as text, if it is an attached agent's, which can be answered otherwise."""
    llm: str = ""
    messages: tuple[Message, ...] = ()
    temperature: float | None = None
    parts: tuple[PromptPart, ...] = ()
    """The exemplars and the policy in the messages."""
    parts_known: bool = False
    """Whether it was recorded which parts there are; not so in runs of older versions."""
    memory: tuple[ExemplarChoice, ...] = ()
    """What an exemplar can be switched for."""
    memory_note: str = ""
    """What is to be known before one is switched, or why none can be."""
    written: WrittenExemplar | None = None
    """The exemplar that was asked for last."""
    credits: tuple[Attribution, ...] = ()
    """By how much exemplars of the step's prompt made its action likelier, as far as it was asked."""
    asked: tuple[WhatIf, ...] = ()
    """The latest last; one in progress has fewer answers than were asked for."""
    busy: bool = False
    problem: str = ""
    """Why nothing can be asked, or what went wrong."""


def changed_lines(before: tuple[Message, ...], after: tuple[Message, ...]) -> tuple[str, ...]:
    """Return the lines by which two prompts differ, each with its sign."""
    lines = difflib.unified_diff(_lines(before), _lines(after), lineterm="", n=0)
    # Two lines of headings, then each line has its sign.
    return tuple(line for line in list(lines)[2:] if line[0] in "-+")


def _lines(messages: tuple[Message, ...]) -> list[str]:
    return [line for message in messages for line in (f"[{message.role}]", *message.text.splitlines())]
