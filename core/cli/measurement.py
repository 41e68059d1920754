"""Commands that measure with runs: bisect, family and worth."""

import contextlib
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from core.agent.presets import ATTACHED
from core.agent.resources import OWN_FOLDERS, agent_resources_of, with_files
from core.agent.state import Budget
from core.browser.host import BrowserHost
from core.cli.exemplar_tables import memory_of
from core.cli.output import LineTeller, put, put_json, put_table, say
from core.cli.runs import reading
from core.cli.surroundings import WithEmbedded, in_browser, open_unattended, services_in
from core.debugger.experiments.bisect import Bisection, BisectRequest, PrefixResult, bisect, chosen_steps
from core.debugger.experiments.measurement import Measurement, success_word
from core.debugger.experiments.worth import (
    library_key,
    measure,
    members_of,
    sources_of,
    tasks_of,
    used_in,
)
from core.debugger.experiments.worth_records import Pair, Subject, Worth, WorthRequest
from core.debugger.fix.family import Family, Side, run_family
from core.debugger.headless import RunReport, check_again, fork_headless, run_headless
from core.debugger.services import Services, check_preset
from core.environments.registry import Environments
from core.llm.registry import LLMs
from core.schema.changes import Changes, FamilyPlace
from core.schema.errors import Interrupted, LibraryError, TraceError, UsageError
from core.settings.settings import Settings, config_folder

M = TypeVar("M", bound=Measurement)
_WIDTH = 20
"""Signs of the plot's axis from 0 to 1."""


def bisect_run(
    request: BisectRequest,
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    *,
    every: int,
    as_json: bool,
    as_lines: bool,
) -> Bisection:
    """Try the prefixes and print the table; raises BackstepError if it cannot begin.

    With no steps asked for: `every` so many, or with 0 some spread over the whole run.
    """
    with reading(settings) as store:
        row, steps = store.run(request.run), store.steps(request.run)
    chosen = chosen_steps(steps, request.steps, every=every)
    preset, name = request.preset or row.preset, request.llm or row.llm
    llms = open_unattended(settings, name)
    check_preset(config_folder(), preset)
    began = Bisection(
        run=row.run,
        preset=preset,
        llm=name,
        browser=settings.browser,
        chosen=chosen,
        when=time.time(),
        **request.common,
    )

    def work(services: Services, bisection: Bisection) -> AsyncIterator[Bisection]:
        async def fork(step: int) -> RunReport:
            report = await fork_headless(
                services,
                row,
                step,
                preset=preset,
                llm=llms.routed(name),
                budget=Budget(settings.max_steps, settings.max_llm_calls),
                on_gate=settings.on_gate,
                changes=Changes(preset=request.preset, llm=request.llm),
            )
            say(f"from step {step}: run {report.run}, {success_word(report.success)}")
            return report

        say(f"run {row.run} ({row.task}, seed {row.seed}), preset {preset}, LLM {name}")
        return bisect(bisection, steps, fork)

    def save(services: Services, one: Bisection) -> int:
        return services.store.save_bisection(one.run, one.model_dump_json(), number=one.number or None)

    found = _measure(began, work, save, settings, environments, llms, with_embedded, as_lines=as_lines)
    if not as_lines:
        _print_bisection(found.results, as_json=as_json)
    return found


