"""Writes the file that the desk's tasks are listed from: ``python -m tests.core.environments.airline.task_list``."""

import json

from core.environments.airline.environment import KINDS, TASKS
from core.environments.airline.scenarios import make
from core.environments.airline.wording import instruction


def task_list() -> list[dict[str, object]]:
    """Return what the file has to hold: each task with its instruction at seed 0."""
    return [
        {
            "id": f"airline/{name}",
            "instruction": instruction(make(0, kind)),
            "tags": ["site", "booking" if "booking" in name or "change" in name else "flights"],
        }
        for name, kind in KINDS.items()
    ]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(task, ensure_ascii=False) for task in task_list())
    TASKS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
