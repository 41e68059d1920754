"""The user's LLMs as the settings window sees them, and what it may ask."""

from typing import Protocol

from pydantic import SecretStr

from core.schema.record import Record
from core.schema.signal import Signal


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


class DeskAnswer(Record):
    """What became of a test, of saving or of removing."""

    ok: bool
    text: str


class LLMDeskCommands(Protocol):
    """Calls that only queue work; answered by the signals, from the worker's thread."""

    listed: Signal[LLMList]
    answered: Signal[DeskAnswer]

    def list_llms(self) -> None: ...

    def test(self, entry: LLMEntry, key: SecretStr) -> None:
        """Ask the server what it serves, with this key or the stored one."""

    def save(self, entry: LLMEntry, key: SecretStr) -> None:
        """Write the entry into the settings file and a key that was typed into the keyring."""

    def remove(self, name: str) -> None:
        """Take an entry out of the settings file; its server's key stays in the keyring."""
