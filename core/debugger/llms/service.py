"""Lists, tests, saves and removes the user's LLMs."""

from typing import TYPE_CHECKING

from pydantic import SecretStr, ValidationError

from core.debugger.commands import command
from core.debugger.llms.views import LLMAnswer, LLMEntry, LLMList
from core.debugger.service import Service
from core.debugger.services import user_llms
from core.llm.endpoint_check import check_endpoint
from core.llm.endpoints import ENVIRONMENT, Keys, load_endpoints
from core.llm.honoured import Honoured
from core.llm.local import LocalLLM
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.probes import Prober, in_words
from core.llm.registry import OPENAI_URL, open_llms
from core.schema.errors import LLMError, UsageError
from core.schema.messages import LLM
from core.schema.signal import Signal
from core.settings.saving import save_settings
from core.settings.settings import LLMSettings, Settings, config_folder, load_settings
from core.settings.user_file import problem

if TYPE_CHECKING:
    from core.debugger.session import Session

_OWN_NAMES = ("rules", "person")
_LONGEST_SILENCE = 60.0
"""Seconds that a test waits for the next piece of a reply."""
_FIELDS = tuple(name for name in LLMEntry.model_fields if name in LLMSettings.model_fields)


class LLMService(Service[LLMList]):
    """Lists the LLMs of the settings (`changed`), and changes them; each change is answered (`answered`)."""

    view = LLMList()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.answered: Signal[LLMAnswer] = Signal()
        self._endpoints = load_endpoints(own=config_folder() / "endpoints.toml")
        self._keys = Keys(self._endpoints)
        self._testing = False

    def failed(self, problem: str) -> None:
        self.answered.send(LLMAnswer(ok=False, text=problem))

    @command
    async def list_llms(self) -> None:
        self._send_list()

    @command
    async def test(self, entry: LLMEntry, key: SecretStr) -> None:
        """Ask the server what it serves and find out what it honours, with this key or the stored one."""
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
        self.answered.send(LLMAnswer(ok=True, text=f"{name} was removed from the settings."))

    def _send_list(self, chosen: str = "") -> None:
        settings = self._settings()
        entries = tuple(self._entry(name, entry) for name, entry in settings.llms.items())
        self.send(LLMList(entries=entries, servers=self._endpoints, chosen=chosen))

    def _settings(self) -> Settings:
        """Return the settings as they are now, with what was given on the command line."""
        given = self.services.settings
        flags = {"base_url": given.base_url} if given.base_url_origin == "flag" else {}
        return load_settings(flags)

    def _entry(self, name: str, entry: LLMSettings) -> LLMEntry:
        values = {field: getattr(entry, field) for field in _FIELDS}
        try:
            llm = self.services.llms.get(name)
        except UsageError:
            llm = None
        honoured = llm.honoured if isinstance(llm, OpenAICompatibleLLM) else Honoured()
        return LLMEntry(
            name=name,
            key_stored=self._keys.find_key(entry.base_url or name) is not None,
            honoured=in_words(honoured) if honoured.tested else "",
            **values,
        )

    async def _test(self, entry: LLMEntry, key: SecretStr) -> None:
        if not entry.model and not entry.name:
            raise UsageError("Give the model's name, as the server calls it.")
        if self._testing:
            raise UsageError("A test is already running; wait for it to end.")
        name = entry.name or entry.model
        settings = self._settings()
        stored = settings.llms.get(name, LLMSettings())
        asked = _as_settings(entry, stored).replace(
            takes_images=True, attempts=1, timeout_seconds=min(entry.timeout_seconds, _LONGEST_SILENCE)
        )
        keys, given = self._keys, key.get_secret_value()
        if given:
            key_name = asked.key_name or keys.name_of(self._address(entry))
            keys = Keys(self._endpoints, environ={**ENVIRONMENT, key_name: given})
        llms = open_llms(
            settings.replace(llms={name: asked}),
            keys=keys,
            config_folder=config_folder(),
            meters=self.services.llms.meters,
        )
        self._testing = True
        try:
            await self._probe(llms.get(name))
        finally:
            self._testing = False
            await llms.close()

    async def _probe(self, llm: LLM) -> None:
        """Say what the server answers: a refusal, or a model it does not have, is not a success."""
        if not isinstance(llm, OpenAICompatibleLLM):
            self.answered.send(LLMAnswer(ok=True, text=await check_endpoint(llm)))
            return
        served: tuple[str, ...] = ()
        reached, unlisted = f"{llm.name}:", ""
        if isinstance(llm, LocalLLM) and llm.loading:
            self.answered.send(LLMAnswer(ok=True, text=llm.loading, under_way=True))
        if llm.lists_models:
            try:
                served = await llm.models()
                reached = await check_endpoint(llm)
            except LLMError as error:
                unlisted = str(error)  # Some servers list no models and answer all the same.
        if served and llm.model not in served:
            self.answered.send(LLMAnswer(ok=False, text=reached))
            return
        prober = Prober(llm, self._tell_probe)
        try:
            honoured = await prober.probe()
        except LLMError as error:
            self.answered.send(LLMAnswer(ok=False, text=unlisted or f"{reached} {error}"))
            return
        self.services.llms.honoured.keep(llm.base_url, llm.model, honoured)
        spent = f"The test took {prober.tokens} tokens"
        spent += f" and ${prober.cost:.2g}." if prober.cost else "."
        self.answered.send(LLMAnswer(ok=True, text=f"{reached} {in_words(honoured)} {spent}"))

    def _tell_probe(self, what: str) -> None:
        self.answered.send(LLMAnswer(ok=True, text=f"Asking for {what}…", under_way=True))

    def _address(self, entry: LLMEntry) -> str:
        known = {endpoint.name: endpoint.base_url for endpoint in self._endpoints}
        return known.get(entry.base_url, entry.base_url) or OPENAI_URL

    async def _save(self, entry: LLMEntry, key: SecretStr) -> None:
        if not entry.name:
            raise UsageError("Give the LLM a name. The tool bar shows it.")
        if entry.name in _OWN_NAMES:
            raise UsageError(f'"{entry.name}" is built in; choose another name.')
        _as_settings(entry, LLMSettings())
        defaults, stored = LLMSettings(), self._settings().llms.get(entry.name)
        changes: dict[str | tuple[str, ...], object] = {}
        for field in _FIELDS:
            value = getattr(entry, field)
            if stored is None or value != getattr(stored, field):
                changes["llms", entry.name, field] = None if value == getattr(defaults, field) else value
        if entry.model in ("", entry.name):
            changes["llms", entry.name, "model"] = entry.name
        path = save_settings(changes)
        text = f"Saved to {path}."
        if key.get_secret_value():
            self._keys.store_key(entry.base_url or entry.name, key.get_secret_value())
            text += " The key was stored in the system keyring."
        await self._reload()
        self._send_list(entry.name)
        self.answered.send(LLMAnswer(ok=True, text=text))

    async def _reload(self) -> None:
        fresh = user_llms(self._settings(), keys=self._keys, before=self.services.llms)
        await self.session.agent.use_llms(fresh)


def _as_settings(entry: LLMEntry, stored: LLMSettings) -> LLMSettings:
    """Return the form as the settings file has it, with what the form does not show as it was stored."""
    values = {**dict(stored), **{field: getattr(entry, field) for field in _FIELDS}}
    try:
        return LLMSettings.model_validate(values)
    except ValidationError as error:
        raise UsageError(f"This LLM cannot be used: {problem(error, LLMSettings)}") from error


make_service = LLMService
