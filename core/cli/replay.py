"""What the command does that carries exemplars out on the tasks they came from."""

from collections.abc import Iterator

from core.agent.gates import gates_of
from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.cli.browsers import WithEmbedded, WithLoop, in_browser
from core.cli.exemplar_tables import memory_of
from core.cli.output import LineTeller, put, put_json, put_table, say
from core.cli.runs import open_for_reading
from core.debugger.exemplars.recording.scripted import world_for
from core.debugger.experiments.evaluation import rows_of
from core.debugger.experiments.replay import replay
from core.debugger.experiments.replay_records import ReplayReport
from core.environments.registry import Environments
from core.memory.library.records import Entry, Filter, Provenance
from core.memory.memory import Memory
from core.schema.errors import NotInLibraryError, UsageError
from core.schema.record import Record
from core.settings.settings import Settings, config_folder


class ReplayArguments(Record):
    """What the replay command was given."""

    ids: tuple[str, ...] = ()
    chosen: Filter = Filter()
    """Where no ids are given."""
    as_json: bool = False
    as_lines: bool = False


def replay_exemplars(
    arguments: ReplayArguments,
    settings: Settings,
    environments: Environments,
    *,
    with_embedded: WithEmbedded[ReplayReport],
    with_loop: WithLoop[ReplayReport],
) -> bool:
    """Carry exemplars out and print what came of it; returns whether none failed. Raises BackstepError."""
    memory = memory_of(settings)
    try:
        entries = list(_entries(memory, arguments))
    except NotInLibraryError as error:
        raise UsageError(str(error)) from error
    if not entries:
        raise UsageError("There is no such exemplar: list them with `exemplars list`.")
    gates = gates_of(config_folder())
    store = open_for_reading(settings) if settings.database.exists() else None
    teller = LineTeller(as_lines=arguments.as_lines)

    async def work(host: BrowserHost) -> ReplayReport:
        report = ReplayReport(wanted=len(entries))
        teller.tell(report)
        tabs = Tabs(host)
        try:
            await tabs.start()
            for entry in entries:
                found = await replay(
                    entry.exemplar,
                    entry.provenance,
                    entry.version,
                    environments=environments,
                    world_of=lambda task: world_for(tabs, host, environments, task, gates),
                    store=store,
                    on_gate=settings.on_gate,
                )
                memory.library().save_proof("replay", found.id, found.when, found.model_dump_json())
                say(f"{found.id}: {found.sentence}")
                report = report.with_result(found)
                teller.tell(report)
            return report
        finally:
            await tabs.close()
            await environments.close()

    try:
        report = in_browser(work, settings, with_embedded=with_embedded, with_loop=with_loop)
    finally:
        memory.close()
        if store is not None:
            store.close()
    if arguments.as_json:
        put_json([one.model_dump() for one in report.results])
    elif not arguments.as_lines:
        put_table(
            ("exemplar", "task", "seed", "", "why"),
            [
                (
                    one.id,
                    one.task,
                    str(one.seed) if one.task else "",
                    one.outcome,
                    one.problem or "; ".join(one.guessed),
                )
                for one in report.results
            ],
        )
        put(report.sentence)
    return not any(one.success is False for one in report.results)


def _entries(memory: Memory, arguments: ReplayArguments) -> Iterator[Entry]:
    library = memory.listing()
    files = {exemplar.id: (origin, exemplar) for origin, exemplar in memory.file_members()}

    def entry(id: str) -> Entry:
        if id in files:
            origin, exemplar = files[id]
            return Entry(exemplar=exemplar, provenance=Provenance(origin=origin))
        return library.get(id)

    if arguments.ids:
        yield from map(entry, arguments.ids)
        return
    yield from (entry(row.id) for row in rows_of(library, arguments.chosen))
