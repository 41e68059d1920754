"""Reads the runs of an evaluation with their figures and paths, in a few queries.

It reads very many runs at once, so it reads only the counted columns, and only the records of steps that went
back or tried a remedy.
"""

import json
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from core.schema.step import Acted, Aligned
from core.trace import encoding
from core.trace.records import EvaluatedRun

if TYPE_CHECKING:
    from core.trace.database import TraceDatabase
    from core.trace.store import TraceStore

_TRIES = """
SELECT variant, attempts.task, attempts.seed, attempts.time, attempt, attempts.run,
    coalesce(nullif(attempts.error, ''), runs.error, '') AS error,
    runs.outcome, success, reward, answer, coalesce(steps, 0) AS steps, coalesce(llm_calls, 0) AS llm_calls,
    coalesce(prompt_tokens, 0) AS prompt_tokens, coalesce(completion_tokens, 0) AS completion_tokens, cost,
    coalesce(seconds, 0.0) AS seconds, coalesce(seconds_in_llm, 0.0) AS seconds_in_llm,
    coalesce(touched, 0) AS touched
FROM attempts LEFT JOIN runs ON runs.run = attempts.run
WHERE evaluation = ? ORDER BY attempts.id
"""
_TRIALS = """
SELECT steps.run, max(trial) AS trials FROM attempts CROSS JOIN steps ON steps.run = attempts.run
WHERE evaluation = ? AND trial > 1 GROUP BY steps.run
"""
_REFLECTED = """
SELECT steps.run, origin, steps.outcome, effect, phases.phase, record
FROM attempts CROSS JOIN steps ON steps.run = attempts.run
    LEFT JOIN phases ON phases.step = steps.id AND position = CASE effect WHEN 'go back' THEN 8 ELSE 9 END
WHERE evaluation = ? AND (effect = 'go back' OR origin = 'remedy')
"""
_WAYS = """
SELECT run, number, state, action, target, effect, outcome, message FROM steps
WHERE run IN (SELECT value FROM json_each(?)) ORDER BY run, number
"""
_OWN_SUCCESSES = """
SELECT run FROM runs JOIN (SELECT task, preset, seed, changes, llm FROM runs WHERE run = ?) AS own USING (task, preset)
WHERE success AND parent_run IS NULL
ORDER BY runs.seed <> own.seed, runs.changes IS NOT own.changes, runs.llm <> own.llm, run DESC
"""
_TRIED_AS = """
SELECT run, evaluation, variant FROM attempts WHERE run IN (SELECT value FROM json_each(?))
"""
_VARIANTS_WITH_FILES = """
SELECT number, coalesce(json_extract(made.value, '$.title'), ''), coalesce(json_extract(made.value, '$.preset'), ''),
    coalesce(json_extract(made.value, '$.llm'), ''), coalesce(json_extract(made.value, '$.exemplars'), 'own')
FROM evaluations, json_each(CASE WHEN json_valid(plan) THEN plan ELSE '{}' END, '$.variants') AS made
WHERE number IN (SELECT value FROM json_each(?)) AND coalesce(json_extract(made.value, '$.files'), '{}') <> '{}'
"""
_PLAN_SIZES = "SELECT number, length(plan) FROM evaluations WHERE number IN (SELECT value FROM json_each(?))"
_ASKED_OTHERWISE = """
SELECT run FROM runs WHERE run IN (SELECT value FROM json_each(:runs))
    AND changes IS NOT NULL AND changes IS NOT (SELECT changes FROM runs WHERE run = :like)
"""
_LAST_RECOGNISED = """
SELECT steps.run, record FROM steps JOIN phases ON phases.step = steps.id AND position = 2
WHERE steps.run IN (SELECT value FROM json_each(?))
    AND number = (SELECT max(number) FROM steps AS all_steps WHERE all_steps.run = steps.run)
"""


class WayStep(NamedTuple):
    """The data of a step for comparing very many runs."""

    number: int
    state: str
    action: str
    target: str
    effect: str
    outcome: str
    message: str


def evaluated_runs(store: "TraceStore", evaluation: int) -> tuple[EvaluatedRun, ...]:
    """Return all tries of an evaluation in order, those in progress and broken off among them."""
    return store.ask(lambda database: _evaluated_runs(database, evaluation))


def evaluation_of(store: "TraceStore", run: int) -> int | None:
    """Return the number of the evaluation that a run is of, or None."""
    row = store.ask(lambda database: database.row("SELECT evaluation FROM attempts WHERE run = ?", (run,)))
    return None if row is None else int(row["evaluation"])


