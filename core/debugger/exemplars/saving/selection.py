"""Makes an exemplar of a stored run: the steps that led to its end, as in a prompt, and what was left out.

First it surveys the run step by step: what each step shows and does, and why it is left out. Then each
selection is quick.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from core.debugger.exemplars.saving.views import SavingChoice, SavingStep
from core.exemplars.library.records import Provenance
from core.schema.action import Action, Named, RefTarget, RoleTarget, Type, XPathTarget
from core.schema.element_identity import RecordedInput
from core.schema.errors import UsageError
from core.schema.exemplar import Contrast, Exemplar, ExemplarStep
from core.schema.hosts import host_of
from core.schema.observation import Observation, is_hidden
from core.schema.record import Record
from core.schema.secrets import named
from core.schema.step import Abstracted, Acted, Decided, Observed, Origin, Reviewed, record_of
from core.trace.encoding import from_json, to_json
from core.trace.exports.hiding import secrets_of
from core.trace.records import RunRow, StepRow
from core.trace.store import TraceStore

_LABEL = re.compile(r'^([a-z]+(?:-[a-z]+)*) "(.*)"$')
"""How a step tells its element: role and name."""

_ELEMENT = re.compile(r"^\w+ \[(.*?)\](?: \[|$)")
"""The first thing that an action names."""

_NAMED_LINE = re.compile(r'^\s*\[(\d+)\] ([a-z-]+ "(?:[^"\\]|\\.)*")', re.MULTILINE)
"""The line of an element that has a name."""


class SurveyedStep(SavingStep):
    """One step of a run, with all data that an exemplar can use."""

    action: str
    """What was done, in words for a list."""
    page: str = ""
    """The page as the prompt showed it, else as it was read."""
    raw: str = ""
    """The whole page, where the prompt showed less of it."""
    actions: tuple[str, ...] = ()
    reply: int = 0
    """The step at which the reply was given that this action is of."""
    joins: bool = False
    """Whether it is shown at the look of the actions of its reply before it."""
    contrast: Contrast | None = None
    """What was tried in its place, and this was the correction of."""
    contrasted: bool = False
    """Whether the correction is kept unless others are chosen."""

    @property
    def number(self) -> int:
        return self.row.number

    @property
    def origin(self) -> Origin:
        return self.row.origin

    @property
    def kept(self) -> bool:
        """Whether it is in the exemplar unless others are chosen."""
        return self.possible and not self.why


def surveyed(store: TraceStore, run: RunRow, rows: Sequence[StepRow]) -> tuple[SurveyedStep, ...]:
    """Return these steps of a run, all read from the trace; raises TraceError."""
    rows = [one for one in rows if one.sealed or one.action]  # One in progress has nothing to keep yet.
    undone = _gone_back_over(store, run.run, rows)
    noise = _noise(rows)
    trial = max((one.trial for one in rows), default=1)
    other = _other_ways(store, run)
    found: list[SurveyedStep] = []
    reply = 0
    for row in rows:
        why = _left_out(row, undone, trial) or noise.get(row.number, "")
        one = _step(store, run, row, why, reply)
        if row.number in other and one.possible and one.contrast is None:
            one = _branched(store, one, *other[row.number])
        reply = one.reply
        found.append(one)
    return tuple(
        one.replace(contrast=None, contrasted=False) if _done_later(one, found[at + 1 :]) else one
        for at, one in enumerate(found)
    )


def _done_later(one: SurveyedStep, later: Iterable[SurveyedStep]) -> bool:
    """Return whether what was tried in a step is done by a later one: then it came too early, and was not wrong."""
    if one.contrast is None:
        return False
    tried = _as_named(one.contrast.tried, one.page)
    return any(
        tried == _as_named(action, step.page)
        for step in later
        if not step.why
        for action in (step.action, *step.actions)
    )


def _as_named(action: str, page: str) -> str:
    """Return an action with role and name in place of numbers, where these name one element of the page."""
    lines = dict(_NAMED_LINE.findall(page))

    def named(found: re.Match[str]) -> str:
        name = lines.get(found[1])
        return f"[{name}]" if name and list(lines.values()).count(name) == 1 else found[0]

    return re.sub(r"\[(\d+)\]", named, action)


def _left_out(row: StepRow, undone: set[int], trial: int) -> str:
    if row.trial != trial:
        return "a later trial started again"
    if row.number in undone:
        return "a later step went back before it"
    if row.effect not in ("page action", "stop"):
        return "it did nothing in the page" if row.effect != "go back" else "it went back"
    if row.outcome != "done":
        return f"it was {row.outcome}" if row.outcome == "skipped" else "it failed"
    return "" if row.sealed else "it was never finished"


def _gone_back_over(store: TraceStore, run: int, rows: Sequence[StepRow]) -> set[int]:
    """Return the steps whose effect a later one has taken back."""
    undone: set[int] = set()
    for row in rows:
        if row.effect != "go back":
            continue
        acted = record_of(Acted, store.step(run, row.number).records)
        if acted is not None and acted.restored is not None and acted.restored.verified:
            undone |= set(range(acted.restored.step, row.number))
    return undone


def _noise(rows: Sequence[StepRow]) -> dict[int, str]:
    """Return, with why, a person's steps that others make needless: half-typed words, clicks of a double click."""
    found: dict[int, str] = {}
    own = [one for one in rows if one.origin == "person" and one.effect == "page action"]
    for row, after in pairwise(own):
        kind, element = _done_on(row)
        anew = kind in ("type", "select", "check") and (kind, element) == _done_on(after)
        if anew and element and after.number == row.number + 1:
            found[row.number] = f"step {after.number} did it again"
    for at, row in enumerate(own):
        kind, element = _done_on(row)
        if kind != "double_click":
            continue
        for before in reversed(own[max(0, at - 2) : at]):
            if _done_on(before) != ("click", element):
                break
            found[before.number] = f"it is part of the double-click of step {row.number}"
    return found


