"""The bisect command: from which step on an LLM still brings a run to success."""

import contextlib
import time
from typing import Literal

from core.agent.state import Budget
from core.browser.host import BrowserHost
from core.cli.browsers import WithEmbedded, WithLoop, in_browser
from core.cli.output import LineTeller, put_json, put_table, say
from core.cli.runs import open_for_reading
from core.debugger.experiments.bisect import bisect, chosen_steps
from core.debugger.experiments.bisect_records import Bisection, PrefixResult
from core.debugger.headless import RunReport, fork_headless
from core.debugger.services import check_preset, open_workshop
from core.environments.registry import Environments
from core.llm.registry import open_llms
from core.schema.changes import Changes
from core.schema.errors import BackstepError, Interrupted, NotInTraceError, TraceError, UsageError
from core.schema.record import Record
from core.settings.settings import Settings, config_folder
from core.trace.records import RunRow, StepRow
from core.trace.replay_llm import ReplayLLM
from core.trace.store import TraceStore

_WIDTH = 20
"""Signs of the plot's axis from 0 to 1."""


class BisectArguments(Record):
    """What the bisect command was given."""

    run: int
    steps: tuple[int, ...] = ()
    """Empty for some spread over the whole run."""
    times: int = 3
    preset: str | None = None
    """None for the run's own."""
    llm: str | None = None
    """None for the run's own."""
    every: int = 0
    """With no steps: every so many; 0 for some spread over the whole run."""
    most_calls: int | None = None
    most_cost: float | None = None
    max_steps: int
    as_json: bool = False
    as_lines: bool = False
    """Whether the whole is printed as a line of JSON at each change of it."""


def bisect_run(
    arguments: BisectArguments,
    settings: Settings,
    environments: Environments,
    *,
    with_embedded: WithEmbedded[tuple[PrefixResult, ...]],
    with_loop: WithLoop[tuple[PrefixResult, ...]],
) -> tuple[PrefixResult, ...]:
    """Try the prefixes and print the table; raises BackstepError where it cannot begin."""
    row, steps = _run(settings, arguments.run)
    chosen = chosen_steps(steps, arguments.steps, every=arguments.every)
    preset, name = arguments.preset or row.preset, arguments.llm or row.llm
    llms = open_llms(settings, config_folder=config_folder(), replay=ReplayLLM)
    llms.routed(name)
    if name == "person":
        raise UsageError('The LLM "person" needs a window; choose another with --llm.')
    check_preset(config_folder(), preset)

    began = Bisection(
        run=row.run,
        preset=preset,
        llm=name,
        browser=settings.browser,
        times=arguments.times,
        chosen=chosen,
        most_calls=arguments.most_calls,
        most_cost=arguments.most_cost,
        when=time.time(),
    )

    async def work(host: BrowserHost) -> tuple[PrefixResult, ...]:
        workshop = await open_workshop(
            settings, host, llms=llms, environments=environments, config=config_folder()
        )
        keeper = _Keeper(workshop.store, began, as_lines=arguments.as_lines)

        async def fork(step: int) -> RunReport:
            report = await fork_headless(
                workshop,
                row,
                step,
                preset=preset,
                llm=llms.routed(name),
                budget=Budget(arguments.max_steps, settings.max_llm_calls),
                on_gate=settings.on_gate,
                changes=Changes(preset=arguments.preset or "", llm=arguments.llm or ""),
            )
            ended = {True: "success", False: "no success", None: "not judged"}[report.success]
            say(f"from step {step}: run {report.run}, {ended}")
            return report

        try:
            say(f"run {row.run} ({row.task}, seed {row.seed}), preset {preset}, LLM {name}")
            found = bisect(
                steps,
                chosen,
                arguments.times,
                fork,
                on_branch=keeper.keep,
                enough=lambda: keeper.bisection.enough(),
            )
            results = tuple([one async for one in found])
            keeper.end(results)
        except BaseException as error:
            keeper.fail(error)
            raise
        finally:
            await workshop.close()
        if keeper.bisection.state == "cancelled":
            raise Interrupted("Interrupted.")
        return results

    results = in_browser(work, settings, with_embedded=with_embedded, with_loop=with_loop)
    if not arguments.as_lines:
        _print(results, as_json=arguments.as_json)
    return results


class _Keeper:
    """Stores a bisection as it goes on, and prints it as a line of JSON each time where that is asked for."""

    def __init__(self, store: TraceStore, bisection: Bisection, *, as_lines: bool) -> None:
        self._store = store
        self._teller = LineTeller(as_lines=as_lines)
        number = store.save_bisection(bisection.run, bisection.model_dump_json())
        self.bisection = bisection.replace(number=number)
        self._teller.tell(self.bisection)

    def keep(self, result: PrefixResult) -> None:
        self._change(self.bisection.with_result(result))

    def end(self, results: tuple[PrefixResult, ...]) -> None:
        bisection = self.bisection
        cut = any(branch.outcome == "interrupted" for one in results for branch in one.branches)
        whole = bisection.made >= bisection.wanted
        why = "It was cancelled." if cut else "" if whole else bisection.enough()
        self._change(bisection.replace(state="cancelled" if cut else "done" if whole else "limit", why=why))

    def fail(self, error: BaseException) -> None:
        known = isinstance(error, BackstepError)
        state: Literal["failed", "cancelled"] = "failed" if isinstance(error, Exception) else "cancelled"
        why = "It was cancelled." if state == "cancelled" else str(error) if known else repr(error)
        with contextlib.suppress(TraceError):
            self._change(self.bisection.replace(state=state, why=why))

    def _change(self, bisection: Bisection) -> None:
        self.bisection = bisection
        self._store.save_bisection(bisection.run, bisection.model_dump_json(), number=bisection.number)
        self._teller.tell(self.bisection)


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
