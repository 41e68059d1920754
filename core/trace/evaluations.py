"""Evaluations in the trace: their processes, attempts, progress, and the cost of runs."""

import json
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from core.schema.errors import UsageError
from core.schema.record import Record
from core.trace import owners, run_reader, writer
from core.trace.database import TraceDatabase
from core.trace.records import AttemptRow, Case, CaseAttempt, EvaluationRow, RunOutcome

if TYPE_CHECKING:
    from core.trace.store import TraceStore


class Tally(Record):
    """How many attempts of an evaluation had the same result."""

    evaluation: int
    attempt: int
    """1 for first tries, 2 for second ones, 0 for discounted ones."""
    outcome: RunOutcome | None
    """None if the run could not begin. One whose process has died is still ``running`` here."""
    success: bool | None
    touched: bool
    """Whether a person had a hand in them."""
    count: int


class MeanCost(Record):
    """The average cost of a run with a preset and an LLM so far."""

    preset: str
    llm: str
    cost: float
    """US dollars."""


def take_evaluation(store: "TraceStore", name: str, plan: str) -> EvaluationRow:
    """Return the evaluation of that name, stored now with its plan, as JSON, if there is none.

    It is this process's to do until `leave_evaluation`, or until the
    process ends. Raises UsageError if a process that lives has it.
    """
    token = store.owner.token()

    def take(database: TraceDatabase) -> EvaluationRow:
        found = database.row("SELECT number, owner FROM evaluations WHERE name = ?", (name,))
        if found is None:
            values = {"name": name, "time": time.time(), "plan": plan, "owner": token}
            database.table("evaluations").insert(database.hidden(values))
        elif (process := owners.process_of(store.path, found["owner"] or "")) is not None:
            raise UsageError(
                f"The evaluation {name} is running in another process ({process}); wait for it to end, or stop it."
            )
        else:
            database.update("evaluations", {"number": found["number"]}, {"owner": token})
        taken = _evaluation(database, name)
        assert taken is not None
        return taken

    return store.change(take)


def create_evaluation(store: "TraceStore", name: str, plan: str) -> int:
    """Store an evaluation with its plan, as JSON, for a process to take, and return its number.

    Raises UsageError if there is one of that name.
    """

    def create(database: TraceDatabase) -> int:
        if _evaluation(database, name) is not None:
            raise UsageError(f"An evaluation {name} already exists. Choose another name.")
        values = database.hidden({"name": name, "time": time.time(), "plan": plan})
        return cast(int, database.table("evaluations").insert(values).last_pk)

    return store.change(create)


def leave_evaluation(store: "TraceStore", number: int) -> None:
    """Let others do the evaluation."""
    store.change(lambda database: database.update("evaluations", {"number": number}, {"owner": None}))


def note_plan(store: "TraceStore", number: int, plan: str) -> None:
    """Replace the plan of an evaluation, as JSON."""
    store.change(lambda database: database.update("evaluations", {"number": number}, {"plan": plan}))


def note_made(store: "TraceStore", number: int, making: str) -> None:
    """Add with what an evaluation is made from now on, as JSON; a start like the last one adds nothing."""

    def note(database: TraceDatabase) -> None:
        row = database.row("SELECT made FROM evaluations WHERE number = ?", (number,))
        made = json.loads(row["made"]) if row is not None else []
        if made[-1:] != [json.loads(making)]:
            made.append(json.loads(making))
            database.update("evaluations", {"number": number}, {"made": json.dumps(made)})

    store.change(note)


def ended_at(store: "TraceStore", number: int) -> float | None:
    """Return when the last run of an evaluation ended, in seconds since the epoch."""
    query = "SELECT max(ended) AS ended FROM attempts JOIN runs USING (run) WHERE evaluation = ?"
    row = store.ask(lambda database: database.row(query, (number,)))
    return None if row is None else row["ended"]


def delete_evaluation(store: "TraceStore", number: int) -> None:
    """Forget an evaluation and which runs are its; the runs stay."""
    store.change(lambda database: database.table("evaluations").delete_where("number = ?", (number,)))


def save_unbegun(store: "TraceStore", attempt: CaseAttempt, error: str) -> None:
    """Store an attempt whose run could not begin, and why."""
    store.change(lambda database: writer.insert_attempt(database, attempt, run=None, error=error))


def discount(store: "TraceStore", attempts: Iterable[CaseAttempt]) -> None:
    """Let failed attempts no longer count as tries of their cases; their runs stay in the evaluation."""

    def change(database: TraceDatabase) -> None:
        for one in attempts:
            values = {"evaluation": one.evaluation, "attempt": one.number, **one.case.model_dump()}
            database.update("attempts", values, {"attempt": 0})

    store.change(change)


def evaluation_named(store: "TraceStore", name: str) -> EvaluationRow | None:
    """Return the evaluation of that name, or None."""
    return store.ask(lambda database: _evaluation(database, name))


def process_doing(store: "TraceStore", number: int) -> int | None:
    """Return the id of the process that does an evaluation, or None if none does."""
    row = store.ask(
        lambda database: database.row("SELECT owner FROM evaluations WHERE number = ?", (number,))
    )
    return owners.process_of(store.path, "" if row is None else row["owner"] or "")


def attempts_of(store: "TraceStore", number: int) -> tuple[AttemptRow, ...]:
    """Return what was tried in an evaluation, in order, each with its run as it stands."""

    def read(database: TraceDatabase) -> tuple[AttemptRow, ...]:
        found = database.rows(
            "SELECT variant, task, seed, time, attempt, run, error FROM attempts WHERE evaluation = ? ORDER BY id",
            (number,),
        )
        numbers = [row["run"] for row in found if row["run"] is not None]
        rows = run_reader.rows_of(database, numbers)
        runs = {row.run: row for row in rows}
        try:
            return tuple(
                AttemptRow(
                    run=runs.get(row.pop("run")),
                    error=row.pop("error"),
                    attempt=CaseAttempt(
                        evaluation=number, number=row.pop("attempt"), case=Case.model_validate(row)
                    ),
                )
                for row in found
            )
        except ValidationError as error:
            raise database.damaged() from error

    return store.ask(read)


def _evaluation(database: TraceDatabase, name: str) -> EvaluationRow | None:
    row = database.row(
        'SELECT number, name, time AS "when", plan, made FROM evaluations WHERE name = ?', (name,)
    )
    try:
        return None if row is None else EvaluationRow.model_validate(row)
    except ValidationError as error:
        raise database.damaged() from error


def all_evaluations(database: TraceDatabase) -> tuple[EvaluationRow, ...]:
    """Return all evaluations, the newest first."""
    found = database.rows(
        'SELECT number, name, time AS "when", plan, made FROM evaluations ORDER BY number DESC'
    )
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
