import tomllib
import traceback

import pytest

from core.schema.errors import DataError, UsageError
from core.settings.settings import (
    FileSettings,
    LLMSettings,
    PurposeSettings,
    load_settings,
    read_settings_file,
    settings_path,
)

EVERY_KEY = """
llm = "fast"
base_url = "http://127.0.0.1:8000/v1"
preset = "laser"
db = "runs/mine.db"
browser = "/usr/bin/chromium"
embedded_profiles = ["work"]
viewport = "390x844"
max_steps = 40
max_llm_calls = 300
on_gate = "end"
dialogs = "dismiss"
pictures = "failures"
record_network = false
script_seconds = 60
embedding = "text-embedding-3-small"
theme = "dark"
pace = 1.5
task_files = ["tasks/mine.toml"]
webarena = ["config_files"]
sites = ["example.org", "localhost:8000"]
upload_folders = ["papers"]

[llms.fast]
base_url = "ollama"
model = "qwen3:8b"
description = "The one below the desk"
takes_images = true
timeout_seconds = 60.0
total_timeout_seconds = 7200.0
attempts = 2
key_name = "MY_KEY"
temperature = 0.2
top_p = 0.9
max_tokens = 800
seed = 7

[purposes.remedies]
llm = "rules"
temperature = 1.0

[local]
context = 4096
threads = 2

[task_sites]
"shop/goal-001" = ["pay.example.org"]
"""


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

    def test_a_file_with_every_key_of_today_is_read_as_it_says(self, environ, write):
        write(EVERY_KEY)
        file = read_settings_file(environ)
        assert file.model_fields_set == set(FileSettings.model_fields)
        assert file.model_dump(mode="json", exclude_unset=True) == tomllib.loads(EVERY_KEY)

    def test_a_database_of_the_file_counts_from_the_data_folder(self, environ, write, tmp_path):
        write('db = "mine.db"\n')
        assert load_settings(environ=environ).database == tmp_path / "data" / "mine.db"

    def test_a_database_of_a_flag_is_in_a_folder_that_is_there(self, environ, tmp_path):
        (tmp_path / "file").touch()
        for missing in (tmp_path / "typo" / "deeper", tmp_path / "file"):
            with pytest.raises(UsageError, match=f"--db: there is no folder {missing}; create it"):
                load_settings({"db": missing / "traces.db"}, environ=environ)
        assert not (tmp_path / "typo").exists()
        default = load_settings(environ=environ).database
        assert load_settings({"db": default}, environ=environ).database == default

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
            ("base_url = 'http://host:0/v1'\n", 'line 1: "base_url" cannot be used: "host:0" has no port from 1'),
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

    @pytest.mark.parametrize(
        ("address", "said"),
        [
            ("http://h:0/v1", '"h:0" has no port from 1 to 65535'),
            ("http://h:99999/v1", '"h:99999" has no port'),
            ("http://h:80a/v1", '"h:80a" has no port'),
            ("http://h:-1/v1", '"h:-1" has no port'),
            ("http://h:１/v1", '"h:１" has no port'),
            ("http://h\r\nX-Other: y/v1", r"an address contains no '\r'"),
            ("http://h/v1\nx", r"an address contains no '\n'"),
            ("http://h o/v1", "an address contains no ' '"),
            ("http://h\u200b/v1", r"an address contains no '\u200b'"),
            ("http:///v1", '"" is not the name or the IP address'),
            ("http://a..b/v1", '"a..b" is not the name'),
            ("http://*.com/v1", '"*.com" is not the name'),
            ("http://256.1.1.1/v1", '"256.1.1.1" is not the name or the IP address of a server'),
            (f"http://{'a' * 64}.com/v1", '"aaaaaaaa'),
            ("http://[::1/v1", "invalid IPv6 URL"),
        ],
    )
    def test_an_address_that_no_server_can_have_is_refused_with_the_part_that_is_wrong(
        self, environ, address, said
    ):
        for flags, more, where in (
            ({"base_url": address}, {}, "--base-url"),
            ({}, {"OPENAI_BASE_URL": address}, "the environment variable OPENAI_BASE_URL"),
        ):
            with pytest.raises(UsageError) as caught:
                load_settings(flags, environ=environ | more)
            assert str(caught.value).startswith(f'{where}: "base_url" cannot be used: {said}')

    @pytest.mark.parametrize(
        "address",
        [
            "http://my_server:8080/v1",
            "http://[::1]:1/v1",
            "http://bücher.example./v1",
            "http://127.0.0.1:65535",
        ],
    )
    def test_addresses_as_people_have_them_are_taken(self, environ, address):
        assert load_settings({"base_url": f" {address}\r\n"}, environ=environ).base_url == address

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

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            (
                'headers = { Authorization = "Bearer sk-123456789" }',
                'the value of "Authorization" is a secret',
            ),
            ('headers = { "X Y" = "a" }', '"X Y" is not a header'),
            ("body = { stream = false }", "stream is set for each call by Backstep"),
            ('reasoning_effort = "hihg"', "hihg"),
            (
                'base_url = "https://x.openai.azure.com?api-key=sk-1"',
                "leave keys and passwords out of the address",
            ),
        ],
    )
    def test_what_an_llm_may_not_be_given_is_refused_with_its_line(self, environ, write, text, sentence):
        write(f"[llms.mine]\n{text}\n")
        with pytest.raises(DataError) as caught:
            load_settings(environ=environ)
        assert sentence in str(caught.value)
        assert "sk-1" not in "".join(traceback.format_exception(caught.value))

    def test_the_version_of_azures_api_may_stand_in_the_address(self, environ, write):
        address = "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21"
        write(f'[llms.mine]\nbase_url = "{address}"\n')
        assert load_settings(environ=environ).llms["mine"].base_url == address

    def test_a_password_in_an_address_is_refused_without_repeating_it(self, environ, write):
        write("base_url = 'http://user:secret-word@host/v1'\n")
        with pytest.raises(DataError) as caught:
            load_settings(environ=environ)
        assert "secret-word" not in "".join(traceback.format_exception(caught.value))
        assert "leave keys and passwords out of the address" in str(caught.value)
