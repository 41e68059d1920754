import pytest

from core.llm.endpoints import TAKEN, Keys, load_endpoints
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.person import PersonLLM
from core.llm.registry import LLMs, open_llms
from core.schema.errors import LLMError, UsageError
from core.schema.messages import LLMReply, LLMRequest, Message, Sampling
from core.settings.settings import load_settings
from tests.core.llm.memory_keyring import MemoryKeyring
from tests.llm_server import Reply

ENDPOINTS = load_endpoints()


class Echo:
    """An LLM that answers with what it was asked for."""

    name = "echo"
    takes_images = True

    def __init__(self) -> None:
        self.closed = False

    async def reply(self, request, *, on_text=None, on_retry=None):
        return LLMReply(text=request.sampling.model_dump_json(exclude_none=True), model=request.purpose)

    async def close(self) -> None:
        self.closed = True


def ask(purpose="decide", **more) -> LLMRequest:
    return LLMRequest(purpose=purpose, messages=(Message(role="user", text="?"),), **more)


@pytest.fixture
async def open_with(tmp_path):
    made: list[LLMs] = []

    def make(text: str = "", *, flags=None, environ=None, stored=None, factories=None) -> LLMs:
        surroundings = {
            "BACKSTEP_CONFIG_DIR": str(tmp_path),
            "BACKSTEP_DATA_DIR": str(tmp_path),
            **(environ or {}),
        }
        (tmp_path / "settings.toml").write_text(text)
        settings = load_settings(flags, environ=surroundings)
        keys = Keys(ENDPOINTS, environ=surroundings, backend=MemoryKeyring(stored or {}))
        made.append(LLMs(settings, keys=keys, endpoints=ENDPOINTS, factories=factories, first_wait=0.001))
        return made[-1]

    yield make
    for llms in made:
        await llms.close()


async def sent_key(llms: LLMs, name: str, server) -> str | None:
    server.say("ok")
    await llms.get(name).reply(ask())
    return server.requests[-1].headers.get("authorization")


class TestNames:
    def test_an_llm_is_made_once(self, open_with):
        llms = open_with(factories={"echo": Echo})
        assert llms.get("echo") is llms.get("echo")

    def test_the_person_is_the_one_that_was_passed_in(self, open_with):
        llms = open_with()
        assert llms.get("person") is llms.person
        assert isinstance(llms.person, PersonLLM)

    def test_an_entry_of_the_settings_has_its_own_server_and_model(self, open_with):
        llm = open_with('[llms.fast]\nbase_url = "ollama"\nmodel = "qwen3:8b"\ntakes_images = true\n').get(
            "fast"
        )
        assert isinstance(llm, OpenAICompatibleLLM)
        assert (llm.name, llm.base_url, llm.model) == ("fast", "http://127.0.0.1:11434/v1", "qwen3:8b")
        assert llm.takes_images

    def test_a_bare_name_is_a_model_at_the_main_server(self, open_with):
        llm = open_with(flags={"base_url": "http://127.0.0.1:9/v1"}).get("Qwen/Qwen3-8B")
        assert (llm.base_url, llm.model) == ("http://127.0.0.1:9/v1", "Qwen/Qwen3-8B")

    def test_a_bare_name_without_a_server_is_openais(self, open_with):
        assert open_with().get("gpt-4o").base_url == "https://api.openai.com/v1"

    def test_a_preset_before_a_slash_is_the_server(self, open_with):
        llm = open_with().get("ollama/llama3.2:3b")
        assert (llm.base_url, llm.model) == ("http://127.0.0.1:11434/v1", "llama3.2:3b")

    def test_a_flag_sends_an_entry_to_another_server(self, open_with):
        text = '[llms.fast]\nbase_url = "ollama"\nmodel = "m"\n'
        llm = open_with(text, flags={"base_url": "http://127.0.0.1:9/v1"}).get("fast")
        assert (llm.base_url, llm.model) == ("http://127.0.0.1:9/v1", "m")

    def test_the_environment_does_not(self, open_with):
        text = '[llms.fast]\nbase_url = "ollama"\n'
        llm = open_with(text, environ={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}).get("fast")
        assert llm.base_url == "http://127.0.0.1:11434/v1"

    def test_a_slip_is_answered_with_the_nearest_name(self, open_with):
        with pytest.raises(UsageError, match='There is no LLM "ruls"; did you mean rules'):
            open_with().get("ruls")

    def test_an_unknown_preset_is_answered_with_the_nearest(self, open_with):
        with pytest.raises(
            UsageError, match='"olama" is neither an address nor an endpoint preset; did you mean'
        ):
            open_with(flags={"base_url": "olama"}).get("m")

    def test_the_choices_are_the_built_in_ones_the_entries_and_the_one_in_use(self, open_with):
        llms = open_with('llm = "gpt-4o"\n[llms.fast]\nbase_url = "ollama"\nmodel = "m"\n')
        assert [choice.name for choice in llms.choices()] == ["rules", "person", "fast", "gpt-4o"]
        assert llms.choices()[2].description == "m at http://127.0.0.1:11434"

    async def test_closing_closes_all_that_were_made(self, open_with):
        llms = open_with(factories={"echo": Echo})
        echo = llms.get("echo")
        await llms.close()
        assert echo.closed

    def test_the_shipped_files_are_read(self, tmp_path):
        environ = {"BACKSTEP_CONFIG_DIR": str(tmp_path), "BACKSTEP_DATA_DIR": str(tmp_path)}
        llms = open_llms(load_settings(environ=environ), config_folder=tmp_path)
        assert llms.get("groq/m").base_url.startswith("https://api.groq.com")


