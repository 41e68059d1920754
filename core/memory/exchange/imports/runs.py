"""Runs that other programs recorded (browser-use, Chrome's Recorder), read as for the trace, as exemplars."""

from core.memory.exchange.records import (
    Candidate,
    Document,
    Reading,
    ReadOptions,
    id_of,
    made_exemplar,
    plain,
)
from core.schema.exemplar import ExemplarStep
from core.trace.imports.browser_use import is_browser_use_history, read_browser_use_history
from core.trace.imports.chrome_recorder import is_chrome_recording, read_chrome_recording
from core.trace.imports.records import FaultyError, FileEntry, ImportedRun, ImportedStep

_NO_PAGE = (
    "The file does not contain the pages. Observations have only the address and the element of each action."
)


def is_browser_use(document: Document) -> bool:
    return is_browser_use_history(document.value)


def is_recording(document: Document) -> bool:
    return is_chrome_recording(document.value)


def read_browser_use(document: Document, beside: Document | None, options: ReadOptions) -> Reading:
    """Read the history; one that did not come to its end, or says that it failed, is left out."""
    run = read_browser_use_history(document.value)
    last = document.value["history"][-1:]
    results = last[0].get("result") if last and isinstance(last[0], dict) else None
    listed = results if isinstance(results, list) else [results]
    ends = [one for one in listed if isinstance(one, dict)]
    why = ""
    if not any(one.get("is_done") is True for one in ends):
        why = "the agent did not say that it was done"
    elif any(one.get("success") is False for one in ends):
        why = "the agent said that it did not succeed"
    return _reading(run, document, options, why)


def read_recording(document: Document, beside: Document | None, options: ReadOptions) -> Reading:
    return _reading(read_chrome_recording(document.value), document, options, "")


def _reading(run: ImportedRun, document: Document, options: ReadOptions, why: str) -> Reading:
    """Return the run as one exemplar; what failed or was not carried out in it is left out."""
    left_out = [*run.left_out]
    name = document.path.stem
    if run.faulty and not why:
        why = f"{run.faulty[0].position} is faulty, and an exemplar must be complete"
    if why:
        left_out.append(FileEntry(position=document.path.name, why=why))
        return Reading(left_out=tuple(left_out), faulty=run.faulty)
    steps: list[ExemplarStep] = []
    remarks = [_NO_PAGE]
    for step in run.steps:
        if step.action is None or step.outcome != "done":
            reason = step.message or step.outcome
            left_out.append(FileEntry(position=step.position, why=f"it was not done: {reason}"))
            continue
        if step.action.kind == "named":
            remarks.append(f"{step.position}: {step.action} keeps its name.")
        observation = _observation(step)
        steps.append(ExemplarStep(observation=observation, thought=step.thought, actions=(str(step.action),)))
    try:
        if not steps:
            raise FaultyError("it contains no action that was carried out")
        if not run.instruction:
            remarks.append(f"The file does not contain the task: it is named {name!r} after the file.")
        exemplar = made_exemplar(
            id=id_of(run.made_with.split()[0], name),
            family=options.family or id_of(name),
            task=plain(run.instruction).strip() or name,
            steps=tuple(steps),
            source=f"{run.made_with}, {document.path.name}",
        )
    except FaultyError as error:
        entry = FileEntry(position=document.path.name, why=str(error))
        return Reading(left_out=tuple(left_out), faulty=(*run.faulty, entry))
    candidate = Candidate(position=document.path.name, exemplar=exemplar, remarks=tuple(remarks))
    return Reading(candidates=(candidate,), left_out=tuple(left_out), faulty=run.faulty)


def _observation(step: ImportedStep) -> str:
    place = " ".join(part for part in (step.title, step.url) if part)
    return "\n".join(line for line in (f"Page: {place}" if place else "", step.target) if line)
