"""The LLMs that can be chosen: by name, by purpose, and as a list for the tool bar."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.llm.costs import Prices, load_prices
from core.llm.endpoint_check import check_endpoint
from core.llm.endpoints import (
    OPENAI_KEY_NAME,
    TAKEN,
    Endpoint,
    Keys,
    azure_address,
    header_keys,
    load_endpoints,
    origin,
    take_keys,
)
from core.llm.honoured import HonouredFile
from core.llm.limits import Limits, Meter
from core.llm.local import LocalLLM, model_file
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.person import PersonLLM
from core.llm.thinking import marks
from core.schema.errors import UsageError
from core.schema.messages import LLM, LLMChoice, LLMReply, LLMRequest, Purpose, Retry
from core.settings.settings import BUILT_IN, LOCAL_PREFIX, ONNX_PREFIX, LLMSettings, PurposeSettings, Settings
from core.setup.plugins import Plugins, expect, guarded, load_plugins

if TYPE_CHECKING:
    # NumPy takes long to load, and most runs make no vectors.
    from core.llm.embedding import Embedding

PREFIX = "replay:"
"""What begins the name of an LLM that repeats a stored run."""
MakeReplay = Callable[[str, Path, Callable[[str], LLM]], LLM]
"""From the name, the database of traces and what finds other LLMs to the LLM that repeats the run."""
OPENAI_URL = "https://api.openai.com/v1"


def make_rules() -> LLM:
    """Return the built-in LLM."""
    from core.llm.rules import RulesLLM

    rules: LLM = RulesLLM()
    return rules


@cache
def llm_plugins() -> Plugins[Callable[[], LLM]]:
    """Return what makes the LLMs that packages add."""
    return load_plugins("llms", ("rules", "person"), _factory)


def _factory(name: str, thing: Any) -> Callable[[], LLM]:
    if not callable(thing):
        raise ValueError("it has to be a class, or function, that makes a core.schema.messages.LLM")
    factory: Callable[[], LLM] = thing
    return factory


class RoutedLLM:
    """One LLM to its callers, which sends each purpose to the LLM that is set for it.

    Sampling set for a purpose goes before the request's own, which goes
    before that of the LLM's entry. A repair turn without settings of its own
    goes the way of decide.
    """

    def __init__(self, name: str, llms: "LLMs", purposes: Mapping[Purpose, PurposeSettings]) -> None:
        self.name = name
        self._llms = llms
        self._purposes = purposes

    @property
    def takes_images(self) -> bool:
        """Whether the LLM that decides takes pictures."""
        return self.llm_for("decide").takes_images

    def llm_for(self, purpose: Purpose) -> LLM:
        """Return the LLM that answers this purpose; raises UsageError for an unknown name."""
        return self._llms.get(self._setting(purpose).llm or self.name)

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        """Pass the request on, with the sampling of its purpose."""
        setting = self._setting(request.purpose)
        if given := setting.sampling.model_dump(exclude_none=True):
            request = request.replace(sampling=request.sampling.replace(**given))
        return await self.llm_for(request.purpose).reply(request, on_text=on_text, on_retry=on_retry)

    async def close(self) -> None:
        """Nothing to release: the LLMs belong to the registry."""

    def _setting(self, purpose: Purpose) -> PurposeSettings:
        found = self._purposes.get(purpose)
        if found is None and purpose == "repair":
            found = self._purposes.get("decide")
        return found or PurposeSettings()


class LLMs:
    """Finds LLMs by name and keeps each that it made.

    A name is one of `factories` (``rules``), ``person``, an entry of the
    settings, ``replay:RUN`` or ``replay:RUN:LLM`` for the replies of a stored
    run, ``gguf:FILE`` for a local one, ``PRESET/MODEL`` for a preset endpoint, or else the name of a model at
    the base URL of the settings.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        keys: Keys,
        endpoints: tuple[Endpoint, ...] = (),
        prices: Prices | None = None,
        person: PersonLLM | None = None,
        factories: Mapping[str, Callable[[], LLM]] | None = None,
        replay: MakeReplay | None = None,
        first_wait: float = 1.0,
        honoured: HonouredFile | None = None,
        meters: dict[str, Meter] | None = None,
        patient: bool = False,
    ) -> None:
        """`replay` makes the LLM that repeats a stored run; without it such names are refused.

        `honoured` keeps what servers were seen to honour, `meters` what each
        LLM has used; both outlive a registry. `patient` LLMs wait for a server
        that does not answer.
        """
        self._settings = settings
        self._keys = keys
        self._endpoints = {endpoint.name: endpoint for endpoint in endpoints}
        self._prices = prices or Prices()
        self.person = person or PersonLLM()
        self._factories: dict[str, Callable[[], LLM]] = {"rules": make_rules, **(factories or {})}
        self._factories["person"] = lambda: self.person
        self._replay = replay
        self._first_wait = first_wait
        self._patient = patient
        self.honoured = honoured or HonouredFile()
        self.meters = {} if meters is None else meters
        self._made: dict[str, LLM] = {}
        self._key_names: dict[str, tuple[str, ...]] = {}
        """The names of the keys that each LLM behind a server may be sent."""
        self._embedders: list[LLM] = []

    def get(self, name: str) -> LLM:
        """Return the LLM of that name; raises UsageError if nothing could answer to it."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def routed(self, name: str) -> RoutedLLM:
        """Return the LLM of that name with the purposes of the settings; raises UsageError as `get` does."""
        if name.startswith(PREFIX):
            # One run is repeated from its beginning, and whatever it was asked it answers.
            self._made[name] = self._make(name)
            return RoutedLLM(name, self, {})
        self.get(name)
        routed = RoutedLLM(name, self, self._settings.purposes)
        for purpose, setting in self._settings.purposes.items():
            if setting.llm is not None:
                routed.llm_for(purpose)
        return routed

    def choices(self) -> tuple[LLMChoice, ...]:
        """Return what the tool bar offers: the built-in ones, the settings' entries, and the one in use."""
        choices = [
            LLMChoice(
                name="rules", title="Built-in rules", description="Matches words. No network, no cost."
            ),
            LLMChoice(name="person", title="You", description="You answer every request yourself."),
        ]
        for name, entry in self._settings.llms.items():
            is_local = (entry.model or name).startswith(LOCAL_PREFIX)
            where = "on this machine" if is_local else f"at {origin(self._address(entry.base_url))}"
            choices.append(
                LLMChoice(
                    name=name,
                    title=name,
                    description=entry.description or f"{entry.model or name} {where}",
                )
            )
        choices += [
            LLMChoice(name=name, title=name, description="Of an installed package.")
            for name in llm_plugins().things
            if name not in self._settings.llms
        ]
        known = {choice.name for choice in choices}
        for name in dict.fromkeys((self._settings.llm, *self._made)):
            if name not in known:
                found = self._made.get(name)
                if name.startswith(PREFIX):
                    continue  # It repeats one run, and has done so.
                where = found.base_url if isinstance(found, OpenAICompatibleLLM) else self._address("")
                told = "on this machine" if name.startswith(LOCAL_PREFIX) else f"at {origin(where)}"
                choices.append(LLMChoice(name=name, title=name, description=told))
        return tuple(choices)

    def embedding(self, name: str) -> "Embedding":
        """Return what makes vectors of texts: the built-in one, an ONNX model, or a model of a server named as an LLM.

        `--base-url` does not hold for it: that sends chat elsewhere, and vectors
        of another server have other distances. Where only the flag names a
        server, a model that is no entry is asked there, and nowhere else.
        Raises UsageError if nothing could answer to the name.
        """
        from core.llm.embedding import EndpointEmbedding, HashedWords

        if name == BUILT_IN:
            return HashedWords()
        if name.startswith(ONNX_PREFIX):
            from core.llm.onnx_embedding import onnx_embedding

            return onnx_embedding(name)
        llm = self._without_flag(name)._make(name)
        if not isinstance(llm, OpenAICompatibleLLM) or isinstance(llm, LocalLLM):
            raise UsageError(
                f'"{name}" does not make embeddings; give a model of a server, onnx: and a folder, or built-in.'
            )
        self._embedders.append(llm)
        return EndpointEmbedding(llm)

    def _without_flag(self, name: str) -> "LLMs":
        """Return the registry as it is for embeddings."""
        settings = self._settings
        preset, slash, _ = name.partition("/")
        named = (
            settings.base_url_before_flag or name in settings.llms or (slash and preset in self._endpoints)
        )
        if settings.base_url_origin != "flag" or not named:
            return self
        before = settings.base_url_before_flag
        return LLMs(
            settings.replace(base_url=before, base_url_origin="file" if before else "none"),
            keys=self._keys,
            endpoints=tuple(self._endpoints.values()),
            prices=self._prices,
            person=self.person,
            factories=self._factories,
            first_wait=self._first_wait,
            honoured=self.honoured,
            meters=self.meters,
        )

    def secrets(self) -> dict[str, str]:
        """Return the keys of the LLMs that were made so far, by their names."""
        made = (*self._made.values(), *self._embedders)
        return {
            name: value
            for llm in made
            if isinstance(llm, OpenAICompatibleLLM)
            for name, value in llm.secrets().items()
            if name  # That of a local LLM has none, and is for its own process.
        }

    def keys_for(self, names: Iterable[str], embedding: str) -> dict[str, str]:
        """Return the keys of our environment with which another process asks these LLMs, and the one of the embedding.

        The LLMs that are set for a purpose are among them. Raises UsageError for an unknown name.
        """
        asked = [setting.llm for setting in self._settings.purposes.values() if setting.llm]
        for name in names:
            asked += name.split(":", 2)[2:] if name.startswith(PREFIX) else [name]
        sought: set[str] = set()
        for name in asked:
            self.get(name)
            sought.update(self._key_names.get(name, ()))
        if embedding != BUILT_IN and not embedding.startswith(ONNX_PREFIX):
            registry = self._without_flag(embedding)
            registry._make(embedding)
            sought.update(registry._key_names.get(embedding, ()))
        return {name: TAKEN[name] for name in sought if name in TAKEN}

    async def check(self, name: str) -> str:
        """Return one line on whether the LLM of that name can be reached."""
        return await check_endpoint(self.get(name))

    async def close(self) -> None:
        """Close every LLM that was made, but for the person, who may be answering to another registry."""
        made, self._made = [*self._made.values(), *self._embedders], {}
        self._embedders = []
        for llm in made:
            if llm is not self.person:
                await llm.close()

    def _make(self, name: str) -> LLM:
        if name in self._factories:
            return self._factories[name]()
        if name.startswith(PREFIX):
            if self._replay is None:
                raise UsageError(f'"{name}" cannot be replayed here: there is no trace to read it from.')
            return self._replay(name, self._settings.database, self.get)
        if name in self._settings.llms:
            return self._entry(name, self._settings.llms[name])
        plugins = llm_plugins()
        if name in plugins.problems:
            raise UsageError(plugins.problems[name])
        if name in plugins.things:
            with guarded(name):
                return expect(LLM, name, plugins.things[name](), "name")  # type: ignore[type-abstract]
        preset, slash, model = name.partition("/")
        if slash and model and preset in self._endpoints and not self._settings.base_url:
            return self._entry(name, LLMSettings(base_url=preset, model=model))
        if not self._settings.base_url:
            known = [*self._factories, *self._settings.llms, *plugins.things]
            close = get_close_matches(name, known, n=1, cutoff=0.7)
            if close and not name.startswith(LOCAL_PREFIX):
                raise UsageError(
                    f'There is no LLM "{name}"; did you mean {close[0]}? For a model of that name, '
                    "give its server with --base-url."
                )
        return self._entry(name, LLMSettings(model=name))

    def _entry(self, name: str, entry: LLMSettings) -> LLM:
        shared: dict[str, Any] = {
            "images": entry.takes_images,
            "sampling": entry.sampling,
            "timeout_seconds": entry.timeout_seconds,
            "total_timeout_seconds": entry.total_timeout_seconds,
            "attempts": entry.attempts,
            "patient": self._patient,
            "prices": self._prices,
            "first_wait": self._first_wait,
            "body": entry.body,
            "limits": Limits(**{field: getattr(entry, field) for field in Limits.model_fields}),
            "meter": self.meters.setdefault(name, Meter()),
            "kept": self.honoured,
        }
        if (model := entry.model or name).startswith(LOCAL_PREFIX):
            return LocalLLM(name, model_file(model), self._settings.local, **shared)
        # A flag sends an entry to another server; the entry's own key stays at home then.
        redirected = bool(entry.base_url) and self._settings.base_url_origin == "flag"
        address = self._address("" if redirected else entry.base_url)
        key_name = self._keys.name_of(address)
        if entry.key_name and not redirected:
            key_name = entry.key_name
        main = redirected or not entry.base_url
        model = entry.model or name
        falls_back = (OPENAI_KEY_NAME,) if main and self._settings.base_url else ()
        self._key_names[name] = (key_name, *header_keys(entry.headers), *falls_back)
        address, api_version = azure_address(address, entry.api_version, entry.deployment or model)
        return OpenAICompatibleLLM(
            name,
            base_url=address,
            model=model,
            key=lambda: self._find_key(key_name, main=main),
            key_name=key_name,
            used_key=lambda: self._used_key(key_name, main=main),
            why_key=self._keys.why,
            headers=entry.headers,
            find_secret=self._keys.find_key,
            api_version=api_version,
            **shared,
        )

    def find_key(self, name: str) -> str | None:
        """Return what the environment or the keyring has of that name, as for a key."""
        return self._keys.find_key(name)

    def _find_key(self, key_name: str, *, main: bool) -> str | None:
        """Return the key of that name.

        OPENAI_API_KEY of the environment goes to OpenAI, and to the main
        server of the settings as other programs have it; never to the server
        of another entry.
        """
        name = self._used_key(key_name, main=main)
        return self._keys.find_key(name) if name == key_name else self._keys.find_in_environment(name)

    def _used_key(self, key_name: str, *, main: bool) -> str:
        """Return the name of the key that is sent, or would be if there was one."""
        falls_back = main and self._settings.base_url and self._keys.find_key(key_name) is None
        return OPENAI_KEY_NAME if falls_back else key_name

    def _address(self, base_url: str) -> str:
        address = base_url or self._settings.base_url or OPENAI_URL
        if "://" in address:
            return address
        if address in self._endpoints:
            return self._endpoints[address].base_url
        close = get_close_matches(address, list(self._endpoints), n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(self._endpoints) or 'none'}."
        raise UsageError(
            f'"{address}" is neither an address nor an endpoint preset; {hint} An address begins with http://.'
        )


def open_llms(
    settings: Settings,
    *,
    keys: Keys | None = None,
    person: PersonLLM | None = None,
    replay: MakeReplay | None = None,
    config_folder: Path | None = None,
    honoured: HonouredFile | None = None,
    meters: dict[str, Meter] | None = None,
    patient: bool = False,
) -> LLMs:
    """Return the registry with the price list and presets of the installation and of the user.

    Keys are taken out of the environment. Raises DataError if one of these files, or that of the marks of thinking,
    is wrong.
    """
    own = config_folder
    marks()
    endpoints = load_endpoints(own=own / "endpoints.toml" if own else None)
    prices = load_prices(own=own / "prices.toml" if own else None)
    take_keys(settings, endpoints)
    return LLMs(
        settings,
        keys=keys or Keys(endpoints),
        endpoints=endpoints,
        prices=prices,
        person=person,
        replay=replay,
        honoured=honoured,
        meters=meters,
        patient=patient,
    )
