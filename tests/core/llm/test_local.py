"""Model files as LLMs. Those that load one take the file that BACKSTEP_GGUF names; see tests/README.md."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

from core.agent.presets import Presets
from core.llm import local
from core.llm.endpoints import Keys
from core.llm.honoured import Honoured
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.registry import LLMs
from core.schema.errors import LLMError, LLMRefused, UsageError
from core.schema.messages import LLMReply, LLMRequest, Message, Sampling
from core.settings.settings import LLMSettings, LocalSettings, Settings
from core.system.program import ROOT
from tests.llm_server import Reply

MODEL = os.environ.get("BACKSTEP_GGUF", "")
needs_package = pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp is not installed")
needs_model = [
    needs_package,
    pytest.mark.program,
    pytest.mark.skipif(not MODEL, reason="BACKSTEP_GGUF names no model"),
]
STORY = LLMRequest(
    purpose="decide",
    messages=(Message(role="user", text="Write a long story about Rome."),),
    sampling=Sampling(max_tokens=8),
)


@pytest.fixture
async def open_with(tmp_path):
    made: list[LLMs] = []

    def make(**settings) -> LLMs:
        keys = Keys(environ={"OPENAI_API_KEY": "sk-test-0123456789abcdef"})
        made.append(LLMs(Settings(database=tmp_path / "x.db", **settings), keys=keys, first_wait=0.01))
        return made[-1]

    yield make
    for llms in made:
        await llms.close()
    assert not local._servers


def stub(folder: Path, content: bytes = b"GGUF and nothing more") -> Path:
    path = folder / "model.gguf"
    path.write_bytes(content)
    return path


def test_a_file_that_is_not_there_is_named(open_with, tmp_path):
    with pytest.raises(
        UsageError, match=f"{tmp_path}/no.gguf cannot be read .No such file.*; correct the path"
    ):
        open_with().get(f"gguf:{tmp_path}/no.gguf")


def test_a_file_of_another_kind_is_refused(open_with, tmp_path):
    with pytest.raises(UsageError, match=r"model\.gguf is not a GGUF file; give a model in that format"):
        open_with().get(f"gguf:{stub(tmp_path, b'PK')}")


def test_without_the_package_the_error_says_how_to_install_it(open_with, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "PACKAGE", "xllamacpp_that_is_missing")
    with pytest.raises(UsageError, match=r"is not installed; run: .*pip install .*'xllamacpp>=.*'$"):
        open_with().get(f"gguf:{stub(tmp_path)}")


def test_without_a_test_it_is_asked_for_json_by_a_schema(tmp_path):
    llm = local.LocalLLM("tiny", stub(tmp_path), LocalSettings())
    preset = Presets().get("plain")
    assert preset.answered_in(llm.reply_format, by_schema=llm.follows_schema).reply_format == "json"
    llm.use_honoured(Honoured(tested=1.0, tools="forced"))
    assert llm.reply_format == "tools"
    llm.use_honoured(Honoured(tested=1.0, tools="no", schema_level="none"))
    assert (llm.reply_format, llm.follows_schema) == ("lines", False)


@pytest.fixture
def in_place_of_llama(monkeypatch, tmp_path, llm_server):
    """Have a process that only tells where the test's server is, and ends with its stdin."""
    script = tmp_path / "process.py"
    address = llm_server.base_url.removesuffix("/v1")
    script.write_text(f"import sys\nprint({address!r}, flush=True)\nsys.stdin.read()\n")
    monkeypatch.setattr(local, "_PROCESS", script)
    llm_server.otherwise = Reply(text="Rome is old.")
    return stub(tmp_path)


async def test_a_call_after_the_end_is_refused_and_starts_no_process(in_place_of_llama):
    llm = local.LocalLLM("tiny", in_place_of_llama, LocalSettings(), attempts=1)
    assert (await llm.reply(STORY)).text == "Rome is old."
    await llm.close()
    with pytest.raises(LLMError, match="was closed; ask it again by its name"):
        await llm.reply(STORY)
    assert not local._servers


async def test_an_llm_that_is_closed_while_it_loads_leaves_the_other_one_of_its_file_alone(in_place_of_llama):
    one, other = (local.LocalLLM("tiny", in_place_of_llama, LocalSettings(), attempts=1) for _ in range(2))
    asked = [asyncio.ensure_future(llm.reply(STORY)) for llm in (one, other)]
    await asyncio.sleep(0)
    await one.close()
    first, second = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(first, LLMError) or first.text == "Rome is old."
    assert second.text == "Rome is old."
    assert len(local._servers) == 1
    await other.close()
    assert not local._servers


async def test_a_process_that_has_ended_is_started_again_and_other_calls_go_on(in_place_of_llama, llm_server):
    llm = local.LocalLLM("tiny", in_place_of_llama, LocalSettings(), attempts=3, first_wait=0.01)
    arrived, release = threading.Event(), threading.Event()

    def late(request):
        arrived.set()
        return Reply(text="Late.", before=release)

    llm_server.script(late)
    waits = asyncio.ensure_future(llm.reply(STORY))
    await asyncio.to_thread(arrived.wait)
    llm._server.process.kill()
    llm._server.process.wait()
    assert (await llm.reply(STORY)).text == "Rome is old."
    release.set()
    assert (await waits).text == "Late."
    await llm.close()


