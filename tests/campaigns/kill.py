"""Programs of Backstep are killed at random moments, and it is looked for what was lost.

    python -m tests.campaigns.kill [--times 1000] [--seed 0] [--jobs 2] [--kind NAME]... [--only NUMBER] [--keep]

Each round begins with a folder of its own that holds a database with a run, a
library and an index. A program, or two that work on the same files, is started
as a person starts it and killed by SIGKILL. The moment is drawn evenly from how
long programs of its kind live, which is learnt from those that end before: every
eighth round kills none that has anything left to do. Then

- all processes that it had started must end by themselves;
- the database and the library must be whole, and hold all that the program had
  told as done; the index must agree with the library;
- runs that were under way must be marked as interrupted by the next opening;
- the next start must sweep the temporary folders;
- some of the interrupted runs are forked at a step that was told, and must go on.

Interrupted, it prints what has come of it so far.

It needs Linux and an installed Chromium.
"""

import asyncio
import multiprocessing
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from core.agent.resources import agent_resources_of
from core.cli.output import put, put_table
from core.debugger.evaluations.engine import results
from core.exemplars.checks import check
from core.exemplars.library.records import LIBRARY_NAME
from core.exemplars.library.store import Library
from core.schema.step import Observed, record_of
from core.trace.blobs import hash_of
from core.trace.calls import stored_prompt, stored_reply
from core.trace.evaluations import attempts_of, evaluation_named
from core.trace.records import RunRow
from core.trace.store import TraceStore
from tests.campaigns.processes import Started, adopt_orphans, wait_for_all_to_end
from tests.campaigns.programs import HANG_SECONDS, KINDS, Before, Home, Program, Told, browsers, draw, prepare
from tests.campaigns.report import Loss, Progress, conclude, flags

END_SECONDS = 60.0
"""How long what a killed program has started may take to end, on a busy machine."""
_WHOLE = 1 / 8
"""The share of rounds in which programs live to their end."""
_LONGEST = 60.0
"""Seconds after which a program is killed at the latest."""
_LEARNT = 5
"""Of so many programs of a kind that came to their end the last ones say how long one lives."""
_TWO = 0.25
"""The share of rounds in which two programs work on the same files."""
_FORKED = 0.4
"""The share of rounds in which a run that was interrupted after a told step, if there is one, is forked."""
_START = "from core.system.temp_folder import begin_temp_folder; begin_temp_folder()"
"""What every start of the program begins with."""
_MANY = 100_000


@dataclass(frozen=True)
class Stage:
    """What all rounds share."""

    folder: Path
    before: Before
    seed: int
    lives: dict[str, float]
    """Seconds that a program of a kind lives; the kinds that are started."""
    keep: bool = False
    """Whether the folders of rounds are left, to be looked at."""

    @property
    def template(self) -> Home:
        return Home(self.folder / "template")


@dataclass(frozen=True)
class Round:
    """What came of one round."""

    number: int
    kinds: tuple[str, ...]
    killed: tuple[str, ...] = ()
    """The kinds of the programs that were killed; the others had ended before."""
    lived: tuple[tuple[str, float], ...] = ()
    """The kind of a program that nobody was to kill, with the seconds until its end."""
    steps: int = 0
    """Steps that had been told."""
    interrupted: int = 0
    """Runs that were under way."""
    forked: int = 0
    seconds: float = 0.0
    """How long what the killed had started took to end."""
    losses: tuple[Loss, ...] = ()