def _done_on(row: StepRow) -> tuple[str, str]:
    """Return what was done, and the element: its ref, not its name, which others may have too."""
    named = _ELEMENT.match(row.action)
    return row.action.split(" ", 1)[0], named[1] if named is not None else ""


def _step(store: TraceStore, run: RunRow, row: StepRow, why: str, reply: int) -> SurveyedStep:
    records = store.step(run.run, row.number).records
    reviewed = record_of(Reviewed, records)
    acted = record_of(Acted, records)
    decided = record_of(Decided, records)
    joins = decided is not None and decided.from_queue and reviewed is not None and not reviewed.edited
    reply = reply if joins and reply else row.number
    if reviewed is None or reviewed.action is None or acted is None:
        why = why or "it has no action"
        return SurveyedStep(row=row, action=row.action, why=why, possible=False, reply=reply)
    page = next((record.clean.text for record in records if isinstance(record, Abstracted)), "")
    seen = next((record.observation for record in records if isinstance(record, Observed)), None)
    whole = seen.lines() if seen is not None else ""
    page = page or whole
    # A state's action is described by what it did in the page: others may not have the state.
    done = tuple(_as_seen(one, seen, row.target) for one in acted.inputs)
    contrast = None
    if reviewed.edited and reviewed.proposed is not None:
        both = (reviewed.proposed, reviewed.action)
        contrast = Contrast(
            observation=page,
            tried=str(reviewed.proposed),
            right=str(reviewed.action),
            names=tuple(dict.fromkeys(one.name for one in both if isinstance(one, Named))),
        )
    return SurveyedStep(
        row=row,
        action=row.action or str(reviewed.action),
        why=why,
        page=page,
        raw=whole if whole != page else "",
        # What was thought of an action that a person has changed was thought of another one.
        thought="" if reviewed.edited else reviewed.thought,
        actions=done or (str(reviewed.action),),
        reply=reply,
        joins=joins,
        contrast=contrast if contrast is None or contrast.tried != contrast.right else None,
        contrasted=contrast is not None,
    )


def _as_seen(done: RecordedInput, seen: Observation | None, label: str = "") -> str:
    """Return an action with its elements named as they are in the look: a ref of a later page is in no line of it.

    What a person met at a place in the document only is named by role and
    name, as its `label` has them. A text that the page hid, such as a password,
    becomes a secret of the task.
    """
    changes: dict[str, Any] = {}
    for part in ("target", "to"):
        target = getattr(done.action, part, None)
        if isinstance(target, XPathTarget) and part == "target":
            labelled = _LABEL.match(label)
            if labelled is not None and labelled[2]:
                changes[part] = _named(labelled[1], labelled[2], seen)
        elif isinstance(target, RefTarget) and part in done.marks:
            if seen is not None and seen.element(target.ref) is not None:
                continue
            changes[part] = _named(done.marks[part].element.role, done.marks[part].element.name, seen)
    if isinstance(done.action, Type) and is_hidden(done.action.text):
        changes["text"] = named(_hides(done, seen))
    return str(done.action.replace(**changes))


