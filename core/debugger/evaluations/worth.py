"""Worth: tasks at the same seeds, with and without an exemplar, a family of them, or a change of one."""

import re
from collections.abc import Iterable
from contextlib import suppress

from pydantic import ValidationError

from core.agent.resources import AgentResources
from core.debugger.evaluations.comparison import compared
from core.debugger.evaluations.figures import done_of
from core.debugger.evaluations.records import (
    EvaluationPlan,
    Subject,
    Variant,
    WorthRequest,
    WorthResult,
    checked,
)
from core.debugger.evaluations.selection import fitting, read_seeds
from core.exemplars.checks import fault
from core.exemplars.library.records import Filter, about_family
from core.exemplars.library.store import Library
from core.exemplars.memory import Memory
from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar
from core.schema.step import Recalled, record_of
from core.schema.task import Task
from core.settings.settings import Settings
from core.trace.calls import exemplars_sent
from core.trace.evaluated import evaluated_runs
from core.trace.records import EvaluationRow
from core.trace.store import TraceStore

WITH, WITHOUT = "with", "without"
_SOURCE = re.compile(r"(?:^|[\s,])(?P<task>[^\s,]+/[^\s,]+) seed (?P<seed>\d+)\b")
_VERSIONS = re.compile(r"(\d{1,18}):(\d{1,18})")
"""SQLite holds every number of so many digits."""
_USUAL = "synapse"
"""The preset that is taken if that of the settings uses no exemplars."""


def read_subject(name: str, *, is_family: bool, change: str) -> Subject:
    """Return what the flags of the command line name; `change` is two versions, such as ``1:2``. Raises UsageError."""
    if not change:
        return Subject(kind="family" if is_family else "exemplar", name=name)
    versions = _VERSIONS.fullmatch(change)
    if is_family or versions is None:
        raise UsageError("--change takes two versions of one exemplar, such as --change 1:2.")
    try:
        return Subject(kind="change", name=name, before=int(versions[1]), after=int(versions[2]))
    except ValidationError as error:
        raise UsageError(
            "--change takes two different versions of one exemplar, such as --change 1:2."
        ) from error


def worth_plan(
    request: WorthRequest, settings: Settings, known: Iterable[Task], resources: AgentResources
) -> EvaluationPlan:
    """Return what is to be done of the `known` tasks.

    Raises UsageError if nothing can be measured, LibraryError and DataError.
    """
    subject = request.subject
    sources = sources_of(members_of(resources.memory, subject))
    tasks = tasks_of(request.tasks, known, sources)
    preset = request.preset or settings.preset
    if resources.presets.get(preset).memory is None:
        if request.preset:
            raise UsageError(
                f"The preset {preset} uses no exemplars; choose one with memory, such as {_USUAL}."
            )
        preset = _USUAL
    llm = request.llm or settings.llm
    plan = checked(
        EvaluationPlan(
            kind="worth",
            subject=subject,
            variants=(
                Variant(preset=preset, llm=llm, title=WITHOUT, asked=subject.without_it),
                Variant(preset=preset, llm=llm, title=WITH, asked=subject.with_it),
            ),
            tasks=tasks,
            seeds=read_seeds(request.seeds),
            times=request.times,
        )
    )
    cases = tuple(case for _, case in plan.cases() if (case.task, case.seed) not in sources)
    if not cases:
        raise UsageError(
            "The exemplar was recorded at these seeds, so the result would say nothing: choose others."
        )
    return plan if len(cases) == plan.total else plan.replace(only=cases)


def members_of(memory: Memory, subject: Subject) -> tuple[Exemplar, ...]:
    """Return the exemplars that are measured; raises UsageError if there are none, LibraryError and DataError."""
    if subject.kind == "family":
        found = tuple(entry.exemplar for entry in memory.library().entries(Filter(family=subject.name)))
        if not found:
            raise UsageError(
                f"There is no family {subject.name}; list the families with `exemplars list --counts`."
            )
        if not (members := tuple(one for one in found if not _unused(one))):
            raise UsageError(f"No run recalls an exemplar of {subject.name}: {_unused(found[0])}.")
        return members
    exemplar = memory.exemplar(subject.name)
    if exemplar is None:
        raise UsageError(
            f"There is no exemplar {subject.name}; list them with `exemplars list`, or see the library (Ctrl+L)."
        )
    if (why := _unused(exemplar)) and subject.kind == "exemplar":
        raise UsageError(f"No run recalls {why}.")
    if exemplar.review.status != "reviewed":
        raise UsageError(f"No run recalls any version of {why}.")
    if subject.kind == "change":
        library = memory.library()
        return tuple(library.at(subject.name, number) for number in (subject.before, subject.after))
    return (exemplar,)


