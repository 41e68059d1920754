"""The user's LLMs, added, tested and removed as the settings window asks for it."""

import pytest
from pydantic import SecretStr

from core.debugger.llms.service import LLMService
from core.debugger.llms.views import LLMAnswer, LLMEntry, LLMList
from core.llm.honoured import FILE_NAME, HonouredFile
from core.llm.registry import open_llms
from core.settings.settings import data_folder, load_settings, settings_path
from tests.core.llm.test_probes import Server
from tests.llm_server import LLMServer

NO_KEY = SecretStr("")


class Asked:
    """A service with what it has answered."""

    def __init__(self, session) -> None:
        self.session = session
        self.answers: list[LLMAnswer] = []
        self.lists: list[LLMList] = []
        self.service = LLMService(session)
        self.service.answered.connect(self.answers.append)
        self.service.changed.connect(self.lists.append)

    def answer(self) -> LLMAnswer:
        """Wait for the answer to what was asked last."""
        self.session.done()
        return self.answers[-1]

    def offered(self) -> list[str]:
        return [choice.name for choice in self.session.services().llms.choices()]


@pytest.fixture
def asked(tmp_path, monkeypatch, stand_in) -> Asked:
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("BACKSTEP_DATA_DIR", str(tmp_path))
    settings = load_settings()
    return Asked(stand_in(settings=settings, llms=open_llms(settings)))


def test_a_test_of_a_server_that_refuses_is_no_success(asked: Asked) -> None:
    asked.service.test(LLMEntry(name="mine", base_url="http://127.0.0.1:9/v1", attempts=1), NO_KEY)
    answer = asked.answer()
    assert not answer.ok
    assert "refused" in answer.text


@pytest.mark.parametrize(("model", "good"), [("test-model", True), ("other-model", False)])
def test_a_test_succeeds_only_where_the_server_has_the_model(
    asked: Asked, llm_server: LLMServer, model: str, good: bool
) -> None:
    llm_server.otherwise = Server()
    asked.service.test(LLMEntry(name="mine", base_url=llm_server.base_url, model=model), NO_KEY)
    assert asked.answer().ok is good


def test_a_test_finds_out_what_is_honoured_and_the_run_under_way_goes_by_it(
    asked: Asked, llm_server: LLMServer
) -> None:
    mine = LLMEntry(name="mine", base_url=llm_server.base_url, model="test-model")
    asked.service.save(mine, NO_KEY)
    assert asked.answer().ok
    llms = asked.session.services().llms
    assert llms.get("mine").reply_format == "tools"
    llm_server.otherwise = Server(calls="no", sees="no")
    asked.service.test(mine, NO_KEY)
    answer = asked.answer()
    assert answer.ok
    assert "calls no tools; follows a strict JSON schema; does not accept pictures" in answer.text
    assert "The test took" in answer.text
    assert next(one.text for one in asked.answers if one.under_way) == "Asking for a plain reply…"
    assert llms.get("mine").reply_format == "json"
    asked.service.list_llms()
    asked.session.done()
    assert "ask it for json" in asked.lists[-1].entries[0].honoured
    again = open_llms(load_settings(), honoured=HonouredFile(data_folder() / FILE_NAME))
    assert again.get("mine").reply_format == "json"


def test_a_server_that_lists_no_models_is_tested_all_the_same(asked: Asked, llm_server: LLMServer) -> None:
    llm_server.models = None
    llm_server.otherwise = Server()
    mine = LLMEntry(name="mine", base_url=llm_server.base_url, model="test-model")
    asked.service.test(mine, NO_KEY)
    assert asked.answer().ok
    llm_server.reset()
    asked.service.test(mine.replace(base_url=llm_server.base_url.removesuffix("/v1") + "/v2/x"), NO_KEY)
    assert not asked.answer().ok
    assert "check base_url" in asked.answers[-1].text


def test_a_typed_key_is_what_a_test_asks_with(asked: Asked, llm_server: LLMServer) -> None:
    llm_server.key = "sk-typed-0123456789"
    llm_server.otherwise = Server()
    entry = LLMEntry(name="mine", base_url=llm_server.base_url, model="test-model")
    asked.service.test(entry, SecretStr("sk-typed-0123456789"))
    assert asked.answer().ok
    asked.service.test(entry, NO_KEY)
    assert not asked.answer().ok


def test_everything_of_the_form_is_saved_and_comes_back(asked: Asked) -> None:
    entry = LLMEntry(
        name="mine",
        base_url="http://127.0.0.1:9/v1",
        model="m",
        max_tokens=2048,
        reasoning_effort="low",
        parallel_tool_calls=False,
        headers={"X-Team": "$TEAM_KEY"},
        body={"options": {"num_ctx": 8192}, "top_k": 5},
        api_version="2024-10-21",
        deployment="mine-4o",
        max_cost=2.5,
        requests_per_minute=30,
        tokens_per_minute=9000,
    )
    asked.service.save(entry, NO_KEY)
    assert asked.answer().ok
    assert asked.lists[-1].entries == (entry,)


def test_saving_writes_only_what_was_changed(asked: Asked) -> None:
    path = settings_path()
    path.write_text(
        '[llms.mine]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\nattempts = 4\nmax_cost = 4e-3 # a day\n',
        encoding="utf-8",
    )
    asked.service.list_llms()
    asked.session.done()
    (shown,) = asked.lists[-1].entries
    asked.service.save(shown.replace(temperature=0.123), NO_KEY)
    assert asked.answer().ok
    text = path.read_text(encoding="utf-8")
    assert "attempts = 4\nmax_cost = 4e-3 # a day" in text
    assert "temperature = 0.123" in text
    assert asked.lists[-1].entries == (shown.replace(temperature=0.123),)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"headers": {"Authorization": "Bearer sk-1"}}, 'the value of "Authorization" is a secret'),
        ({"body": {"messages": []}}, "messages is set for each call by Backstep"),
        ({"body": {"a": {"b": None}}}, "null cannot be stored"),
    ],
)
def test_headers_and_bodies_that_cannot_be_used_are_refused(asked: Asked, values, words) -> None:
    asked.service.save(LLMEntry(name="mine", base_url="http://127.0.0.1:9/v1", model="m", **values), NO_KEY)
    answer = asked.answer()
    assert not answer.ok
    assert words in answer.text
    assert "sk-1" not in answer.text


def test_a_saved_llm_is_offered_and_a_removed_one_is_not(asked: Asked) -> None:
    asked.service.save(LLMEntry(name="mine", base_url="http://127.0.0.1:9/v1", model="m"), NO_KEY)
    assert asked.answer().ok
    assert "mine" in asked.offered()
    assert [entry.name for entry in asked.lists[-1].entries] == ["mine"]
    assert asked.lists[-1].chosen == "mine"
    asked.service.remove("mine")
    assert asked.answer().ok
    assert asked.lists[-1].entries == ()
    assert "mine" not in asked.offered()


def test_a_built_in_name_is_refused(asked: Asked) -> None:
    asked.service.save(LLMEntry(name="rules"), NO_KEY)
    assert not asked.answer().ok