def _hides(done: RecordedInput, seen: Observation | None) -> str:
    """Return the name of the task's secret for what was typed into a field that hides it."""
    target = getattr(done.action, "target", None)
    element = seen.element(target.ref) if seen is not None and isinstance(target, RefTarget) else None
    return (element.hides if element is not None else "").replace(" ", "-") or "password"


def _named(role: str, name: str, seen: Observation | None) -> RefTarget | RoleTarget:
    fits = (
        [element.ref for element in seen.elements if (element.role, element.name) == (role, name)]
        if seen
        else []
    )
    return RefTarget(ref=fits[0]) if len(fits) == 1 else RoleTarget(role=role, name=name)


def _other_ways(store: TraceStore, run: RunRow) -> dict[int, tuple[RunRow, bool]]:
    """Return the runs that this one branched from, by the step at which it left them.

    With each whether it was judged no success, while this one was a success:
    then what it did there is known to be worse.
    """
    found: dict[int, tuple[RunRow, bool]] = {}
    here = run
    while here.parent_run is not None and here.parent_step is not None:
        parent = store.run(here.parent_run)
        worse = run.verdict.success is True and parent.verdict.success is False
        found.setdefault(here.parent_step, (parent, worse))
        here = parent
    return found


def _branched(store: TraceStore, one: SurveyedStep, parent: RunRow, worse: bool) -> SurveyedStep:
    """Return a step with what the run that it branched from did in its place, if that is known and another thing."""
    if not any(row.number == one.number and row.sealed for row in store.own_steps(parent.run)):
        return one
    records = store.step(parent.run, one.number).records
    acted = record_of(Acted, records)
    reviewed = record_of(Reviewed, records)
    was = next((record.observation for record in records if isinstance(record, Observed)), None)
    here = store.step(one.row.run, one.number).records
    seen = next((record.observation for record in here if isinstance(record, Observed)), None)
    if acted is None or len(acted.inputs) != 1 or reviewed is None or isinstance(reviewed.action, Named):
        return one
    tried = str(_in_other_page(acted.inputs[0].action, was, seen))
    if tried in one.actions or len(one.actions) != 1:
        return one
    contrast = Contrast(observation=one.page, tried=tried, right=one.actions[0])
    return one.replace(contrast=contrast, contrasted=worse)


def _in_other_page(action: Action, was: Observation | None, seen: Observation | None) -> Action:
    """Return an action with the refs of one reading named as they are in another one of the same page."""
    changes: dict[str, Any] = {}
    for part in ("target", "to"):
        target = getattr(action, part, None)
        element = was.element(target.ref) if was is not None and isinstance(target, RefTarget) else None
        if element is None or not isinstance(target, RefTarget):
            continue
        same = seen.element(target.ref) if seen is not None else None
        if same is None or (same.role, same.name) != (element.role, element.name):
            changes[part] = _named(element.role, element.name, seen)
    return action.replace(**changes)


class LeftOutStep(Record):
    """A step that is not in the exemplar, and why."""

    step: int
    action: str
    why: str


class Survey(Record):
    """The steps of a run in order, for a branch including those before it."""

    row: RunRow
    steps: tuple[SurveyedStep, ...]

    @property
    def successful(self) -> bool:
        """Whether the run was judged a success."""
        return self.row.verdict.success is True

    @property
    def chosen(self) -> frozenset[int]:
        """The steps that are kept unless others are chosen."""
        return frozenset(step.number for step in self.steps if step.kept)

    @property
    def contrasts(self) -> frozenset[int]:
        """The steps whose correction is kept unless others are chosen."""
        return frozenset(step.number for step in self.steps if step.contrast is not None and step.contrasted)


class Selection(Record):
    """The resulting exemplar of a run."""

    exemplar: Exemplar
    provenance: Provenance
    left_out: tuple[LeftOutStep, ...] = ()
    successful: bool = False
    """Whether the run was judged a success."""


def exemplar_of_run(
    store: TraceStore,
    run: int,
    *,
    first: int = 1,
    last: int | None = None,
    family: str = "",
    chosen: frozenset[int] | None = None,
) -> Selection:
    """Return the steps from `first` to `last` of a run, for a branch including those before it, as an exemplar.

    Steps that failed, that were undone, or that did nothing in the page are left out, unless they are
    `chosen`. A page action that a person changed also becomes a contrast. Raises UsageError if no step is
    left, and TraceError.
    """
    survey = survey_of_run(store, run, first=first, last=last)
    unknown = sorted((chosen or frozenset()) - {step.number for step in survey.steps})
    if unknown:
        there = f"{survey.steps[0].number} to {survey.steps[-1].number}" if survey.steps else "none"
        raise UsageError(f"Run {run} has no step {unknown[0]}; its steps are {there}.")
    return selection_of(survey, SavingChoice(steps=chosen, family=family))