def measure_family(
    run: int,
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    *,
    fixed: int,
    before: Path | None,
    count: int,
    llm: str,
    as_json: bool,
    as_lines: bool,
) -> Family:
    """Do the task of a run at `count` other seeds and print the result; raises BackstepError.

    Each seed is done with the files of the folder `before`, if it has any, and
    what was asked of the run; and with the files as they are, and what was asked
    of the run `fixed`. A task without seeds is repeated. Nothing but the runs is stored,
    each with its place in the family.
    """
    with reading(settings) as store:
        row = store.run(run)
        asked: dict[Side, Changes] = {"before": store.changes(run), "after": store.changes(fixed or run)}
    if before is not None and not any((before / name).is_dir() for name in OWN_FOLDERS):
        raise UsageError(
            f"{before} is no folder with files of an agent. --before takes one laid out as the config folder, with "
            f"{', '.join(OWN_FOLDERS[:-1])} or {OWN_FOLDERS[-1]} in it."
        )
    if row.preset == ATTACHED.name:
        raise UsageError(f"Run {run} is of an attached agent, which has no files here: start it by hand.")
    name = llm or row.llm
    llms = open_unattended(settings, name)
    check_preset(config_folder(), row.preset)

    def work(services: Services, family: Family) -> AsyncIterator[Family]:
        resources = services.resources
        earlier = resources if before is None else with_files(resources, config_folder(), before)
        sides = {"before": replace(services, resources=earlier), "after": services}
        made: list[int] = []

        async def play(seed: int, side: Side) -> RunReport:
            task = services.task_of(row)
            check_again(services, task, made, settings.on_gate)
            report = await run_headless(
                sides[side],
                task,
                seed,
                preset=row.preset,
                llm=llms.routed(name),
                budget=Budget(settings.max_steps, settings.max_llm_calls),
                on_gate=settings.on_gate,
                changes=asked[side].replace(
                    family=FamilyPlace(
                        of=run,
                        started=row.started,
                        fixed=fixed,
                        when=family.when,
                        seeds=family.seeds,
                        side=side,
                    )
                ),
            )
            if report.run is not None and report.steps:
                made.append(report.run)
            say(f"seed {seed}, {side}: run {report.run}, {success_word(report.success)}")
            return report

        say(f"{family.what}, preset {row.preset}, LLM {name}")
        return run_family(family, play)

    seeded = environments.find(row.task).seeded if row.environment != "web" else False
    seeds = range(row.seed + 1, row.seed + 1 + count) if seeded else [row.seed] * count
    began = Family(
        run=run,
        fixed=fixed,
        task=row.task,
        seeds=tuple(seeds),
        preset=row.preset,
        llm=name,
        browser=settings.browser,
        when=time.time(),
    )
    found = _measure(
        began,
        work,
        lambda _services, _family: 0,
        settings,
        environments,
        llms,
        with_embedded,
        as_lines=as_lines,
    )
    if as_json:
        put_json({**found.model_dump(), "sentence": found.sentence})
    elif not as_lines:
        put_table(
            ("seed", "side", "success", "steps", "run"),
            [
                (
                    str(one.seed),
                    one.side,
                    success_word(one.result.success),
                    str(one.result.steps),
                    str(one.result.run),
                )
                for one in found.runs
            ],
        )
        put(found.sentence)
    return found


def exit_code(found: Measurement) -> int:
    """Return 0, or 1 with a word on stderr where a limit ended it before everything was done."""
    if found.state != "limit":
        return 0
    say(f"{found.why} Done: {found.done} of {found.total}.")
    return 1


def _print_bisection(results: tuple[PrefixResult, ...], *, as_json: bool) -> None:
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
                _plot(one),
                ", ".join(map(str, one.runs)),
            )
            for one in results
        ],
    )
    for one in results:
        for problem in one.problems:
            say(f"from step {one.step}: {problem}")


def _plot(result: PrefixResult) -> str:
    """Return the interval as a line on an axis from 0 to 1, with the share as a mark on it."""
    if result.share is None:
        return ""
    low, high, share = (round(value * _WIDTH) for value in (result.low, result.high, result.share))
    return "".join(
        "●" if place == share else "─" if low <= place <= high else "·" for place in range(_WIDTH + 1)
    )


def read_subject(name: str, *, is_family: bool, change: str) -> Subject:
    """Raises UsageError."""
    if not change:
        return Subject(kind="family" if is_family else "exemplar", name=name)
    before, _, after = change.partition(":")
    if is_family or not (before.isdigit() and after.isdigit()):
        raise UsageError("--change takes two versions of one exemplar, such as --change 1:2.")
    try:
        return Subject(kind="change", name=name, before=int(before), after=int(after))
    except ValidationError as error:
        raise UsageError(
            "--change takes two different versions of one exemplar, such as --change 1:2."
        ) from error


