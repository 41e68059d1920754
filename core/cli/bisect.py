"""The bisect command: from which step on an LLM still brings a run to success."""

import time
from collections.abc import AsyncIterator

from pydantic import Field

from core.agent.state import Budget
from core.cli.browsers import WithEmbedded, WithLoop
from core.cli.measurement import measure, open_unattended
from core.cli.output import put_json, put_table, say
from core.cli.runs import open_for_reading
from core.debugger.experiments.bisect import bisect, chosen_steps
from core.debugger.experiments.bisect_records import Bisection, BisectRequest, PrefixResult
from core.debugger.experiments.measurement import success_word
from core.debugger.headless import RunReport, fork_headless
from core.debugger.services import Services, check_preset
from core.environments.registry import Environments
from core.schema.changes import Changes
from core.schema.errors import NotInTraceError, UsageError
from core.settings.settings import Settings, config_folder
from core.trace.records import RunRow, StepRow

_WIDTH = 20
"""Signs of the plot's axis from 0 to 1."""


class BisectArguments(BisectRequest):
    """What the bisect command was given."""

    times: int = Field(default=3, ge=1)
    every: int = Field(default=0, ge=0)
    """With no steps: every so many; 0 for some spread over the whole run."""
    max_steps: int
    as_json: bool = False
    as_lines: bool = False
    """Whether the whole is printed as a line of JSON at each change of it."""


def bisect_run(
    arguments: BisectArguments,
    settings: Settings,
    environments: Environments,
    *,
    with_embedded: WithEmbedded[Bisection],
    with_loop: WithLoop[Bisection],
) -> Bisection:
    """Try the prefixes and print the table; raises BackstepError where it cannot begin."""
    row, steps = _run(settings, arguments.run)
    chosen = chosen_steps(steps, arguments.steps, every=arguments.every)
    preset, name = arguments.preset or row.preset, arguments.llm or row.llm
    llms = open_unattended(settings, name)
    check_preset(config_folder(), preset)
    began = Bisection(
        run=row.run,
        preset=preset,
        llm=name,
        browser=settings.browser,
        chosen=chosen,
        when=time.time(),
        **arguments.common,
    )

    def work(services: Services, bisection: Bisection) -> AsyncIterator[Bisection]:
        async def fork(step: int) -> RunReport:
            report = await fork_headless(
                services,
                row,
                step,
                preset=preset,
                llm=llms.routed(name),
                budget=Budget(arguments.max_steps, settings.max_llm_calls),
                on_gate=settings.on_gate,
                changes=Changes(preset=arguments.preset, llm=arguments.llm),
            )
            say(f"from step {step}: run {report.run}, {success_word(report.success)}")
            return report

        say(f"run {row.run} ({row.task}, seed {row.seed}), preset {preset}, LLM {name}")
        return bisect(bisection, steps, fork)

    def save(services: Services, one: Bisection) -> int:
        return services.store.save_bisection(one.run, one.model_dump_json(), number=one.number or None)

    found = measure(
        began,
        work,
        save,
        settings,
        environments,
        llms,
        as_lines=arguments.as_lines,
        with_embedded=with_embedded,
        with_loop=with_loop,
    )
    if not arguments.as_lines:
        _print(found.results, as_json=arguments.as_json)
    return found


def _run(settings: Settings, run: int) -> tuple[RunRow, tuple[StepRow, ...]]:
    store = open_for_reading(settings)
    try:
        return store.run(run), store.steps(run)
    except NotInTraceError as error:
        raise UsageError(str(error)) from error
    finally:
        store.close()


def _print(results: tuple[PrefixResult, ...], *, as_json: bool) -> None:
    if as_json:
        put_json([{**one.model_dump(), "share": one.share} for one in results])
        return
    put_table(
        ("from step", "the run did", "success", "95 % interval", f"0{'plot'.center(_WIDTH)}1", "branches"),
        [
            (
                str(one.step),
                one.action,
                f"{one.successes} of {one.judged}",
                f"{one.low:.2f} to {one.high:.2f}" if one.judged else "nothing judged",
                plot(one),
                ", ".join(map(str, one.runs)),
            )
            for one in results
        ],
    )
    for one in results:
        for problem in one.problems:
            say(f"from step {one.step}: {problem}")


def plot(result: PrefixResult) -> str:
    """Return the interval as a line on an axis from 0 to 1, with the share as a mark on it."""
    if result.share is None:
        return ""
    low, high, share = (round(value * _WIDTH) for value in (result.low, result.high, result.share))
    return "".join(
        "●" if place == share else "─" if low <= place <= high else "·" for place in range(_WIDTH + 1)
    )
