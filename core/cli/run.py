"""The run command: one task without a window."""

from core.agent.state import Budget
from core.browser.host import BrowserHost
from core.cli.browsers import WithEmbedded, WithLoop, in_browser
from core.cli.output import put, put_json, say, step_line
from core.debugger.headless import RunReport, run_headless
from core.debugger.services import check_preset, open_services
from core.environments.registry import Environments
from core.llm.registry import open_llms
from core.schema.errors import UsageError
from core.schema.record import Record
from core.settings.settings import Settings, config_folder
from core.trace.replay_llm import ReplayLLM


class RunArguments(Record):
    """What the run command was given."""

    task: str = ""
    seed: int = 0
    url: str = ""
    instruction: str = ""
    preset: str
    llm: str
    max_steps: int
    profile: str | None = None
    as_json: bool = False


def run_task(
    arguments: RunArguments,
    settings: Settings,
    environments: Environments,
    *,
    with_embedded: WithEmbedded[RunReport],
    with_loop: WithLoop[RunReport],
) -> RunReport:
    """Run a task and print its progress and its report; raises BackstepError where it cannot begin."""
    if not arguments.task and not arguments.url:
        raise UsageError("Give a task (--task miniwob/click-test-2), or --url and --instruction.")
    task_id = arguments.task or "web/open"
    task = environments.find(task_id, url=arguments.url, instruction=arguments.instruction)
    llms = open_llms(settings, config_folder=config_folder(), replay=ReplayLLM)
    llm = llms.routed(arguments.llm)
    if arguments.llm == "person":
        raise UsageError('The LLM "person" needs a window; choose another with --llm.')
    check_preset(config_folder(), arguments.preset)

    async def work(host: BrowserHost) -> RunReport:
        services = await open_services(
            settings, host, llms=llms, environments=environments, config=config_folder()
        )
        try:
            say(f"{task.id}, seed {arguments.seed}, preset {arguments.preset}, LLM {arguments.llm}")
            return await run_headless(
                services,
                task,
                arguments.seed,
                preset=arguments.preset,
                llm=llm,
                budget=Budget(arguments.max_steps, settings.max_llm_calls),
                on_gate=settings.on_gate,
                profile=arguments.profile,
                on_step=lambda step: say(step_line(step)),
            )
        finally:
            await services.close()

    report = in_browser(work, settings, with_embedded=with_embedded, with_loop=with_loop)
    put_report(report, as_json=arguments.as_json)
    return report


def put_report(report: RunReport, *, as_json: bool) -> None:
    """Print what a run came to."""
    if as_json:
        put_json(report.model_dump())
        return
    ended = {True: "success", False: "no success", None: "not judged"}[report.success]
    put(f"run {report.run}: {report.outcome}, {ended}, {report.steps} steps, {report.seconds:.1f} s")
    if report.answer:
        put(f"answer: {report.answer}")
    if report.error:
        put(f"error: {report.error}")
