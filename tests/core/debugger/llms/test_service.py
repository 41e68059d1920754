"""The user's LLMs, added, tested and removed as the settings window asks for it."""

from collections.abc import Coroutine
from typing import Any

import pytest
from pydantic import SecretStr

from core.debugger.llms.service import LLMDesk
from core.debugger.llms.views import DeskAnswer, LLMEntry, LLMList
from core.llm.registry import LLMs, open_llms
from core.settings.settings import config_folder, load_settings
from tests.llm_server import LLMServer

NO_KEY = SecretStr("")


class Asked:
    """A desk with what it has answered."""

    def __init__(self) -> None:
        self.jobs: list[Coroutine[Any, Any, None]] = []
        self.answers: list[DeskAnswer] = []
        self.lists: list[LLMList] = []
        self.llms = open_llms(load_settings())
        self.desk = LLMDesk(self.jobs.append, self._use, lambda: self.llms, config=config_folder())
        self.desk.answered.connect(self.answers.append)
        self.desk.listed.connect(self.lists.append)

    async def _use(self, llms: LLMs) -> None:
        self.llms = llms

    async def answer(self) -> DeskAnswer:
        for job in self.jobs:
            await job
        self.jobs.clear()
        return self.answers[-1]


@pytest.fixture
def asked(tmp_path, monkeypatch) -> Asked:
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("BACKSTEP_DATA_DIR", str(tmp_path))
    return Asked()


async def test_a_test_of_a_server_that_refuses_is_no_success(asked: Asked) -> None:
    asked.desk.test(LLMEntry(name="mine", base_url="http://127.0.0.1:9/v1", attempts=1), NO_KEY)
    answer = await asked.answer()
    assert not answer.ok
    assert "refused" in answer.text


@pytest.mark.parametrize(("model", "good"), [("test-model", True), ("other-model", False)])
async def test_a_test_succeeds_only_where_the_server_has_the_model(
    asked: Asked, llm_server: LLMServer, model: str, good: bool
) -> None:
    asked.desk.test(LLMEntry(name="mine", base_url=llm_server.base_url, model=model), NO_KEY)
    assert (await asked.answer()).ok is good


async def test_a_saved_llm_is_offered_and_a_removed_one_is_not(asked: Asked) -> None:
    asked.desk.save(LLMEntry(name="mine", base_url="http://127.0.0.1:9/v1", model="m"), NO_KEY)
    assert (await asked.answer()).ok
    assert "mine" in [choice.name for choice in asked.llms.choices()]
    asked.desk.remove("mine")
    assert (await asked.answer()).ok
    assert "mine" not in [choice.name for choice in asked.llms.choices()]


async def test_a_built_in_name_is_refused(asked: Asked) -> None:
    asked.desk.save(LLMEntry(name="rules"), NO_KEY)
    assert not (await asked.answer()).ok
