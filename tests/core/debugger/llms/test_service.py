"""The user's LLMs, added, tested and removed as the settings window asks for it."""

import pytest
from pydantic import SecretStr

from core.debugger.llms.service import LLMService
from core.debugger.llms.views import LLMAnswer, LLMEntry, LLMList
from core.llm.registry import open_llms
from core.settings.settings import load_settings
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
    asked.service.test(LLMEntry(name="mine", base_url=llm_server.base_url, model=model), NO_KEY)
    assert asked.answer().ok is good


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