class TestPurposes:
    TEXT = '[purposes.decide]\ntemperature = 0.0\n[purposes.judge]\nllm = "other"\nseed = 5\n'

    @pytest.fixture
    def llms(self, open_with):
        return open_with(self.TEXT, factories={"echo": Echo, "other": Echo})

    async def test_sampling_of_a_purpose_goes_before_the_requests_own(self, llms):
        reply = await llms.routed("echo").reply(ask(sampling=Sampling(temperature=1.0, seed=1)))
        assert Sampling.model_validate_json(reply.text) == Sampling(temperature=0.0, seed=1)

    def test_a_purpose_goes_to_its_own_llm(self, llms):
        routed = llms.routed("echo")
        assert routed.llm_for("judge") is llms.get("other")
        assert routed.llm_for("rationale") is llms.get("echo")

    async def test_a_repair_turn_goes_the_way_of_decide(self, llms):
        reply = await llms.routed("echo").reply(ask("repair"))
        assert Sampling.model_validate_json(reply.text).temperature == 0.0

    async def test_other_purposes_are_passed_on_untouched(self, llms):
        assert (await llms.routed("echo").reply(ask("rationale"))).text == "{}"

    def test_a_purpose_with_an_unknown_llm_is_refused_at_once(self, open_with):
        llms = open_with('[purposes.judge]\nllm = "ehco"\n', factories={"echo": Echo})
        with pytest.raises(UsageError, match="did you mean echo"):
            llms.routed("echo")


class TestKeysOnTheWire:
    async def test_the_openai_key_goes_to_the_main_server(self, open_with, llm_server):
        llms = open_with(flags={"base_url": llm_server.base_url}, environ={"OPENAI_API_KEY": "sk-main-key"})
        assert await sent_key(llms, "m", llm_server) == "Bearer sk-main-key"

    async def test_it_does_not_go_to_the_server_of_an_entry(self, open_with, llm_server):
        text = f'[llms.fast]\nbase_url = "{llm_server.base_url}"\n'
        llms = open_with(text, environ={"OPENAI_API_KEY": "sk-main-key"})
        assert await sent_key(llms, "fast", llm_server) is None

    async def test_one_that_is_stored_for_openai_stays_with_openai(self, open_with, llm_server):
        llms = open_with(flags={"base_url": llm_server.base_url}, stored={"OPENAI_API_KEY": "sk-stored-key"})
        assert await sent_key(llms, "m", llm_server) is None

    async def test_an_entry_finds_its_key_under_its_own_name(self, open_with, llm_server):
        text = f'[llms.fast]\nbase_url = "{llm_server.base_url}"\nkey_name = "FAST_KEY"\n'
        assert await sent_key(open_with(text, stored={"FAST_KEY": "k1"}), "fast", llm_server) == "Bearer k1"

    async def test_an_entrys_key_does_not_follow_it_to_the_server_of_a_flag(self, open_with, llm_server):
        text = '[llms.fast]\nbase_url = "groq"\nkey_name = "FAST_KEY"\n'
        llms = open_with(text, flags={"base_url": llm_server.base_url}, environ={"FAST_KEY": "k1"})
        assert await sent_key(llms, "fast", llm_server) is None

    async def test_a_key_stored_for_the_host_is_found(self, open_with, llm_server):
        host = f"127.0.0.1:{llm_server.port}"
        llms = open_with(flags={"base_url": llm_server.base_url}, stored={host: "k2"})
        assert await sent_key(llms, "m", llm_server) == "Bearer k2"


