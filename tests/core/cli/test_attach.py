"""The attach command: the window as a program, with an agent that is started elsewhere or by it."""

import contextlib
import json
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from core.cli.window import print_attached
from core.debugger.attach.views import AttachView
from core.schema.signal import Signal
from core.trace.store import TraceStore
from tests.core.attach.test_program import alive
from tests.core.cli.conftest import KEY

pytestmark = [pytest.mark.browser, pytest.mark.program]

WAIT = 120


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)  # What another process does is told to nobody here.


def test_the_addresses_for_an_agent_elsewhere_are_printed_and_hold_until_the_window_ends(cli) -> None:
    window = cli.start("attach")
    assert window.stdout is not None
    told = dict(re.fullmatch(r"export (\w+)=(.*)\n", window.stdout.readline()).groups() for _ in range(4))
    assert set(told) == {"OPENAI_BASE_URL", "OPENAI_API_KEY", "BACKSTEP_CDP_URL", "BACKSTEP_SDK_URL"}
    with httpx2.Client(trust_env=False) as client:
        assert "Browser" in client.get(f"{told['BACKSTEP_CDP_URL']}/json/version").json()
        models = f"{told['OPENAI_BASE_URL']}/models"
        assert client.get(models).status_code == 401
        key = {"Authorization": f"Bearer {told['OPENAI_API_KEY']}"}
        assert client.get(models, headers=key).status_code == 200
    window.send_signal(signal.SIGTERM)
    window.communicate(timeout=WAIT)
    with httpx2.Client(trust_env=False) as client, pytest.raises(httpx2.TransportError):
        client.get(models)


def test_what_does_not_pass_through_it_is_printed_once(capsys) -> None:
    changed: Signal[AttachView] = Signal()
    print_attached(changed)
    for notices in ((), ("No LLM call.",), ("No LLM call.", "No browser.")):
        changed.send(AttachView(notices=notices))
    assert capsys.readouterr().err == "No LLM call.\nNo browser.\n"


AGENT = """
import json, os
from pathlib import Path
from openai import OpenAI
Path("told.tmp").write_text(json.dumps({"pid": os.getpid(), "environment": dict(os.environ)}))
os.replace("told.tmp", "told")
OpenAI().chat.completions.create(model="m", messages=[{"role": "user", "content": "What?"}])
"""
SECRETS = {"BKEY": KEY, "TEAM_KEY": "team-key-that-nobody-may-see", "MISTRAL_API_KEY": "key-of-a-preset-4711"}
LLM_WITH_KEYS = """
[llms.mine]
base_url = "{base_url}"
model = "test-model"
key_name = "BKEY"
headers = {{ "X-Team" = "$TEAM_KEY", "X-Home" = "$HOME" }}
"""


def descendants(process: int) -> dict[int, Path]:
    """Return the folders in /proc of all processes that this one has started, and those have."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            parents[int(status.parent.name)] = int(re.search(r"^PPid:\s*(\d+)", status.read_text(), re.M)[1])
    found = {process}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return {one: Path("/proc", str(one)) for one in found - {process}}


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_an_agent_gets_none_of_the_users_keys_and_ends_with_a_killed_window_that_loses_nothing(
    cli, llm_server
) -> None:
    (cli.config / "settings.toml").write_text(LLM_WITH_KEYS.format(base_url=llm_server.base_url))
    cli.environment |= {**SECRETS, "FOR_THE_AGENT": "stays", "GROQ_API_KEY": "key-that-is-named"}
    program = cli.folder / "agent.py"
    program.write_text(AGENT, encoding="utf-8")
    window = cli.start("attach", "--llm", "mine", "--env", "GROQ_API_KEY", "--", sys.executable, program)
    told_in = cli.folder / "told"
    until(told_in.is_file)
    told = json.loads(told_in.read_text())
    environments = {}
    for number, folder in descendants(window.pid).items():
        with contextlib.suppress(OSError):
            name = (folder / "comm").read_text().strip()
            environments[f"{name} {number}"] = (folder / "environ").read_text(errors="replace")
    assert alive(told["pid"])
    window.kill()
    window.communicate(timeout=WAIT)
    until(lambda: not alive(told["pid"]))
    with closing(TraceStore.open(cli.db)) as store:
        store.recover()
        (run,) = store.runs()
        assert (run.preset, run.outcome) == ("attached", "interrupted")
        store.check()
    environment = told["environment"]
    assert environment["OPENAI_API_KEY"].startswith("backstep-")
    assert {"HOME", "PATH", "FOR_THE_AGENT"} <= environment.keys()
    assert environment.keys().isdisjoint(SECRETS)
    assert environment["GROQ_API_KEY"] == "key-that-is-named"
    assert any(name.startswith("node") for name in environments)
    assert any("QtWebEngine" in name for name in environments)
    for name, text in environments.items():
        for secret in SECRETS.values():
            assert secret not in text, name
