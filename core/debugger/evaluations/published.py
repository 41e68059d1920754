"""Published figures of papers, to compare with those of an evaluation of the same tasks."""

from collections.abc import Iterable
from functools import cache
from statistics import fmean

from pydantic import Field

from core.schema.record import Record
from core.settings.user_file import UserFile
from core.storage.resources import RESOURCES


class PublishedFigures(Record):
    """Figures of a paper for one or several tasks."""

    success: float | None = Field(default=None, ge=0, le=1)
    reward: float | None = Field(default=None, ge=0, le=1)
    steps: float | None = None
    plan_revisions: float | None = None


class Paper(PublishedFigures):
    """A table of a paper, as resources/published.toml has it."""

    agent: str
    llm: str
    source: str
    measured_on: str
    environment: str
    note: str = ""
    tasks: dict[str, PublishedFigures] = {}
    """By the name of the task in its environment; empty if the paper has figures of all together only."""


class PublishedShare(PublishedFigures):
    """A published figure, shown with those of an evaluation; not measured here."""

    task: str = ""
    """Empty for all tasks of the evaluation that the paper has."""
    tasks: int = 0
    """How many tasks of the evaluation it is the mean of; 0 for the paper's own mean over all of its tasks."""
    agent: str
    llm: str
    """The LLM that it was measured with."""
    source: str
    measured_on: str
    note: str = ""


class _Papers(Record):
    paper: tuple[Paper, ...]


@cache
def papers() -> tuple[Paper, ...]:
    """Return the tables of resources/published.toml."""
    return UserFile.read(RESOURCES / "published.toml").validated(_Papers).paper


def published_for(tasks: Iterable[str]) -> tuple[PublishedShare, ...]:
    """Return what was published of these tasks: of each paper first all together, then task by task."""
    names = [task.partition("/") for task in tasks]
    found: list[PublishedShare] = []
    for paper in papers():
        own = [name for environment, _, name in names if environment == paper.environment]
        if not own:
            continue
        told = paper.model_dump(include={"agent", "llm", "source", "measured_on", "note"})
        if not paper.tasks:
            figures = paper.model_dump(include=set(PublishedFigures.model_fields))
            found.append(PublishedShare(**told, **figures))
            continue
        covered = {name: paper.tasks[name] for name in own if name in paper.tasks}
        if not covered:
            continue
        found.append(PublishedShare(**told, **_means(covered.values()), tasks=len(covered)))
        found += [
            PublishedShare(**told, **figures.model_dump(), task=f"{paper.environment}/{name}", tasks=1)
            for name, figures in covered.items()
        ]
    return tuple(found)


def _means(figures: Iterable[PublishedFigures]) -> dict[str, float | None]:
    """Return the mean of each figure; None if a task has none."""
    rows = [figure.model_dump() for figure in figures]
    return {
        name: fmean(row[name] for row in rows) if all(row[name] is not None for row in rows) else None
        for name in PublishedFigures.model_fields
    }
