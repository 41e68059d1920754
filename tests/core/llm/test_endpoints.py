import os

import pytest
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import KeyringLocked

from core.llm.endpoints import ENVIRONMENT, Keys, load_endpoints, secret_names, take_keys
from core.schema.errors import DataError
from core.settings.settings import load_settings
from tests.core.llm.memory_keyring import MemoryKeyring


class LockedKeyring(MemoryKeyring):
    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("Failed to unlock the collection!")

    set_password = get_password  # type: ignore[assignment]


class TestKeys:
    ENDPOINTS = load_endpoints()

    def keys(self, backend=None, **environ: str) -> Keys:
        return Keys(self.ENDPOINTS, environ=environ, backend=backend or MemoryKeyring())

    def test_the_environment_goes_before_the_keyring(self):
        keyring = MemoryKeyring({"GROQ_API_KEY": "stored"})
        assert self.keys(keyring, GROQ_API_KEY=" set\n").find_key("GROQ_API_KEY") == "set"
        assert self.keys(keyring).find_key("GROQ_API_KEY") == "stored"
        assert self.keys(keyring, GROQ_API_KEY=" ").find_key("GROQ_API_KEY") == "stored"

    @pytest.mark.parametrize(
        ("address", "name"),
        [
            ("https://api.openai.com/v1/", "OPENAI_API_KEY"),
            ("https://llm.example.org:8443/v1", "llm.example.org:8443"),
            ("http://api.openai.com/v1", "api.openai.com"),
        ],
    )
    def test_an_address_is_kept_under_its_presets_name_or_its_host(self, address, name):
        keys = self.keys()
        keys.store_key(address, "k1")
        assert keys.name_of(address) == name
        assert keys.find_key(name) == keys.find_key(address) == "k1"

    @pytest.mark.parametrize("backend", [NoKeyring(), LockedKeyring()])
    def test_a_keyring_that_is_missing_or_locked_is_no_error_but_no_key(self, backend):
        keys = self.keys(backend)
        assert keys.find_key("A") is None
        assert "the system keyring cannot be used (" in keys.why("A")

    @pytest.mark.parametrize("backend", [NoKeyring(), LockedKeyring()])
    def test_a_key_that_cannot_be_stored_is_said_without_it(self, backend):
        with pytest.raises(DataError) as caught:
            self.keys(backend).store_key("A", "sk-secret-1")
        assert "sk-secret-1" not in repr(caught.value) + repr(caught.value.__cause__)
        assert "set the environment variable" in str(caught.value)

    @pytest.mark.parametrize("bad", ["", "  ", "two words", "sk-…", "a\nb"])
    def test_what_cannot_be_a_key_is_refused(self, bad):
        with pytest.raises(DataError, match="is not a key"):
            self.keys().store_key("A", bad)

    def test_where_a_key_was_found_is_shown_without_it(self):
        assert self.keys(A="sk-1").why("A") == "The key is in the environment variable A."
        assert self.keys(MemoryKeyring({"A": "sk-1"})).why("A") == "The key A is in the system keyring."
        assert self.keys().why("A") == "There is no key A in the environment or the system keyring."


class TestEndpoints:
    def test_the_users_own_preset_goes_before_the_shipped_one(self, tmp_path):
        own = tmp_path / "endpoints.toml"
        own.write_text('[[endpoint]]\nname = "ollama"\ntitle = "Mine"\nbase_url = "http://box:11434/v1"\n')
        endpoints = load_endpoints(own=own)
        assert endpoints[0].title == "Mine"
        assert [one.name for one in endpoints].count("ollama") == 1

    def test_local_servers_need_no_key_and_others_name_theirs(self):
        for endpoint in load_endpoints():
            assert endpoint.needs_key == bool(endpoint.key_name)
            assert endpoint.needs_key != endpoint.base_url.startswith("http://127.0.0.1:")


SETTINGS = """
base_url = "https://main.example:8443/v1"
[llms.mine]
base_url = "https://llm.example/v1"
key_name = "BKEY"
headers = {"X-Team" = "$TEAM_KEY", "X-Who" = "$USER", "X-Plain" = "text", "X-Home" = "$HOME"}
[llms.azure]
base_url = "https://name.openai.azure.com"
[llms.known]
base_url = "mistral"
"""


class TestKeysInTheEnvironment:
    @pytest.fixture
    def settings(self, tmp_path):
        (tmp_path / "settings.toml").write_text(SETTINGS)
        return load_settings(environ={"BACKSTEP_CONFIG_DIR": str(tmp_path)})

    def test_secret_are_the_keys_of_entries_headers_hosts_and_presets_but_not_what_programs_need(
        self, settings
    ):
        names = secret_names(settings, load_endpoints())
        assert {
            *("BKEY", "TEAM_KEY", "OPENAI_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY"),
            *("main.example:8443", "llm.example", "name.openai.azure.com"),
        } <= names
        assert names.isdisjoint({"HOME", "USER", "PATH", "text", ""})

    def test_what_is_taken_is_found_and_out_of_the_environment(self, settings, monkeypatch):
        for name in ("BKEY", "TEAM_KEY", "HOME", "OTHER"):
            monkeypatch.setenv(name, f"value of {name}")
        take_keys(settings, load_endpoints())
        take_keys(settings, load_endpoints())
        assert os.environ.keys().isdisjoint({"BKEY", "TEAM_KEY"})
        assert (os.environ["HOME"], os.environ["OTHER"]) == ("value of HOME", "value of OTHER")
        keys = Keys(load_endpoints(), backend=NoKeyring())
        assert keys.find_key("BKEY") == ENVIRONMENT["BKEY"] == "value of BKEY"
        assert keys.why("TEAM_KEY") == "The key is in the environment variable TEAM_KEY."

    def test_a_key_that_is_set_later_goes_before_the_one_that_was_taken(self, settings, monkeypatch):
        monkeypatch.setenv("BKEY", "first")
        take_keys(settings, ())
        monkeypatch.setenv("BKEY", "second")
        assert Keys().find_in_environment("BKEY") == "second"
        take_keys(settings, ())
        assert Keys().find_in_environment("BKEY") == "second"
