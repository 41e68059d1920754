"""All evaluations of a database at once: which there are, how far each is, and what runs have cost."""

from core.schema.record import Record
from core.trace.database import TraceDatabase
from core.trace.records import EvaluationRow, RunOutcome


class Tally(Record):
    """How many tries of an evaluation have come to the same."""

    evaluation: int
    attempt: int
    """1 for first tries, 2 for second ones."""
    outcome: RunOutcome | None
    """None where the run could not begin. One whose process has died is still ``running`` here."""
    success: bool | None
    touched: bool
    """Whether a person had a hand in them."""
    count: int


class MeanCost(Record):
    """What a run of a preset with an LLM has cost so far, on the average."""

    preset: str
    llm: str
    cost: float
    """US dollars."""


def all_evaluations(database: TraceDatabase) -> tuple[EvaluationRow, ...]:
    """Return all evaluations, the newest first."""
    found = database.rows('SELECT number, name, time AS "when", plan FROM evaluations ORDER BY number DESC')
    return tuple(EvaluationRow.model_validate(row) for row in found)


def tallies(database: TraceDatabase) -> tuple[Tally, ...]:
    """Return what all tries have come to, counted; always in the same order."""
    found = database.rows(
        "SELECT evaluation, attempt, outcome, success, coalesce(touched, 0) AS touched, count(*) AS count"
        " FROM attempts LEFT JOIN runs USING (run) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5"
    )
    return tuple(Tally.model_validate(row) for row in found)


def mean_costs(database: TraceDatabase) -> tuple[MeanCost, ...]:
    """Return what runs have cost, for each preset and LLM whose calls had a price."""
    found = database.rows(
        "SELECT preset, llm, avg(cost) AS cost FROM runs"
        " WHERE cost IS NOT NULL AND ended IS NOT NULL GROUP BY preset, llm"
    )
    return tuple(MeanCost.model_validate(row) for row in found)
