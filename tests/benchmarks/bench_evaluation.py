"""What an evaluation of many runs at once comes to: runs and steps a minute, and memory, by how many there are at once.

    python -m tests.benchmarks.bench_evaluation [--at-once 1,2,4,8,16,32] [--llms rules,0s,1s] [--runs 64]
        [--rounds 3] [--browsergym PYTHON]

Each figure is the median of the rounds. A round is one ``main.py eval`` in a
process of its own, with a database of its own, timed from its first run begun to its
last run ended. `rules` is the built-in LLM, which answers at once; `0s` and `1s` are a
server on the loopback address that answers at once, or after a second, with a click on one of the page's
elements. With --browsergym PYTHON, an interpreter that has browsergym-miniwob, as many processes of
BrowserGym play the same tasks and seeds with the same kind of policy, which it
has in itself: no request is made. Memory is the largest sum of the proportional set sizes of the
program, the driver and the browser (Linux); `CPU` is what they took of the processors
for a step.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core.browser.chromium import chromium_at
from core.environments.miniwob import html_root
from core.environments.static_server import StaticServer
from core.system.patience import family
from core.trace.evaluations import attempts_of, evaluation_named
from core.trace.store import TraceStore
from tests.benchmarks.bench_steps import with_bytecode
from tests.benchmarks.memory import pss_mb, ticks
from tests.llm_server import LLMServer, Reply, Request, call

ROOT = Path(__file__).resolve().parents[2]
TASKS = tuple(
    f"miniwob/{name}"
    for name in (
        "click-button",
        "click-checkboxes",
        "click-tab-2",
        "email-inbox",
        "enter-text",
        "social-media",
    )
)
MOST_STEPS = 5
_SECONDS = {"rules": "0", "0s": "0", "1s": "1"}
_LOOK_SECONDS = 2.0


@dataclass(frozen=True)
class Figures:
    """What one configuration came to."""

    runs_a_minute: float
    steps_a_minute: float
    memory_mb: float
    cpu_ms: float
    """Of all processes, for a step."""
    failed: int
    """Runs that ended with a failure of the browser, or did not end."""


def measure(llm: str, at_once: int, runs: int, browser: str) -> Figures:
    """Do an evaluation of so many runs, `at_once` of them at a time, and return what it came to.

    `measure_browsergym` puts another program beside it.
    """
    with tempfile.TemporaryDirectory() as folder, LLMServer() as server:
        server.otherwise = partial(_click, after=float(_SECONDS[llm]))
        seeds = -(-runs // len(TASKS))
        command = [sys.executable, str(ROOT / "main.py"), "eval", "--tasks", ",".join(TASKS)]
        command += ["--seeds", f"0-{seeds - 1}", "--concurrency", str(at_once), "--preset", "plain"]
        command += ["--llm", "rules" if llm == "rules" else "test-model", "--browser", browser, "--json"]
        command += ["--max-steps", str(MOST_STEPS), "--name", "measured", "--db", f"{folder}/traces.db"]
        environment = with_bytecode(
            BACKSTEP_CONFIG_DIR=folder, BACKSTEP_DATA_DIR=folder, OPENAI_BASE_URL=server.base_url
        )
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        memory, cpu = _watch([process])
        return _figures(Path(folder) / "traces.db", memory, cpu)


def measure_browsergym(python: str, llm: str, at_once: int, runs: int, browser: str) -> Figures:
    """Play as many episodes with `at_once` processes of BrowserGym, and return what that came to."""
    script = Path(__file__).with_name("gym_episodes.py")
    seeds = -(-runs // len(TASKS))
    cases = [f"{task.removeprefix('miniwob/')}:{seed}" for seed in range(seeds) for task in TASKS]
    with tempfile.TemporaryDirectory() as folder, closing(StaticServer(html_root())) as server:
        head = [python, str(script), f"{server.origin}/miniwob/", _SECONDS[llm], str(MOST_STEPS)]
        outputs = [Path(folder) / str(number) for number in range(at_once)]
        processes = []
        for number, path in enumerate(outputs):
            with path.open("w") as output:
                words = [*head, *cases[number::at_once], "--chromium", browser]
                quiet = {"stdout": output, "stderr": subprocess.DEVNULL}
                processes.append(subprocess.Popen(words, env=with_bytecode(), **quiet))
        memory, cpu = _watch(processes)
        rows = [json.loads(line) for path in outputs for line in path.read_text().splitlines()]
    if not rows:
        return Figures(0, 0, memory, 0, len(cases))
    minutes = (max(one["ended"] for one in rows) - min(one["began"] for one in rows)) / 60
    steps = sum(one["steps"] for one in rows)
    return Figures(
        len(rows) / minutes, steps / minutes, memory, 1000 * cpu / max(steps, 1), len(cases) - len(rows)
    )


def _watch(processes: Sequence["subprocess.Popen[bytes]"]) -> tuple[float, float]:
    """Wait until all have ended; return their largest memory in MB, and the seconds of processor that they took."""
    memory, cpu = 0.0, 0.0
    try:
        while any(one.poll() is None for one in processes):
            memory = max(memory, sum(pss_mb(one.pid) for one in processes))
            took = sum(sum(ticks(each)) for one in processes for each in family(one.pid))
            cpu = max(cpu, took / os.sysconf("SC_CLK_TCK"))
            time.sleep(_LOOK_SECONDS)  # The memory of processes is looked at from outside, at intervals.
    finally:
        for process in processes:
            process.terminate()
            process.wait()
    return memory, cpu


def _figures(database: Path, memory: float, cpu: float) -> Figures:
    store = TraceStore.open(database, read_only=True)
    try:
        row = evaluation_named(store, "measured")
        rows = (
            [one.run for one in attempts_of(store, row.number) if one.run is not None]
            if row is not None
            else []
        )
    finally:
        store.close()
    done = [one for one in rows if one.ended is not None]
    if not done:
        return Figures(0, 0, memory, 0, 0)
    minutes = (max(one.ended or 0 for one in done) - min(one.started for one in done)) / 60
    steps = sum(one.steps for one in done)
    failed = sum(one.outcome == "error" for one in done)
    return Figures(len(done) / minutes, steps / minutes, memory, 1000 * cpu / max(steps, 1), failed)


def _click(request: Request, *, after: float) -> Reply:
    """Answer, with a click on an element that depends on nothing but the words of the request."""
    tools = {one["function"]["name"]: one["function"] for one in request.body.get("tools", ())}
    if "click" not in tools:
        return Reply(text="There is nothing to click.", calls=(call("stop"),), after=after)
    targets = tools["click"]["parameters"]["properties"]["target"].get("enum") or [1]
    chosen = random.Random(request.texts[-1]).choice(targets)
    return Reply(text="A click.", calls=(call("click", target=chosen),), after=after)


def _median(found: Sequence[Figures]) -> Figures:
    names = Figures.__dataclass_fields__
    return Figures(**{name: statistics.median(getattr(one, name) for one in found) for name in names})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--at-once", default="1,2,4,8,16,32")
    parser.add_argument("--llms", default="rules,1s")
    parser.add_argument("--runs", type=int, default=64, help="how many runs a round has at least")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--browser", default=chromium_at("chromium"))
    parser.add_argument("--browsergym", metavar="PYTHON", default="")
    given = parser.parse_args()
    print(
        "| program | LLM | at once | runs a minute | steps a minute | memory, MB | CPU, ms a step | failed |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for llm in given.llms.split(","):
        for at_once in map(int, given.at_once.split(",")):
            ways: dict[str, Callable[[], Figures]] = {
                "Backstep": partial(measure, llm, at_once, given.runs, given.browser)
            }
            if given.browsergym and llm != "rules":
                others = (given.browsergym, llm, at_once, given.runs, given.browser)
                ways["BrowserGym"] = partial(measure_browsergym, *others)
            rounds = [{name: way() for name, way in ways.items()} for _ in range(given.rounds)]  # In turn.
            for name in ways:
                found = _median([one[name] for one in rounds])
                print(
                    f"| {name} | {llm} | {at_once} | {found.runs_a_minute:.0f} | {found.steps_a_minute:.0f} "
                    f"| {found.memory_mb:.0f} | {found.cpu_ms:.0f} | {found.failed:g} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
