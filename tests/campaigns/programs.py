"""What the campaign of kills starts: the programs of Backstep, where they keep their files, and what they told.

Every program has a seed of its own, or a step of its own to begin a branch at,
by which the run that it began is found among those of another program.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.browser.chromium import find_chromium
from core.exemplars.files import EXEMPLARS, read_exemplars, write_exemplars
from core.storage.resources import RESOURCES
from core.trace.records import RunRow
from tests.campaigns.processes import Started

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "traces.db"
IMPORTED = 60
"""Exemplars of the file that is imported."""
HANG_SECONDS = 180.0
"""After which a program that is not killed counts as one that hangs."""
_TASKS = (
    "miniwob/click-checkboxes-large",
    "miniwob/social-media-all",
    "miniwob/book-flight",
    "miniwob/email-inbox",
    "miniwob/search-engine",
    "miniwob/use-autocomplete",
    "shop/goal-000",
    "shop/goal-024",
    "shop/goal-096",
)
_ATTACHED = ("miniwob/click-checkboxes-large", "shop/goal-000", "shop/goal-004", "shop/goal-024")
"""Tasks of the attached agent."""
_PRESETS = ("plain", "laser", "step", "reflect", "synapse", "combined", "written")
_KEPT, _KEPT_SEED = "miniwob/click-checkboxes", 5
"""The task of the run that there is before: some steps, and a success."""
_MOST_STEPS = 6
_SEEDS = 1000
"""Seeds from here on are those of programs that are killed."""


@dataclass(frozen=True)
class Home:
    """A folder with all that programs of one machine keep: home, settings, data, temporary files."""

    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def config(self) -> Path:
        return self.folder / "config"

    @property
    def database(self) -> Path:
        return self.data / DATABASE

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a program; nothing of whoever started the campaign is read or written."""
        kept = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.temporary),
            "XDG_CONFIG_HOME": str(self.folder / "home" / ".config"),
            "XDG_CACHE_HOME": str(self.folder / "home" / ".cache"),
            "XDG_DATA_HOME": str(self.folder / "home" / ".local" / "share"),
            "BACKSTEP_CONFIG_DIR": str(self.config),
            "BACKSTEP_DATA_DIR": str(self.data),
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def make(self, like: "Home | None" = None) -> "Home":
        """Make the folders, with what another one has in data and settings; returns itself."""
        for name in ("home", "tmp", "config/presets", "data"):
            (self.folder / name).mkdir(parents=True)
        if like is not None:
            for name in ("config", "data"):
                shutil.copytree(like.folder / name, self.folder / name, dirs_exist_ok=True)
        return self

    def start(self, words: Iterable[str], said: str, *, last: str = "") -> Started:
        """Start the interpreter with these words; what it tells goes into the file of that name."""
        return Started([sys.executable, *words], ROOT, self.environment, self.folder / said, last=last)

    def run(self, *words: str) -> str:
        """Run a command of the program to its end and return its standard output; raises CalledProcessError."""
        done = subprocess.run(
            [sys.executable, "main.py", *words],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=True,
        )
        return done.stdout


@dataclass(frozen=True)
class Before:
    """What there is before a program is killed: a run that was a success, with as many steps, and its exemplar."""

    run: int
    steps: int
    exemplar: str


class Told(NamedTuple):
    """What a program told as done."""

    steps: tuple[tuple[int, int], ...] = ()
    """Run and number."""
    ended: tuple[int, ...] = ()
    """Runs."""
    exemplars: tuple[tuple[str, str], ...] = ()
    """Ids, with the family that one was kept under or nothing."""
    evaluation: str = ""
    """The name of an evaluation."""
    cases: int = 0
    """How many of its cases were told to be done."""
    problem: str = ""
    """Why what it told cannot be found."""


Reading = Callable[[str, tuple[RunRow, ...]], Told]
"""Makes of what a program wrote, and of the runs that were begun since, what it told."""


