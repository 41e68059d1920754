"""The report of an evaluation's results so far, for people and programs."""

from typing import get_args

from pydantic import TypeAdapter

from core.debugger.causes.records import Suspicion
from core.debugger.causes.spectrum import suspicions_of
from core.debugger.evaluations.comparison import NOT_COMPARED, VariantComparison, compared
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.failures import FailureGroup, failures_of
from core.debugger.evaluations.figures import GroupShare, done_of, grouped
from core.debugger.evaluations.published import PublishedShare, published_for
from core.debugger.evaluations.records import EvaluationPlan, Making, WorthResult
from core.debugger.evaluations.worth import worth_result
from core.debugger.service import table_text
from core.schema.errors import TraceError
from core.schema.record import Record
from core.schema.restore import Grade
from core.schema.task import family_of
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import ended_at
from core.trace.records import EvaluatedRun, EvaluationRow
from core.trace.store import TraceStore


class EvaluationReport(Record):
    """An evaluation's results so far; the fields are a contract of the command line."""

    evaluation: int
    name: str
    when: float
    """When it was begun, in seconds since the epoch."""
    ended: float | None = None
    """When its last run ended; None while some are left."""
    plan: EvaluationPlan
    made: tuple[Making, ...] = ()
    """With what it was made: one for each start that was not like the one before."""
    total: int
    done: int
    why: str = ""
    """Why it ended before everything was done."""
    variants: tuple[GroupShare, ...]
    tasks: tuple[GroupShare, ...]
    """Each task with each variant."""
    families: tuple[GroupShare, ...] = ()
    """Each family of tasks with each variant."""
    presets: tuple[GroupShare, ...] = ()
    llms: tuple[GroupShare, ...] = ()
    comparison: VariantComparison | None = None
    """If there are two variants, and cases were not chosen by what runs came to."""
    not_compared: str = ""
    """Why two variants are not compared."""
    worth: WorthResult | None = None
    """If it measures an exemplar."""
    published: tuple[PublishedShare, ...] = ()
    """What papers have published of the same tasks; empty where cases were chosen by what runs came to."""
    failures: tuple[FailureGroup, ...] | None = None
    """None if they were not asked for."""
    suspicions: tuple[Suspicion, ...] = ()
    """What runs used, the most suspicious first; empty without failures."""
    runs: tuple[EvaluatedRun, ...] = ()
    """The run that counts for each case that is done."""


def report_of(store: TraceStore, row: EvaluationRow, why: str = "") -> EvaluationReport:
    """Count the results of an evaluation, which may be in progress; `why` says why it ended early."""
    plan = planned(row)
    tries = evaluated_runs(store, row.number)
    runs = done_of(tries)
    variants = {variant.name: variant for variant in plan.variants}
    names = list(variants)
    are_two = len(names) == 2
    try:
        made = TypeAdapter(tuple[Making, ...]).validate_json(row.made)
    except ValueError as error:
        raise TraceError(f"With what the evaluation {row.name} was made cannot be read.") from error
    return EvaluationReport(
        evaluation=row.number,
        name=row.name,
        when=row.when,
        ended=ended_at(store, row.number) if len(runs) >= plan.total else None,
        plan=plan,
        made=made,
        total=plan.total,
        done=len(runs),
        why=why,
        variants=grouped(tries, lambda run: (run.variant,), ("variant",), ((name,) for name in names)),
        tasks=_sorted(
            grouped(tries, lambda run: (run.task, run.variant), ("task", "variant")), plan.tasks, names
        ),
        families=_sorted(
            grouped(tries, lambda run: (family_of(run.task), run.variant), ("family", "variant")), (), names
        ),
        presets=grouped(tries, lambda run: (variants[run.variant].preset,), ("preset",)),
        llms=grouped(tries, lambda run: (variants[run.variant].llm,), ("llm",)),
        comparison=compared(runs, names[0], names[1]) if are_two and not plan.is_chosen else None,
        not_compared=NOT_COMPARED if are_two and plan.is_chosen else "",
        worth=worth_result(store, row, plan) if plan.kind == "worth" else None,
        published=published_for(plan.tasks) if plan.kind == "tasks" and not plan.is_chosen else (),
        runs=runs,
    )


def with_failures(store: TraceStore, report: EvaluationReport) -> EvaluationReport:
    """Return the report with its failures grouped, and what failed runs used."""
    failures = failures_of(store, report.runs)
    return report.replace(failures=failures, suspicions=suspicions_of(store, report.runs) if failures else ())


def _sorted(
    groups: tuple[GroupShare, ...], tasks: tuple[str, ...], variants: list[str]
) -> tuple[GroupShare, ...]:
    """Return groups in the order of the tasks, or of the names of the families, and then of the variants."""
    place = {task: at for at, task in enumerate(tasks)}
    return tuple(
        sorted(
            groups, key=lambda group: (place.get(group.task, 0), group.family, variants.index(group.variant))
        )
    )


def csv_of(report: EvaluationReport) -> str:
    """Return a line for each run that counts, in order, with all that is counted of it."""
    steps = {run.run: run.step for group in report.failures or () for run in group.runs}
    return table_text([_csv_line(run, steps.get(run.run, 0)) for run in report.runs])


def _csv_line(run: EvaluatedRun, step: int) -> dict[str, object]:
    return {
        **run.model_dump(exclude={"gone_back"}),
        "family": family_of(run.task),
        "seconds_beside_llm": run.seconds_beside_llm,
        "deciding_step": step or None,
        **{f"gone_back_{grade.replace(' ', '_')}": run.gone_back.get(grade, 0) for grade in get_args(Grade)},
    }
