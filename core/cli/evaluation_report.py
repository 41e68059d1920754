"""The report of an evaluation on the command line: tables, JSON, and files."""

import shlex
from datetime import datetime
from pathlib import Path
from typing import Any

from core.cli.output import put, put_json, put_table, say
from core.cli.runs import reading
from core.cli.surroundings import in_loop, open_unattended
from core.debugger.causes.records import Suspicion
from core.debugger.evaluations.failures import FailureGroup
from core.debugger.evaluations.figures import GroupShare, counts
from core.debugger.evaluations.naming import NamedFailures, named
from core.debugger.evaluations.report import EvaluationReport, csv_of, report_of, with_failures
from core.debugger.evaluations.report_html import html_of
from core.schema.errors import UsageError
from core.schema.record import Record
from core.settings.settings import Settings
from core.settings.user_file import near
from core.system.program import COMMAND
from core.trace.evaluations import all_evaluations, evaluation_named, tallies
from core.trace.run_files import write_file
from core.trace.store import TraceStore

_SHOWN = 10
"""Groups of failures that are printed; JSON and HTML have all of them."""
_FIGURES = (
    "reward",
    "steps",
    "LLM calls",
    "tokens",
    "seconds",
    "cost",
    "failed",
    "again",
)


class ReportOutput(Record):
    """The output formats of a report."""

    as_json: bool = False
    csv: Path | None = None
    html: Path | None = None
    name_failures: str = ""
    """The LLM that names the groups of failures; empty for none."""


def report_again(name: str, settings: Settings, output: ReportOutput) -> EvaluationReport:
    """Print the report of an evaluation that is done, was broken off or is in progress; nothing is run.

    Raises UsageError if there is none of that name.
    """
    with reading(settings) as store:
        row = evaluation_named(store, name)
        if row is None:
            names = [one.name for one in store.ask(all_evaluations)]
            raise UsageError(
                f'There is no evaluation "{name}"; {near(name, names) if names else "there are none."}'
            )
        report = report_of(store, row)
        give(store, report, settings, output)
    return report


def list_evaluations(settings: Settings, *, as_json: bool) -> None:
    """Print all evaluations with how many of their runs are done and were a success, the newest first."""
    with reading(settings) as store:
        counted = [tally for tally in store.ask(tallies) if counts(tally.outcome, tally.attempt)]
        rows: list[dict[str, Any]] = []
        for row in store.ask(all_evaluations):
            own = [tally for tally in counted if tally.evaluation == row.number]
            done = sum(tally.count for tally in own)
            successes = sum(tally.count for tally in own if tally.success and not tally.touched)
            rows.append({"name": row.name, "when": row.when, "done": done, "successes": successes})
    if as_json:
        return put_json(rows)
    lines = [(row["name"], _moment(row["when"]), str(row["done"]), str(row["successes"])) for row in rows]
    put_table(("evaluation", "begun", "runs", "success"), lines)
    if not rows:
        say("There are no evaluations yet.")


def give(store: TraceStore, report: EvaluationReport, settings: Settings, output: ReportOutput) -> None:
    """Print the report, and write the files that were asked for; raises UsageError if one cannot be written."""
    report = with_failures(store, report)
    if output.name_failures and report.failures:
        done = in_loop(_named(store, report.failures, settings, output.name_failures))
        report = report.replace(failures=done.groups)
        cost = "no price known" if done.cost is None else f"${done.cost:.4g}"
        say(f"The failures were named in {done.calls} LLM calls ({cost}). {done.problem}".rstrip())
    if output.as_json:
        put_json(report.model_dump(mode="json"))
    else:
        _print(report)
    if output.csv is not None:
        write_file(output.csv, csv_of(report).encode(errors="replace"))
        say(f"The runs were written to {output.csv}.")
    if output.html is not None:
        write_file(output.html, html_of(report).encode(errors="replace"))
        say(f"The report was written to {output.html}.")


async def _named(
    store: TraceStore, groups: tuple[FailureGroup, ...], settings: Settings, llm: str
) -> NamedFailures:
    llms = open_unattended(settings, llm)
    try:
        return await named(store, groups, llms.routed(llm))
    finally:
        await llms.close()


