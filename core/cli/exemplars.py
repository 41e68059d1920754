"""The group of commands `exemplars`: its help and flags. The other modules here carry the commands out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from core.cli.options import (
    AsJson,
    Browser,
    Commands,
    CreditOptions,
    Database,
    DryRun,
    KeepOptions,
    LLMName,
    Measured,
    OnGate,
    TasksKnown,
    Viewport,
    settings_with,
    with_groups,
)
from core.schema.errors import UsageError

# What a command needs is imported when it is called: the window is to open quickly.

EntryFile = Annotated[Path | None, typer.Option("--entry", hidden=True)]
Words = Annotated[
    str, typer.Option("--search", help="Words to find in task, thoughts, actions, tags or note.")
]
Statuses = Annotated[
    list[str] | None,
    typer.Option("--status", help="Only new, reviewed or retired ones. Can be repeated."),
]
OriginName = Annotated[str, typer.Option("--origin", help='Only this origin, such as "demonstration".')]
_IMPORTED = "jsonl, synapse, step, mind2web, webshop, chrome-recorder, browser-use or browsergym"
_EXPORTED = "jsonl, toml, chat, tools, sharegpt, pairs, atif or synapse"
ChangedIds = Annotated[
    list[str] | None, typer.Argument(help="Exemplars. Default: all that match the filters.")
]
Votes = Annotated[int, typer.Option("--votes", min=1, max=50, help="How many of the nearest vote.")]


@dataclass(frozen=True, kw_only=True)
class ExemplarsChosen:
    """The options that choose exemplars."""

    search: Words = ""
    family: Annotated[str, typer.Option(help="Only this family.")] = ""
    environment: Annotated[str, typer.Option(help="Only this environment.")] = ""
    site: Annotated[str, typer.Option(help="Only this site, by its host.")] = ""
    origin: OriginName = ""
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag. Can be repeated.")] = None
    llm: Annotated[str, typer.Option(help="Only those decided by this LLM.")] = ""
    file: Annotated[
        str, typer.Option(help="Only those imported from this file, or in it, by its full path.")
    ] = ""
    run: Annotated[int | None, typer.Option(help="Only those saved from this run.")] = None
    found: Annotated[
        list[str] | None,
        typer.Option(help='Only with this finding, such as "never played". Can be repeated.'),
    ] = None
    since: Annotated[str, typer.Option("--from", help="Made on this day or later, such as 2025-01-31.")] = ""
    until: Annotated[str, typer.Option(help="Made before this day.")] = ""
    status: Statuses = None

    def filter(self) -> Any:
        """Return the filter; raises UsageError for an unknown origin or status, or what is no day."""
        from core.exemplars.library.records import IN_USE, Filter, Finding
        from core.schema.exemplar import Status

        return Filter.model_validate(
            {
                "words": self.search,
                "family": self.family,
                "environment": self.environment,
                "site": self.site,
                "origin": _origin(self.origin),
                "tags": tuple(self.tag or ()),
                "llm": self.llm,
                "file": self.file,
                "run": self.run,
                "found": _named(self.found or (), Finding, "a finding"),
                "made_from": _moment(self.since, "--from"),
                "made_until": _moment(self.until, "--until"),
                "statuses": _named(self.status or (), Status, "a status") or IN_USE,
            }
        )


def add_exemplar_commands(app: typer.Typer, with_embedded: Callable[..., Any]) -> None:
    """Add the group to the command line."""
    group = typer.Typer(cls=Commands, help="The exemplars that runs use.", no_args_is_help=True)
    app.add_typer(group, name="exemplars")

    @group.command(name="list")
    @with_groups
    def list_(
        order: Annotated[
            str,
            typer.Option(
                help="Sort by changed, made, family, id, task, used, helped, worth, distance and so on."
            ),
        ] = "changed",
        limit: Annotated[int, typer.Option(min=1, help="The most exemplars to list.")] = 50,
        offset: Annotated[int, typer.Option(min=0, help="How many to skip first.")] = 0,
        counts: Annotated[
            bool, typer.Option("--counts", help="Count exemplars by family, tag and so on.")
        ] = False,
        db: Database = None,
        as_json: AsJson = False,
        *,
        chosen: ExemplarsChosen,
    ) -> None:
        """List exemplars: yours, those of your files, and the bundled ones."""
        from core.cli.exemplar_tables import list_exemplars
        from core.exemplars.library.records import Order

        list_exemplars(
            settings_with(db=db),
            chosen.filter(),
            _named([order], Order, "an order")[0],
            limit,
            offset,
            counts=counts,
            as_json=as_json,
        )

    @group.command()
    def show(
        id: Annotated[str, typer.Argument(help="The exemplar's id.")],
        version: Annotated[int | None, typer.Option(min=1, help="Show this version.")] = None,
        against: Annotated[
            int | None, typer.Option(min=1, help="Show the differences from this version.")
        ] = None,
        db: Database = None,
        as_json: AsJson = False,
    ) -> None:
        """Show an exemplar in full, with its versions and where it was retrieved."""
        from core.cli.exemplar_tables import show_exemplar

        show_exemplar(settings_with(db=db), id, version, against, as_json=as_json)

    @group.command()
    @with_groups
    def keep(asked: KeepOptions) -> None:
        """Save a run as an exemplar. Failed and undone steps are left out, corrections become contrasts."""
        from core.cli.exemplar_saving import keep_run

        keep_run(asked)

    @group.command()
    @with_groups
    def review(
        as_status: Annotated[str, typer.Argument(metavar="STATUS", help="reviewed, retired or new.")],
        ids: ChangedIds = None,
        although: Annotated[
            bool, typer.Option("--although-faulty", help="Use them although they have faults.")
        ] = False,
        db: Database = None,
        as_json: AsJson = False,
        *,
        chosen: ExemplarsChosen,
    ) -> None:
        """Say that exemplars are reviewed: runs recall them. Retired ones are kept, but not recalled."""
        from core.cli.exemplar_changes import change_exemplars
        from core.exemplars.library.bulk import review_all
        from core.schema.exemplar import Status

        (status,) = _named([as_status], Status, "a status")
        change_exemplars(
            settings_with(db=db),
            ids or (),
            chosen.filter(),
            f"marked as {status}",
            lambda library, which: review_all(library, which, status, although=although),
            as_json=as_json,
        )

    @group.command()
    @with_groups
    def tag(
        ids: ChangedIds = None,
        add: Annotated[list[str] | None, typer.Option(help="Add this tag. Can be repeated.")] = None,
        remove: Annotated[list[str] | None, typer.Option(help="Remove this tag. Can be repeated.")] = None,
        to_family: Annotated[str, typer.Option(help="Move them to this family.")] = "",
        weight: Annotated[
            float | None,
            typer.Option(min=0.1, max=10, help="Divide their distances by this when runs look up."),
        ] = None,
        pinned: Annotated[
            bool | None, typer.Option("--pin/--unpin", help="Use them before nearer ones of their families.")
        ] = None,
        never: Annotated[
            list[str] | None, typer.Option(help="Never use them for tasks like this one. Can be repeated.")
        ] = None,
        db: Database = None,
        as_json: AsJson = False,
        *,
        chosen: ExemplarsChosen,
    ) -> None:
        """Change tags, family, weight and so on of exemplars: as new versions, or in their files."""
        from core.cli.exemplar_changes import change_exemplars
        from core.exemplars.library.bulk import edit_all
        from core.exemplars.library.records import Edits

        edits = Edits(
            add=tuple(add or ()),
            remove=tuple(remove or ()),
            family=to_family.strip(),
            weight=weight,
            pinned=pinned,
            never=tuple(never or ()),
        )
        if edits == Edits():
            raise UsageError("Say what to change, such as --add with a tag or --to-family with a family.")
        change_exemplars(
            settings_with(db=db),
            ids or (),
            chosen.filter(),
            "changed",
            lambda library, which: edit_all(library, which, edits, "changed"),
            as_json=as_json,
        )

    @group.command()
    @with_groups
    def check(
        most_tokens: Annotated[
            int, typer.Option(min=1, help="Report trajectories with more tokens as too long.")
        ] = 4000,
        db: Database = None,
        as_json: AsJson = False,
        *,
        chosen: ExemplarsChosen,
    ) -> None:
        """Check exemplars: actions, elements, programs, length, source. The exit code is 1 if one has a fault."""
        from core.cli.exemplar_tables import check_exemplars

        is_good = check_exemplars(settings_with(db=db), chosen.filter(), most_tokens, as_json=as_json)
        raise typer.Exit(0 if is_good else 1)

    @group.command()
    def retrieve(
        text: Annotated[str, typer.Argument(help="The text of a task.")] = "",
        run: Annotated[int | None, typer.Option(help="Use the task and first page of this run.")] = None,
        preset: Annotated[str, typer.Option(help="Recall as this preset. Default: as the run's.")] = "",
        by: Annotated[str, typer.Option(help="family or exemplars.")] = "",
        votes: Annotated[
            int | None, typer.Option(min=1, max=50, help="How many of the nearest vote.")
        ] = None,
        most: Annotated[int | None, typer.Option(min=1, max=50, help="The most exemplars to use.")] = None,
        tokens: Annotated[
            int | None, typer.Option(min=100, max=1_000_000, help="The most tokens of all exemplars used.")
        ] = None,
        threshold: Annotated[
            float | None, typer.Option(min=0, max=2, help="Use none beyond this distance.")
        ] = None,
        environment: Annotated[
            str, typer.Option(help="Only those of this environment, or without one.")
        ] = "",
        db: Database = None,
        as_json: AsJson = False,
    ) -> None:
        """Show what a task would be shown: distances and votes."""
        from core.cli.exemplar_search import retrieve as look_up

        if bool(text.strip()) == (run is not None):
            raise UsageError("Use the text of a task, or --run with a run.")
        if by not in ("", "family", "exemplars"):
            raise UsageError(f'"{by}" is no way to choose; take family or exemplars.')
        given = {
            "by": by or None,
            "votes": votes,
            "most": most,
            "tokens": tokens,
            "threshold": threshold,
            "other_environments": False if environment else None,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        look_up(settings_with(db=db), text, run, preset, changes, environment, as_json=as_json)

    @group.command()
    @with_groups
    def loo(
        texts: Annotated[
            Path | None,
            typer.Option(help="A JSON file with lists of texts by family, instead of the exemplars."),
        ] = None,
        votes: Votes = 3,
        db: Database = None,
        as_json: AsJson = False,
        *,
        chosen: ExemplarsChosen,
    ) -> None:
        """Leave one out: check whether the family of each exemplar would be found without it."""
        from core.cli.exemplar_search import leave_one_out_of

        leave_one_out_of(settings_with(db=db), texts, chosen.filter(), votes, as_json=as_json)

    @group.command()
    def duplicates(
        within: Annotated[float, typer.Option(min=0, max=2, help="List pairs up to this distance.")] = 0.15,
        kept: Annotated[
            bool, typer.Option("--kept", help="Also list pairs marked in the window to keep both.")
        ] = False,
        db: Database = None,
        as_json: AsJson = False,
    ) -> None:
        """List groups of similar exemplars."""
        from core.cli.exemplar_tables import print_duplicates

        print_duplicates(settings_with(db=db), within, with_kept=kept, as_json=as_json)

    @group.command(name="map")
    def map_(
        db: Database = None,
        as_json: AsJson = False,
    ) -> None:
        """Map the exemplars in a plane: print the position of each."""
        from core.cli.exemplar_tables import print_map

        print_map(settings_with(db=db), as_json=as_json)

    @group.command()
    def reindex(
        db: Database = None,
        as_json: AsJson = False,
    ) -> None:
        """Rebuild the index, with the embedding of the settings."""
        from core.cli.exemplar_search import reindex as make

        make(settings_with(db=db), as_json=as_json)

    @group.command()
    @with_groups
    def replay(
        ids: ChangedIds = None,
        on_gate: OnGate = None,
        browser: Browser = None,
        viewport: Viewport = None,
        db: Database = None,
        entry: EntryFile = None,
        as_json: AsJson = False,
        *,
        known: TasksKnown,
        chosen: ExemplarsChosen,
    ) -> None:
        """Replay exemplars on the tasks they came from, to check that they still succeed. The exit code is 1 if not."""
        from core.cli.exemplar_experiments import replay_exemplars

        settings = settings_with(db=db, browser=browser, viewport=viewport, on_gate=on_gate)
        is_good = replay_exemplars(
            tuple(ids or ()),
            chosen.filter(),
            settings,
            known.environments(settings),
            with_embedded,
            path=entry,
            as_json=as_json,
        )
        raise typer.Exit(0 if is_good else 1)

    @group.command()
    @with_groups
    def worth(
        exemplar: Annotated[
            str, typer.Argument(metavar="NAME", help="An exemplar's id, or a family with --family.")
        ],
        of_family: Annotated[
            bool, typer.Option("--family", help="Use all exemplars of the family of this name.")
        ] = False,
        change: Annotated[str, typer.Option(help="Compare two versions, such as 1:2.")] = "",
        task: Annotated[
            list[str] | None,
            typer.Option(
                help="A task, or a pattern such as miniwob/click-*. Can be repeated. Default: its own task."
            ),
        ] = None,
        seeds: Annotated[str, typer.Option(help="Seeds, such as 0-9 or 1,4,7.")] = "0-4",
        preset: Annotated[
            str | None, typer.Option(help="A preset with memory. Default: that of the settings, or synapse.")
        ] = None,
        llm: LLMName = None,
        *,
        measured: Measured,
    ) -> None:
        """Measure an exemplar: run tasks at the same seeds with it and without it, and list the runs that flip."""
        from core.debugger.evaluations.records import WorthRequest
        from core.debugger.evaluations.worth import read_subject

        request = WorthRequest(
            subject=read_subject(exemplar, is_family=of_family, change=change),
            tasks=tuple(task or ()),
            seeds=seeds,
            preset=preset or "",
            llm=llm or "",
            **measured.asked,
        )
        measured.carry_out(request, with_embedded)

    @group.command()
    @with_groups
    def credit(asked: CreditOptions) -> None:
        """Ask a run's steps again without each of their exemplars, to see how much each made the action more likely."""
        from core.cli.exemplar_experiments import attribute_run

        attribute_run(asked)

    @group.command(name="import")
    def import_(
        file: Annotated[Path, typer.Argument(help="A file, or a folder of files.")],
        form: Annotated[
            str, typer.Option("--format", help=f"{_IMPORTED}; default: recognised by its content.")
        ] = "",
        dry_run: DryRun = False,
        strict: Annotated[
            bool, typer.Option("--strict", help="Import nothing if an entry has an error or its id is taken.")
        ] = False,
        taken: Annotated[
            str, typer.Option(help='If an id is taken: "leave", "new id" or "new version".')
        ] = "leave",
        family: Annotated[str, typer.Option(help="The family for all of them, instead of their own.")] = "",
        least_reward: Annotated[
            float, typer.Option(help="The lowest reward of a judged trajectory to import.", min=0)
        ] = 1.0,
        policies: Annotated[
            Path | None, typer.Option(help="For step: also write the policies as files to this folder.")
        ] = None,
        db: Database = None,
        as_json: AsJson = False,
    ) -> None:
        """Import exemplars from a file. New ones are saved; nothing in the file is run."""
        from core.cli.exemplar_exchange import import_exemplars
        from core.exemplars.exchange.plan import ImportChoices

        choices = ImportChoices(
            paths=(str(file),),
            form=form,
            family=family,
            least_reward=least_reward,
            leave_faulty=not strict,
            taken="refuse"
            if strict
            else _named([taken], Literal["leave", "new id", "new version"], "a choice")[0],
        )
        import_exemplars(settings_with(db=db), choices, dry_run=dry_run, policies=policies, as_json=as_json)

    @group.command()
    def export(
        form: Annotated[str, typer.Option("--format", help=f"{_EXPORTED}.")] = "jsonl",
        family: Annotated[list[str] | None, typer.Option(help="Only this family. Can be repeated.")] = None,
        ids: Annotated[
            list[str] | None, typer.Option(help="Only these ids, separated by commas. Can be repeated.")
        ] = None,
        origin: OriginName = "",
        status: Statuses = None,
        mine: Annotated[bool, typer.Option("--mine", help="Only yours, not the bundled exemplars.")] = False,
        output: Annotated[
            Path | None,
            typer.Option(
                "-o", "--output", help="The file to write; for synapse, the folder. Default: print."
            ),
        ] = None,
        db: Database = None,
        as_json: Annotated[
            bool, typer.Option("--json", help="Print what was written as JSON to stdout.")
        ] = False,
    ) -> None:
        """Export reviewed exemplars to a file for Backstep or another program."""
        from core.cli.exemplar_exchange import export_exemplars
        from core.schema.exemplar import Status

        export_exemplars(
            settings_with(db=db),
            form,
            output,
            families=family or (),
            ids=[one.strip() for listed in ids or () for one in listed.split(",") if one.strip()],
            origin=_origin(origin) or None,
            statuses=_named(status or (), Status, "a status") or ("reviewed",),
            mine=mine,
            as_json=as_json,
        )


def _named(names: Iterable[str], known: object, what: str) -> tuple[Any, ...]:
    """Return names that a Literal has; raises UsageError for another one."""
    for name in (names := tuple(names)):
        if name not in get_args(known):
            raise UsageError(f'"{name}" is not {what}; use one of {", ".join(get_args(known))}.')
    return names


def _origin(name: str) -> Any:
    from core.exemplars.library.records import Origin

    return (*_named([name] if name else [], Origin, "an origin"), "")[0]


def _moment(day: str, flag: str) -> float | None:
    if not day:
        return None
    try:
        return datetime.strptime(day, "%Y-%m-%d").timestamp()
    except ValueError as error:
        raise UsageError(f'{flag}: "{day}" is no day; write it as 2025-01-31.') from error
