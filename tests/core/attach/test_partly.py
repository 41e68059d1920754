"""What is said of an agent that is attached only in part, and when."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.attach.partly import Partly

LLM = "If it uses one, set its base URL to OPENAI_BASE_URL (http://127.0.0.1:9/v1) and its key to OPENAI_API_KEY."
BROWSER = (
    "connect to the address in BACKSTEP_CDP_URL, or launch Chromium without executable_path and channel."
)


class Agent:
    """What an agent does, and what is said of it."""

    def __init__(self) -> None:
        self.connected = False
        self.said: list[str] = []
        self.partly = Partly(lambda: self.connected)
        self.partly.llm = "http://127.0.0.1:9/v1"
        self.partly.on_notice = self.said.append


@pytest.fixture
def agent() -> Agent:
    return Agent()


def test_acts_without_a_call_are_told_at_the_second_and_once(agent):
    agent.connected = True
    agent.partly.acted("click")
    assert agent.said == []
    agent.partly.acted("type")
    agent.partly.acted("click")
    agent.partly.ended(failed=False)
    assert agent.said == [
        f"The agent has acted in the page, and has not called an LLM through Backstep so far. {LLM}"
    ]


def test_an_agent_that_loads_pages_and_asks_before_it_acts_is_told_nothing(agent):
    agent.connected = True
    for kind in ("goto", "new tab", "script", "goto", "click"):
        agent.partly.acted(kind)
    agent.partly.called()
    for _ in range(5):
        agent.partly.acted("click")
    agent.partly.ended(failed=False)
    assert agent.said == []


def test_calls_without_a_browser_are_told_at_the_third_and_once(agent):
    for _ in range(2):
        agent.partly.called()
    assert agent.said == []
    for _ in range(2):
        agent.partly.called()
    agent.partly.ended(failed=True)
    begin = "The agent has called its LLM 3 times, and has not connected to Backstep's browser."
    assert agent.said == [f"{begin} If it is to use one, {BROWSER}"]


@pytest.mark.parametrize(
    ("connected", "called", "failed", "said"),
    [
        (True, True, False, []),
        (True, False, False, ["made no LLM call"]),
        (True, False, True, ["made no LLM call"]),
        (False, True, False, ["not connected to"]),
        (False, True, True, ["not connected to"]),
        (False, False, False, ["made no LLM call", "not connected to"]),
        (False, False, True, []),  # It failed before it began.
    ],
)
def test_what_was_never_used_is_told_at_the_end_of_the_program(agent, connected, called, failed, said):
    agent.connected = connected
    if called:
        agent.partly.called()
    agent.partly.ended(failed=failed)
    assert [one in text for one, text in zip(said, agent.said, strict=True)] == [True] * len(said)


def test_a_call_that_was_not_served_is_not_told_as_none(agent):
    agent.connected = True
    agent.partly.unserved("POST", "/v1/messages")
    agent.partly.acted("click")
    agent.partly.acted("click")
    agent.partly.ended(failed=True)
    assert len(agent.said) == 1


STARTS = "import subprocess, sys; one = subprocess.Popen(sys.argv[1:]); sys.stdin.read(); one.kill()"


@pytest.mark.program
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("name", ["chrome", "firefox-esr", "headless_shell"])
def test_a_browser_of_its_own_is_told_and_then_that_it_uses_none_of_ours_is_not(agent, tmp_path: Path, name):
    browser = tmp_path / name
    shutil.copy(Path("/bin/sleep").resolve(), browser)
    started = [sys.executable, "-c", STARTS, browser, "600"]
    with subprocess.Popen(started, stdin=subprocess.PIPE) as program:
        asyncio.run(asyncio.wait_for(agent.partly.watch(program.pid), 60))
    for _ in range(3):
        agent.partly.called()
    agent.partly.ended(failed=False)
    begin = f"The agent has started a browser of its own ({name}), whose pages Backstep does not see."
    assert agent.said == [f"{begin} To use Backstep's, {BROWSER}"]


@pytest.mark.program
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_driver_and_other_programs_are_no_browsers(agent, tmp_path: Path):
    driver = tmp_path / "chrome-driver"
    shutil.copy(Path("/bin/sleep").resolve(), driver)

    program = subprocess.Popen([driver, "600"])
    try:
        with pytest.raises(TimeoutError):
            asyncio.run(asyncio.wait_for(agent.partly.watch(program.pid), 1))
    finally:
        program.kill()
        program.wait()
    assert agent.said == []
