"""An evaluation is killed at random moments and resumed, and comes to the same as one that nobody kills (Linux).

    python -m tests.campaigns.evaluations --kills 10 --runs 400 [--tasks SELECTION] [--concurrency 8]
    python -m tests.campaigns.evaluations --kills 0 --runs 2000

All processes of ``main.py eval`` are killed as the system does, at a moment drawn from the time
that the whole took unkilled, and it is resumed until everything is done. The
built-in LLM answers. Then each case must have the verdict that it has unkilled, and one
result; no process, lock or temporary folder may be left. The memory of the Python
process is printed every 100 runs of the unkilled evaluation, with its open files: neither may grow.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from core.browser.chromium import chromium_at
from core.debugger.evaluations.engine import results
from core.trace.evaluations import attempts_of, evaluation_named
from core.trace.records import AttemptRow, Case
from core.trace.store import TraceStore
from tests.campaigns.processes import adopt_orphans, wait_for_all_to_end

ROOT = Path(__file__).resolve().parents[2]
TASKS = (
    "miniwob/click-button,miniwob/click-checkboxes,miniwob/click-link,miniwob/click-tab-2,miniwob/enter-text"
)
_END_SECONDS = 30.0
_LOOK_SECONDS = 0.5
_TELL_EVERY = 100
"""Runs between two lines on memory."""
_EARLIEST = 3.0
"""Seconds before which a program has not begun its work: killed there, it would be the same each time."""


class Evaluation:
    """One evaluation with a folder of its own."""

    def __init__(self, folder: Path, words: Sequence[str]) -> None:
        folder.mkdir()
        self.folder = folder
        self.database = folder / "traces.db"
        temporary = folder / "tmp"
        temporary.mkdir()
        self._command = [sys.executable, str(ROOT / "main.py"), "eval", "--name", "killed", *words]
        self._command += ["--db", str(self.database), "--json"]
        self._environment = {
            **os.environ,
            "BACKSTEP_CONFIG_DIR": str(folder),
            "BACKSTEP_DATA_DIR": str(folder),
            "TMPDIR": str(temporary),
        }

    def start(self) -> "subprocess.Popen[bytes]":
        with (self.folder / "said").open("ab") as said:
            return subprocess.Popen(
                self._command, env=self._environment, stdout=said, stderr=said, start_new_session=True
            )

    def rows(self) -> tuple[AttemptRow, ...]:
        store = TraceStore.open(self.database, read_only=True)
        try:
            row = evaluation_named(store, "killed")
            return () if row is None else attempts_of(store, row.number)
        finally:
            store.close()

    def left(self) -> Iterator[str]:
        """Give what should have gone with its processes."""
        processes, _ = wait_for_all_to_end(_END_SECONDS)
        yield from (f"the process {one.pid} is left: {one.command}" for one in processes)
        yield from (f"the lock {path.name} is left" for path in self.folder.glob("*.live-*"))
        yield from (f"the temporary {path.name} is left" for path in (self.folder / "tmp").iterdir())


def undisturbed(evaluation: Evaluation) -> tuple[float, Iterator[str]]:
    """Do it without a kill; return how long that took, and what is wrong with it. Prints memory as it goes."""
    began, told = time.monotonic(), 0
    process = evaluation.start()
    while process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_SECONDS)
        done = _done(evaluation)
        if done >= told + _TELL_EVERY and (memory := _memory(process.pid)):
            told = done
            print(f"after {done} runs: {memory}", flush=True)
    taken = time.monotonic() - began
    return taken, _wrong_end(process.returncode, evaluation)


def _wrong_end(code: int, evaluation: Evaluation) -> Iterator[str]:
    if code != 0:
        yield f"it ended with the code {code}; what it said is in {evaluation.folder / 'said'}"
    yield from evaluation.left()


def _done(evaluation: Evaluation) -> int:
    """Return how many runs it has told to be done."""
    found = re.findall(
        r"^(\d+) of \d+, ", (evaluation.folder / "said").read_text(errors="replace"), re.MULTILINE
    )
    return int(found[-1]) if found else 0


def _memory(process: int) -> str:
    try:
        status = Path(f"/proc/{process}/status").read_text()
        files = len(os.listdir(f"/proc/{process}/fd"))
    except OSError:
        return ""
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return f"{int(found[1]) / 1024:.0f} MB, {files} open files" if found else ""


def killed(evaluation: Evaluation, kills: int, whole: float, chance: random.Random) -> Iterator[str]:
    """Do it with so many kills, and give what is wrong with its end."""
    share = whole / (kills + 1)
    for number in range(1, kills + 1):
        process = evaluation.start()
        moment = chance.uniform(_EARLIEST, max(2 * share, 2 * _EARLIEST))
        with suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        ended = process.wait()
        # The browser has a process group of its own, and ends with the pipe to its driver.
        for one in wait_for_all_to_end(_END_SECONDS)[0]:
            yield f"after kill {number} the process {one.pid} is left: {one.command}"
        told = "it had ended" if ended != -signal.SIGKILL else f"{len(evaluation.rows())} attempts"
        print(f"kill {number} after {moment:.1f} s: {told}", flush=True)
    yield from _wrong_end(evaluation.start().wait(), evaluation)


def compare(first: Evaluation, second: Evaluation) -> Iterator[str]:
    """Give what differs between the table of one and that of another."""
    one, other = (_verdicts(evaluation) for evaluation in (first, second))
    for case in sorted(one.keys() | other.keys(), key=str):
        if one.get(case) != other.get(case):
            yield f"{case} came to {one.get(case)} unkilled and to {other.get(case)} killed"
    for evaluation in (first, second):
        counted = Counter(
            row.attempt.case
            for row in evaluation.rows()
            if row.run is not None and row.run.outcome not in ("running", "interrupted", "error")
        )
        yield from (f"{case} was done {times} times" for case, times in counted.items() if times > 1)


def _verdicts(evaluation: Evaluation) -> dict[Case, tuple[str, bool | None]]:
    return {
        case: ("could not begin", None) if row.run is None else (row.run.outcome, row.run.verdict.success)
        for case, row in results(evaluation.rows()).items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--runs", type=int, default=400, help="how many runs at least")
    parser.add_argument("--tasks", default=TASKS, help="ids, parted by commas")
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--browser", default=chromium_at("chromium"))
    parser.add_argument("--seed", type=int, default=0, help="what the moments are drawn from")
    given = parser.parse_args()
    adopt_orphans()
    seeds = -(-given.runs // len(given.tasks.split(",")))
    words = ["--tasks", given.tasks, "--seeds", f"0-{seeds - 1}", "--llm", "rules", "--preset", "plain"]
    words += ["--concurrency", str(given.concurrency), "--browser", given.browser]
    found: list[str] = []
    with tempfile.TemporaryDirectory(prefix="backstep-campaign-", ignore_cleanup_errors=True) as folder:
        unkilled = Evaluation(Path(folder) / "unkilled", words)
        taken, wrong = undisturbed(unkilled)
        found += [f"unkilled: {one}" for one in wrong]
        print(f"{_done(unkilled)} runs in {taken:.0f} s", flush=True)
        if given.kills:
            other = Evaluation(Path(folder) / "killed", words)
            found += [
                f"killed: {one}" for one in killed(other, given.kills, taken, random.Random(given.seed))
            ]
            found += compare(unkilled, other)
    print(f"lost: {len(found)}")
    for one in found:
        print(f"  {one}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
