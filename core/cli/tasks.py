"""The list of tasks."""

from core.cli.output import put_json, put_table
from core.environments.registry import Environments


def list_tasks(environments: Environments, *, as_json: bool) -> None:
    """Print all tasks with id, environment, instruction sample and tags."""
    tasks = environments.tasks()
    if as_json:
        put_json(
            [
                {"id": t.id, "environment": t.environment, "instruction": t.instruction, "tags": list(t.tags)}
                for t in tasks
            ]
        )
        return
    put_table(("task", "tags", "instruction"), [(t.id, " ".join(t.tags), t.instruction) for t in tasks])
