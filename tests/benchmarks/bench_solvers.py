"""Which MiniWoB++ tasks our actions can do: solvers over every page and several seeds, with why each failed.

    python -m tests.benchmarks.bench_solvers
    python -m tests.benchmarks.bench_solvers text-editor draw-line --seeds 5

A task without a solver of its own (tests/core/exemplars/solvers) is played by the built-in LLM. A solver does only
what the page's permissible actions allow. Needs an installed Chromium.
"""

import argparse
import asyncio

from core.browser.chromium import ChromiumHost, find_chromium
from core.debugger.evaluations.selection import fitting
from core.debugger.exemplars.scripted import ScriptOf, open_world, perform
from core.debugger.services import Services
from core.schema.errors import BackstepError, UsageError
from core.schema.task import Task
from tests.benchmarks.by_rules import run_by_rules, services_for
from tests.core.exemplars.solvers import BY_MOUSE, SOLVERS, WORKED_OUT
from tests.core.exemplars.solvers.permitted import permitted

OWN: dict[str, ScriptOf] = {name: script for name, (script, _) in SOLVERS.items()} | BY_MOUSE | WORKED_OUT


async def solved(services: Services, task: Task, seeds: range) -> list[str]:
    """Return for each seed why the task's solver failed; nothing for a success."""
    script = permitted(OWN[task.id.partition("/")[2]])
    found: list[str] = []
    async with open_world(ChromiumHost(services.host.name), services.environments, task) as world:
        for seed in seeds:
            try:
                found.append((await perform(world, task, seed, script)).problem)
            except BackstepError as error:
                found.append(str(error))
    return found


async def played(services: Services, task: Task, seeds: range) -> list[str]:
    """Return for each seed why the built-in LLM failed; nothing for a success."""
    found: list[str] = []
    for seed in seeds:
        report = await run_by_rules(services, task, seed, "allow")
        why = f"{report.outcome}, reward {report.reward}. {report.error}"
        found.append("" if report.success else why.strip())
    return found


async def run(arguments: argparse.Namespace) -> None:
    executable = arguments.browser or find_chromium()
    if executable is None:
        raise SystemExit("No installed Chromium was found; give one with --browser.")
    async with services_for(ChromiumHost(executable)) as services:
        await measure(services, arguments)


async def measure(services: Services, arguments: argparse.Namespace) -> None:
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    names = [f"miniwob/{name}" for name in arguments.tasks or ("*",)]
    try:
        tasks = fitting(names, services.environments.tasks())
    except UsageError as error:
        raise SystemExit(str(error)) from None
    passed = tried = 0
    failed: list[str] = []
    print(f"{'task':<34}{'by':<10}{'  '.join(f'seed {seed}' for seed in seeds)}")
    for task in map(services.environments.find, tasks):
        name = task.id.partition("/")[2]
        own = name in OWN
        problems = await (solved if own else played)(services, task, seeds)
        marks = "  ".join(
            f"{'-' if problem else 'passed':<{len(f'seed {seed}')}}"
            for seed, problem in zip(seeds, problems, strict=True)
        )
        print(f"{name:<34}{'solver' if own else 'rules':<10}{marks}", flush=True)
        for seed, problem in zip(seeds, problems, strict=True):
            if problem:
                print(f"    seed {seed}: {' '.join(problem.split())[:160]}", flush=True)
        passed, tried = passed + problems.count(""), tried + len(problems)
        if any(problems):
            failed.append(name)
    print(
        f"{passed} of {tried} passed; not every seed of {len(failed)} tasks: {', '.join(failed) or 'none'}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "tasks", nargs="*", help="names of tasks, or beginnings such as click-*; all where none"
    )
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds a task")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--browser", help="path of a Chromium")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
