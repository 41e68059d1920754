"""API keys: from the environment first, then from the system keyring, and nowhere else.

A key is found by its name (``OPENAI_API_KEY``) or by the address of the
server it is for. The keyring is imported on first use; one that is missing or
locked gives no key and no error, and `why` says so.
"""

import os
from collections.abc import Mapping
from typing import Protocol

from core.llm.endpoints import Endpoint, key_name_for
from core.schema.errors import DataError
from core.settings.settings import APP


class KeyringBackend(Protocol):
    """What is used of a keyring; the module `keyring` has it."""

    def get_password(self, service: str, username: str) -> str | None: ...
    def set_password(self, service: str, username: str, password: str) -> None: ...
    def delete_password(self, service: str, username: str) -> None: ...


class Keys:
    """Finds, stores and forgets keys."""

    def __init__(
        self,
        endpoints: tuple[Endpoint, ...] = (),
        *,
        environ: Mapping[str, str] = os.environ,
        backend: KeyringBackend | None = None,
    ) -> None:
        self._endpoints = endpoints
        self._environ = environ
        self._backend = backend

    def name_of(self, name_or_url: str) -> str:
        """Return the name under which a key is kept."""
        if "://" in name_or_url:
            return key_name_for(name_or_url, self._endpoints)
        return name_or_url

    def find_key(self, name_or_url: str) -> str | None:
        """Return the key, or None. May block while the system asks to unlock its keyring."""
        name = self.name_of(name_or_url)
        return self.find_in_environment(name) or self._from_keyring(name)[0]

    def find_in_environment(self, name: str) -> str | None:
        """Return the environment variable of that name, or None where it is not set or empty."""
        return self._environ.get(name, "").strip() or None

    def why(self, name_or_url: str) -> str:
        """Return where the key was found, or why there is none, in a sentence without the key."""
        name = self.name_of(name_or_url)
        if self.find_in_environment(name):
            return f"The key is in the environment variable {name}."
        found, trouble = self._from_keyring(name)
        if found:
            return f"The key {name} is in the system keyring."
        if trouble:
            return f"No key {name} in the environment, and the system keyring cannot be used ({trouble})."
        return f"No key {name} in the environment or in the system keyring."

    def store_key(self, name_or_url: str, key: str) -> None:
        """Keep a key in the system keyring; raises DataError where that cannot be done."""
        name = self.name_of(name_or_url)
        key = key.strip()
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise DataError(
                f"What was given as the key {name} is not a key: it is empty or has blanks or other "
                "characters that no key has; copy it again."
            )
        try:
            self._keyring().set_password(APP, name, key)
        except Exception as error:
            # Backends raise what they like; a message of theirs could quote what they were given.
            reason = _trouble(error, key)
        else:
            return
        raise DataError(
            f"The system keyring cannot keep the key {name} ({reason}); "
            "set the environment variable of that name instead."
        )

    def forget_key(self, name_or_url: str) -> bool:
        """Take a key out of the system keyring; return whether it was there."""
        name = self.name_of(name_or_url)
        found, trouble = self._from_keyring(name)
        if found is None:
            if trouble:
                raise DataError(f"The system keyring cannot be used ({trouble}); unlock it and try again.")
            return False
        try:
            self._keyring().delete_password(APP, name)
        except Exception as error:
            raise DataError(
                f"The system keyring did not give up the key {name} ({_trouble(error, found)}); unlock it."
            ) from None
        return True

    def _from_keyring(self, name: str) -> tuple[str | None, str]:
        try:
            found = self._keyring().get_password(APP, name)
        except Exception as error:  # a backend raises what it likes, and having no key is no failure
            return None, _trouble(error)
        return (found.strip() if found else None), ""

    def _keyring(self) -> KeyringBackend:
        if self._backend is None:
            import keyring

            self._backend = keyring.get_keyring()
        return self._backend


def _trouble(error: Exception, key: str = "") -> str:
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    return text.replace(key, "[key]") if key else text
