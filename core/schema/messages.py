"""The protocol of everything that answers prompts: a request in, a reply out."""

from collections.abc import Callable
from typing import Any, Literal, Protocol, runtime_checkable

from core.schema.action_space import Permissible
from core.schema.observation import CleanObservation
from core.schema.record import Record


class LLMChoice(Record):
    """An LLM as the tool bar offers it."""

    name: str
    title: str
    description: str = ""


Role = Literal["system", "user", "assistant", "tool"]
Purpose = Literal[
    "decide",  # the next action
    "rationale",  # a thought, before the action is asked for
    "function",  # the action that carries the thought out
    "repair",  # the same again, with what was wrong with the reply
    "plan",  # subtasks, in order
    "remedies",  # other actions, should the chosen one be wrong
    "aligned",  # what the action did, and whether it served the subtask
    "subtask",  # whether the subtask is done, or not needed any more
    "task",  # whether the task is done
    "judgement",  # the last three in one structured reply
    "review",  # what a trial that failed has taught
    "summarise",  # a long page, before it is judged
    "abstract",  # the clean observation of a page
    "parser",  # a program that makes it
    "choose",  # which element is meant, if that is not certain
    "answer",  # the answer that the task asks for
    "judge",  # for an environment's judge; not the agent's own
    "agent",  # whatever an attached agent asks
]
"""Why the LLM is asked; sampling and the LLM itself can be set for each."""
CHOOSING: tuple[Purpose, ...] = ("decide", "rationale", "function", "repair", "agent")
"""Purposes whose reply becomes the next action; the last call of a step with one has chosen it."""


class Image(Record):
    """A picture in a message."""

    data: bytes
    mime: str = "image/webp"


class ToolCall(Record):
    """A tool that the LLM asks to call; `arguments` is the JSON text as it came."""

    id: str = ""
    name: str
    arguments: str = "{}"


class Message(Record):
    """One message of a prompt."""

    role: Role
    text: str = ""
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


class Tool(Record):
    """A tool as the LLM sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}


ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


class Sampling(Record):
    """How to sample; None leaves it to the server, except `max_tokens`, which the client then limits."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """0 sets no limit."""
    seed: int | None = None
    reasoning_effort: ReasoningEffort | None = None
    parallel_tool_calls: bool | None = None


class Turn(Record):
    """An earlier step as the prompt shows it."""

    number: int
    thought: str = ""
    action: str = ""
    target: str = ""
    """What it acted on, as the observation of that step had it, such as ``button "Save"``."""
    after: str = ""
    """The same once the action was done, as ``textbox "Name" value="Ada"``; empty if it was gone, or as before."""
    result: str = ""
    """What became of it: done, or the sentence that says why it failed; and what a judgement added."""
    unjudged: str = ""
    """The same without what a judgement added, if one did."""
    url: str = ""

    @property
    def acted_on(self) -> str:
        """What it acted on, as prompts tell it: as it was after the action, if it was still there."""
        return self.after or self.target


class Mistake(Record):
    """A mistake on a page of an exemplar in the prompt, and its correction."""

    task: str
    page: str
    """Its lines."""
    tried: str
    """As text, as all actions here."""
    right: str


class PromptView(Record):
    """The content of the messages as data, for LLMs that match words instead of reading text.

    It contains nothing that the messages of the step do not show.
    """

    objective: str
    observation: CleanObservation
    """The page; for a judgement, the page after the action."""
    history: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    """All subtasks, in order."""
    subtask: str = ""
    """The one that is worked on."""
    experience: tuple[str, ...] = ()
    """What trials before have taught."""
    mistakes: tuple[Mistake, ...] = ()
    """Those that exemplars tell of, the nearest exemplar's last."""
    action: str = ""
    """The chosen action (remedies), or the one that was carried out (judgements), as text."""
    target: str = ""
    """What it acts on, in words."""
    result: str = ""
    """What became of it: done, or the sentence that says why it failed."""
    thought: str = ""
    """What was thought when it was chosen."""
    before: CleanObservation | None = None
    """The page before the action, for a judgement."""
    unwanted: tuple[str, ...] = ()
    """Actions that are no remedies: tried on this page, or dropped when they were proposed."""
    count: int = 0
    """Remedies asked for."""
    raw: str = ""
    """The page to be summarised or abstracted: its lines, or its HTML for a parser."""
    wanted: str = ""
    """The line of the element that is looked for."""
    candidates: tuple[str, ...] = ()
    """The lines of those that it could be."""
    policy: str = ""
    """The policy at work."""
    called: bool = False
    """Whether another policy waits for its answer."""