def play(stage: Stage, number: int) -> Round:
    """Play one round in a process that adopts orphans and has no others."""
    dice = random.Random(f"{stage.seed} {number}")
    home = Home(stage.folder / f"round-{number}").make(stage.template)
    places = range(2 if dice.random() < _TWO else 1)
    weights = [KINDS[kind].weight for kind in stage.lives]
    kinds = [dice.choices(tuple(stage.lives), weights)[0] for _ in places]
    programs = [
        draw(kind, home, stage.before, dice, place) for place, kind in zip(places, kinds, strict=True)
    ]
    moments = [dice.random() * stage.lives[one.kind] for one in programs]
    whole = dice.random() < _WHOLE
    if whole:
        moments = [_LONGEST for _ in places]
    forks = dice.random() < _FORKED
    started = [home.start(one.words, f"said-{place}", last=one.last) for place, one in enumerate(programs)]
    codes: dict[int, int] = {}
    lived = []
    for place in sorted(places, key=lambda place: moments[place]):
        # Of those that were to be killed only the quick ones end, and in a pair each is waited for in turn.
        if started[place].wait_until(moments[place]) and whole and len(places) == 1:
            lived.append((kinds[place], started[place].seconds))
        codes[place] = started[place].kill()
    lost = [
        f"{program} had ended with {codes[place]}: {started[place].told()[-600:]}"
        for place, program in enumerate(programs)
        if codes[place] not in (-9, 0, 1)
    ]
    left, seconds = wait_for_all_to_end(END_SECONDS)
    lost += [f"{one.command} went on {END_SECONDS:.0f} s after {programs} were killed" for one in left]
    checked, forked = Checked(home, stage.before), 0
    try:
        checked.look(programs, started)
        checked.sweep()
        if forks and checked.forkable:
            forked = 1
            checked.fork(*dice.choice(checked.forkable))
    except Exception as error:  # Whatever cannot be read is lost.
        lost.append(f"{type(error).__name__}: {error}")
    lost += checked.lost
    if not lost and not stage.keep:
        shutil.rmtree(home.folder)
    what = " and ".join(str(one) for one in programs)
    return Round(
        number=number,
        kinds=tuple(kinds),
        killed=tuple(kinds[place] for place in places if codes[place] == -9),
        lived=tuple(lived),
        steps=checked.steps,
        interrupted=len(checked.interrupted),
        forked=forked,
        seconds=seconds,
        losses=tuple(
            Loss(number, f"{one} ({what}, killed after {', '.join(f'{m:.2f} s' for m in moments)})")
            for one in lost
        ),
    )


