"""A stored run as an exemplar: the steps that led to its end, as a prompt would tell them, and what was left out.

First a run is surveyed, step by step; what is chosen of it then is quick to
say again. Which steps are noise is in `core.debugger.exemplars.saving.steps`.
"""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from pydantic import ValidationError

from core.debugger.exemplars.saving.steps import SurveyedStep, surveyed
from core.debugger.exemplars.saving.views import SavingChoice
from core.memory.library.records import Provenance
from core.schema.errors import UsageError
from core.schema.exemplar import Contrast, Exemplar, ExemplarStep
from core.schema.record import Record
from core.trace.records import RunRow
from core.trace.store import TraceStore


class LeftOutStep(Record):
    """A step that is not in the exemplar, and why."""

    step: int
    action: str
    why: str


class Survey(Record):
    """What a run has to give: its steps in order, for a branch those before it too."""

    row: RunRow
    steps: tuple[SurveyedStep, ...]

    @property
    def successful(self) -> bool:
        """Whether the run was judged a success."""
        return self.row.verdict.success is True

    @property
    def chosen(self) -> frozenset[int]:
        """The steps that are kept unless others are chosen."""
        return frozenset(one.number for one in self.steps if one.kept)

    @property
    def contrasts(self) -> frozenset[int]:
        """The steps whose correction is kept unless others are chosen."""
        return frozenset(one.number for one in self.steps if one.contrast is not None and one.contrasted)


class Selection(Record):
    """What a run gives."""

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
    """Return the steps from `first` to `last` of a run, for a branch those before it too, as an exemplar.

    Left out is what failed, what was gone back over, and what did nothing in
    the page, unless just these steps are `chosen`. An action of the page that a
    person changed is a contrast as well. Raises UsageError where no step is
    left, and TraceError.
    """
    survey = survey_of_run(store, run, first=first, last=last)
    unknown = sorted((chosen or frozenset()) - {one.number for one in survey.steps})
    if unknown:
        there = f"{survey.steps[0].number} to {survey.steps[-1].number}" if survey.steps else "none"
        raise UsageError(f"Run {run} has no step {unknown[0]} there; its steps are {there}.")
    return selection_of(survey, SavingChoice(steps=chosen, family=family))


def survey_of_run(store: TraceStore, run: int, *, first: int = 1, last: int | None = None) -> Survey:
    """Return what there is to be saved of a run; raises TraceError."""
    row = store.run(run)
    rows = [one for one in store.steps(run) if first <= one.number <= (last or one.number)]
    return Survey(row=row, steps=surveyed(store, row, rows))


def selection_of(survey: Survey, choice: SavingChoice) -> Selection:
    """Return what is chosen of a run as an exemplar; raises UsageError where no step is left, or the id is none."""
    row = survey.row
    chosen = survey.chosen if choice.steps is None else choice.steps
    taken = [one for one in survey.steps if one.number in chosen and one.possible]
    left_out = tuple(
        LeftOutStep(step=one.number, action=one.action, why=one.why or "it was not chosen")
        for one in survey.steps
        if one not in taken
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
        return urlsplit(row.start_url).hostname or "web"
    return row.task.removeprefix(f"{row.environment}/")


def _looks(taken: Sequence[SurveyedStep]) -> tuple[ExemplarStep, ...]:
    """Return the steps as looks: actions of one reply belong to one look at the page."""
    looks: list[ExemplarStep] = []
    reply = 0
    for one in taken:
        if looks and one.joins and one.reply == reply:
            actions = (*looks[-1].actions, *one.actions)
            looks[-1] = looks[-1].replace(actions=actions)
        else:
            look = ExemplarStep(observation=one.page, raw=one.raw, thought=one.thought, actions=one.actions)
            looks.append(look)
        reply = one.reply
    return tuple(looks)


def _contrast(one: SurveyedStep, why: str) -> Contrast:
    assert one.contrast is not None
    return one.contrast.replace(why=why or one.contrast.why)


def _provenance(row: RunRow, taken: Sequence[SurveyedStep]) -> Provenance:
    people = all(one.origin == "person" for one in taken)
    origin = "demonstration" if people else "branch" if row.parent_run is not None else "agent run"
    return Provenance.model_validate(
        {
            "origin": origin,
            "run": row.run,
            "step": taken[-1].number,
            "llm": "" if people else row.llm,
            "site": urlsplit(row.start_url).hostname or "",
        }
    )


def _reasons(left_out: Iterable[LeftOutStep]) -> str:
    return "; ".join(f"step {one.step}: {one.why}" for one in list(left_out)[:5])


def _wrong(error: ValidationError, choice: SavingChoice) -> str:
    part = error.errors()[0]["loc"][0] if error.errors()[0]["loc"] else ""
    if part == "id":
        return (
            f'"{choice.id}" cannot be an id: begin with a letter or digit and use small letters, digits, '
            "dots, dashes, underscores and slashes, at most 120."
        )
    if part == "task":
        return "The run has no instruction, and an exemplar needs one: keep another run."
    return f"It cannot be kept: {part}: {error.errors()[0]['msg']}."