class TestTheCheck:
    async def test_a_server_that_answers_is_named_with_its_models(self, open_with, llm_server):
        llm_server.models = ("a", "m")
        line = await open_with(flags={"base_url": llm_server.base_url}).check("m")
        assert line.startswith(f"m: The LLM server at http://127.0.0.1:{llm_server.port} answers in ")
        assert line.endswith(" ms and has m, and a.")
        assert llm_server.requests == []

    async def test_a_model_that_is_missing_is_said_with_the_nearest(self, open_with, llm_server):
        llm_server.models = ("llama3.2",)
        line = await open_with(flags={"base_url": llm_server.base_url}).check("llama3")
        assert line.endswith(
            "but does not have the model llama3; did you mean llama3.2? It serves: llama3.2."
        )

    async def test_a_server_that_wants_a_key_says_where_it_was_sought(self, open_with, llm_server):
        llm_server.key = "k"
        line = await open_with(flags={"base_url": llm_server.base_url}).check("m")
        assert "answered 401" in line
        assert (
            f"There is no key 127.0.0.1:{llm_server.port} in the environment or the system keyring." in line
        )
        assert f"set OPENAI_API_KEY in the environment, or 127.0.0.1:{llm_server.port} in the keyring" in line

    async def test_a_refused_key_is_named_as_the_one_that_was_sent(self, open_with, llm_server):
        llm_server.key = "k"
        own, environ = f"127.0.0.1:{llm_server.port}", {"OPENAI_API_KEY": "sk-main-key"}
        line = await open_with(flags={"base_url": llm_server.base_url}, environ=environ).check("m")
        assert line.endswith(
            "check the key OPENAI_API_KEY, and that it belongs to this server. "
            "The key is in the environment variable OPENAI_API_KEY."
        )
        stored = {own: "other"}
        line = await open_with(flags={"base_url": llm_server.base_url}, environ=environ, stored=stored).check(
            "m"
        )
        assert line.endswith(
            f"check the key {own}, and that it belongs to this server. The key {own} is in the system keyring."
        )

    async def test_a_server_that_is_not_there_is_said_with_what_to_do(self, open_with):
        line = await open_with(flags={"base_url": "http://127.0.0.1:9/v1"}).check("m")
        assert line == (
            "m: The LLM server at http://127.0.0.1:9 refused the connection; "
            "start the server, or correct base_url."
        )

    async def test_the_built_in_ones_need_no_server(self, open_with):
        assert await open_with().check("person") == "person: needs no server."


AZURE = """
[llms.azure]
base_url = "{url}"
model = "gpt-4o"
{more}
"""


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("", 'api_version = "2024-10-21"\ndeployment = "mine"'),
        ("/openai", 'api_version = "2024-10-21"\ndeployment = "mine"'),
        ("/openai/deployments/mine/chat/completions?api-version=2024-10-21", ""),
        ("?api-version=2024-10-21", 'deployment = "mine"'),
    ],
)
async def test_a_deployment_of_azure_is_called_as_azure_wants_it(open_with, llm_server, path, more):
    root = llm_server.base_url.removesuffix("/v1")
    host = root.partition("://")[2]
    llms = open_with(AZURE.format(url=root + path, more=more), stored={host: "azure-key-123"})
    assert await sent_key(llms, "azure", llm_server) is None
    request = llm_server.requests[-1]
    assert request.path == "/openai/deployments/mine/chat/completions"
    assert request.query == "api-version=2024-10-21"
    assert request.headers["api-key"] == "azure-key-123"
    assert request.body["model"] == "gpt-4o"


