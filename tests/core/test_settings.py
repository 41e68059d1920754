import os
import stat
import traceback

import pytest
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import KeyringLocked

from core.llm.endpoints import load_endpoints
from core.schema.errors import DataError, UsageError
from core.settings import LLMSettings, PurposeSettings, load_settings, settings_path
from core.settings_keys import Keys
from core.settings_save import save_settings
from tests.core.memory_keyring import MemoryKeyring


@pytest.fixture
def environ(tmp_path):
    return {"BACKSTEP_CONFIG_DIR": str(tmp_path / "config"), "BACKSTEP_DATA_DIR": str(tmp_path / "data")}


@pytest.fixture
def write(environ):
    def write_file(text: str | bytes):
        path = settings_path(environ)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_file


class TestLoading:
    def test_without_a_file_the_defaults_hold(self, environ, tmp_path):
        settings = load_settings(environ=environ)
        assert (settings.llm, settings.preset, settings.browser) == ("rules", "plain", "embedded")
        assert (settings.max_steps, settings.on_gate, settings.pace) == (30, "refuse", 0.0)
        assert settings.database == tmp_path / "data" / "traces.db"

    def test_flags_go_before_the_environment_and_that_before_the_file(self, environ, write):
        write('base_url = "http://file/v1"\nllm = "file"\npreset = "laser"\n')
        assert load_settings(environ=environ).base_url == "http://file/v1"
        environ["OPENAI_BASE_URL"] = "http://environment/v1"
        settings = load_settings({"llm": "flag", "preset": None}, environ=environ)
        assert (settings.base_url, settings.base_url_origin) == ("http://environment/v1", "environment")
        assert (settings.llm, settings.preset) == ("flag", "laser")
        settings = load_settings({"base_url": "http://flag/v1"}, environ=environ)
        assert (settings.base_url, settings.base_url_origin) == ("http://flag/v1", "flag")

    def test_llms_and_purposes_are_read_by_name(self, environ, write):
        write('[llms."gpt-4.1"]\nattempts = 2\n[purposes.decide]\nllm = "fast"\ntemperature = 0.3\n')
        settings = load_settings(environ=environ)
        assert settings.llms == {"gpt-4.1": LLMSettings(attempts=2)}
        assert settings.purposes == {"decide": PurposeSettings(llm="fast", temperature=0.3)}

    def test_a_database_of_the_file_counts_from_the_data_folder(self, environ, write, tmp_path):
        write('db = "mine.db"\n')
        assert load_settings(environ=environ).database == tmp_path / "data" / "mine.db"

    def test_a_database_of_a_flag_counts_from_where_one_stands(self, environ, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert load_settings({"db": "mine.db"}, environ=environ).database == tmp_path / "mine.db"

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("llm = 'a'\npresett = 'b'\n", 'line 2: there is no key "presett"; did you mean preset?'),
            ("# x\n[llms.fast]\n# y\ntemprature = 1\n",
             'line 4: there is no key "temprature" in [llms.fast]; did you mean temperature?'),
            ('[llms."a.b"]\nmodel = "x"\ntimeout = 1\n',
             'line 3: there is no key "timeout" in [llms.a.b]; did you mean timeout_seconds?'),
            ("llms.fast.atempts = 3\n",
             'line 1: there is no key "atempts" in [llms.fast]; did you mean attempts?'),
            ("max_steps = 0\n", 'line 1: "max_steps" = 0 cannot be used: input should be greater than'),
            ("\non_gate = 'maybe'\n",
             """line 2: "on_gate" = 'maybe' cannot be used: input should be 'refuse'"""),
            ("[purposes.decid]\nseed = 1\n",
             'line 1: there is no table "decid" in [purposes]; did you mean decide?'),
            ("qqqq = 1\n", 'line 1: there is no key "qqqq"; there are llm, base_url, '),
            ("api_key = 'sk-1'\n", 'line 1: there is no key "api_key"; '),
            ("base_url = 'http://user:word@host/v1'\n", 'line 1: "base_url"'),
            ("llm = \n", "line 1: this is not TOML ("),
            ("llm = 'a'\nx = [\n", "line 3: this is not TOML ("),
        ],
    )  # fmt: skip
    def test_a_wrong_file_is_one_sentence_with_line_key_and_nearest_key(self, environ, write, text, sentence):
        path = write(text)
        with pytest.raises(DataError) as caught:
            load_settings(environ=environ)
        assert str(caught.value).startswith(f"{path}, {sentence}")
        assert "\n" not in str(caught.value)

    def test_a_file_that_is_not_text_is_said_so(self, environ, write):
        path = write(b"llm = '\xff'\n")
        with pytest.raises(DataError) as caught:
            load_settings(environ=environ)
        assert str(caught.value) == f"{path} is not UTF-8 text (byte 7); save it as UTF-8."

    def test_a_folder_in_place_of_the_file_is_said_so(self, environ):
        settings_path(environ).mkdir(parents=True)
        with pytest.raises(DataError, match=r"settings\.toml cannot be read"):
            load_settings(environ=environ)

    @pytest.mark.parametrize(
        ("flags", "more", "sentence"),
        [
            ({"max_steps": -1}, {}, '--max-steps: "max_steps" = -1 cannot be used: '),
            ({"on_gate": "ask"}, {}, "--on-gate: "),
            ({}, {"OPENAI_BASE_URL": "ftp://x"}, "the environment variable OPENAI_BASE_URL: "),
        ],
    )
    def test_a_wrong_flag_or_variable_is_named(self, environ, flags, more, sentence):
        with pytest.raises(UsageError) as caught:
            load_settings(flags, environ={**environ, **more})
        assert str(caught.value).startswith(sentence)

    def test_a_password_in_an_address_is_refused_without_repeating_it(self, environ, write):
        write("base_url = 'http://user:secret-word@host/v1'\n")
        with pytest.raises(DataError) as caught:
            load_settings(environ=environ)
        assert "secret-word" not in "".join(traceback.format_exception(caught.value))
        assert "leave keys and passwords out of the address" in str(caught.value)