@dataclass(frozen=True)
class Program:
    """One program, as it is started."""

    kind: str
    words: tuple[str, ...]
    """What the interpreter is started with."""
    told: Reading
    last: str = ""
    """What it tells when it has nothing more to do, where it does not end then."""

    def __str__(self) -> str:
        return " ".join(self.words)


def browsers() -> list[str]:
    """Return the paths of installed browsers: Chromium and, where it is there, its headless shell."""
    found = (find_chromium(), shutil.which("chromium-headless-shell"))
    return list(dict.fromkeys(one for one in found if one is not None))


def prepare(home: Home) -> Before:
    """Make what there is before: a preset that writes parsers, a run, its exemplar, an index, a file to import."""
    home.make()
    (home.config / "settings.toml").write_text(f"max_steps = {_MOST_STEPS}\n", encoding="utf-8")
    preset = (RESOURCES / "presets" / "synapse.toml").read_text(encoding="utf-8")
    (home.config / "presets" / "written.toml").write_text(
        preset.replace('how = "exemplars"', 'how = "implicit"'), encoding="utf-8"
    )
    words = (
        "run",
        "--task",
        _KEPT,
        "--seed",
        str(_KEPT_SEED),
        "--llm",
        "rules",
        "--browser",
        browsers()[-1],
        "--json",
    )
    report = json.loads(home.run(*words))
    kept = json.loads(home.run("exemplars", "keep", str(report["run"]), "--json"))
    home.run("exemplars", "reindex")
    bundled = [one for path in sorted(EXEMPLARS.glob("*.jsonl")) for one in read_exemplars(path)]
    copies = [
        bundled[number % len(bundled)].replace(id=f"copies/{number}", task=f"Copy {number}.")
        for number in range(IMPORTED)
    ]
    write_exemplars(home.data / "copies.jsonl", copies)
    return Before(run=report["run"], steps=report["steps"], exemplar=kept["exemplar"]["id"])


class Kind(NamedTuple):
    """How often a kind of program is drawn, and how long one lives on a machine that does nothing else."""

    weight: int
    seconds: float


KINDS = {
    "run": Kind(6, 6.0),
    "run, embedded": Kind(3, 6.0),
    "window": Kind(4, 7.0),
    "attached": Kind(3, 9.0),
    "fork": Kind(3, 5.0),
    "bisect": Kind(2, 7.0),
    "worth": Kind(3, 9.0),
    "keep": Kind(1, 1.5),
    "import": Kind(2, 1.5),
    "reindex": Kind(1, 2.0),
}
"""The programs that are killed."""


def draw(kind: str, home: Home, before: Before, dice: random.Random, place: int) -> Program:
    """Draw a program of a kind; `place` tells it from others that work on the same files."""
    make: dict[str, Callable[[], Program]] = {
        "run": lambda: _run(kind, dice.choice(browsers()), dice, place),
        "run, embedded": lambda: _run(kind, "embedded", dice, place),
        "window": lambda: _window(dice, place),
        "attached": lambda: _attached(dice, place),
        "fork": lambda: _fork(before, dice, place),
        "bisect": lambda: _bisect(before, dice),
        "worth": lambda: _worth(before, dice),
        "keep": lambda: _keep(before, place),
        "import": lambda: _import(home),
        "reindex": lambda: Program(kind, ("main.py", "exemplars", "reindex"), _nothing),
    }
    return make[kind]()


def _run(kind: str, browser: str, dice: random.Random, place: int) -> Program:
    task, seed = dice.choice(_TASKS), _SEEDS + place
    words = ("main.py", "run", *_task(task, seed, dice), "--browser", browser)
    return Program(kind, words, _of_run(lambda row: row.parent_run is None and row.seed == seed))


def _window(dice: random.Random, place: int) -> Program:
    words = ("-m", "tests.campaigns.window", *_task(dice.choice(_TASKS), _SEEDS + place, dice))
    return Program("window", words, _of_window, last=": ended.")


