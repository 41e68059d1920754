"""Packages that add to Backstep: the example, and packages that fail in every way."""

import json
import shutil
import subprocess
import sys
from contextlib import closing

import pytest

from core.agent.resources import agent_resources_of
from core.debugger.breakpoints.kinds.registry import all_groups, kind_plugins, read_breakpoint
from core.debugger.causes.finding import causes_of
from core.debugger.causes.finding import plugins as cause_plugins
from core.debugger.editing.files import AgentFiles
from core.llm.endpoints import Keys
from core.llm.registry import LLMs, llm_plugins
from core.schema.errors import BackstepError, DataError
from core.schema.task import Verdict
from core.settings.settings import load_settings
from core.setup import plugins
from core.storage.resources import RESOURCES
from core.trace.exports.registry import format_plugins
from core.trace.imports.registry import import_plugins, read_file
from core.trace.store import TraceStore
from tests.core.cli.test_run import on, stop
from tests.core.trace.making import start, write_step

EXAMPLE = RESOURCES / "examples" / "plugin"
MODULE = """
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.causes.kinds.kind import CauseKind
from core.debugger.causes.records import Cause
from core.llm.registry import make_rules
from core.trace.imports.registry import ImportFormat
from core.trace.imports.records import ImportedRun
NUMBER = 7
class Slow(Breakpoint):
    "Stops at every event."
    title = "A slow step"
    kind: str = "slow"
    def label(self): return "a slow step"
    def hits(self, event): return "It was slow."
class Echo:
    name = "echo"
    takes_images = False
    async def reply(self, request, *, on_text=None, on_retry=None): return None
    async def close(self): pass
class Moon(CauseKind):
    name, weight = "moon", 0.9
    def find(self, facts):
        step = facts.steps[0].number
        yield Cause(kind="moon", step=step, what="The moon was full.", field="sky", certainty="sure", why="It was.")
class Eclipse(CauseKind):
    name, weight = "eclipse", 0.9
    def find(self, facts): return 1 / 0
MOON, ECLIPSE = Moon(), Eclipse()
def nothing(): return None
LINES = ImportFormat("lines", "a list of lines", lambda it: "lines" in it["lines"] or True, lambda it: 1 / 0)
def leave(): raise SystemExit("this is the end")
class Else:
    id, title, hidden_selectors = "other", "", ()
    def tasks(self): return ()
    open = ended = judge = close = tasks
"""
POINTS = """
[backstep.environments]
gone = no_such_module:Thing
other = odd_things:nothing
ends = odd_things:leave
elsewhere = odd_things:Else
[backstep.exporters]
json = odd_things:NUMBER
number = odd_things:NUMBER
[backstep.importers]
lines = odd_things:LINES
[backstep.breakpoints]
slow = odd_things:Slow
base = odd_things:Echo
[backstep.causes]
moon = odd_things:MOON
eclipse = odd_things:ECLIPSE
comet = odd_things:nothing
[backstep.llms]
echo = odd_things:Echo
empty = odd_things:nothing
seven = odd_things:NUMBER
"""
LEFT_OUT = {
    "gone": "ModuleNotFoundError: No module named 'no_such_module'",
    "other": "it has to be a class, or function, that makes a core.environments.protocol.Environment",
    "ends": "SystemExit: this is the end",
    "elsewhere": "its id is 'other': give the entry point the same name",
    "json": "there is another one of that name",
    "number": "it has to be core.trace.exports.registry.ExportFormat, and is int",
    "comet": "it has to be core.debugger.causes",
    "base": "it has to be a subclass of core.debugger.breakpoints.kinds.breakpoint.Breakpoint",
    "seven": "it has to be a class, or function, that makes a core.schema.messages.LLM",
}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a folder for packages, on the path of this process and of others."""
    caches = (
        plugins._entry_points,
        plugins._say_once,
        kind_plugins,
        cause_plugins,
        llm_plugins,
        import_plugins,
        format_plugins,
    )
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(folder)
    for cache in caches:
        cache.cache_clear()
    yield folder
    for cache in caches:
        cache.cache_clear()
    for name in ("odd_things", "backstep_notices"):
        sys.modules.pop(name, None)


@pytest.fixture
def odd(site):
    """A package that adds to every registry, mostly in vain."""
    info = site / "odd_things-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-things\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (site / "odd_things.py").write_text(MODULE)
    return site


@pytest.mark.program
@pytest.mark.browser
def test_the_example_is_installed_listed_run_and_exported_with(site, cli, inside, llm_server, tmp_path):
    source = shutil.copytree(EXAMPLE, tmp_path / "plugin")
    words = ("install", "-q", "--no-index", "--no-deps", "--no-build-isolation", "--target", site, source)
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, timeout=180)
    assert "notices/confirm" in {task["id"] for task in inside("tasks", "--json").json}
    assert "From packages: markdown." in " ".join(inside("export", "--help").out.replace("│", " ").split())
    llm_server.script(on('link "Water is off on Monday"'), on('button "Confirm"'), stop())
    cli.environment["PYTHONPATH"] = str(site)
    done = cli(*cli.run("--task", "notices/confirm"))
    assert (done.code, done.json["success"]) == (0, True), done.err
    exported = inside("export", done.json["run"], "--format", "markdown", "-o", tmp_path / "run.md")
    assert exported.code == 0, exported.err
    assert (tmp_path / "run.md").read_text().splitlines()[:3:2] == [
        "# notices/confirm, seed 0",
        "1. click [2]",
    ]
    assert "notices, markdown." in inside("doctor").out


@pytest.mark.program
def test_what_cannot_be_used_is_told_by_name_and_stops_nothing(odd, cli, inside):
    cli.environment["PYTHONPATH"] = str(odd)
    listed = cli("tasks", "--json")
    assert listed.code == 0, listed.err
    assert {"gone", "other", "ends", "elsewhere"} == {line.split()[0] for line in listed.err.splitlines()}
    told = " ".join(inside("doctor").out.split())
    for name, why in LEFT_OUT.items():
        assert f"{name} of the package odd-things was not added to the" in told
        assert why in told
    assert LEFT_OUT["number"] in " ".join(inside("export", "--help").out.replace("│", " ").split())
    for words, name in (
        (("export", 1, "--format", "number", "-o", "x"), "number"),
        (("run", "--task", "miniwob/click-test-2", "--llm", "seven"), "seven"),
    ):
        refused = inside(*words)
        assert (refused.code, LEFT_OUT[name] in refused.err) == (2, True), refused.err


def test_breakpoints_importers_and_llms_of_packages_are_used_like_those_that_are_built_in(
    odd, tmp_path, caplog
):
    assert read_breakpoint({"kind": "slow", "number": 3}).label() == "a slow step"
    assert [kind.title for kind in all_groups()["Of installed packages"]] == ["A slow step"]
    assert len(caplog.records) == 1
    with pytest.raises(ValueError, match="has to be a subclass"):
        read_breakpoint({"kind": "base"})
    llms = LLMs(load_settings(), keys=Keys(()))
    assert llms.get("echo").name == "echo"
    assert {"echo", "empty"} <= {choice.name for choice in llms.choices()}
    for name, why in (("empty", "and is NoneType"), ("seven", "makes a core.schema.messages.LLM")):
        with pytest.raises(BackstepError, match=why):
            llms.get(name)
    (tmp_path / "a.json").write_text(json.dumps({"lines": []}))
    with pytest.raises(DataError, match=r"lines failed \(ZeroDivisionError: .*\); tell the author"):
        read_file(tmp_path / "a.json")


def test_a_cause_of_a_package_is_ranked_among_the_others_and_one_that_fails_stops_nothing(
    odd, tmp_path, caplog
):
    with closing(TraceStore.open(tmp_path / "t.db")) as store:
        run = store.begin_run(start())
        write_step(store, run, 1)
        store.end_run(run, outcome="done", verdict=Verdict(success=False), seconds=1.0, seconds_in_llm=0.0)
        first, *others = causes_of(store, run, agent_resources_of(tmp_path), AgentFiles(tmp_path))
    assert (first.kind, first.place) == ("moon", "step 1, sky")
    assert others
    assert "eclipse failed (ZeroDivisionError" in caplog.text
