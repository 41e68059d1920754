"""What the built-in LLM reaches with each preset: success, reward, steps and calls, as the table of docs/llms.md.

    python tests/benchmarks/bench_presets.py
    python tests/benchmarks/bench_presets.py --preset reflect --preset combined --group shop --each

Each run is one as ``main.py run`` makes it, in an installed Chromium, with the
settings' defaults; purchases are allowed, as the shop's tasks ask for them. The
seed is one that no exemplar was recorded at: with another, a preset with memory
would be shown the very task it is to solve.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.agent.presets import Presets
from core.agent.state import Budget
from core.browser.chromium import ChromiumHost, find_chromium
from core.debugger.headless import RunReport, run_headless
from core.debugger.services import Services, open_services
from core.environments.registry import Environments
from core.llm.endpoints import Keys
from core.llm.registry import LLMs
from core.schema.errors import BackstepError
from core.settings.settings import Settings

PRESETS = Presets().names()
GROUPS: dict[str, tuple[str, ...]] = {
    "MiniWoB++": tuple(
        f"miniwob/{name}"
        for name in (
            "click-button",
            "click-checkboxes",
            "click-collapsible-2",
            "click-link",
            "click-tab-2",
            "choose-list",
            "email-inbox",
            "enter-text",
            "login-user",
            "navigate-tree",
            "search-engine",
            "use-autocomplete",
        )
    ),
    "Shop": tuple(f"shop/goal-{number:03}" for number in range(20)),
    "Airline": (),
}


SEED = 20


async def play(services: Services, llms: LLMs, preset: str, task: str) -> RunReport:
    """Run one task to its end."""
    return await run_headless(
        services,
        services.environments.find(task),
        SEED,
        preset=preset,
        llm=llms.routed("rules"),
        budget=Budget(),
        on_gate="allow",
    )


def row(preset: str, group: str, tasks: int, reports: list[RunReport]) -> str:
    """Return a line of the table; a task that could not be run counts as no success."""
    judged = [one for one in reports if one.success is not None]
    rewards = [one.reward for one in reports if one.reward is not None]
    cells = (
        preset,
        group,
        f"{sum(bool(one.success) for one in judged)} of {tasks}",
        f"{statistics.mean(rewards):.2f}" if rewards else "none",
        f"{statistics.mean(one.steps for one in reports):.1f}",
        f"{statistics.mean(one.llm_calls for one in reports):.1f}",
    )
    return f"| {' | '.join(cells)} |"


async def measure(presets: list[str], groups: list[str], each: bool) -> None:
    """Print the table, row by row as it comes."""
    path = find_chromium()
    if path is None:
        raise SystemExit("No Chromium is installed here.")
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(database=Path(folder) / "traces.db")
        llms = LLMs(settings, keys=Keys())
        services = await open_services(
            settings,
            ChromiumHost(path),
            llms=llms,
            environments=Environments(),
            config=Path(folder) / "config",
        )
        airline = tuple(one.id for one in services.environments.tasks() if one.environment == "airline")
        print("| preset | tasks | success | mean reward | steps | LLM calls |")
        print("| --- | --- | --- | --- | --- | --- |")
        try:
            for preset in presets:
                for group in groups:
                    reports: list[RunReport] = []
                    tasks = GROUPS[group] or airline
                    for task in tasks:
                        try:
                            reports.append(await play(services, llms, preset, task))
                        except BackstepError as error:
                            print(f"{preset} {task}: {error}", file=sys.stderr)
                            continue
                        if each:
                            one = reports[-1]
                            said = f"{one.outcome} {one.success} {one.reward} {one.steps} {one.llm_calls} {one.error}"
                            print(f"  {preset} {task}: {said}", file=sys.stderr, flush=True)
                    print(row(preset, group, len(tasks), reports), flush=True)
        finally:
            await services.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", action="append", choices=PRESETS)
    parser.add_argument("--group", action="append", choices=tuple(GROUPS))
    parser.add_argument("--each", action="store_true", help="tell of each run on stderr")
    given = parser.parse_args()
    asyncio.run(measure(given.preset or list(PRESETS), given.group or list(GROUPS), given.each))


if __name__ == "__main__":
    main()
