"""A run to its end as the command line does it, asked of the scripted server."""

from core.agent.state import Budget
from core.debugger.headless import RunReport, run_headless
from core.settings.settings import LLMSettings, OnGate
from tests.core.stage import Stage, llms_for, settings_for
from tests.llm_server import LLMServer


def headless(
    stage: Stage,
    server: LLMServer,
    task: str,
    preset: str,
    *,
    on_gate: OnGate = "refuse",
    url: str = "",
    instruction: str = "",
) -> RunReport:
    """Run the task, or one on the open web at `url`; `on_gate` is by default what the settings have by default."""
    entry = LLMSettings(base_url=server.base_url, model="test-model", attempts=1)
    llms = llms_for(settings_for(stage.settings.database, llms={"test": entry}))
    services = stage.services
    try:
        return stage.thread.run(
            run_headless(
                services,
                services.environments.find(task, url=url, instruction=instruction),
                0,
                preset=preset,
                llm=llms.routed("test"),
                budget=Budget(),
                on_gate=on_gate,
            )
        )
    finally:
        stage.thread.run(llms.close())
