"""How long a step takes in paper mode and in fast mode, asked of a server that answers after one second.

    python -m tests.benchmarks.bench_reflection --steps 5

Needs an installed Chromium. The same pages, the same answers; what differs is
how many questions wait for one another. Remedies take two seconds. Figures are
medians over the steps after the first. Ahead, the next action is asked for
while the step is judged; "unused" are the tokens of calls whose answer was not
used, by the estimate where they were withdrawn.
"""

import argparse
import statistics
import sys
import tempfile
import threading
from pathlib import Path

from core.agent.loop import AgentRun
from core.schema.step import CallRecord
from tests.core.stage import Stage, ref_in
from tests.llm_server import LLMServer, Reply, Request

SECONDS = 1.0


def answer(request: Request) -> Reply:
    """Answer any question of the preset a second after it came, the way that leads through the pages."""
    due = threading.Event()
    slow = "turns out wrong" in request.texts[-1]
    threading.Timer(SECONDS * 2 if slow else SECONDS, due.set).start()
    return Reply(text=_text(request), before=due)


def _text(request: Request) -> str:
    asked = request.texts[-1]
    if "response_format" in request.body:
        return '{"effect": "The next page came up.", "aligned": true, "subtask": "open", "task_done": false}'
    if "Write a numbered list" in asked:
        return "1. Go through the pages\n2. Read the last one"
    if "Second line: YES" in asked:
        return "The next page came up.\nYES"
    if "DONE if the page" in asked:
        return "OPEN"
    if "First line: YES, or NO" in asked:
        return "NO"
    words = 'link "Home"' if "turns out wrong" in asked else 'link "Next"'
    return f"REASON: It leads on.\nACTION: click [{ref_in(request, words)}]"


def pages(folder: Path, count: int) -> str:
    """Write a chain of pages and return the URL of the first."""
    for number in range(count + 1):
        links = f'<a href="{number + 1}.html">Next</a> <a href="0.html">Home</a>'
        (folder / f"{number}.html").write_text(
            f"<!doctype html><meta charset=utf-8><title>{number}</title><h1>Page {number}</h1>{links}"
        )
    return (folder / "0.html").as_uri()


def measure(count: int) -> dict[str, float]:
    """Return, for each mode, the median seconds of the steps after the first; prints a line for each."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name, LLMServer() as server:
        folder = Path(name)
        url = pages(folder, count)
        stage = Stage(folder)
        text = stage.services.resources.presets.get("reflect").text
        try:
            for mode, ahead in (("paper", "never"), ("fast", "never"), ("ahead", "always")):
                own = text.replace('mode = "paper"', f'mode = "{"paper" if mode == "paper" else "fast"}"')
                own = own.replace("[judgement]", f'[judgement]\nahead = "{ahead}"')
                (stage.config / "presets" / f"{mode}.toml").write_text(own)
                server.reset()
                server.otherwise = answer
                run = stage.open(server, url=url, instruction="Read the last page.", preset=mode, steps=count)
                run.state.overlap = True
                stage.to_the_end(run)
                found[mode] = _told(mode, run)
        finally:
            stage.close()
    return found


def _told(mode: str, run: AgentRun) -> float:
    """Print the line of the table, and return the median seconds of the later steps."""
    steps = run.store.steps(run.state.run)
    seconds = [step.seconds for step in steps if step.effect == "page action"]
    later = statistics.median(seconds[1:] or seconds)
    calls = run.store.calls.of(run.state.run)
    used = {
        number
        for step in steps
        for record in run.store.step(run.state.run, step.number).records
        for number in getattr(record, "calls", ())
    }
    tokens = sum(_tokens(call) for call in calls)
    unused = sum(_tokens(call) for call in calls if call.purpose == "decide" and call.number not in used)
    figures = f"{len(calls) / len(seconds):15.1f}{tokens / len(seconds):16.0f}{unused / tokens:10.0%}"
    print(f"{mode:8}{seconds[0]:16.2f}{later:17.2f}{figures}", file=sys.stderr)
    return later


def _tokens(call: CallRecord) -> int:
    return call.usage.prompt_tokens + call.usage.completion_tokens


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    count = parser.parse_args().steps
    print(
        f"{count} steps each, every reply after {SECONDS:g} s, remedies after {2 * SECONDS:g} s",
        file=sys.stderr,
    )
    head = f"{'mode':8}{'first step, s':>16}{'later steps, s':>17}{'calls a step':>15}"
    print(f"{head}{'tokens a step':>16}{'unused':>10}", file=sys.stderr)
    measure(count)


if __name__ == "__main__":
    main()
