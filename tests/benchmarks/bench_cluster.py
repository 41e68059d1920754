"""What an evaluation on a Ray cluster costs, on one node of this machine.

Run with ``python -m tests.benchmarks.bench_cluster``, by an interpreter that has
Ray. It prints runs a minute of a node of two processors, and the seconds of
processor that a run takes there, with `rules` and with an LLM that answers after
a second; then how large a run is that comes back, and how many a second are put
into the database.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ray.cluster_utils import Cluster

from core.debugger.evaluations.cluster import put_in
from core.system.patience import family
from core.trace.evaluations import attempts_of, take_evaluation
from core.trace.records import CaseAttempt
from core.trace.repro.exporter import whole_file
from core.trace.store import TraceStore
from tests.benchmarks.memory import ticks
from tests.core.stage import on
from tests.llm_server import LLMServer, Reply

ROOT = Path(__file__).resolve().parents[2]
TASKS = "miniwob/click-test-2"


class Processor:
    """Counts the processor's seconds of a process and all below it, also of those that end meanwhile."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._ticks: dict[int, int] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Processor":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    @property
    def seconds(self) -> float:
        return sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK")

    def _watch(self) -> None:
        while not self._end.wait(0.3):
            for process in family(self._root):
                self._ticks[process] = max(self._ticks.get(process, 0), sum(ticks(process)[:2]))


def evaluate(
    folder: Path, address: str, llm: str, base_url: str, count: int, runs: int, browser: str
) -> TraceStore:
    """Make the runs and return their database."""
    db = folder / f"{llm}.db"
    words = (
        "eval",
        "--tasks",
        TASKS,
        "--seeds",
        f"0-{runs - 1}",
        "--llm",
        llm,
        "--preset",
        "plain",
        "--name",
        "bench",
    )
    more = ("--browser", browser, "--db", str(db), "--concurrency", str(count), "--cluster", address)
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": base_url,
        "BACKSTEP_DATA_DIR": str(folder),
        "BACKSTEP_CONFIG_DIR": str(folder),
    }
    subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *words, *more],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return TraceStore.open(db)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--browser", default="chromium")
    parser.add_argument("--llms", default="rules,test-model", help="test-model answers after a second")
    given = parser.parse_args()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name, LLMServer() as server:
        folder = Path(name)
        one = on('button "ONE"', thought="ONE.")
        server.otherwise = lambda request: after_a_second(one(request))
        for llm in given.llms.split(","):
            small = {"object_store_memory": 80_000_000}
            cluster = Cluster(
                initialize_head=True, head_node_args={**small, "num_cpus": 0, "include_dashboard": False}
            )
            try:
                node = cluster.add_node(num_cpus=2, **small)
                raylet = node.all_processes["raylet"][0].process.pid
                with Processor(raylet) as processor:
                    store = evaluate(
                        folder,
                        cluster.address,
                        llm,
                        server.base_url,
                        given.concurrency,
                        given.runs,
                        given.browser,
                    )
                time.sleep(0.5)  # Ray ends the actors of a round in the background, and tells nobody when.
            finally:
                cluster.shutdown()
            rows = [each.run for each in attempts_of(store, 1) if each.run is not None and each.run.ended]
            took = max(row.ended or 0 for row in rows) - min(row.started for row in rows)
            print(
                f"{llm}: {len(rows)} runs, {sum(row.outcome == 'done' for row in rows)} of them done,"
                f" {len(rows) / took * 60:.0f} a minute,"
                f" {processor.seconds / len(rows):.2f} s of processor a run, the start among them"
            )
            imports(folder, store, f"{llm}-copy")
            store.close()


def after_a_second(reply: Reply) -> Reply:
    due = threading.Event()
    threading.Timer(1.0, due.set).start()
    return replace(reply, before=due)


def imports(folder: Path, store: TraceStore, name: str) -> None:
    rows = [each.run for each in attempts_of(store, 1) if each.run is not None]
    files = []
    for number, row in enumerate(rows):
        path = folder / f"{name}-{number}.db"
        with closing(TraceStore.open(path)) as target:
            store.copy_to(target, row.run)
        files.append(whole_file(path))
    steps = sum(row.steps for row in rows) / len(rows)
    case = attempts_of(store, 1)[0].attempt.case
    with closing(TraceStore.open(folder / f"{name}.db")) as target:
        take_evaluation(target, "bench", "{}")
        began, used = time.perf_counter(), time.process_time()
        # Each once: what is there already costs less.
        for number, file in enumerate(files):
            put_in(target, file, CaseAttempt(evaluation=1, case=case.replace(seed=number)))
        took, used = time.perf_counter() - began, time.process_time() - used
        size = target.path.stat().st_size / 1024 / len(files)
    print(
        f"  a run of {steps:.1f} steps is {sum(map(len, files)) / len(files) / 1024:.0f} kB on its way and"
        f" {size:.0f} kB in the database; {len(files) / took:.0f} are put in a second,"
        f" {used / len(files) * 1000:.1f} ms of processor each"
    )


if __name__ == "__main__":
    main()