def _print(report: EvaluationReport) -> None:
    put(f"evaluation {report.name}: {report.done} of {report.total} runs, seeds {report.plan.seeds_in_words}")
    put(f"begun {_moment(report.when)}" + (f", ended {_moment(report.ended)}" if report.ended else ""))
    for made in report.made:
        for sentence in made.sentences:
            put(sentence)
    put("")
    _put_shares("variant", [(variant.variant, variant) for variant in report.variants])
    for title, shares in (("preset", report.presets), ("llm", report.llms)):
        if 1 < len(shares) < len(report.variants):
            _put_shares(title, [(getattr(share, title), share) for share in shares])
    for paper in report.published:
        if not paper.task and paper.success is not None:
            on = f"{paper.tasks} of these tasks" if paper.tasks else paper.measured_on
            line = f"published: {paper.agent} with {paper.llm}, {paper.success * 100:.1f} % on {on} ({paper.source})"
            put(f"{line}. {paper.note}" if paper.note else line)
    put("")
    if len({family.family for family in report.families}) < len({task.task for task in report.tasks}):
        _put_shares("family", [(f"{family.family}  {family.variant}", family) for family in report.families])
        put("")
    if len(report.plan.tasks) > 1:
        put_table(
            ("task", "variant", "success", "95 % interval", *_FIGURES),
            [(task.task, task.variant, *_success(task), *_cells(task)) for task in report.tasks],
        )
    _print_comparison(report)
    if report.worth is not None:
        put(report.worth.sentence)
    if report.failures:
        put("")
        _print_failures(report.failures)
        _print_suspicions(report.suspicions)
    if report.done < report.total:
        say(f"{report.why} {unfinished(report.name, report.done, report.total)}".strip())


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M:%S}"


def unfinished(name: str, done: int, total: int) -> str:
    named = f"--name {shlex.quote(name)}"
    return f"{done} of {total} runs are done. To continue, repeat the command that makes them, with {named}."


def _put_shares(title: str, rows: list[tuple[str, GroupShare]]) -> None:
    put_table(
        (title, "success", "95 % interval", "95 % over tasks", *_FIGURES),
        [(name, *_success(one), _over_tasks(one), *_cells(one)) for name, one in rows],
    )
    for name, one in rows:
        if one.touched:
            put(f"{name}: {one.touched} runs that a person changed are left out.")


def _print_comparison(report: EvaluationReport) -> None:
    if report.not_compared:
        put("")
        put(report.not_compared)
    if report.comparison is None:
        return
    put("")
    put(report.comparison.sentence)
    if report.comparison.flips:
        put_table(
            ("task", "seed", "time", "runs", "flip"),
            [
                (
                    flip.task,
                    str(flip.seed),
                    str(flip.time),
                    f"{flip.runs[0]}, {flip.runs[1]}",
                    "to success" if flip.to_success else "to failure",
                )
                for flip in report.comparison.flips
            ],
        )


def _print_suspicions(suspicions: tuple[Suspicion, ...]) -> None:
    """Print what failed runs used more than those that passed."""
    rows = [
        (f"{one.score:.2f}", f"{one.kind} {one.name}", str(one.failed), str(one.passed))
        for one in [one for one in suspicions if one.failed][:_SHOWN]
    ]
    put_table(("Ochiai", "used by runs", "failed", "passed"), rows)


def _print_failures(groups: tuple[FailureGroup, ...]) -> None:
    rows = []
    for group in groups[:_SHOWN]:
        runs = [str(run.run) for run in group.runs if run.run is not None]
        shown = ", ".join(runs[:4]) + (", …" if len(runs) > 4 else "")
        rows.append(
            (str(len(group.runs)), shown, f"{group.name}: {group.sentence}" if group.name else group.sentence)
        )
    put_table(("failures", "runs", "in common"), rows)
    if len(groups) > _SHOWN:
        put(f"{len(groups) - _SHOWN} more groups: see --json or --html.")
    put(f"{COMMAND} --run N opens a run at the step that decided it.")


def _success(one: GroupShare) -> tuple[str, str]:
    interval = f"{one.low:.2f} to {one.high:.2f}" if one.judged else "nothing judged"
    return f"{one.successes} of {one.judged}", interval


def _over_tasks(one: GroupShare) -> str:
    if one.over_tasks is None:
        return "one task" if one.judged else ""
    low, high = one.over_tasks
    return f"{low:.2f} to {high:.2f}"


def _cells(one: GroupShare) -> tuple[str, ...]:
    return (
        "" if one.reward is None else f"{one.reward:.2f}",
        f"{one.steps:.1f}",
        f"{one.llm_calls:.1f}",
        f"{one.prompt_tokens + one.completion_tokens:.0f}",
        f"{one.seconds:.1f}",
        "" if one.cost is None else f"${one.cost:.4g}",
        str(one.failed or ""),
        str(one.tried_again or ""),
    )
