"""Writes the file that the shop's tasks are listed from: ``python -m tests.core.environments.shop.task_list``."""

import json

from core.environments.shop.environment import TASKS
from core.environments.shop.goals import bundled_goals


def task_list() -> list[dict[str, object]]:
    """Return what the file has to hold."""
    return [
        {"id": f"shop/{goal.name}", "instruction": goal.instruction, "tags": list(goal.tags)}
        for goal in bundled_goals()
    ]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(task, ensure_ascii=False) for task in task_list())
    TASKS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
