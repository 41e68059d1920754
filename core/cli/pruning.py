"""The command `runs prune`: lists runs that are no longer needed, and deletes them with --yes."""

from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from datetime import datetime

from core.cli.output import put_json, put_table, say
from core.cli.runs import reading
from core.exemplars.library.records import LIBRARY_NAME
from core.exemplars.library.store import Library
from core.schema.formats import count
from core.settings.settings import Settings, data_folder
from core.trace.pruning import Kept, PrunePlan, PruneRequest, PruneRun
from core.trace.store import TraceStore

_WHY: dict[Kept, str] = {
    "newest": "among the newest to keep (--keep)",
    "named": "named (--named)",
    "exemplar": "used for exemplars (--exemplars)",
    "branched": "needed by branches (--branched, if all their branches go too)",
    "evaluated": "counted by evaluations (--evaluated)",
    "last": "the last run, so that its number is not used again",
}


def prune_runs(settings: Settings, wanted: PruneRequest, *, yes: bool, as_json: bool) -> None:
    """Print what would go, or with `yes` delete it and print the result of that.

    Raises UsageError if a process is at work on a run that would go.
    """
    exemplars = _runs_of_exemplars(settings)
    with reading(settings) as store:
        plan = store.plan_prune(wanted, exemplars)
        size = store.path.stat().st_size
    if not yes:
        _preview(plan, size, as_json=as_json)
        return
    with closing(TraceStore.open(settings.database)) as store:
        pruned = store.prune(plan, _teller(len(plan.runs)))
    if as_json:
        put_json(pruned.model_dump())
    say(
        f"{count(pruned.runs, 'run')} deleted. {_megabytes(pruned.room)} are free in {settings.database}"
        + (f", and the file is {_megabytes(pruned.smaller)} smaller." if pruned.smaller else " for new runs.")
    )
    if pruned.failed:
        say(f"The file could not be made smaller: {pruned.failed}")
    if pruned.waits:
        say(
            "The pictures and pages of these runs are still in the file, because another process is working on runs. "
            "Prune again when it has ended."
        )


def _teller(runs: int) -> Callable[[int], None]:
    """Return what says how many runs are gone, ten times at most."""
    told = 0

    def tell(gone: int) -> None:
        nonlocal told
        if gone * 10 // runs > told:
            told = gone * 10 // runs
            say(f"{gone} of {runs} runs deleted")

    return tell


def _runs_of_exemplars(settings: Settings) -> frozenset[int]:
    """Return the runs that exemplars were made of, by the libraries in the data folder and next to the database."""
    paths = {data_folder() / LIBRARY_NAME, settings.database.parent / LIBRARY_NAME}
    found: frozenset[int] = frozenset()
    for path in paths:
        if path.exists():
            with closing(Library.open(path, read_only=True)) as library:
                found |= library.runs()
    return found


def _preview(plan: PrunePlan, size: int, *, as_json: bool) -> None:
    if as_json:
        put_json(plan.model_dump())
        return
    groups: dict[tuple[str, str], list[PruneRun]] = defaultdict(list)
    for run in plan.runs:
        groups[(run.task, run.outcome)].append(run)
    if groups:
        put_table(
            ("task", "outcome", "runs", "steps", "from", "to"),
            [
                (
                    task,
                    outcome,
                    str(len(runs)),
                    str(sum(one.steps for one in runs)),
                    _day(runs[-1].started),
                    _day(runs[0].started),
                )
                for (task, outcome), runs in sorted(groups.items())
            ],
        )
    for why, number in plan.kept.items():
        say(f"{count(number, 'run')} kept: {_WHY[why]}.")
    if plan.at_work:
        say(f"Another process is working on run {plan.at_work[0]}. Nothing can be deleted before it ends.")
    if not plan.runs:
        say("No run would be deleted.")
        return
    say(
        f"{count(len(plan.runs), 'run')} with {count(plan.steps, 'step')} would be deleted, about "
        f"{_megabytes(plan.share * size)} of {_megabytes(size)}. This cannot be undone. Nothing was deleted. "
        "To delete, add --yes."
    )


def _megabytes(size: float) -> str:
    return f"{size / 1e6:.1f} MB"


def _day(time: float) -> str:
    return f"{datetime.fromtimestamp(time):%Y-%m-%d}"
