"""What goes to the nodes of a cluster and what comes back, without a cluster."""

import re
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from core.browser.sharing import SharedChromium
from core.debugger.evaluations.cluster import node_setup, put_in
from core.debugger.evaluations.local import services_of
from core.debugger.services import user_llms
from core.environments.registry import Environments
from core.schema.errors import TraceError, UsageError
from core.settings.settings import load_settings
from core.storage.resources import RESOURCES
from core.trace.calls import stored_prompt
from core.trace.evaluations import attempts_of, take_evaluation
from core.trace.records import Case, CaseAttempt
from core.trace.repro.exporter import whole_file
from core.trace.store import TraceStore
from tests.core.trace.making import write_run

KEY = "sk-key-of-the-test-0815"


@pytest.fixture
def store(tmp_path):
    with closing(TraceStore.open(tmp_path / "all.db")) as store:
        take_evaluation(store, "mine", "{}")
        yield store


@pytest.fixture
def node(tmp_path):
    with closing(TraceStore.open(tmp_path / "run.db")) as store:
        write_run(store)
    return tmp_path / "run.db"


def attempt(seed=0, number=1):
    return CaseAttempt(
        evaluation=1, case=Case(variant="plain, rules", task="miniwob/click-test", seed=seed), number=number
    )


def test_a_run_of_a_node_is_stored_whole_as_the_run_of_its_attempt(store, node):
    run = put_in(store, whole_file(node), attempt())
    (row,) = attempts_of(store, 1)
    assert (row.attempt, row.run.run) == (attempt(), run)
    with closing(TraceStore.open(node)) as source:
        same = {"run"}
        assert store.run(run).model_dump(exclude=same) == source.run(1).model_dump(exclude=same)
        for step in source.steps(1):
            assert store.step(run, step.number).records == source.step(1, step.number).records
        for was, now in zip(source.calls.of(1), store.calls.of(run), strict=True):
            assert stored_prompt(store, now) == stored_prompt(source, was)
    assert not store.run(run).offline
    assert [one.run for one in store.runs("draft")] == [run]


def test_the_run_of_an_attempt_is_put_in_once(store, node):
    file = whole_file(node)
    first = put_in(store, file, attempt())
    assert put_in(store, file, attempt()) == first
    others = {put_in(store, file, attempt(seed=1)), put_in(store, file, attempt(number=2))}
    assert first not in others
    assert len(attempts_of(store, 1)) == len(store.runs()) == 3


def test_a_file_of_another_version_is_refused(store, node):
    with closing(sqlite3.connect(node)) as connection:
        connection.execute("PRAGMA user_version = 3")
    with pytest.raises(TraceError, match="another version"):
        put_in(store, whole_file(node), attempt())
    assert attempts_of(store, 1) == ()


@pytest.fixture
def folders(tmp_path, monkeypatch):
    for name, variable in (("config", "BACKSTEP_CONFIG_DIR"), ("data", "BACKSTEP_DATA_DIR")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    return tmp_path


async def setup(*names):
    settings = load_settings()
    environments = Environments(remembered_task_files=settings.task_files)
    llms = user_llms(settings)
    browser = SharedChromium("/nowhere/chromium")
    async with services_of(settings, environments, llms, browser, started=False) as services:
        return node_setup(services, names, 4)


async def test_the_users_files_come_along_and_other_files_stay(folders):
    config, data = folders / "config", folders / "data"
    (config / "presets").mkdir()
    (config / "presets" / "mine.toml").write_text('title = "Mine"\nspace = "none"\n')
    (config / "notes.txt").write_text("a password")
    (config / "settings.toml").write_text('task_files = ["own.toml"]\nmax_steps = 7\n')
    (config / "own.toml").write_text(
        '[[tasks]]\nid = "look"\ninstruction = "Look."\nurl = "http://127.0.0.1:9/"\n'
    )
    (data / "exemplars").mkdir()
    (data / "exemplars" / "one.jsonl").write_text("")
    packed = await setup("rules")
    there = folders / "node"
    settings = packed.unpack(there)
    assert settings.max_steps == 7
    found = {str(one.relative_to(there)) for one in there.rglob("*") if one.is_file()}
    assert {"config/presets/mine.toml", "data/exemplars/one.jsonl", "tasks/0/own.toml"} <= found
    assert not [name for name in found if "notes" in name or "settings" in name]
    assert settings.database == there / "data" / "traces.db"
    environments = packed.environments(there)
    assert environments.find("own/look").instruction == "Look."
    await environments.close()


async def test_only_keys_of_llms_in_use_come_along_and_are_not_shown(folders):
    assert (await setup("rules")).keys == {}
    packed = await setup("gpt-x")
    assert packed.keys == {"OPENAI_API_KEY": KEY}
    assert KEY not in repr(packed)


async def test_a_recorded_llm_is_refused(folders):
    with pytest.raises(UsageError, match="Omit --cluster"):
        await setup("replay:1")


def test_the_runtime_environment_has_what_core_requires():
    text = (RESOURCES / "cluster" / "runtime_env.yaml").read_text()
    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())["project"]
    not_on_nodes = ("PySide6", "qtawesome", "pyqtgraph", "pygments", "mcp")
    needed = [one for one in project["dependencies"] if not one.startswith(not_on_nodes)]
    assert re.findall(r"^    - (.+)$", text, re.MULTILINE) == needed
