"""The runs of an evaluation as comma-separated values, one line per run."""

from typing import get_args

from core.debugger.evaluations.report import EvaluationReport
from core.debugger.service import table_text
from core.schema.restore import Grade
from core.schema.task import family_of
from core.trace.records import EvaluatedRun


def csv_of(report: EvaluationReport) -> str:
    """Return a line for each run that counts, in order, with all that is counted of it."""
    steps = {run.run: run.step for group in report.failures or () for run in group.runs}
    return table_text([_line(run, steps.get(run.run, 0)) for run in report.runs])


def _line(run: EvaluatedRun, step: int) -> dict[str, object]:
    return {
        **run.model_dump(exclude={"gone_back"}),
        "family": family_of(run.task),
        "seconds_beside_llm": run.seconds_beside_llm,
        "deciding_step": step or None,
        **{f"gone_back_{grade.replace(' ', '_')}": run.gone_back.get(grade, 0) for grade in get_args(Grade)},
    }