class PromptPart(Record):
    """A part of the messages with a named source, recorded when the messages are made."""

    kind: Literal["exemplar", "exemplars", "policy"]
    """``exemplars`` is the text around all of them, where they stand in one message."""
    id: str = ""
    title: str = ""
    """An exemplar's task, or a policy's name."""
    family: str = ""
    message: int
    """The first of its messages, from 0."""
    messages: int = 0
    """How many messages are all of it; 0 if it is a part of the text of one."""
    start: int = 0
    end: int = 0
    """Its characters in the text, if it is a part of that."""


class Prompt(Record):
    """A prompt as sent to the LLM."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: Literal["auto", "required", "none"] = "auto"
    reply_schema: dict[str, Any] | None = None
    """A JSON schema for the whole reply, where no tools are given."""
    view: PromptView | None = None
    """What the messages say, as data; None if that was not recorded."""
    parts: tuple[PromptPart, ...] = ()
    """The exemplars and the policy in the messages; only to be trusted if there is a view."""
    sampling: Sampling = Sampling()


class LLMRequest(Prompt):
    """One question to an LLM."""

    purpose: Purpose
    permissible: Permissible | None = None


class Usage(Record):
    """Tokens of one call, as the server counted them, or as estimated if it did not."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            estimated=self.estimated or other.estimated,
        )


class Retry(Record):
    """Why a call was made again, or was held up."""

    reason: str
    waited: float
    """Seconds waited before the next attempt."""
    attempt: bool = True
    """Whether it is for another attempt; else the call was held up, or goes on in another form."""
    held: bool = False
    """Whether the call is not sent before the next one is announced, as while a model loads."""


class LLMReply(Record):
    """The answer to one request."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
    """Wall time from request to whole reply, waits between retries included."""
    model: str = ""
    """What the server says it ran."""
    cost: float | None = None
    """US dollars by the price list; None if the model is not in it."""
    cached_cost: float | None = None
    """What of `cost` is for the prompt tokens that the server had in its cache."""
    retries: tuple[Retry, ...] = ()
    finish_reason: str = ""
    refused: bool = False
    """Whether the server marks the text as a refusal."""
    reasoning: str = ""
    """What a reasoning model thought, where the server tells it apart from the text."""
    reasoning_tokens: int = 0
    """How many of the completion tokens were for it, where the server counts them."""
    note: str = ""
    """What is to be known of the reply, such as that the server did not keep to the schema."""

    def counting(self, discarded: "LLMReply") -> "LLMReply":
        """Return the reply with the tokens and cost of an answer that was discarded before it."""

        def both(one: float | None, other: float | None) -> float | None:
            return None if one is None or other is None else one + other

        return self.replace(
            usage=self.usage + discarded.usage,
            cost=both(self.cost, discarded.cost),
            cached_cost=both(self.cached_cost, discarded.cached_cost),
            reasoning_tokens=self.reasoning_tokens + discarded.reasoning_tokens,
        )


@runtime_checkable
class LLM(Protocol):
    """Something that answers prompts."""

    name: str
    """As the user chose it: ``rules``, ``person``, or a model's name."""

    @property
    def takes_images(self) -> bool:
        """Whether pictures in messages are sent."""
        ...

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        """Answer `request`.

        `on_text` gets each piece of text as it comes, `on_retry` each failed
        attempt. Cancelling the awaiting task ends the call at once. Raises
        LLMError when retries are used up or the server refuses for good.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