def _attached(dice: random.Random, place: int) -> Program:
    task = ("--task", dice.choice(_ATTACHED), "--seed", str(_SEEDS + place), "--llm", "rules")
    agent = ("--", sys.executable, str(ROOT / "tests" / "campaigns" / "agent.py"))
    words = ("-m", "tests.campaigns.window", "attach", *task, *agent)
    return Program("attached", words, _of_window, last=": ended.")


def _task(task: str, seed: int, dice: random.Random) -> tuple[str, ...]:
    return "--task", task, "--seed", str(seed), "--preset", dice.choice(_PRESETS), "--llm", "rules"


def _fork(before: Before, dice: random.Random, place: int) -> Program:
    step = 1 + place % before.steps
    words = ("main.py", "fork", str(before.run), "--step", str(step), "--browser", dice.choice(browsers()))
    return Program(
        "fork", words, _of_run(lambda row: (row.parent_run, row.parent_step) == (before.run, step))
    )


def _bisect(before: Before, dice: random.Random) -> Program:
    at = sorted(dice.sample(range(1, before.steps + 1), min(2, before.steps)))
    words = ("main.py", "bisect", str(before.run), "--times", "1", "--browser", browsers()[-1])
    return Program("bisect", (*words, *(f"--at={step}" for step in at)), _of_evaluation)


def _worth(before: Before, dice: random.Random) -> Program:
    task, seed = dice.choice(_TASKS[:6]), dice.randrange(_SEEDS)
    words = (
        "main.py",
        "exemplars",
        "worth",
        before.exemplar,
        "--task",
        task,
        "--seeds",
        f"{seed}-{seed + 1}",
    )
    return Program("worth", (*words, "--llm", "rules", "--browser", browsers()[-1]), _of_evaluation)


def _keep(before: Before, place: int) -> Program:
    words = ("main.py", "exemplars", "keep", str(before.run), "--family", f"family-{place}")
    return Program("keep", words, _of_keep(f"family-{place}"))


def _import(home: Home) -> Program:
    return Program("import", ("main.py", "exemplars", "import", str(home.data / "copies.jsonl")), _of_import)


# What they told


def _of_run(is_its: Callable[[RunRow], bool]) -> Reading:
    def read(text: str, begun: tuple[RunRow, ...]) -> Told:
        numbers = [int(number) for number in re.findall(r"^step (\d+)  ", text, re.MULTILINE)]
        ended = [int(number) for number in re.findall(r"^run (\d+): \w+, ", text, re.MULTILINE)]
        runs = [row.run for row in begun if is_its(row)]
        if numbers and len(runs) != 1:
            return Told(problem=f"It told {len(numbers)} steps, and its runs in the trace are {runs}.")
        return Told(steps=tuple((runs[0], number) for number in numbers), ended=tuple(ended))

    return read


def _of_window(text: str, begun: tuple[RunRow, ...]) -> Told:
    steps = re.findall(r"^run (\d+), step (\d+) is done$", text, re.MULTILINE)
    ended = re.findall(r"^run (\d+): ended\.", text, re.MULTILINE)
    return Told(
        steps=tuple((int(run), int(step)) for run, step in steps), ended=tuple(int(run) for run in ended)
    )


def _of_evaluation(text: str, begun: tuple[RunRow, ...]) -> Told:
    name = re.search(r"^evaluation (.+): \d+ runs", text, re.MULTILINE)
    told = re.findall(r"^(\d+) of \d+, ", text, re.MULTILINE)
    return Told(evaluation=name[1] if name else "", cases=int(told[-1]) if told else 0)


def _of_keep(family: str) -> Reading:
    def read(text: str, begun: tuple[RunRow, ...]) -> Told:
        ids = re.findall(r"^(\S+) was saved in ", text, re.MULTILINE)
        return Told(exemplars=tuple((id, family) for id in ids))

    return read


def _of_import(text: str, begun: tuple[RunRow, ...]) -> Told:
    kept = re.search("^Saved .* in ", text, re.MULTILINE) is not None
    return Told(exemplars=tuple((f"copies/{number}", "") for number in range(IMPORTED)) if kept else ())


def _nothing(text: str, begun: tuple[RunRow, ...]) -> Told:
    return Told()