def _unused(exemplar: Exemplar) -> str:
    """Return why no run recalls an exemplar, so that to leave it out would change nothing; empty if runs do."""
    if exemplar.review.status != "reviewed":
        return f"{exemplar.id}, which is {exemplar.review.status}; mark it as reviewed first"
    words = "" if exemplar.review.although else fault(exemplar)
    return f"{exemplar.id}, which has a fault ({words.rstrip('.')}); mend it first" if words else ""


def sources_of(members: Iterable[Exemplar]) -> tuple[tuple[str, int], ...]:
    """Return the tasks and seeds that exemplars were recorded at, as far as they say so."""
    sources: dict[tuple[str, int], None] = {}
    for member in members:
        if match := _SOURCE.search(member.source):
            sources.setdefault((match["task"], int(match["seed"])))
    return tuple(sources)


def tasks_of(
    patterns: Iterable[str], tasks: Iterable[Task], sources: Iterable[tuple[str, int]]
) -> tuple[str, ...]:
    """Return the ids of tasks: those that are named or that a pattern fits, or else those of the sources.

    Raises UsageError for a name or pattern that no task has, and if nothing is left.
    """
    patterns, tasks = tuple(patterns), tuple(tasks)
    if patterns:
        return fitting(patterns, tasks)
    known = {task.id for task in tasks}
    own = dict.fromkeys(task for task, _ in sources if task in known)
    if not own:
        raise UsageError("Its source names no task; give tasks, such as miniwob/click-button.")
    return tuple(own)


def worth_result(store: TraceStore, row: EvaluationRow, plan: EvaluationPlan) -> WorthResult:
    """Count the pairs of an evaluation of the kind ``worth`` that are done; raises TraceError."""
    assert plan.subject is not None
    runs = done_of(evaluated_runs(store, row.number))
    with_it = [run for run in runs if run.variant == WITH]
    rows = store.rows([run.run for run in with_it if run.run is not None])
    comparison = compared(runs, WITHOUT, WITH)
    low, high = comparison.over_tasks or (comparison.low, comparison.high)
    ups = sum(flip.to_success for flip in comparison.flips)
    return WorthResult(
        subject=plan.subject,
        trace=str(store.path.absolute()),
        evaluation=row.number,
        name=row.name,
        when=row.when,
        preset=plan.variants[0].preset,
        llm=plan.variants[0].llm,
        cases=len(with_it),
        judged=comparison.judged,
        used=sum(run.run is not None and used_in(store, run.run, plan.subject) for run in with_it),
        to_success=ups,
        to_failure=len(comparison.flips) - ups,
        low=low,
        high=high,
        first=min((row.started for row in rows), default=0.0),
    )


def keep_worth(memory: Memory, result: WorthResult) -> None:
    """Store a result in the library, in place of what was known of the same evaluation; raises LibraryError."""
    library, key = memory.library(), library_key(result.subject)
    same = (result.trace, result.evaluation, result.when)
    number, known = next(
        (
            (number, known)
            for number, known in kept_results(library, [key])
            if (known.trace, known.evaluation, known.when) == same
        ),
        (None, None),
    )
    version = known.version if known is not None else None
    entry = library.find(key) if result.subject.kind == "exemplar" else None
    if entry is not None and (version is None or (known is not None and not known.cases)):
        saved = next((one.saved for one in library.versions(key) if one.current), entry.changed)
        version = entry.version if saved <= (result.first or result.when) else 0
    elif entry is not None and known is not None and result.cases > known.cases and entry.version != version:
        version = 0  # It was changed, and then gone on with.
    result = result.replace(version=version)
    library.proofs.save("worth", key, result.when, result.model_dump_json(), number=number)


def kept_results(library: Library, keys: Iterable[str] = ()) -> tuple[tuple[int, WorthResult], ...]:
    """Return the results about these, or all there are, each with its number; the oldest first."""
    results = []
    for number, content in library.proofs.of("worth", keys):
        with suppress(ValidationError):  # Another version of the program has written it.
            results.append((number, WorthResult.model_validate_json(content)))
    return tuple(results)


def used_in(store: TraceStore, run: int, subject: Subject) -> bool:
    """Return whether the LLM was shown the subject in a run; raises TraceError."""
    for row in store.steps(run):
        step = store.step(run, row.number)
        sent = exemplars_sent(store, step.calls)
        recalled = record_of(Recalled, step.records)
        if any(subject.name == (one.family if subject.kind == "family" else one.id) for one in sent or ()):
            return True
        if sent is None and recalled is not None and _is_among(recalled, subject):
            return True
    return False


def library_key(subject: Subject) -> str:
    """Return what its results are kept under in the library."""
    return about_family(subject.name) if subject.kind == "family" else subject.name


def _is_among(recalled: Recalled, subject: Subject) -> bool:
    if subject.kind != "family":
        return subject.name in recalled.exemplars
    if recalled.recall is None:
        return False
    return any(exemplar.family == subject.name for exemplar in recalled.recall.used)
