"""A run with changed exemplars, to its end."""

from core.agent.state import Budget
from core.debugger.headless import RunReport, run_headless
from core.schema.changes import Changes
from tests.core.stage import Stage, llms_for, settings_for


def one_run(stage: Stage, changes: Changes, task: str = "miniwob/click-link", seed: int = 0) -> RunReport:
    """Let the built-in LLM do a task with the preset synapse."""
    llms = llms_for(settings_for(stage.settings.database))
    try:
        return stage.thread.run(
            run_headless(
                stage.services,
                stage.services.environments.find(task),
                seed,
                preset="synapse",
                llm=llms.routed("rules"),
                budget=Budget(),
                on_gate="allow",
                changes=changes,
            )
        )
    finally:
        stage.thread.run(llms.close())
