"""How long a step takes in paper mode and in fast mode, asked of a server that answers after one second.

    python tests/benchmarks/bench_reflection.py --steps 5

Needs an installed Chromium. The same pages, the same answers; what differs is
how many questions wait for one another. Figures are medians over the steps.
"""

import argparse
import statistics
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.core.stage import Stage, ref_in
from tests.llm_server import LLMServer, Reply, Request

SECONDS = 1.0


def answer(request: Request) -> Reply:
    """Answer any question of the preset a second after it came, the way that leads through the pages."""
    due = threading.Event()
    threading.Timer(SECONDS, due.set).start()
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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    count = parser.parse_args().steps
    with tempfile.TemporaryDirectory() as name, LLMServer() as server:
        folder = Path(name)
        url = pages(folder, count)
        stage = Stage(folder)
        text = stage.services.resources.presets.get("reflect").text
        print(f"{count} steps each, every reply after {SECONDS:g} s")
        print(f"{'mode':8}{'first step, s':>16}{'later steps, s':>17}{'calls a step':>15}")
        try:
            for mode in ("paper", "fast"):
                (stage.config / "presets" / f"{mode}.toml").write_text(
                    text.replace('mode = "paper"', f'mode = "{mode}"')
                )
                server.reset()
                server.otherwise = answer
                run = stage.open(server, url=url, instruction="Read the last page.", preset=mode, steps=count)
                run.state.overlap = True
                stage.to_the_end(run)
                steps = run.store.steps(run.state.run)
                seconds = [step.seconds for step in steps if step.effect == "page action"]
                later = statistics.median(seconds[1:] or seconds)
                calls = len(run.store.calls(run.state.run)) / len(seconds)
                print(f"{mode:8}{seconds[0]:16.2f}{later:17.2f}{calls:15.1f}")
        finally:
            stage.close()


if __name__ == "__main__":
    main()
