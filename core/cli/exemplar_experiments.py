"""The commands that try exemplars: replay, worth and credits."""

from contextlib import closing
from pathlib import Path

from pydantic import ValidationError

from core.agent.gates import gates_of
from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.cli.exemplar_tables import memory_of
from core.cli.options import CreditOptions, settings_with
from core.cli.output import put, put_json, put_table, say
from core.cli.runs import open_for_reading
from core.cli.surroundings import WithEmbedded, in_browser, in_loop
from core.debugger.ask_again.repeat import attribute_step, kept_attributions
from core.debugger.ask_again.views import Attribution
from core.debugger.exemplars.scripted import world_for
from core.debugger.exemplars.trying.replay import replay
from core.debugger.exemplars.trying.views import ReplayResult, replays_in_words, sums_of
from core.debugger.services import user_llms
from core.environments.registry import Environments
from core.exemplars.library.records import Entry, Filter
from core.schema.errors import UsageError
from core.schema.step import Decided
from core.settings.settings import Settings, config_folder
from core.trace.calls import stored_prompt
from core.trace.store import TraceStore


def replay_exemplars(
    ids: tuple[str, ...],
    chosen: Filter,
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    *,
    path: Path | None = None,
    as_json: bool,
) -> bool:
    """Carry exemplars out, those of the filter where no `ids` are given, and print the result.

    That of a `path`, to which the window writes an entry, is kept nowhere: it is in no library yet. Returns
    whether none failed. Raises BackstepError.
    """
    memory = memory_of(settings)
    library = memory.library()
    try:
        if path is not None:
            entries = [Entry.model_validate_json(path.read_bytes())]
        else:
            entries = [library.get(id) for id in ids] or list(library.entries(chosen))
    except (OSError, ValidationError) as error:
        raise UsageError(
            f"{path} is not an entry of a library; save the exemplar, and replay it by its id."
        ) from error
    if not entries:
        raise UsageError("There is no such exemplar. To list exemplars, use `exemplars list`.")
    gates = gates_of(config_folder())
    store = open_for_reading(settings) if settings.database.exists() else None

    async def work(host: BrowserHost) -> list[ReplayResult]:
        results = []
        tabs = Tabs(host)
        try:
            await tabs.browser.start()
            for entry in entries:
                result = await replay(
                    entry.exemplar,
                    entry.provenance,
                    entry.version,
                    environments=environments,
                    world_of=lambda task: world_for(
                        tabs, environments, task, gates, viewport=settings.viewport
                    ),
                    store=store,
                    on_gate=settings.on_gate,
                    on_look=(lambda _said: None) if path is None else say,
                )
                if path is None:
                    library.proofs.save("replay", result.id, result.when, result.model_dump_json())
                say(f"{result.id}: {result.sentence}")
                results.append(result)
            return results
        finally:
            await tabs.browser.close()
            await environments.close()

    try:
        results = in_browser(work, settings, with_embedded)
    finally:
        memory.close()
        if store is not None:
            store.close()
    if as_json:
        put_json([result.model_dump() for result in results])
    else:
        rows = [
            (
                result.id,
                result.task,
                str(result.seed) if result.task else "",
                result.outcome,
                result.problem or "; ".join(result.guessed),
            )
            for result in results
        ]
        put_table(("exemplar", "task", "seed", "", "why"), rows)
        put(replays_in_words(results))
    return not any(result.success is False for result in results)


def attribute_run(asked: CreditOptions) -> None:
    """Print the credits of a run's exemplars, or without a run of all that are known; raises BackstepError.

    Without steps all are asked that had exemplars in their prompts; without an LLM the run's own.
    """
    settings = settings_with(base_url=asked.base_url, db=asked.db)
    memory = memory_of(settings)
    try:
        if asked.run is None:
            _put_sums(kept_attributions(memory.library()), as_json=asked.as_json)
            return
        found = _asked(settings, asked.run, asked)
        library = memory.library()
        for one in found:
            library.proofs.save("credit", one.id, one.when, one.model_dump_json())
    finally:
        memory.close()
    if asked.as_json:
        put_json([{**one.model_dump(), "share": one.share} for one in found])
        return
    put_table(
        ("step", "action", "exemplar", "with", "without", "credit"),
        [
            (
                str(one.step),
                one.action,
                one.id,
                f"{one.with_same} of {one.with_all}",
                f"{one.without_same} of {one.without_all}",
                "" if one.share is None else f"{one.share:+.2f}",
            )
            for one in found
        ],
    )


def _asked(settings: Settings, run: int, asked: CreditOptions) -> list[Attribution]:
    llms = user_llms(settings)

    async def work(store: TraceStore) -> list[Attribution]:
        try:
            llm = llms.routed(asked.llm or store.run(run).llm)
            chosen = asked.step or _with_exemplars(store, run)
            if not chosen:
                raise UsageError(f"No prompt of run {run} had exemplars, so there is no credit to measure.")
            found: list[Attribution] = []
            for step in chosen:
                say(f"step {step}: asked {asked.times} times with all exemplars, and without each")
                found += await attribute_step(
                    store, llm, run, step, times=asked.times, temperature=asked.temperature
                )
            return found
        finally:
            await llms.close()

    open_for_reading(settings).close()  # To open a database to be written would make one.
    with closing(TraceStore.open(settings.database)) as store:
        return in_loop(work(store))


def _with_exemplars(store: TraceStore, run: int) -> tuple[int, ...]:
    """Return the steps that asked an LLM for their action with exemplars in the prompt."""
    found = []
    for row in store.steps(run):
        detail = store.step(run, row.number)
        asked = any(isinstance(record, Decided) for record in detail.records)
        calls = [call for call in detail.calls if call.purpose in ("decide", "function")]
        if asked and calls and any(part.kind == "exemplar" for part in stored_prompt(store, calls[0]).parts):
            found.append(row.number)
    return tuple(found)


def _put_sums(attributions: tuple[Attribution, ...], *, as_json: bool) -> None:
    sums = sums_of(attributions)
    if as_json:
        put_json([one.model_dump() for one in sums])
        return
    put_table(
        ("exemplar", "family", "steps", "credit", "each"),
        [(one.id, one.family, str(one.steps), f"{one.total:+.2f}", f"{one.mean:+.2f}") for one in sums],
    )
    say(f"{len(attributions)} credits of {len(sums)} exemplars.")