def measure_exemplars(
    request: WorthRequest,
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    *,
    as_json: bool,
    as_lines: bool,
) -> Worth:
    """Run the tasks with and without and print the result; raises BackstepError if it cannot begin."""
    name = request.llm or settings.llm
    llms = open_unattended(settings, name)
    memory = memory_of(settings)

    def work(services: Services, worth: Worth) -> AsyncIterator[Worth]:
        made: dict[str, list[int]] = defaultdict(list)

        async def play(task: str, seed: int, changes: Changes) -> RunReport:
            found = environments.find(task)
            check_again(services, found, made[task], settings.on_gate)
            report = await run_headless(
                services,
                found,
                seed,
                preset=worth.preset,
                llm=llms.routed(name),
                budget=Budget(settings.max_steps, settings.max_llm_calls),
                on_gate=settings.on_gate,
                changes=changes,
            )
            if report.run is not None and report.steps:
                made[task].append(report.run)
            return report

        def was_used(run: int) -> bool:
            return used_in(services.store, run, worth.subject)

        say(f"{worth.subject.words}: {worth.total} pairs, preset {worth.preset}, LLM {name}")
        return _saying(measure(worth, play, was_used))

    def save(_services: Services, one: Worth) -> int:
        key, content = library_key(one.subject), one.model_dump_json()
        return memory.library().save_proof("worth", key, one.when, content, number=one.number or None)

    try:
        sources = sources_of(members_of(memory, request.subject))
        tasks = tasks_of(request.tasks, environments.tasks(), sources)
        began = Worth(
            subject=request.subject,
            tasks=tasks,
            unseeded=tuple(one.id for one in environments.tasks() if one.id in tasks and not one.seeded),
            seeds=request.seeds,
            preset=_preset(request.preset, settings),
            llm=name,
            browser=settings.browser,
            on_gate=settings.on_gate,
            left_out=tuple(one for one in sources if one[1] in request.seeds),
            trace=str(settings.database.absolute()),
            when=time.time(),
            **request.common,
        )
        if not began.cases:
            raise UsageError(
                "The exemplar was recorded at these seeds, so the result would say nothing: choose others."
            )
        found = _measure(began, work, save, settings, environments, llms, with_embedded, as_lines=as_lines)
    finally:
        memory.close()
    if as_json:
        put_json({**found.model_dump(), "worth": found.summary.model_dump(), "sentence": found.sentence})
    elif not as_lines:
        _print_worth(found)
    return found


async def _saying(worths: AsyncIterator[Worth]) -> AsyncIterator[Worth]:
    """Yield them, and say of each what its last pair came to."""
    async for one in worths:
        pair = one.pairs[-1]
        say(
            f"{pair.task}, seed {pair.seed}: with {success_word(pair.with_it.success)}, "
            f"without {success_word(pair.without_it.success)}"
        )
        yield one


def _preset(name: str, settings: Settings) -> str:
    """Return the preset that is meant, which has to have memory; raises UsageError and DataError."""
    presets = agent_resources_of(config_folder()).presets
    check_preset(config_folder(), name or settings.preset)
    if presets.get(name or settings.preset).memory is not None:
        return name or settings.preset
    if name:
        raise UsageError(f"The preset {name} uses no exemplars: choose one with memory, such as synapse.")
    return "synapse"


def _print_worth(found: Worth) -> None:
    put_table(("task", "seed", "with", "without", "used", "flip", "runs"), [_row(one) for one in found.pairs])
    for error in sorted({error for one in found.pairs for error in one.errors}):
        say(error)
    put(found.sentence)


def _row(pair: Pair) -> tuple[str, ...]:
    return (
        pair.task,
        str(pair.seed),
        success_word(pair.with_it.success),
        success_word(pair.without_it.success),
        "yes" if pair.with_it.used else "",
        pair.flip,
        f"{pair.with_it.run}, {pair.without_it.run}",
    )


def _measure(
    began: M,
    work: Callable[[Services, M], AsyncIterator[M]],
    save: Callable[[Services, M], int],
    settings: Settings,
    environments: Environments,
    llms: LLMs,
    with_embedded: WithEmbedded,
    *,
    as_lines: bool,
) -> M:
    """Store and return what `work` makes of a measurement, after each of its steps and at its end.

    `save` stores it and returns its number, which is 0 before. With `as_lines`
    each change is printed as a line of JSON. Raises Interrupted if it was
    cancelled, and what ends the work.
    """

    async def in_host(host: BrowserHost) -> M:
        teller = LineTeller(as_lines=as_lines)
        current = began
        async with services_in(host, settings, llms, environments) as services:

            def keep(changed: M) -> None:
                nonlocal current
                current = changed.replace(number=save(services, changed))
                teller.tell(current)

            try:
                keep(began)
                async for changed in work(services, current):
                    keep(changed)
                keep(current.ended())
            except BaseException as error:
                with contextlib.suppress(TraceError, LibraryError):
                    keep(current.failed(error))
                raise
        if current.state == "cancelled":
            raise Interrupted("Interrupted.")
        return current

    return in_browser(in_host, settings, with_embedded, shared=began.preset == ATTACHED.name)
