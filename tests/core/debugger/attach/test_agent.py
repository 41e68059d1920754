"""One attached agent: what its program is started with, and how it is let go."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from core.attach.attachment import ENDED
from core.debugger.attach.agent import AttachedAgent, agent_of, check_agent, open_agent
from core.debugger.attach.views import AttachRequest
from core.llm.endpoints import TAKEN
from core.llm.rules.llm import RulesLLM
from core.schema.errors import UsageError

REPORT = "import json, os, sys; json.dump([sys.argv[1:], dict(os.environ)], open('told', 'w'))"


async def opened(request: AttachRequest) -> AttachedAgent:
    host = cast("Any", None)  # No browser is asked for.
    return await open_agent(request, host, RulesLLM)


@pytest.mark.program
async def test_a_named_key_reaches_the_program_and_its_value_is_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TAKEN, "GROQ_API_KEY", "gsk_1a2b3c")
    monkeypatch.setitem(TAKEN, "OTHER_API_KEY", "other")
    command = (sys.executable, "-c", REPORT, "--token", "471100")
    agent = await opened(AttachRequest(command=command, folder=str(tmp_path), env=("GROQ_API_KEY",)))
    try:
        await agent.start("", "about:blank")
        assert agent._following is not None
        await agent._following
    finally:
        await agent.end()
    arguments, environment = json.loads((tmp_path / "told").read_text())
    assert arguments == ["--token", "471100"]
    assert environment["GROQ_API_KEY"] == "gsk_1a2b3c"
    assert "OTHER_API_KEY" not in environment
    assert "gsk_1a2b3c" not in agent.preset.text
    assert "471100" not in agent.preset.text + "".join(map(str, agent.task))


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (AttachRequest(command=("env", "TOKEN=[key]", "python")), "name its variable with --env"),
        (AttachRequest(command=("python",), env=("NOT_SET_AT_ALL",)), "NOT_SET_AT_ALL is not set"),
    ],
)
def test_a_program_whose_value_is_missing_is_not_started(request_: AttachRequest, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check_agent(request_)


async def test_an_agent_that_was_attached_here_is_started_again_with_what_is_not_stored() -> None:
    request = AttachRequest(command=("env", "TOKEN=abc", sys.executable))
    later = AttachRequest(command=("env", "TOKEN=xyz", sys.executable))
    another = AttachRequest(command=(sys.executable,))
    agent = await opened(request)
    await agent.end()

    class Stored:
        def preset_text(self, run: int) -> str:
            return agent.preset.text

    store, row = cast("Any", Stored()), cast("Any", type("Row", (), {"run": 1}))
    assert agent_of(store, row, {1: request, 2: later, 3: another}) == request
    assert agent_of(store, row, {4: request, 5: later, 6: another}) == later
    assert agent_of(store, row).command == ("env", "TOKEN=[key]", sys.executable)


async def test_the_run_of_an_agent_that_is_let_go_does_not_wait_for_it() -> None:
    agent = await opened(AttachRequest())
    arrival = asyncio.ensure_future(agent.attachment.arrival())
    with agent.attachment.clock.hold():
        await agent.end()
        assert await asyncio.wait_for(arrival, 10) is None
    assert agent.attachment.ended == ENDED
