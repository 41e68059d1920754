"""Traces of BrowserGym and AgentLab, as far as they can be read without opening a pickle.

Read are `steps_info.json` (one step or a list of them, as `save_json` writes
it), documents with a list of `steps` as trajectories are published, and the
`summary_info.json` beside them. The steps of an experiment's folder are
pickles: these are never opened, as that would run what is in them.
"""

import re
from pathlib import Path
from typing import Any

from core.memory.exchange.browsergym_actions import read_calls
from core.memory.exchange.documents import PICKLE, Document, read_document
from core.memory.exchange.ids import id_of
from core.memory.exchange.records import Candidate, Reading, ReadOptions, made_exemplar
from core.memory.exchange.values import MisplacedError, object_of, plain
from core.schema.errors import DataError
from core.schema.exemplar import ExemplarStep
from core.trace.imports.records import FaultyError, FileEntry

SUMMARY = "summary_info.json"
STEPS = "steps_info.json"
_PAGES = ("axtree_txt", "axtree_pruned", "axtree", "pruned_html", "dom_txt", "text_obs")
_THOUGHTS = ("think", "thought", "reasoning")


def is_experiment(folder: Path) -> bool:
    """Return whether the folder is one experiment: a summary, or the pickles of one."""
    return any((folder / name).is_file() for name in (SUMMARY, STEPS, "exp_args.pkl", "step_0.pkl.gz"))


def is_browsergym(document: Document) -> bool:
    if document.path.name == SUMMARY:
        return isinstance(document.value, dict)
    return any(isinstance(one, dict) and "action" in one for one in _steps_of(document.value)[0])


def read_browsergym(document: Document, beside: Document | None, options: ReadOptions) -> Reading:
    """Read a document of steps, with the summary beside it where there is one."""
    name = document.path.name
    if name == SUMMARY:
        why = f"it tells how the run went and not what was done: import its folder, or {STEPS}"
        return Reading(left_out=(FileEntry(position=name, why=why),))
    entries, where = _steps_of(document.value)
    summary = beside.value if beside is not None and isinstance(beside.value, dict) else {}
    about = document.value if isinstance(document.value, dict) else {}
    inner = about.get("summary_info")
    summary = summary or (inner if isinstance(inner, dict) else {})
    label = _label(document.path)
    first = entries[0] if entries and isinstance(entries[0], dict) else {}
    if isinstance(first.get("step"), int) and first["step"] > 0:
        why = f"it begins at step {first['step']}: {STEPS} holds only the last step if it was written over at each"
        return Reading(left_out=(FileEntry(position=name, why=why),))
    reward, judged = _reward(entries, summary)
    if judged and reward < options.least_reward:
        why = f"its reward is {reward:.3g}, less than {options.least_reward:g}"
        return Reading(left_out=(FileEntry(position=name, why=why),))
    return _trajectory(entries, where, about, label, reward if judged else None, options)


def read_experiment(folder: Path, options: ReadOptions) -> Reading:
    """Read the folder of one experiment; raises DataError where its JSON is none."""
    summary = read_document(folder / SUMMARY) if (folder / SUMMARY).is_file() else None
    reading = Reading()
    if (folder / STEPS).is_file():
        reading = read_browsergym(read_document(folder / STEPS), summary, options)
    pickles = sorted(one.name for one in folder.iterdir() if one.name.endswith((".pkl", ".pkl.gz")))
    if not reading.candidates and pickles:
        shown = pickles[0] if len(pickles) == 1 else f"{pickles[0]} and {len(pickles) - 1} more"
        entry = FileEntry(position=shown, why=f"it {PICKLE}" if len(pickles) == 1 else f"each {PICKLE}")
        return reading.replace(left_out=(*reading.left_out, entry))
    if not (folder / STEPS).is_file():
        entry = FileEntry(
            position=SUMMARY, why=f"the folder holds no {STEPS}: how the run went is no trajectory"
        )
        return Reading(left_out=(entry,))
    return reading


def _steps_of(value: object) -> tuple[list[Any], str]:
    """Return the steps of a document and what they are called in it."""
    if isinstance(value, list):
        return value, ""
    if isinstance(value, dict):
        if isinstance(value.get("steps"), list):
            return value["steps"], "steps"
        if "action" in value and "obs" in value:
            return [value], ""
    return [], ""


def _label(path: Path) -> str:
    return path.parent.name if path.name == STEPS and path.parent.name else path.stem