def survey_of_run(store: TraceStore, run: int, *, first: int = 1, last: int | None = None) -> Survey:
    """Return what there is to be saved of a run; raises TraceError."""
    row = store.run(run)
    rows = [step for step in store.steps(run) if first <= step.number <= (last or step.number)]
    survey = Survey(row=row, steps=surveyed(store, row, rows))
    data, secrets = to_json(survey), secrets_of(store, run)
    secrets.look_in_text(data.decode(errors="replace"))
    hidden = secrets.data(data)
    return survey if hidden is data else from_json(Survey, hidden)


def selection_of(survey: Survey, choice: SavingChoice) -> Selection:
    """Return what is chosen of a run as an exemplar; raises UsageError if no step is left, or the id is none."""
    row = survey.row
    chosen = survey.chosen if choice.steps is None else choice.steps
    taken = [step for step in survey.steps if step.number in chosen and step.possible]
    left_out = tuple(
        LeftOutStep(step=step.number, action=step.action, why=step.why or "it was not chosen")
        for step in survey.steps
        if step not in taken
    )
    if not taken:
        raise UsageError(f"Run {row.run} has no step to keep: {_reasons(left_out) or 'it has none there'}.")
    contrasts = survey.contrasts if choice.contrasts is None else choice.contrasts
    try:
        exemplar = Exemplar(
            id=choice.id or id_for(row),
            family=choice.family or family_for(row),
            task=row.instruction,
            environment=row.environment,
            metadata=choice.metadata,
            steps=_looks(taken),
            contrasts=tuple(
                _contrast(one, choice.reasons.get(one.number, "")) for one in taken if one.number in contrasts
            ),
            source=f"run {row.run}, {row.task} seed {row.seed}",
            tags=choice.tags,
            note=choice.note,
        )
    except ValidationError as error:
        raise UsageError(_wrong(error, choice)) from error
    return Selection(
        exemplar=exemplar,
        provenance=_provenance(row, taken),
        left_out=left_out,
        successful=survey.successful,
    )


def id_for(row: RunRow) -> str:
    """Return the id of what is kept of a run."""
    return f"{row.task.lower()}/run-{row.run}"


def family_for(row: RunRow) -> str:
    """Return what the task of a run is of: its name, on the open web the site."""
    if row.environment == "web":
        return host_of(row.start_url) or "web"
    return row.task.removeprefix(f"{row.environment}/")


def _looks(taken: Sequence[SurveyedStep]) -> tuple[ExemplarStep, ...]:
    """Return the steps as looks: actions of one reply belong to one look at the page."""
    looks: list[ExemplarStep] = []
    reply = 0
    for step in taken:
        if looks and step.joins and step.reply == reply:
            actions = (*looks[-1].actions, *step.actions)
            looks[-1] = looks[-1].replace(actions=actions)
        else:
            look = ExemplarStep(
                observation=step.page, raw=step.raw, thought=step.thought, actions=step.actions
            )
            looks.append(look)
        reply = step.reply
    return tuple(looks)


def _contrast(one: SurveyedStep, why: str) -> Contrast:
    assert one.contrast is not None
    return one.contrast.replace(why=why or one.contrast.why)


def _provenance(row: RunRow, taken: Sequence[SurveyedStep]) -> Provenance:
    people = all(step.origin == "person" for step in taken)
    # On a branch a person corrects an agent, even where nothing of the agent is left.
    origin = "branch" if row.parent_run is not None else "demonstration" if people else "agent run"
    return Provenance.model_validate(
        {
            "origin": origin,
            "run": row.run,
            "step": taken[-1].number,
            "llm": "" if people else row.llm,
            "site": host_of(row.start_url),
        }
    )


def _reasons(left_out: Iterable[LeftOutStep]) -> str:
    return "; ".join(f"step {step.step}: {step.why}" for step in list(left_out)[:5])


def _wrong(error: ValidationError, choice: SavingChoice) -> str:
    part = error.errors()[0]["loc"][0] if error.errors()[0]["loc"] else ""
    if part == "id":
        return (
            f'"{choice.id}" is not a valid id: begin with a letter or digit, and use at most 120 '
            "lowercase letters, digits, dots, dashes, underscores and slashes."
        )
    if part == "task":
        return "The run has no instruction, which an exemplar needs; choose another run."
    return f"It cannot be saved: {part}: {error.errors()[0]['msg']}."