class Checked:
    """What is left in a home after programs were killed."""

    def __init__(self, home: Home, before: Before) -> None:
        self._home = home
        self._before = before
        self.lost: list[str] = []
        self.steps = 0
        self.interrupted: tuple[int, ...] = ()
        self.forkable: list[tuple[int, int]] = []
        """Runs that were interrupted, with a step that was told."""

    def look(self, programs: Sequence[Program], started: Sequence[Started]) -> None:
        """Look at everything that is kept, as the next opening finds it."""
        self.lost += _damage(self._home.database)
        with closing(TraceStore.open(self._home.database)) as store:
            running = {row.run for row in _begun(store, self._before) if row.ended is None}
            self.interrupted = store.recover()
            begun = _begun(store, self._before)
            told = [program.told(one.told(), begun) for program, one in zip(programs, started, strict=True)]
            self.lost += [one.problem for one in told if one.problem]
            self.lost += self._not_marked(store, begun, running)
            self.lost += self._unreadable(store, begun)
            for one in told:
                self.lost += self._missing(store, one)
            self.lost += [f"The lock {path.name} is left" for path in self._home.data.glob("*.live-*")]
        self.lost += asyncio.run(self._library(told))

    def _not_marked(self, store: TraceStore, begun: Iterable[RunRow], running: set[int]) -> Iterator[str]:
        for row in begun:
            if row.ended is None or row.outcome == "running":
                yield f"Run {row.run} reads as {row.outcome} after the next opening"
        if running != set(self.interrupted):
            yield f"Runs {sorted(running)} had no end, and {sorted(self.interrupted)} were marked as interrupted"

    def _unreadable(self, store: TraceStore, begun: Iterable[RunRow]) -> Iterator[str]:
        """Read everything of the runs that were begun."""
        for row in begun:
            for step in store.steps(row.run):
                detail = store.step(row.run, step.number)
                seen = record_of(Observed, detail.records)
                for name in (seen.html, seen.screenshot) if seen is not None else ():
                    if name and hash_of(store.blob(name)) != name:
                        yield f"The page of step {step.number} of run {row.run} is another one"
                for call in detail.calls:
                    stored_prompt(store, call)
                    stored_reply(store, call)
            store.pages.events(row.run)
            store.pages.network(row.run)

    def _missing(self, store: TraceStore, told: Told) -> Iterator[str]:
        for run, number in told.steps:
            self.steps += 1
            step = next((one for one in store.steps(run) if one.number == number), None)
            if step is None:
                yield f"Step {number} of run {run} was told and is not there"
            elif not step.sealed or not store.step(run, number).records:
                yield f"Step {number} of run {run} was told and is not whole"
            elif run in self.interrupted:
                self.forkable.append((run, number))
        for run in told.ended:
            if store.run(run).outcome in ("running", "interrupted"):
                yield f"Run {run} was told to have ended and is {store.run(run).outcome}"
        if told.cases:
            row = evaluation_named(store, told.evaluation)
            done = 0 if row is None else len(results(attempts_of(store, row.number)))
            if done < told.cases:
                yield f"{told.cases} cases of {told.evaluation} were told to be done, {done} are kept"

    async def _library(self, told: Iterable[Told]) -> list[str]:
        path = self._home.data / LIBRARY_NAME
        lost = list(_damage(path))
        memory = agent_resources_of(self._home.config, data=self._home.data).memory
        index = await memory.refreshed()
        members = memory.library().page().total
        memory.close()
        if len(index) != members:
            lost.append(f"The index has {len(index)} exemplars, and the library {members}")
        with closing(Library.open(path)) as library:
            for exemplar in (entry.exemplar for entry in library.entries()):
                if index.number_of(exemplar.id) is None:
                    lost.append(f"{exemplar.id} is not in the index")
                faults = [one for one in await check(exemplar, with_parser=False) if one.level == "fault"]
                lost += [f"{exemplar.id}: {one.text}" for one in faults]
            for one in told:
                lost += _not_kept(library, one)
        return lost

    def sweep(self) -> None:
        """Start the program once more, and look for what is left of temporary folders."""
        subprocess.run(
            [sys.executable, "-c", _START],
            cwd=self._home.folder,
            env=self._home.environment,
            check=True,
            timeout=HANG_SECONDS,
        )
        left = sorted(path.name for path in self._home.temporary.iterdir())
        self.lost += [f"{name} was not swept by the next start" for name in left]

    def fork(self, run: int, step: int) -> None:
        """Fork an interrupted run at a step that was told; it must go on by at least a step."""
        words = ("main.py", "fork", str(run), "--step", str(step), "--on-gate", "allow", "--llm", "rules")
        more = ("--browser", browsers()[-1], "--max-steps", str(step + 2))
        program = self._home.start((*words, *more), "said-fork")
        program.wait_until(HANG_SECONDS)
        code = program.kill()
        left, _ = wait_for_all_to_end(END_SECONDS)
        with closing(TraceStore.open(self._home.database, read_only=True)) as store:
            branches = [row.run for row in _begun(store, self._before) if row.parent_run == run]
            sealed = [one for branch in branches for one in store.own_steps(branch) if one.sealed]
        if code not in (0, 1) or not sealed:
            told = program.told()[-600:]
            self.lost.append(f"Run {run} could not be forked at step {step} ({code}): {told}")
        self.lost += [f"{one.command} went on after a fork" for one in left]
        self.lost += [f"{path.name} was left by a fork" for path in self._home.temporary.iterdir()]


def _not_kept(library: Library, told: Told) -> Iterator[str]:
    for id, family in told.exemplars:
        known = library.has([id])
        if not known or (
            family and family not in {library.at(id, v.number).family for v in library.versions(id)}
        ):
            yield f"The exemplar {id} {family} was told as kept and is not there"


def _begun(store: TraceStore, before: Before) -> tuple[RunRow, ...]:
    return tuple(row for row in store.runs(limit=_MANY) if row.run != before.run)


