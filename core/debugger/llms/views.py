"""The user's LLMs as the settings window sees them."""

from core.schema.record import Record


class LLMEntry(Record):
    """One LLM of the settings."""

    name: str
    base_url: str = ""
    model: str = ""
    description: str = ""
    takes_images: bool = False
    temperature: float | None = None
    timeout_seconds: float = 120.0
    attempts: int = 4
    key_stored: bool = False
    """Whether there is a key for its server already."""


class KnownServer(Record):
    """A server that is offered beside the address."""

    title: str
    base_url: str
    needs_key: bool = False
    note: str = ""


class LLMList(Record):
    """Everything the settings window shows."""

    entries: tuple[LLMEntry, ...] = ()
    servers: tuple[KnownServer, ...] = ()
    chosen: str = ""
    """The entry to show, where one was just saved."""


class LLMAnswer(Record):
    """What became of a test, of saving or of removing."""

    ok: bool
    text: str
