"""Runs that other programs recorded (browser-use, Chrome's Recorder), read as for the trace, as exemplars."""

from core.exemplars.exchange.documents import Document
from core.exemplars.exchange.foreign import plain
from core.exemplars.exchange.reading import LeftOutError, Reading, id_of
from core.schema.exemplar import ExemplarStep
from core.trace.imports.browser_use import is_browser_use_history, read_browser_use_history
from core.trace.imports.chrome_recorder import is_chrome_recording, read_chrome_recording
from core.trace.imports.records import FaultyError, ImportedRun, ImportedStep

_NO_PAGE = (
    "The file does not contain the pages. Observations have only the address and the element of each action."
)


def is_browser_use(document: Document) -> bool:
    return is_browser_use_history(document.value)


def is_recording(document: Document) -> bool:
    return is_chrome_recording(document.value)


def read_browser_use(reading: Reading) -> None:
    """Read the history; one that did not come to its end, or says that it failed, is left out."""
    history = reading.document.value["history"]
    last = history[-1].get("result") if history and isinstance(history[-1], dict) else None
    results = [result for result in (last if isinstance(last, list) else [last]) if isinstance(result, dict)]
    why = ""
    if not any(result.get("is_done") is True for result in results):
        why = "the agent did not say that it was done"
    elif any(result.get("success") is False for result in results):
        why = "the agent said that it did not succeed"
    _add(reading, read_browser_use_history(reading.document.value), why)


def read_recording(reading: Reading) -> None:
    _add(reading, read_chrome_recording(reading.document.value), "")


def _add(reading: Reading, run: ImportedRun, why: str) -> None:
    """Add the run as one exemplar; what failed or was not carried out in it is left out."""
    position = reading.document.path.name
    for entry in run.left_out:
        reading.leave_out(entry.position, entry.why)
    for entry in run.faulty:
        reading.fault(entry.position, entry.why)
    with reading.entry(position):
        if run.faulty and not why:
            why = f"{run.faulty[0].position} is faulty, and an exemplar must be complete"
        if why:
            raise LeftOutError(why)
        steps: list[ExemplarStep] = []
        remarks = [_NO_PAGE]
        for step in run.steps:
            if step.action is None or step.outcome != "done":
                reading.leave_out(step.position, f"it was not done: {step.message or step.outcome}")
                continue
            if step.action.kind == "named":
                remarks.append(f"{step.position}: {step.action} keeps its name.")
            page = _observation(step)
            steps.append(ExemplarStep(observation=page, thought=step.thought, actions=(str(step.action),)))
        if not steps:
            raise FaultyError("it contains no action that was carried out")
        if not run.instruction:
            remarks.append(
                f"The file does not contain the task: it is named {reading.name!r} after the file."
            )
        values = {
            "id": id_of(run.made_with.split()[0], reading.name),
            "family": id_of(reading.name),
            "task": plain(run.instruction).strip() or reading.name,
            "steps": steps,
            "source": f"{run.made_with}, {position}",
        }
        reading.add(position, values, remarks)


def _observation(step: ImportedStep) -> str:
    place = " ".join(part for part in (step.title, step.url) if part)
    return "\n".join(line for line in (f"Page: {place}" if place else "", step.target) if line)
