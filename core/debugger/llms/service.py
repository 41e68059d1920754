"""Adding, testing and removing the user's LLMs while the window is open."""

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from core.debugger.llms.views import DeskAnswer, KnownServer, LLMEntry, LLMList
from core.llm.check import check_endpoint
from core.llm.endpoints import load_endpoints
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.registry import LLMs, open_llms
from core.schema.errors import BackstepError, UsageError
from core.schema.messages import LLM
from core.schema.signal import Signal
from core.settings import LLMSettings, Settings, load_settings
from core.settings_keys import Keys
from core.settings_save import save_settings

_OWN_NAMES = ("rules", "person")
_FIELDS = ("base_url", "model", "description", "takes_images", "temperature", "timeout_seconds", "attempts")


class LLMDesk:
    """The `LLMDeskCommands` of the window; `post` queues work on the worker's loop."""

    def __init__(
        self,
        post: Callable[[Coroutine[Any, Any, None]], None],
        use: Callable[[LLMs], Awaitable[None]],
        current: Callable[[], LLMs],
        *,
        config: Path,
        flags: dict[str, object] | None = None,
    ) -> None:
        self.listed: Signal[LLMList] = Signal()
        self.answered: Signal[DeskAnswer] = Signal()
        self._post = post
        self._use = use
        self._current = current
        self._config = config
        self._flags = flags or {}
        self._endpoints = load_endpoints(own=config / "endpoints.toml")
        self._keys = Keys(self._endpoints)

    def list_llms(self) -> None:
        async def work() -> None:
            self._send_list()

        self._post(self._answering(work))

    def test(self, entry: LLMEntry, key: SecretStr) -> None:
        self._post(self._answering(lambda: self._test(entry, key)))

    def save(self, entry: LLMEntry, key: SecretStr) -> None:
        self._post(self._answering(lambda: self._save(entry, key)))

    def remove(self, name: str) -> None:
        self._post(self._answering(lambda: self._remove(name)))

    async def _answering(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except BackstepError as error:
            self.answered.send(DeskAnswer(ok=False, text=str(error)))

    def _send_list(self, chosen: str = "") -> None:
        settings = self._settings()
        entries = tuple(self._entry(name, entry) for name, entry in settings.llms.items())
        servers = tuple(
            KnownServer(title=one.title, base_url=one.base_url, needs_key=one.needs_key, note=one.note)
            for one in self._endpoints
        )
        self.listed.send(LLMList(entries=entries, servers=servers, chosen=chosen))

    def _settings(self) -> Settings:
        return load_settings(self._flags)

    def _entry(self, name: str, entry: LLMSettings) -> LLMEntry:
        values = {field: getattr(entry, field) for field in _FIELDS}
        return LLMEntry(
            name=name, key_stored=self._keys.find_key(entry.base_url or name) is not None, **values
        )

    async def _test(self, entry: LLMEntry, key: SecretStr) -> None:
        if not entry.model and not entry.name:
            raise UsageError("Give the model's name, as the server calls it.")
        given = key.get_secret_value()
        if given:
            llm = OpenAICompatibleLLM(
                entry.name or "new",
                base_url=self._address(entry),
                model=entry.model or entry.name,
                key=lambda: given,
                timeout_seconds=min(entry.timeout_seconds, 20.0),
                attempts=1,
            )
            try:
                await self._probe(llm)
            finally:
                await llm.close()
            return
        name = entry.name or entry.model
        trial = self._settings().replace(llms={name: self._as_settings(entry)})
        llms = LLMs(trial, keys=self._keys, endpoints=self._endpoints)
        try:
            await self._probe(llms.get(name))
        finally:
            await llms.close()

    async def _probe(self, llm: LLM) -> None:
        """Say what the server answers: a refusal, or a model it does not have, is no success."""
        served = await llm.models() if isinstance(llm, OpenAICompatibleLLM) else ()
        has_model = not served or (isinstance(llm, OpenAICompatibleLLM) and llm.model in served)
        self.answered.send(DeskAnswer(ok=has_model, text=await check_endpoint(llm)))

    def _address(self, entry: LLMEntry) -> str:
        known = {one.name: one.base_url for one in self._endpoints}
        return known.get(entry.base_url, entry.base_url) or "https://api.openai.com/v1"

    @staticmethod
    def _as_settings(entry: LLMEntry) -> LLMSettings:
        return LLMSettings(**{field: getattr(entry, field) for field in _FIELDS})

    async def _save(self, entry: LLMEntry, key: SecretStr) -> None:
        if not entry.name:
            raise UsageError("Give the LLM a name; it is what the tool bar shows.")
        if entry.name in _OWN_NAMES:
            raise UsageError(f'"{entry.name}" is built in; choose another name.')
        defaults = LLMSettings()
        changes: dict[str | tuple[str, ...], object] = {}
        for field in _FIELDS:
            value = getattr(entry, field)
            changes["llms", entry.name, field] = None if value == getattr(defaults, field) else value
        if entry.model in ("", entry.name):
            changes["llms", entry.name, "model"] = entry.name
        path = save_settings(changes)
        text = f"Saved to {path}."
        if key.get_secret_value():
            self._keys.store_key(entry.base_url or entry.name, key.get_secret_value())
            text += " The key is in the system's keyring."
        await self._reload()
        self._send_list(entry.name)
        self.answered.send(DeskAnswer(ok=True, text=text))

    async def _remove(self, name: str) -> None:
        save_settings({("llms", name): None})
        await self._reload()
        self._send_list()
        self.answered.send(DeskAnswer(ok=True, text=f"{name} was taken out of the settings."))

    async def _reload(self) -> None:
        fresh = open_llms(
            self._settings(), keys=self._keys, person=self._current().person, config_folder=self._config
        )
        await self._use(fresh)