def own_successes_of(store: "TraceStore", run: int) -> list[int]:
    """Return the successes at a run's task with its preset, no branches; first those that are most like it."""
    return store.ask(lambda database: [one for (one,) in database.execute(_OWN_SUCCESSES, (run,))])


def tried_as(store: "TraceStore", runs: Iterable[int]) -> dict[int, tuple[int, str]]:
    """Return evaluation and variant of these runs; a run of no evaluation is left out."""
    numbers = json.dumps(list(runs))
    rows = store.ask(lambda database: database.execute(_TRIED_AS, (numbers,)).fetchall())
    return {run: (evaluation, variant) for run, evaluation, variant in rows}


def plan_sizes(store: "TraceStore", evaluations: Iterable[int]) -> dict[int, int]:
    """Return how many characters the plans of these evaluations have."""
    numbers = json.dumps(list(evaluations))
    return dict(store.ask(lambda database: database.execute(_PLAN_SIZES, (numbers,)).fetchall()))


def variants_with_files(
    store: "TraceStore", evaluations: Iterable[int]
) -> list[tuple[int, str, str, str, str]]:
    """Return evaluation, title, preset, LLM and use of exemplars of each variant that has files of its own."""
    numbers = json.dumps(list(evaluations))
    return store.ask(lambda database: database.execute(_VARIANTS_WITH_FILES, (numbers,)).fetchall())


def asked_otherwise(store: "TraceStore", runs: Iterable[int], like: int) -> set[int]:
    """Return those of these runs of which changes were asked, unless the same were asked of the run `like`."""
    values = {"runs": json.dumps(list(runs)), "like": like}
    return store.ask(lambda database: {row["run"] for row in database.rows(_ASKED_OTHERWISE, values)})


def ways(store: "TraceStore", runs: Iterable[int]) -> dict[int, tuple[WayStep, ...]]:
    """Return the steps of these runs, each in order; a run without steps is left out."""
    numbers = json.dumps(list(runs))
    rows = store.ask(lambda database: database.execute(_WAYS, (numbers,)).fetchall())
    return {
        run: tuple(WayStep(*row[1:]) for row in steps) for run, steps in groupby(rows, key=lambda row: row[0])
    }


def last_policies(store: "TraceStore", runs: Iterable[int]) -> dict[int, str]:
    """Return the policy that was at work in the last step of these runs; a run without policies is left out."""
    numbers = json.dumps(list(runs))
    found = {}
    for row in store.ask(lambda database: database.rows(_LAST_RECOGNISED, (numbers,))):
        try:
            frames = encoding.parsed(encoding.json_of(row["record"]))["stack"]["frames"]
            found[row["run"]] = str(frames[-1]["policy"])
        except (ValueError, KeyError, TypeError, IndexError):
            continue  # No policy was at work, or what is damaged says none.
    return found


def _evaluated_runs(database: "TraceDatabase", evaluation: int) -> tuple[EvaluatedRun, ...]:
    trials = {row["run"]: row["trials"] for row in database.rows(_TRIALS, (evaluation,))}
    reflected: dict[int, dict[str, Any]] = {}
    for row in database.rows(_REFLECTED, (evaluation,)):
        _count(reflected.setdefault(row["run"], {"gone_back": {}}), row)
    try:
        return tuple(
            EvaluatedRun.model_validate(
                {
                    **row,
                    **reflected.get(row["run"], {}),
                    "plan_revisions": trials.get(row["run"], 1) - 1,
                }
            )
            for row in database.rows(_TRIES, (evaluation,))
        )
    except ValidationError as error:
        raise database.damaged() from error


def _count(counts: dict[str, Any], row: dict[str, Any]) -> None:
    """Add a step that went back, or tried a remedy, to what is counted of its run."""
    try:
        record = encoding.decode(row["phase"], row["record"], None) if row["phase"] else None
    except ValueError:
        record = (
            None  # What is damaged says neither how well a page was brought back nor that a step was right.
        )
    if row["effect"] == "go back":
        grade = record.restored.grade if isinstance(record, Acted) and record.restored is not None else "lost"
        counts["gone_back"][grade] = counts["gone_back"].get(grade, 0) + 1
    else:
        right = isinstance(record, Aligned) and record.aligned is True
        counts["remedies"] = counts.get("remedies", 0) + 1
        counts["remedies_right"] = counts.get("remedies_right", 0) + right
