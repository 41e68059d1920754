"""Drafts a state space from the pages of recorded runs."""

from collections.abc import Iterable
from pathlib import Path

from core.agent.spaces.draft import DraftPage, draft_space, group_pages
from core.cli.output import say
from core.cli.runs import reading
from core.schema.errors import UsageError
from core.schema.step import Observed, Reviewed, record_of
from core.settings.settings import Settings
from core.system.program import COMMAND
from core.trace.run_files import write_file
from core.trace.store import TraceStore


def draft(settings: Settings, runs: Iterable[int], output: Path, *, title: str, force: bool) -> None:
    """Write a state space that is drafted from the pages of these runs, and say what was found.

    Raises UsageError for a run that is not there, one without pages, and a file
    that would be written over or cannot be written.
    """
    if output.exists() and not force:
        raise UsageError(f"{output} exists already: use another name, or --force to overwrite it.")
    with reading(settings) as store:
        pages = [page for run in runs for page in _pages(store, run)]
        environments = {store.run(run).environment for run in runs}
    if not pages:
        raise UsageError(f"The runs have no recorded pages: choose runs with steps (`{COMMAND} runs`).")
    environment = environments.pop() if len(environments) == 1 else ""
    text = draft_space(
        pages, title=title or output.stem, environment="" if environment == "web" else environment
    )
    write_file(output, text.encode(errors="replace"))
    states = group_pages(pages)
    names = ", ".join(f"{state.name} ({len(state.pages)})" for state in states)
    say(f"{output}: {len(states)} states from {len(pages)} pages: {names}.")
    say("Review it, then put it into the folder state_spaces of the config folder.")


def _pages(store: TraceStore, run: int) -> Iterable[DraftPage]:
    for row in store.steps(run):
        records = store.step(run, row.number).records
        observed = record_of(Observed, records)
        reviewed = record_of(Reviewed, records)
        if observed is not None:
            yield DraftPage(
                observation=observed.observation, action=reviewed.action if reviewed is not None else None
            )