def test_a_path_that_cannot_be_one_is_named(open_with):
    for path in ("~nobody-of-this-name/m.gguf", "a\0b"):
        with pytest.raises(UsageError, match=r"cannot be read .*correct the path in gguf:"):
            open_with().get(f"gguf:{path}")


@needs_package
def test_an_entry_of_the_settings_can_be_a_file_and_gets_no_key(open_with, tmp_path):
    path = stub(tmp_path)
    entry = LLMSettings(model=f"gguf:{path}", base_url="http://127.0.0.1:9/v1", temperature=0.5)
    llms = open_with(llms={"small": entry}, base_url="http://127.0.0.1:9/v1")
    llm = llms.get("small")
    assert (llm.model, llm.sampling.temperature) == ("model.gguf", 0.5)
    assert llm.find_key() is None
    assert llms.keys_for(["small"], "built-in") == {}
    described = {choice.name: choice.description for choice in llms.choices()}
    assert described["small"] == f"gguf:{path} on this machine"


@needs_package
def test_a_model_file_makes_no_embeddings(open_with, tmp_path):
    with pytest.raises(UsageError, match="does not make embeddings"):
        open_with().embedding(f"gguf:{stub(tmp_path)}")


@needs_package
@pytest.mark.program
async def test_a_damaged_model_is_refused_with_what_llama_cpp_said(open_with, tmp_path):
    llm = open_with().get(f"gguf:{stub(tmp_path)}")
    announced = []
    with pytest.raises(LLMRefused, match=r"llama\.cpp cannot load .*model\.gguf \(.+\); choose another"):
        await llm.reply(STORY, on_retry=announced.append)
    assert announced[0].reason == "llama.cpp loads model.gguf; the call waits."


async def test_a_call_that_waits_for_the_model_tells_when_it_is_sent(open_with, tmp_path, monkeypatch):
    async def at_once(self, *_, **__):
        return LLMReply()

    monkeypatch.setattr(local, "find_spec", lambda name: object())
    monkeypatch.setattr(local.LocalLLM, "_open", at_once)
    monkeypatch.setattr(OpenAICompatibleLLM, "reply", at_once)
    announced = []
    reply = await open_with().get(f"gguf:{stub(tmp_path)}").reply(STORY, on_retry=announced.append)
    assert [(one.reason, one.held) for one in announced] == [
        ("llama.cpp loads model.gguf; the call waits.", True),
        ("llama.cpp has loaded model.gguf.", False),
    ]
    assert [one.reason for one in reply.retries] == [announced[0].reason]


class TestWithAModel:
    pytestmark = needs_model

    async def test_it_is_loaded_once_for_all_and_answers(self, open_with):
        one, other = open_with().get(f"gguf:{MODEL}"), open_with().get(f"gguf:{MODEL}")
        replies = await asyncio.gather(*(llm.reply(STORY) for llm in (one, other, one)))
        assert all(reply.usage.completion_tokens and not reply.usage.estimated for reply in replies)
        assert one.loading == other.loading == ""
        assert len(local._servers) == 1
        assert await one.models() == (Path(MODEL).name,)
        await one.close()
        assert (await other.reply(STORY)).retries == ()

    async def test_a_prompt_beyond_the_context_names_the_setting(self, open_with):
        llm = open_with(local=LocalSettings(context=512)).get(f"gguf:{MODEL}")
        long = STORY.replace(messages=(Message(role="user", text="word " * 2000),))
        with pytest.raises(LLMError, match=r"context size \(512 tokens\).*context in \[local\]"):
            await llm.reply(long)

    async def test_a_process_that_dies_is_told_and_the_next_call_starts_it_again(self, open_with):
        llm = open_with().get(f"gguf:{MODEL}")

        def kill(_: str) -> None:
            for process in {one.process for one in local._servers.values()}:
                if process.poll() is None:
                    process.send_signal(signal.SIGSEGV)

        with pytest.raises(LLMError, match=r"was ended by signal 11.*; try again, which starts it again"):
            await llm.reply(STORY.replace(sampling=Sampling(max_tokens=2000)), on_text=kill)
        assert (await llm.reply(STORY)).usage.completion_tokens

    async def test_it_can_be_closed_while_it_loads(self, open_with):
        llm = open_with().get(f"gguf:{MODEL}")
        loads = asyncio.Event()
        call = asyncio.ensure_future(llm.reply(STORY, on_retry=lambda _: loads.set()))
        await loads.wait()
        await llm.close()
        # It had not begun to load, or it was stopped.
        await asyncio.wait({call})
        assert call.exception() is None or "was closed while it was loaded" in str(call.exception())

    @pytest.mark.parametrize("loaded", [False, True])
    def test_it_does_not_outlive_a_program_that_is_killed(self, loaded):
        program = (
            "import threading, sys; from pathlib import Path\n"
            "from core.llm.local import LocalServer; from core.settings.settings import LocalSettings\n"
            "server = LocalServer(Path(sys.argv[1]), LocalSettings())\n"
            "starting = threading.Thread(target=server.start); starting.start()\n"
            f"starting.join() if {loaded} else None\n"
            "while server.process is None: pass\n"
            "print(server.process.pid, flush=True); starting.join(); threading.Event().wait()\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program, MODEL], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as parent:
            child = int(parent.stdout.readline())
            running = Path(f"/proc/{child}/stat")
            parent.kill()
        if not Path("/proc/self").exists():
            pytest.skip("processes are looked up in /proc")
        while running.exists() and running.read_text().rpartition(")")[2].split()[0] != "Z":
            pass
