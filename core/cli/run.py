"""The commands run and fork: a task, or a branch of a stored run, without a window."""

from collections.abc import Iterable

from core.agent.branching import mechanism_of
from core.agent.presets import ATTACHED, bounds
from core.agent.resources import agent_resources_of
from core.agent.run_history import budget_of
from core.agent.state import Budget
from core.browser.host import BrowserHost
from core.cli.options import TaskChosen
from core.cli.output import put, put_json, say, step_line
from core.cli.runs import reading
from core.cli.surroundings import WithEmbedded, in_browser, open_unattended, services_in
from core.debugger.headless import RunReport, fork_headless, run_headless
from core.debugger.services import check_preset
from core.environments.registry import Environments
from core.llm.registry import PREFIX
from core.schema.changes import OWN, Changes
from core.schema.errors import UsageError
from core.settings.settings import Settings, config_folder
from core.system.paths import expanded
from core.trace.replay_llm import read_name


def run_task(
    chosen: TaskChosen,
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    *,
    profile: str | None,
    max_steps: int | None,
    as_json: bool,
) -> RunReport:
    """Run a task and print its progress and its report; raises BackstepError if it cannot begin."""
    if not chosen.task and not chosen.url:
        raise UsageError("Choose a task (--task miniwob/click-test-2), or use --url and --instruction.")
    task = environments.find(chosen.task or "web/open", url=chosen.url, instruction=chosen.instruction)
    llms = open_unattended(settings, settings.llm)
    check_preset(config_folder(), settings.preset)
    budget = _budget(settings, settings.llm, max_steps)

    async def work(host: BrowserHost) -> RunReport:
        async with services_in(host, settings, llms, environments) as services:
            say(f"{task.id}, seed {chosen.seed}, preset {settings.preset}, LLM {settings.llm}")
            return await run_headless(
                services,
                task,
                chosen.seed,
                preset=settings.preset,
                llm=llms.routed(settings.llm),
                budget=budget,
                on_gate=settings.on_gate,
                profile=profile,
                on_step=lambda step: say(step_line(step)),
            )

    report = in_browser(work, settings, with_embedded)
    _put_report(report, as_json=as_json)
    return report


def fork_run(
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    run: int,
    step: int,
    changes: Changes,
    *,
    max_steps: int | None,
    as_json: bool,
) -> RunReport:
    """Fork a run at a step and print its progress and its report; raises BackstepError if it cannot begin."""
    with reading(settings) as store:
        store.owner_of(run, step)
        row = store.run(run)
    preset, name = changes.preset or row.preset, changes.llm or row.llm
    offline = row.offline if changes.offline is None else changes.offline
    llms = open_unattended(settings, name)
    check_preset(config_folder(), preset)
    agent_resources_of(config_folder()).changed(changes)
    budget = _budget(settings, name, max_steps)

    async def work(host: BrowserHost) -> RunReport:
        async with services_in(host, settings, llms, environments) as services:
            alone = ", offline" if offline else ""
            say(
                f"run {row.run} ({row.task}, seed {row.seed}) from step {step}, preset {preset}, "
                f"LLM {name}{alone}"
            )
            return await fork_headless(
                services,
                row,
                step,
                preset=preset,
                llm=llms.routed(name),
                budget=budget,
                on_gate=settings.on_gate,
                changes=changes,
                on_step=lambda step: say(step_line(step)),
                on_restored=lambda restored: say(restored.sentence),
            )

    report = in_browser(work, settings, with_embedded, shared=preset == ATTACHED.name)
    _put_report(report, as_json=as_json)
    return report


def _budget(settings: Settings, llm: str, max_steps: int | None) -> Budget:
    """Return the limits of a run. A repeated one ends where the recorded one did, unless `max_steps` is given."""
    if llm.startswith(PREFIX) and max_steps is None:
        run, live = read_name(llm)
        with reading(settings) as store:
            if not live and (budget := budget_of(store, run)) is not None:
                return budget
    return Budget(settings.max_steps, settings.max_llm_calls)


def place_of(text: str | None) -> str | None:
    """Return a folder or file that a flag names as an absolute path; `OWN` stays."""
    return text if text is None or text == OWN else str(expanded(text).absolute())


def amounts_of(texts: Iterable[str]) -> dict[str, int]:
    """Return mechanisms with their numbers, given as ``memory=5``; raises UsageError."""
    amounts: dict[str, int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        least, most = bounds(mechanism_of(name.strip()))
        if not value.strip().isdecimal() or not least <= int(value) <= most:
            raise UsageError(f'"{text}" sets no amount: write {name}=N, with N from {least} to {most}.')
        amounts[name.strip()] = int(value)
    return amounts


def _put_report(report: RunReport, *, as_json: bool) -> None:
    """Print what a run came to."""
    if as_json:
        put_json(report.model_dump())
        return
    ended = {True: "success", False: "no success", None: "not judged"}[report.success]
    put(f"run {report.run}: {report.outcome}, {ended}, {report.steps} steps, {report.seconds:.1f} s")
    if report.reason:
        put(f"judge: {report.reason}")
    if report.answer:
        put(f"answer: {report.answer}")
    if report.error:
        put(f"error: {report.error}")
