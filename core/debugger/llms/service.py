"""The user's LLMs: listed, tested, saved and removed."""

from typing import TYPE_CHECKING

from pydantic import SecretStr

from core.debugger.commands import command
from core.debugger.llms.views import KnownServer, LLMAnswer, LLMEntry, LLMList
from core.debugger.service import Service
from core.debugger.services import user_llms
from core.llm.endpoints import Keys, load_endpoints
from core.llm.openai_compatible import OpenAICompatibleLLM, check_endpoint
from core.llm.registry import LLMs
from core.schema.errors import UsageError
from core.schema.messages import LLM
from core.schema.signal import Signal
from core.settings.saving import save_settings
from core.settings.settings import LLMSettings, Settings, config_folder, load_settings

if TYPE_CHECKING:
    from core.debugger.session import Session

_OWN_NAMES = ("rules", "person")
_FIELDS = ("base_url", "model", "description", "takes_images", "temperature", "timeout_seconds", "attempts")


class LLMService(Service[LLMList]):
    """Lists the LLMs of the settings (`changed`), and changes them; each change is answered (`answered`)."""

    view = LLMList()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.answered: Signal[LLMAnswer] = Signal()
        self._endpoints = load_endpoints(own=config_folder() / "endpoints.toml")
        self._keys = Keys(self._endpoints)

    def failed(self, problem: str) -> None:
        self.answered.send(LLMAnswer(ok=False, text=problem))

    @command
    async def list_llms(self) -> None:
        self._send_list()

    @command
    async def test(self, entry: LLMEntry, key: SecretStr) -> None:
        """Ask the server what it serves, with this key or the stored one."""
        await self._test(entry, key)

    @command
    async def save(self, entry: LLMEntry, key: SecretStr) -> None:
        """Write the entry into the settings file and a key that was typed into the keyring."""
        await self._save(entry, key)

    @command
    async def remove(self, name: str) -> None:
        """Take an entry out of the settings file; its server's key stays in the keyring."""
        save_settings({("llms", name): None})
        await self._reload()
        self._send_list()
        self.answered.send(LLMAnswer(ok=True, text=f"{name} was taken out of the settings."))

    def _send_list(self, chosen: str = "") -> None:
        settings = self._settings()
        entries = tuple(self._entry(name, entry) for name, entry in settings.llms.items())
        servers = tuple(
            KnownServer(title=one.title, base_url=one.base_url, needs_key=one.needs_key, note=one.note)
            for one in self._endpoints
        )
        self.send(LLMList(entries=entries, servers=servers, chosen=chosen))

    def _settings(self) -> Settings:
        """Return the settings as they are now, with what was given on the command line."""
        given = self.services.settings
        flags = {"base_url": given.base_url} if given.base_url_origin == "flag" else {}
        return load_settings(flags)

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
        self.answered.send(LLMAnswer(ok=has_model, text=await check_endpoint(llm)))

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
        self.answered.send(LLMAnswer(ok=True, text=text))

    async def _reload(self) -> None:
        fresh = user_llms(self._settings(), keys=self._keys, person=self.services.llms.person)
        await self.session.agent.use_llms(fresh)


make_service = LLMService
