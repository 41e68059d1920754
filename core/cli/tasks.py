"""The list of tasks."""

from core.cli.output import put, put_json, put_table
from core.environments.registry import Environments


def list_tasks(environments: Environments, *, as_json: bool) -> None:
    """Print all tasks with id, environment, instruction sample and tags, then those that cannot be run and why."""
    tasks = environments.tasks()
    unsupported = [task for source in environments.sources for task in source.unsupported]
    if as_json:
        put_json(
            [
                {"id": t.id, "environment": t.environment, "instruction": t.instruction, "tags": list(t.tags)}
                for t in tasks
            ]
            + [{"id": task.id, "unsupported": task.why, "place": task.place} for task in unsupported]
        )
        return
    put_table(("task", "tags", "instruction"), [(t.id, " ".join(t.tags), t.instruction) for t in tasks])
    if unsupported:
        put("")
        put_table(
            ("not supported", "place", "why"), [(task.id, task.place, task.why) for task in unsupported]
        )