def _damage(path: Path) -> Iterator[str]:
    """Yield what SQLite finds wrong with a file."""
    with closing(sqlite3.connect(path)) as connection:
        for (found,) in connection.execute("PRAGMA integrity_check"):
            if found != "ok":
                yield f"{path.name} is damaged: {found}"
        for row in connection.execute("PRAGMA foreign_key_check"):
            yield f"{path.name} has a row that refers to none: {row}"


def pool(jobs: int) -> ProcessPoolExecutor:
    """Return processes that adopt the orphans of what they start, each of which does one thing after the other."""
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_begin_worker)


def _begin_worker() -> None:
    signal.signal(
        signal.SIGINT, lambda *_: None
    )  # Ctrl+C is for the campaign: what is under way is looked at.
    adopt_orphans()


def kill(stage: Stage, times: int, jobs: int) -> Iterator[Round]:
    """Play rounds until so many programs were killed, and yield each as it is over."""
    numbers, done = count(1), 0
    learnt = {kind: deque([seconds], _LEARNT) for kind, seconds in stage.lives.items()}
    with pool(jobs) as workers:
        under_way: set[Future[Round]] = set()
        while done < times or under_way:
            while done + len(under_way) < times and len(under_way) < jobs:
                lives = {kind: statistics.mean(those) for kind, those in learnt.items()}
                under_way.add(workers.submit(play, replace(stage, lives=lives), next(numbers)))
            over, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for one in over:
                played = one.result()
                done += len(played.killed)
                for kind, seconds in played.lived:
                    learnt[kind].append(seconds)
                yield played


def print_table(rounds: Sequence[Round], seconds: float, words: str) -> int:
    """Print what was killed and lost, by kind of program; returns the exit code."""
    killed = Counter(kind for one in rounds for kind in one.killed)
    drawn = Counter(kind for one in rounds for kind in one.kinds)
    beside = Counter(kind for one in rounds if len(one.kinds) > 1 for kind in one.killed)
    losses = [loss for one in rounds for loss in one.losses]
    rows = [
        (kind, str(killed[kind]), str(beside[kind]), str(drawn[kind] - killed[kind]))
        for kind in KINDS
        if drawn[kind]
    ]
    rows.append(("all", str(killed.total()), str(beside.total()), str(drawn.total() - killed.total())))
    slowest = max((one.seconds for one in rounds), default=0.0)
    lines = (
        f"told steps: {sum(one.steps for one in rounds)}; runs interrupted: {sum(one.interrupted for one in rounds)}; "
        f"forked on: {sum(one.forked for one in rounds)}",
        f"all processes had ended {slowest:.1f} s after a kill, at the latest; {seconds:.0f} s in all",
    )
    put_table(("program", "killed", "beside another", "had ended"), rows)
    put("\n".join(lines))
    return conclude("tests.campaigns.kill", losses, words)


def main() -> int:
    parser = flags(__doc__, times=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kind", action="append", choices=tuple(KINDS), help="only these programs")
    parser.add_argument("--keep", action="store_true", help="leave the folder of each round")
    options = parser.parse_args()
    if not browsers():
        raise SystemExit("No Chromium is installed here, in which programs could be run.")
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="campaign-kill-"))
    before = prepare(Home(folder / "template"))
    lives = {kind: KINDS[kind].seconds for kind in options.kind or KINDS}
    stage = Stage(folder, before, options.seed, lives, options.keep)
    print(f"In {folder}", file=sys.stderr, flush=True)
    if options.only is not None:
        with pool(1) as workers:
            rounds = [workers.submit(play, stage, options.only).result()]
    else:
        rounds, progress, done = [], Progress(options.times), 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)
        with suppress(KeyboardInterrupt):  # What was done until then counts.
            for one in kill(stage, options.times, options.jobs):
                rounds.append(one)
                done += len(one.killed)
                progress.tell(done, one.losses)
    words = " ".join([f"--seed {options.seed}", *(f'--kind "{kind}"' for kind in options.kind or ())])
    code = print_table(rounds, time.monotonic() - began, words)
    if not code and not options.keep:
        shutil.rmtree(folder)
    return code


if __name__ == "__main__":
    sys.exit(main())