class TestSaving:
    def test_comments_order_and_the_rest_stay(self, environ, write):
        path = write("# mine\nllm = 'a'  # why\n\n[llms.fast]\n# note\nmodel = 'm'\n")
        save_settings({"llm": "b", "llms.fast.attempts": 2}, environ=environ)
        assert (
            path.read_text()
            == "# mine\nllm = \"b\"  # why\n\n[llms.fast]\n# note\nmodel = 'm'\nattempts = 2\n"
        )

    def test_a_first_save_makes_folder_and_file(self, environ):
        path = save_settings({"theme": "dark", ("llms", "gpt-4.1", "attempts"): 3}, environ=environ)
        settings = load_settings(environ=environ)
        assert settings.theme == "dark"
        assert settings.llms["gpt-4.1"].attempts == 3
        assert [one.name for one in path.parent.iterdir()] == ["settings.toml"]

    def test_none_takes_a_key_out(self, environ, write):
        path = write('llm = "a"\ntheme = "dark"\n')
        save_settings({"theme": None, "llms.none.model": None}, environ=environ)
        assert path.read_text() == 'llm = "a"\n'

    def test_a_list_keeps_the_comments_of_the_entries_that_stay(self, environ, write):
        path = write('task_files = [\n  "/a",  # first\n  "/b",\n]\n\n[llms.fast]\nmodel = "m"\n')
        save_settings({"task_files": ["/a", "/c"], "webarena": ["/w"]}, environ=environ)
        assert '"/a",  # first' in path.read_text()
        settings = load_settings(environ=environ)
        assert [str(one) for one in settings.task_files] == ["/a", "/c"]
        assert [str(one) for one in settings.webarena] == ["/w"]
        assert settings.llms["fast"].model == "m"

    @pytest.mark.parametrize("change", [{"max_steps": 0}, {"api_key": "sk-1"}, {"llms.fast.key": "sk-1"}])
    def test_what_is_not_valid_is_not_written(self, environ, write, change):
        path = write('llm = "a"\n')
        with pytest.raises(DataError):
            save_settings(change, environ=environ)
        assert path.read_text() == 'llm = "a"\n'

    def test_a_file_that_was_already_wrong_is_left_alone(self, environ, write):
        path = write("llm = \n")
        with pytest.raises(DataError, match="line 1"):
            save_settings({"llm": "b"}, environ=environ)
        assert path.read_text() == "llm = \n"

    def test_a_link_stays_a_link_and_its_file_keeps_its_rights(self, environ, write, tmp_path):
        path = write("")
        real = tmp_path / "dotfiles.toml"
        real.write_text('llm = "a"\n')
        real.chmod(0o600)
        path.unlink()
        path.symlink_to(real)
        save_settings({"llm": "b"}, environ=environ)
        assert path.is_symlink()
        assert real.read_text() == 'llm = "b"\n'
        assert stat.S_IMODE(real.stat().st_mode) == 0o600

    def test_a_folder_that_cannot_be_made_is_a_sentence(self, tmp_path):
        (tmp_path / "file").write_text("")
        environ = {"BACKSTEP_CONFIG_DIR": str(tmp_path / "file" / "config")}
        with pytest.raises(DataError, match="cannot be written"):
            save_settings({"llm": "b"}, environ=environ)

    def test_a_failed_replacement_leaves_the_old_file_and_nothing_else(self, environ, write, monkeypatch):
        path = write('llm = "a"\n')

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(DataError, match="No space left on device"):
            save_settings({"llm": "b"}, environ=environ)
        assert [one.name for one in path.parent.iterdir()] == ["settings.toml"]
        assert path.read_text() == 'llm = "a"\n'


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

    def test_a_key_can_be_forgotten_once(self):
        keys = self.keys(MemoryKeyring({"A": "k"}))
        assert keys.forget_key("A") is True
        assert keys.find_key("A") is None
        assert keys.forget_key("A") is False

    @pytest.mark.parametrize("backend", [NoKeyring(), LockedKeyring()])
    def test_a_keyring_that_is_missing_or_locked_is_no_error_but_no_key(self, backend):
        keys = self.keys(backend)
        assert keys.find_key("A") is None
        assert "the system keyring cannot be used (" in keys.why("A")
        with pytest.raises(DataError, match="cannot be used"):
            keys.forget_key("A")

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

    def test_where_a_key_was_found_is_told_without_it(self):
        assert self.keys(A="sk-1").why("A") == "The key is in the environment variable A."
        assert self.keys(MemoryKeyring({"A": "sk-1"})).why("A") == "The key A is in the system keyring."
        assert self.keys().why("A") == "No key A in the environment or in the system keyring."


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
