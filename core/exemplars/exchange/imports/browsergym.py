"""Traces of BrowserGym and AgentLab, as far as they can be read without opening a pickle.

Read are `steps_info.json` (one step or a list of them), documents with a list
of `steps` as trajectories are published, and the `summary_info.json` next to
them. The steps of an experiment's folder are pickles: these are never opened,
as that would run what is in them.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from core.exemplars.exchange.documents import Document, is_pickle
from core.exemplars.exchange.foreign import (
    AnyNumber,
    AnyObject,
    Foreign,
    MisplacedError,
    Text,
    finite,
    parsed,
    plain,
)
from core.exemplars.exchange.gym_calls import read_calls
from core.exemplars.exchange.reading import LeftOutError, Reading, id_of
from core.schema.exemplar import ExemplarStep
from core.settings.file_kinds import PICKLE
from core.trace.imports.records import FaultyError

SUMMARY = "summary_info.json"
STEPS = "steps_info.json"
_PAGES = ("axtree_txt", "axtree_pruned", "axtree", "pruned_html", "dom_txt", "text_obs")


class _Step(Foreign):
    model_config = ConfigDict(extra="allow")

    action: Text | None = None
    reward: AnyNumber = None
    step: AnyNumber = None
    obs: AnyObject = {}
    agent_info: AnyObject = {}

    def said(self, *names: str) -> str:
        """Return the first of these texts, of the step itself, its observation or what the agent tells."""
        places = (self.model_extra or {}, self.obs, self.agent_info)
        return next(
            (text for name in names for place in places if (text := plain(place.get(name))).strip()), ""
        )


def is_browsergym(document: Document) -> bool:
    if document.path.name == SUMMARY:
        return isinstance(document.value, dict)
    return any(isinstance(step, dict) and "action" in step for _, step in _steps(document))


def read_browsergym(reading: Reading) -> None:
    """Read a document of steps, with the summary next to it if there is one."""
    document, about = reading.document, reading.document.fields
    is_named = document.path.name == STEPS and document.path.parent.name
    label = document.path.parent.name if is_named else reading.name
    with reading.entry(label):
        if document.path.name == SUMMARY:
            raise LeftOutError(f"it is a summary without steps: import its folder, or {STEPS}")
        steps = [(position, parsed(_Step, step, position)) for position, step in _steps(document)]
        if (first := steps[0][1].step) and first > 0:
            why = f"{STEPS} contains only the last step if each step overwrote it"
            raise LeftOutError(f"it begins at step {first:g}: {why}")
        rewards = [step.reward for _, step in steps if step.reward is not None]
        summary = document.beside or about.get("summary_info")
        reward = finite(summary.get("cum_reward")) if isinstance(summary, dict) else None
        if reward is None and rewards:
            reward = sum(rewards)
        if reward is not None:
            reading.judge(reward)
        remarks = [] if reward is not None else ["It is not known whether it was a success."]
        task = next(filter(None, map(_goal, (about, *(step.obs for _, step in steps)))), "")
        taken = list(_taken(reading, steps, remarks))
        if not taken:
            raise FaultyError("it contains no action that was carried out")
        if not task:
            raise FaultyError("it does not contain the goal (obs.goal, or goal next to the steps)")
        name = plain(about.get("task_id")) or plain(about.get("task_name")) or label
        values = {
            "id": id_of("browsergym", label),
            # Without the seed that experiments add to the task's name.
            "family": re.sub(r"[._](\d+)$", "", re.sub(r"^.*?_on_", "", name)) or name,
            "task": task,
            "steps": taken,
            "source": f"BrowserGym, {label}",
            "tags": ("browsergym",),
        }
        reading.add(label, values, remarks)


def experiments(folder: Path) -> tuple[Path, ...]:
    """Return the folders of experiments in this one, itself too; raises OSError."""
    inside = {file.parent for name in (SUMMARY, "exp_args.pkl") for file in folder.rglob(name)}
    if any((folder / name).is_file() for name in (STEPS, "step_0.pkl.gz")):
        inside.add(folder)
    return tuple(sorted(inside))


def without_steps(experiment: Path) -> tuple[str, str]:
    """Return where the steps of an experiment without readable ones are, and why they are left out."""
    pickles = sorted(file.name for file in experiment.iterdir() if is_pickle(file))
    if not pickles:
        return SUMMARY, f"the folder contains no {STEPS}, so there is no trajectory"
    if len(pickles) == 1:
        return pickles[0], f"it is {PICKLE.reason()}"
    return f"{pickles[0]} and {len(pickles) - 1} more", f"each is {PICKLE.reason()}"


def _steps(document: Document) -> list[tuple[str, Any]]:
    """Return the steps of a document with their places."""
    value, where = document.value, ""
    if isinstance(value, dict):
        where = "steps" if isinstance(value.get("steps"), list) else ""
        value = value["steps"] if where else [value] if {"action", "obs"} <= value.keys() else []
    return [
        (f"{where}[{number}]", step) for number, step in enumerate(value if isinstance(value, list) else ())
    ]


def _goal(values: dict[str, Any]) -> str:
    if (goal := plain(values.get("goal"))).strip():
        return goal
    parts = values.get("goal_object")
    texts = (
        [plain(part.get("text")) for part in parts if isinstance(part, dict)]
        if isinstance(parts, list)
        else []
    )
    return "\n".join(filter(None, texts))


def _taken(reading: Reading, steps: list[tuple[str, _Step]], remarks: list[str]) -> Iterator[ExemplarStep]:
    """Give the steps whose action did not fail."""
    acted = [number for number, (_, step) in enumerate(steps) if step.action is not None]
    for number in acted:
        position, step = steps[number]
        if number + 1 < len(steps) and (error := steps[number + 1][1].said("last_action_error")):
            reading.leave_out(position, f"its action failed: {error.splitlines()[0][:160]}")
            continue
        page = step.said(*_PAGES)
        step_remarks = [] if page else ["it does not contain the page as text"]
        actions = read_calls((step.action or "").strip(), page, step_remarks, is_last=number == acted[-1])
        if not actions:
            raise MisplacedError(position, "action", "it has no action")
        remarks += [f"{position}: {remark}" for remark in step_remarks]
        thought = step.said("think", "thought", "reasoning")
        yield ExemplarStep(observation=page, thought=thought, actions=tuple(actions))