def _reward(entries: list[Any], summary: dict[str, Any]) -> tuple[float, bool]:
    """Return what the run got, and whether anything tells it."""
    total = summary.get("cum_reward")
    if isinstance(total, (int, float)) and not isinstance(total, bool):
        return float(total), True
    given = [one.get("reward") for one in entries if isinstance(one, dict)]
    numbers = [float(one) for one in given if isinstance(one, (int, float)) and not isinstance(one, bool)]
    return sum(numbers), bool(numbers)


def _trajectory(
    entries: list[Any],
    where: str,
    about: dict[str, Any],
    label: str,
    reward: float | None,
    options: ReadOptions,
) -> Reading:
    left_out: list[FileEntry] = []
    remarks: list[str] = []
    steps: list[ExemplarStep] = []
    task = _goal(about)
    try:
        values = [object_of(one, f"{where}[{number}]") for number, one in enumerate(entries)]
        acted = [number for number, one in enumerate(values) if one.get("action") is not None]
        for number in acted:
            position = f"{where}[{number}]"
            one, after = values[number], values[number + 1] if number + 1 < len(values) else {}
            task = task or _goal(_part(one, "obs"))
            error = _said(after, ("last_action_error",))
            if error:
                left_out.append(
                    FileEntry(position=position, why=f"its action failed: {error.splitlines()[0][:160]}")
                )
                continue
            if not isinstance(one["action"], str):
                raise MisplacedError(f"{position}.action", "it has to be a text")
            page = _said(one, _PAGES)
            try:
                read = read_calls(one["action"], page, is_last=number == acted[-1])
            except FaultyError as fault:
                raise MisplacedError(f"{position}.action", str(fault)) from fault
            if not page:
                remarks.append(f"{position}: it does not hold the page as text")
            remarks += [f"{position}: {remark}" for remark in read.remarks]
            steps.append(ExemplarStep(observation=page, thought=_thought(one), actions=read.actions))
        if not steps:
            raise FaultyError("it holds no action that was carried out")
        if not task:
            raise FaultyError("it does not tell the goal (obs.goal, or goal beside the steps)")
        if reward is None:
            remarks.append("Nothing tells whether it was a success.")
        exemplar = made_exemplar(
            id=id_of("browsergym", label),
            family=options.family
            or _family(plain(about.get("task_id")) or plain(about.get("task_name")) or label),
            task=task,
            steps=tuple(steps),
            source=f"BrowserGym, {label}",
            tags=("browsergym",),
        )
    except FaultyError as fault:
        position = fault.position if isinstance(fault, MisplacedError) else label
        return Reading(left_out=tuple(left_out), faulty=(FileEntry(position=position, why=str(fault)),))
    candidate = Candidate(position=label, exemplar=exemplar, remarks=tuple(remarks))
    return Reading(candidates=(candidate,), left_out=tuple(left_out))


def _part(values: dict[str, Any], name: str) -> dict[str, Any]:
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def _said(values: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of these texts, of the step itself or its observation."""
    places = (values, _part(values, "obs"))
    return next((text for name in names for one in places if (text := plain(one.get(name))).strip()), "")


def _thought(values: dict[str, Any]) -> str:
    places = (values, _part(values, "agent_info"))
    return next((text for name in _THOUGHTS for one in places if (text := plain(one.get(name)))), "")


def _goal(values: dict[str, Any]) -> str:
    goal = plain(values.get("goal"))
    if goal.strip():
        return goal
    parts = values.get("goal_object")
    texts = (
        [plain(one.get("text")) for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []
    )
    return "\n".join(text for text in texts if text)


def _family(label: str) -> str:
    """Return the task's name, without the seed that experiments add to it."""
    name = re.sub(r"^.*?_on_", "", label)
    return re.sub(r"[._](\d+)$", "", name) or label


def open_experiments(folder: Path) -> tuple[Path, ...]:
    """Return the folders of experiments in this one, itself too; raises DataError where it cannot be gone through."""
    try:
        inside = {one.parent for one in folder.rglob(SUMMARY)} | {
            one.parent for one in folder.rglob("exp_args.pkl")
        }
    except OSError as error:
        raise DataError(f"{folder} cannot be read ({error.strerror}); check that it is there.") from error
    return tuple(sorted(inside | ({folder} if is_experiment(folder) else set())))
