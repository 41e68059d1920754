"""A keyring that lasts as long as the test."""

from collections.abc import Mapping

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class MemoryKeyring(KeyringBackend):
    """Keeps passwords by user name, whatever the service."""

    priority = 0.1  # type: ignore[assignment]

    def __init__(self, stored: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.stored = dict(stored or {})

    def get_password(self, service: str, username: str) -> str | None:
        return self.stored.get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        self.stored[username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.stored.pop(username, None) is None:
            raise PasswordDeleteError(username)
