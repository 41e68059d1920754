"""How often the first cause is right: faults are planted in an agent's files, and runs that fail by them are diagnosed.

    python -m tests.benchmarks.bench_causes [--agent laser] [--file state_spaces/shop.toml] [--most 40] [--json FILE]

Each fault is planted alone. It counts if tasks that passed before fail with it, at three cases of three. Told by
operator: how often the first cause, or one of the first three, has the file and a line within three of the fault.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from core.browser.chromium import ChromiumHost, find_chromium
from core.debugger.causes.finding import causes_of
from core.debugger.editing.files import AgentFiles
from core.debugger.headless import RunReport
from core.debugger.services import Services, open_services
from core.environments.registry import Environments
from core.llm.endpoints import Keys
from core.llm.registry import LLMs
from core.schema.errors import BackstepError
from core.settings.settings import Settings
from core.storage.resources import RESOURCES
from tests.benchmarks.bench_presets import play
from tests.benchmarks.causes.mutants import Mutant, mutants

NEAR = 3
"""Lines between a fault and where a cause says that it is."""
_CASES = 3
"""Tasks that passed before and have to fail with a fault."""
_AIRLINE = ("airline/find-flight", "airline/book-flight", "airline/find-booking", "airline/cancel-booking")


class Agent(NamedTuple):
    """A preset with the tasks that it is tried on, and the files that faults are planted in."""

    preset: str
    tasks: tuple[str, ...]
    files: tuple[str, ...]


AGENTS = (
    Agent(
        "laser",
        tuple(f"shop/goal-{number:03}" for number in range(30)),
        ("state_spaces/shop.toml", "prompts/laser/user.j2"),
    ),
    Agent("laser", _AIRLINE, ("state_spaces/airline.toml",)),
    Agent(
        "step",
        _AIRLINE,
        tuple(
            f"policies/airline/{path.name}" for path in sorted((RESOURCES / "policies/airline").glob("*.md"))
        ),
    ),
)


class Tried(NamedTuple):
    """A fault by which runs failed, with where the causes of one of them are."""

    agent: str
    mutant: Mutant
    run: int
    first: int
    """The rank of the first cause that is right, from 1; 0 for none."""
    kind: str
    certainty: str
    place: str


async def played(services: Services, llms: LLMs, preset: str, task: str) -> RunReport | None:
    """Run a task to its end; None if it could not begin."""
    try:
        return await play(services, llms, preset, task)
    except BackstepError:
        return None


def rank_of(services: Services, config: Path, run: int, mutant: Mutant) -> tuple[int, str, str, str]:
    """Return the rank of the first cause that names the fault, and kind, certainty and place of the first one."""
    causes = causes_of(services.store, run, services.resources, AgentFiles(config))
    right = [
        rank
        for rank, cause in enumerate(causes, 1)
        if cause.file == mutant.file and abs(cause.line - mutant.line) <= NEAR
    ]
    if not causes:
        return 0, "", "", ""
    first = causes[0]
    return right[0] if right else 0, first.kind, first.certainty, first.place


async def measure(agents: Sequence[Agent], files: Sequence[str], most: int) -> list[Tried]:
    """Plant the faults one after the other, and return those that make runs fail."""
    path = find_chromium()
    if path is None:
        raise SystemExit("No Chromium is installed here.")
    tried: list[Tried] = []
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config"
        settings = Settings(database=Path(folder) / "traces.db")
        llms = LLMs(settings, keys=Keys())
        services = await open_services(
            settings, ChromiumHost(path), llms=llms, environments=Environments(), config=config
        )
        try:
            for agent in agents:
                chosen = [file for file in agent.files if not files or file in files]
                if not chosen:
                    continue
                passing: list[str] = []
                for task in agent.tasks:
                    report = await played(services, llms, agent.preset, task)
                    if report is not None and report.success:
                        passing.append(task)
                    if len(passing) == _CASES:
                        break
                print(f"{agent.preset}: {', '.join(passing)} pass", file=sys.stderr, flush=True)
                for file in chosen:
                    planted = list(mutants(file, (RESOURCES / file).read_text("utf-8")))
                    random.Random(0).shuffle(planted)
                    for mutant in planted[:most]:
                        tried += await _try(services, llms, config, agent, passing, mutant)
        finally:
            await services.close()
    return tried


async def _try(
    services: Services, llms: LLMs, config: Path, agent: Agent, passing: Sequence[str], mutant: Mutant
) -> list[Tried]:
    target = config / mutant.file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(mutant.text, "utf-8")
    failed: list[int] = []
    try:
        if services.resources.problems():
            return []  # The file is refused: there is nothing to find out.
        for task in passing:
            report = await played(services, llms, agent.preset, task)
            if report is None or report.run is None or report.success:
                return []
            failed.append(report.run)
        ranked = rank_of(services, config, failed[0], mutant)
    finally:
        target.unlink()
    print(f"  {mutant.operator}, line {mutant.line}: {ranked}  {mutant.words}", file=sys.stderr, flush=True)
    return [Tried(agent.preset, mutant, failed[0], *ranked)]


def table(tried: Sequence[Tried]) -> str:
    """Return the shares by agent and operator, in Markdown."""
    groups: dict[tuple[str, str], list[Tried]] = defaultdict(list)
    for one in tried:
        groups[one.agent, one.mutant.operator].append(one)
        groups["all", ""].append(one)
    lines = [
        "| agent | operator | faults | first right | in the first three |",
        "| --- | --- | --- | --- | --- |",
    ]
    for (agent, operator), some in sorted(groups.items()):
        first = sum(one.first == 1 for one in some)
        three = sum(1 <= one.first <= 3 for one in some)
        lines.append(f"| {agent} | {operator} | {len(some)} | {first} | {three} |")
    wrong = sum(one.certainty == "sure" and one.first != 1 for one in tried)
    return "\n".join([*lines, "", f"Wrong while sure: {wrong} of {len(tried)}."])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--agent", action="append", default=[])
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--most", type=int, default=1000, help="faults planted in each file")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    agents = [one for one in AGENTS if not given.agent or one.preset in given.agent]
    tried = asyncio.run(measure(agents, given.file, given.most))
    print(table(tried))
    if given.json:
        rows = [{**one._asdict(), "mutant": {**one.mutant._asdict(), "text": ""}} for one in tried]
        given.json.write_text(json.dumps(rows, indent=1), "utf-8")


if __name__ == "__main__":
    main()
