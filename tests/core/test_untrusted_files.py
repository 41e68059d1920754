"""Every reader of a file of the user's, given anything: it reads it, or says in a sentence why not."""

import json
import os
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.agent.gates import GATES, load_gates
from core.agent.policies.catalogue import POLICIES
from core.agent.policies.file import read_policy
from core.agent.presets import PRESETS, read_preset
from core.agent.prompts import PROMPTS, Prompts
from core.agent.spaces.file import SPACES, read_space
from core.browser.checkpoints.comparison import VOLATILE, load_volatile
from core.debugger.provenance import service
from core.environments.own_tasks import OwnTasks
from core.environments.task_file import TaskFile
from core.environments.webarena_config import read_configs
from core.exemplars.analysis.lookups import read_texts
from core.exemplars.exchange.plan import ReadOptions
from core.exemplars.exchange.reader import read_exemplars_of
from core.exemplars.files import EXEMPLARS, read_exemplars
from core.llm.costs import PRICES_FILE, load_prices
from core.llm.endpoints import ENDPOINTS_FILE, load_endpoints
from core.schema.errors import BackstepError
from core.settings.settings import FileSettings
from core.settings.user_file import read_model
from core.trace.imports.registry import read_file
from core.trace.repro.importer import import_repro, is_repro
from core.trace.store import TraceStore
from tests.core.altered import changed, places

Read = Callable[[Path], object]


def _repro(path: Path) -> object:
    store = TraceStore.open(path.with_name("own.db"))
    try:
        return is_repro(path), import_repro(store, path)
    finally:
        store.close()


def _prompt(path: Path) -> object:
    prompts = Prompts((path.parent, PROMPTS))
    return prompts.render(path.name)


TASKS = """
name = "mine"
[[tasks]]
id = "a"
instruction = "Do it."
url = "https://a.test/"
tags = ["x"]
clock = 2026-01-02T03:04:05Z
judge = { url_regex = "a+", must_include = ["x"], element = "p", answer = "1", script = "true" }
"""
WEBARENA = {
    "task_id": 1,
    "sites": ["shopping"],
    "start_url": "__SHOPPING__/a",
    "intent": "Do it.",
    "storage_state": None,
    "eval": {
        "eval_types": ["program_html"],
        "reference_answers": None,
        "program_html": [
            {"url": "last", "locator": "func:shopping_get_latest_order_url()", "required_contents": {}}
        ],
    },
}
RECORDING = {"title": "x", "steps": [{"type": "click", "selectors": [["aria/Buy"]], "url": "https://a.test"}]}
HISTORY = {
    "history": [{"model_output": {"action": [{"click": {"index": 1}}]}, "result": [], "state": {"url": "x"}}]
}


def _smallest(folder: Path, form: str) -> str:
    """Return the text of the smallest such file."""
    return min((path.read_text(encoding="utf-8") for path in sorted(folder.rglob(form))), key=len)


READERS: dict[str, tuple[str, Read, str]] = {
    "settings": ("settings.toml", lambda path: read_model(path, FileSettings), '[llm]\nmodel = "x"\n'),
    "preset": ("a.toml", read_preset, _smallest(PRESETS, "*.toml")),
    "state space": ("a.toml", read_space, _smallest(SPACES, "*.toml")),
    "policy": ("a.md", read_policy, _smallest(POLICIES, "*.md")),
    "prompt": ("a.j2", _prompt, _smallest(PROMPTS, "*.j2")),
    "gates": ("a.toml", load_gates, GATES.read_text(encoding="utf-8")),
    "prices": ("a.toml", load_prices, PRICES_FILE.read_text(encoding="utf-8")),
    "endpoints": ("a.toml", load_endpoints, ENDPOINTS_FILE.read_text(encoding="utf-8")),
    "what changes": ("a.toml", load_volatile, VOLATILE.read_text(encoding="utf-8")),
    "tasks in TOML": ("a.toml", TaskFile.read, TASKS),
    "tasks in JSON": (
        "a.json",
        TaskFile.read,
        json.dumps([{"id": "a", "instruction": "b", "url": "a.test"}]),
    ),
    "a task file of any kind": ("a.json", lambda path: OwnTasks().add(path), json.dumps([WEBARENA])),
    "WebArena's configuration": ("a.json", lambda path: read_configs([path]), json.dumps([WEBARENA])),
    "exemplars": ("a.jsonl", read_exemplars, _smallest(EXEMPLARS, "*.jsonl")),
    "exemplars of others": ("a.json", lambda path: read_exemplars_of([path], ReadOptions()), "[]"),
    "policies in Python": ("a.py", lambda path: read_exemplars_of([path], ReadOptions()), "a = {}"),
    "texts": ("a.json", read_texts, '{"a": ["b"]}'),
    "a recording": ("a.json", read_file, json.dumps(RECORDING)),
    "a history": ("a.json", read_file, json.dumps(HISTORY)),
    "a repro file": ("a.backstep", _repro, "SQLite format 3\0"),
}

every_reader = pytest.mark.parametrize(("name", "read", "good"), READERS.values(), ids=READERS)


def _read(read: Read, path: Path) -> None:
    """Read a file; what is said of one that is refused names the file, and says something of it."""
    said = f"{path.name} was read."
    try:
        read(path)
    except BackstepError as error:
        said = str(error)
    assert path.name in said
    assert not said.rstrip().endswith(":")


@every_reader
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_bytes_are_read_or_refused_in_a_sentence(tmp_path_factory, name, read, good, data):
    path = tmp_path_factory.mktemp("any") / name
    whole = good.encode()
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
    path.write_bytes(
        data.draw(st.sampled_from([whole[:begin], b""])) + data.draw(st.binary(max_size=40)) + whole[end:]
    )
    _read(read, path)


ODD: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(),
        st.floats(),
        st.sampled_from(["", "\0", "\ud800", "(a+)+$", "[", "{{", "{% for", "../x", "file:///", "9" * 400]),
        st.text(max_size=5),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@cache
def _document(name: str, good: str) -> Any:
    if name.endswith(".toml"):
        return tomllib.loads(good)
    return json.loads(good.split("\n", 1)[0] if name.endswith(".jsonl") else good)


def _text(name: str, value: Any) -> str:
    if not name.endswith(".toml"):
        return json.dumps(value)
    try:
        return tomlkit.dumps(value)
    except (TypeError, ValueError, AttributeError):
        return "x = 1"  # Not everything can be said in TOML.


STRUCTURED = {key: one for key, one in READERS.items() if one[0].endswith((".toml", ".json", ".jsonl"))}


@pytest.mark.parametrize(("name", "read", "good"), STRUCTURED.values(), ids=STRUCTURED)
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_value_anywhere_is_read_or_refused_in_a_sentence(tmp_path_factory, name, read, good, data):
    document = _document(name, good)
    place = data.draw(st.sampled_from(list(places(document))))
    text = _text(name, changed(document, place, data.draw(ODD)))
    path = tmp_path_factory.mktemp("any") / name
    path.write_text(text, encoding="utf-8", errors="replace")
    _read(read, path)


@every_reader
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name, read, good):
    os.mkfifo(tmp_path / name)
    with pytest.raises(BackstepError, match=r"is a pipe or a device, and only files are read"):
        read(tmp_path / name)


def test_of_the_files_that_a_run_names_only_files_are_shown():
    """The run may be a stranger's: its policy's file may be called /dev/zero."""
    assert service._text_of("/dev/zero") == ""
    assert service._text_of("/etc/\0passwd") == ""
