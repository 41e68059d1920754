"""The fork command: go back to a step of a stored run, and on from there, without a window."""

from pathlib import Path

from core.agent.branching import mechanism_of
from core.agent.presets import bounds
from core.agent.resources import agent_resources_of
from core.agent.state import Budget
from core.browser.host import BrowserHost
from core.cli.browsers import WithEmbedded, WithLoop, in_browser
from core.cli.output import say, step_line
from core.cli.run import put_report
from core.cli.runs import open_for_reading
from core.debugger.headless import RunReport, fork_headless
from core.debugger.services import check_preset, open_services
from core.environments.registry import Environments
from core.llm.registry import open_llms
from core.schema.changes import NONE, OWN, Changes
from core.schema.errors import NotInTraceError, UsageError
from core.schema.record import Record
from core.settings.settings import Settings, config_folder
from core.trace.records import RunRow
from core.trace.replay_llm import ReplayLLM


class ForkArguments(Record):
    """What the fork command was given."""

    run: int
    step: int
    preset: str | None = None
    """None for the run's own."""
    llm: str | None = None
    """None for the run's own."""
    policies: str | None = None
    """A folder of policies that win over the others."""
    exemplars: str | None = None
    """A folder or file of exemplars in place of all others, or none."""
    amounts: tuple[str, ...] = ()
    """Such as ``memory=5``."""
    max_steps: int
    offline: bool | None = None
    """None for as the run was."""
    as_json: bool = False


def fork_run(
    arguments: ForkArguments,
    settings: Settings,
    environments: Environments,
    *,
    with_embedded: WithEmbedded[RunReport],
    with_loop: WithLoop[RunReport],
) -> RunReport:
    """Fork a run and print its progress and its report; raises BackstepError where it cannot begin."""
    row = _row(settings, arguments)
    preset, name = arguments.preset or row.preset, arguments.llm or row.llm
    offline = row.offline if arguments.offline is None else arguments.offline
    llms = open_llms(settings, config_folder=config_folder(), replay=ReplayLLM)
    llm = llms.routed(name)
    if name == "person":
        raise UsageError('The LLM "person" needs a window; choose another with --llm.')
    check_preset(config_folder(), preset)
    changes = changes_of(arguments)

    async def work(host: BrowserHost) -> RunReport:
        services = await open_services(
            settings, host, llms=llms, environments=environments, config=config_folder()
        )
        try:
            alone = ", offline" if offline else ""
            say(
                f"run {row.run} ({row.task}, seed {row.seed}) from step {arguments.step}, preset {preset}, "
                f"LLM {name}{alone}"
            )
            return await fork_headless(
                services,
                row,
                arguments.step,
                preset=preset,
                llm=llm,
                budget=Budget(arguments.max_steps, settings.max_llm_calls),
                on_gate=settings.on_gate,
                changes=changes,
                on_step=lambda step: say(step_line(step)),
                on_restored=lambda restored: say(restored.sentence),
            )
        finally:
            await services.close()

    report = in_browser(work, settings, with_embedded=with_embedded, with_loop=with_loop)
    put_report(report, as_json=arguments.as_json)
    return report


def changes_of(arguments: ForkArguments) -> Changes:
    """Return what the branch is to do otherwise; raises UsageError and DataError where that cannot be."""
    amounts: dict[str, int] = {}
    for text in arguments.amounts:
        name, _, value = text.partition("=")
        least, most = bounds(mechanism_of(name.strip()))
        if not value.strip().isdecimal() or not least <= int(value) <= most:
            raise UsageError(f'"{text}" sets no amount: write {name}=N, with N from {least} to {most}.')
        amounts[name.strip()] = int(value)
    changes = Changes(
        preset=arguments.preset or "",
        llm=arguments.llm or "",
        policies=_place(arguments.policies),
        exemplars=arguments.exemplars if arguments.exemplars == NONE else _place(arguments.exemplars),
        amounts=amounts,
        offline=arguments.offline,
    )
    agent_resources_of(config_folder()).changed(changes)
    return changes


def _place(text: str | None) -> str | None:
    if text is None or text == OWN:
        return text
    return str(Path(text).expanduser().absolute())


def _row(settings: Settings, arguments: ForkArguments) -> RunRow:
    """Return the run; raises TraceError where there is no such run or step."""
    store = open_for_reading(settings)
    try:
        store.owner_of(arguments.run, arguments.step)
        return store.run(arguments.run)
    except NotInTraceError as error:
        raise UsageError(str(error)) from error
    finally:
        store.close()
