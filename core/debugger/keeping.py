"""A stored run as an exemplar: the steps that led to its end, as a prompt would tell them, and what was left out."""

from urllib.parse import urlsplit

from core.action import Named, RefTarget, RoleTarget
from core.agent.records import Abstracted, Acted, Decided, Observed, Reviewed
from core.browser.checkpoints.inputs import RecordedInput
from core.errors import UsageError
from core.memory.exemplar import Contrast, Exemplar, ExemplarStep
from core.memory.library.records import Provenance
from core.model import Record
from core.observation import Observation
from core.trace.records import RunRow, StepRow
from core.trace.store import TraceStore


class LeftOut(Record):
    """A step that is not in the exemplar, and why."""

    step: int
    action: str
    why: str


class Kept(Record):
    """What a run gives."""

    exemplar: Exemplar
    provenance: Provenance
    left_out: tuple[LeftOut, ...] = ()
    successful: bool = False
    """Whether the run was judged a success."""


def exemplar_of_run(
    store: TraceStore, run: int, *, first: int = 1, last: int | None = None, family: str = ""
) -> Kept:
    """Return the steps from `first` to `last` of a run, for a branch those before it too, as an exemplar.

    Left out is what failed, what was gone back over, and what did nothing in
    the page. An action of the page that a person changed is a contrast as well. Raises
    UsageError where no step is left, and TraceError.
    """
    row = store.run(run)
    rows = [one for one in store.steps(run) if first <= one.number <= (last or one.number)]
    undone = _gone_back_over(store, run, rows)
    trial = max((one.trial for one in rows), default=1)
    looks: list[ExemplarStep] = []
    contrasts: list[Contrast] = []
    left_out: list[LeftOut] = []
    for one in rows:
        why = _left_out(one, undone, trial)
        if why:
            left_out.append(LeftOut(step=one.number, action=one.action, why=why))
            continue
        _add(store, run, one, looks, contrasts)
    if not looks:
        raise UsageError(f"Run {run} has no step to keep: {_reasons(left_out) or 'it has none there'}.")
    return Kept(
        exemplar=Exemplar(
            id=f"{row.task.lower()}/run-{run}",
            family=family or row.task.removeprefix(f"{row.environment}/"),
            task=row.instruction,
            environment=row.environment,
            steps=tuple(looks),
            contrasts=tuple(contrasts),
            source=f"run {run}, {row.task} seed {row.seed}",
        ),
        provenance=_provenance(row, rows),
        left_out=tuple(left_out),
        successful=row.verdict.success is True,
    )


def _left_out(row: StepRow, undone: set[int], trial: int) -> str:
    if row.trial != trial:
        return "a later trial began anew"
    if row.number in undone:
        return "it was gone back over"
    if row.effect not in ("page action", "stop"):
        return "it did nothing in the page" if row.effect != "go back" else "it went back"
    if row.outcome != "done":
        return f"it was {row.outcome}" if row.outcome == "skipped" else "it failed"
    return "" if row.sealed else "it was never finished"


def _gone_back_over(store: TraceStore, run: int, rows: list[StepRow]) -> set[int]:
    """Return the steps whose effect a later one has taken back."""
    undone: set[int] = set()
    for row in rows:
        if row.effect != "go back":
            continue
        acted = next((one for one in store.step(run, row.number).records if isinstance(one, Acted)), None)
        if acted is not None and acted.restored is not None and acted.restored.verified:
            undone |= set(range(acted.restored.step, row.number))
    return undone


def _add(
    store: TraceStore, run: int, row: StepRow, looks: list[ExemplarStep], contrasts: list[Contrast]
) -> None:
    """Add a step to the looks: actions of one reply belong to one look at the page."""
    records = store.step(run, row.number).records
    reviewed = next((one for one in records if isinstance(one, Reviewed)), None)
    acted = next((one for one in records if isinstance(one, Acted)), None)
    decided = next((one for one in records if isinstance(one, Decided)), None)
    if reviewed is None or reviewed.action is None or acted is None:
        return
    page = next((one.clean.text for one in records if isinstance(one, Abstracted)), "")
    page = page or next((one.observation.lines() for one in records if isinstance(one, Observed)), "")
    seen = next((one.observation for one in records if isinstance(one, Observed)), None)
    # A state's action is told by what it did in the page: others may not have the state.
    actions = tuple(_as_seen(one, seen) for one in acted.inputs) or (str(reviewed.action),)
    if reviewed.edited and reviewed.proposed is not None and not _is_of_a_state(reviewed):
        contrasts.append(Contrast(observation=page, tried=str(reviewed.proposed), right=str(reviewed.action)))
    if looks and decided is not None and decided.from_queue and not reviewed.edited:
        looks[-1] = looks[-1].model_copy(update={"actions": (*looks[-1].actions, *actions)})
        return
    # What was thought of an action that a person has changed was thought of another one.
    thought = "" if reviewed.edited else reviewed.thought
    looks.append(ExemplarStep(observation=page, thought=thought, actions=actions))


def _is_of_a_state(reviewed: Reviewed) -> bool:
    """Whether it is an action that only some state has: what it would have done in the page is not known."""
    return isinstance(reviewed.action, Named) or isinstance(reviewed.proposed, Named)


def _as_seen(done: RecordedInput, seen: Observation | None) -> str:
    """Return an action with its elements named as they are in the look: a ref of a later page is in no line of it."""
    changes: dict[str, RefTarget | RoleTarget] = {}
    for part, mark in done.marks.items():
        target = getattr(done.action, part, None)
        if not isinstance(target, RefTarget) or (seen is not None and seen.element(target.ref) is not None):
            continue
        role, name = mark.element.role, mark.element.name
        fits = [one.ref for one in seen.elements if (one.role, one.name) == (role, name)] if seen else []
        changes[part] = RefTarget(ref=fits[0]) if len(fits) == 1 else RoleTarget(role=role, name=name)
    return str(done.action.model_copy(update=changes))


def _provenance(row: RunRow, rows: list[StepRow]) -> Provenance:
    people = all(one.origin == "person" for one in rows)
    origin = "demonstration" if people else "branch" if row.parent_run is not None else "agent run"
    return Provenance.model_validate(
        {
            "origin": origin,
            "run": row.run,
            "step": rows[-1].number,
            "llm": "" if people else row.llm,
            "site": urlsplit(row.start_url).hostname or "",
        }
    )


def _reasons(left_out: list[LeftOut]) -> str:
    return "; ".join(f"step {one.step}: {one.why}" for one in left_out[:5])
