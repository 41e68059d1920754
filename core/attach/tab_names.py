"""Stable tab ids for an agent. The engine's ids change each time, and some agents show them to their LLM.

Tabs are numbered in the order in which the agent learns of them, so a program that repeats its actions sees
the same ids. The id of a tab is also that of its top frame, so it replaces the engine's id everywhere in
messages.
"""

from starlette.websockets import WebSocket

from core.schema.events import TabId


class TabNames:
    """The names of the tabs of one agent."""

    def __init__(self) -> None:
        self._names: dict[TabId, str] = {}

    def name(self, tab: TabId) -> str:
        """Return the name of a tab, which it has from now on."""
        return self._names.setdefault(tab, f"BACKSTEP{len(self._names) + 1:024}")

    def told(self, text: str) -> str:
        """Return a message to the agent with the names of tabs."""
        for tab, name in self._names.items():
            text = text.replace(tab, name)
        return text

    def meant(self, text: str) -> str:
        """Return a message of the agent with the ids that the engine has."""
        if "BACKSTEP" not in text:
            return text
        for tab, name in self._names.items():
            text = text.replace(name, tab)
        return text


class NamedSocket:
    """An agent's connection, on which tabs use their names."""

    def __init__(self, socket: WebSocket, names: TabNames) -> None:
        self.names = names
        self._socket = socket

    async def receive_text(self) -> str:
        return self.names.meant(await self._socket.receive_text())

    async def send_text(self, text: str) -> None:
        await self._socket.send_text(self.names.told(text))

    async def close(self) -> None:
        await self._socket.close()