async def test_headers_body_effort_and_limits_of_an_entry_are_kept_to(open_with, llm_server):
    text = f"""
[llms.mine]
base_url = "{llm_server.base_url}"
model = "test-model"
reasoning_effort = "low"
body = {{ top_k = 5 }}
headers = {{ X-Team = "$TEAM_KEY" }}
max_cost = 1

[purposes.judgement]
reasoning_effort = "high"
"""
    llms = open_with(text, environ={"TEAM_KEY": "team-secret-1"})
    llm_server.otherwise = Reply(text="ok")
    mine = llms.routed("mine")
    await mine.reply(ask())
    first = llm_server.requests[-1]
    assert (first.body["reasoning_effort"], first.body["top_k"]) == ("low", 5)
    assert first.headers["x-team"] == "team-secret-1"
    with pytest.raises(LLMError, match="no price is known for test-model"):
        await mine.reply(ask("judgement"))
    other = open_with(text, environ={"TEAM_KEY": "team-secret-1"}).routed("mine")
    await other.reply(ask("judgement"))
    assert llm_server.requests[-1].body["reasoning_effort"] == "high"


async def test_what_an_llm_has_cost_holds_after_the_settings_were_read_anew(open_with):
    first = open_with()
    first.get("gpt-4o")
    first.meters["gpt-4o"].spent = 2.0
    again = LLMs(first._settings, keys=Keys(ENDPOINTS), meters=first.meters)
    assert again.meters["gpt-4o"].spent == 2.0


class TestKeysForAnotherProcess:
    TEXT = """
    embedding = "vectors"
    base_url = "https://main.example/v1"
    [llms.mine]
    base_url = "https://one.example/v1"
    key_name = "ONE_KEY"
    headers = {"X-Team" = "$TEAM_KEY"}
    [llms.other]
    base_url = "https://two.example/v1"
    key_name = "TWO_KEY"
    [llms.judge]
    base_url = "https://three.example/v1"
    key_name = "JUDGE_KEY"
    [llms.vectors]
    base_url = "https://four.example/v1"
    key_name = "VECTOR_KEY"
    [purposes.judge]
    llm = "judge"
    """
    NAMES = ("ONE_KEY", "TWO_KEY", "TEAM_KEY", "JUDGE_KEY", "VECTOR_KEY", "OPENAI_API_KEY", "MISTRAL_API_KEY")

    @pytest.mark.parametrize(
        ("asked", "given"),
        [
            ((), set()),
            (("rules",), set()),
            (("mine",), {"ONE_KEY", "TEAM_KEY"}),
            (("mine", "other"), {"ONE_KEY", "TEAM_KEY", "TWO_KEY"}),
            (("replay:12",), set()),
            (("replay:12:other",), {"TWO_KEY"}),
            (("qwen3:8b",), {"OPENAI_API_KEY"}),
        ],
    )
    def test_it_gets_those_of_the_llms_that_it_asks_and_no_other(self, open_with, monkeypatch, asked, given):
        for name in self.NAMES:
            monkeypatch.setitem(TAKEN, name, f"value of {name}")
        expected = given | {"JUDGE_KEY", "VECTOR_KEY"}
        assert open_with(self.TEXT).keys_for(asked, "vectors") == {
            name: f"value of {name}" for name in expected
        }

    def test_a_server_of_the_flag_gets_the_main_key_and_not_that_of_the_entry(self, open_with, monkeypatch):
        for name in self.NAMES:
            monkeypatch.setitem(TAKEN, name, name)
        llms = open_with(
            "[llms.mine]\nkey_name = 'ONE_KEY'\nbase_url = 'https://one.example/v1'\n",
            flags={"base_url": "https://flag.example/v1"},
        )
        assert llms.keys_for(("mine",), "built-in").keys() == {"OPENAI_API_KEY"}
