"""The views of the LLM settings."""

from typing import Any

from core.llm.endpoints import Endpoint
from core.schema.messages import ReasoningEffort
from core.schema.record import Record


class LLMEntry(Record):
    """One LLM of the settings."""

    name: str
    base_url: str = ""
    model: str = ""
    description: str = ""
    takes_images: bool = False
    temperature: float | None = None
    max_tokens: int | None = None
    """0 sets no limit, None the default one."""
    reasoning_effort: ReasoningEffort | None = None
    parallel_tool_calls: bool | None = None
    timeout_seconds: float = 120.0
    total_timeout_seconds: float = 1800.0
    attempts: int = 4
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}
    api_version: str = ""
    deployment: str = ""
    max_cost: float | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    key_stored: bool = False
    """Whether there is a key for its server already."""
    honoured: str = ""
    """What the last test found of it, as sentences."""


class LLMList(Record):
    """Everything the settings window shows."""

    entries: tuple[LLMEntry, ...] = ()
    servers: tuple[Endpoint, ...] = ()
    """The known ones, which can be chosen for the address."""
    chosen: str = ""
    """The entry to show, if one was just saved."""


class LLMAnswer(Record):
    """The outcome of a test, of saving or of removing."""

    ok: bool
    text: str
    under_way: bool = False
    """Whether this only tells what is asked for next."""
