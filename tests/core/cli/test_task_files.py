"""Files of tasks that the settings remember and flags add to, for each command and for the window."""

import json

import pytest

import core.cli.app
from core.cli.window_arguments import WindowArguments
from tests.core.environments.test_own_tasks import config_file, task_file


def remember(inside, **lists):
    lines = [f"{key} = {[str(path) for path in paths]!r}\n" for key, paths in lists.items()]
    (inside.folder / "config" / "settings.toml").write_text("".join(lines))


def listed(done):
    return {task["id"] for task in done.json}


def test_remembered_files_are_known_and_flags_add_to_them(inside, tmp_path):
    remember(inside, task_files=[task_file(tmp_path)], webarena=[config_file(tmp_path, "a.json", 1)])
    other = task_file(tmp_path, "other.toml")
    done = inside("tasks", "--json", "--tasks-file", other, "--webarena", config_file(tmp_path, "b.json", 2))
    assert (done.code, done.err) == (0, "")
    assert {"mine/lamp", "other/lamp", "webarena/1", "webarena/2"} <= listed(done)


def test_a_relative_path_counts_from_the_folder_of_the_settings(inside):
    task_file(inside.folder / "config")
    remember(inside, task_files=["mine.toml"])
    assert "mine/lamp" in listed(inside("tasks", "--json"))


def test_a_remembered_file_that_is_gone_is_a_warning(inside, tmp_path):
    remember(inside, task_files=[tmp_path / "gone.toml", task_file(tmp_path)])
    done = inside("tasks", "--json")
    assert done.code == 0
    assert "mine/lamp" in listed(done)
    assert done.err.startswith("Left out: ")
    assert "gone.toml" in done.err


def test_a_bad_file_that_was_asked_for_has_the_code_2(inside, tmp_path):
    done = inside("tasks", "--tasks-file", tmp_path / "gone.toml")
    assert (done.code, done.out) == (2, "")
    assert "gone.toml" in done.err


@pytest.fixture
def partly(inside):
    """A WebArena configuration of which one task cannot be used."""
    good = {"task_id": 1, "intent": "Do it.", "start_url": "http://a/"}
    good["eval"] = {"eval_types": ["string_match"], "reference_answers": {"exact_match": "x"}}
    bad = good | {"task_id": 2, "eval": {"eval_types": ["page_image_query"]}}
    path = inside.folder / "partly.json"
    path.write_text(json.dumps([good, bad], indent=1))
    return path


def test_tasks_that_are_not_supported_are_listed_after_the_others(inside, partly):
    done = inside("tasks", "--webarena", partly)
    assert done.code == 0
    after = done.out.partition("not supported")[2]
    assert "webarena/1 " in done.out
    assert "webarena/1 " not in after
    assert "webarena/2" in after
    assert "partly.json, line " in after
    assert "page_image_query compares pictures of the page with a vision model" in after
    last = inside("tasks", "--webarena", partly, "--json").json[-1]
    assert (last["id"], last["place"].startswith("partly.json, line ")) == ("webarena/2", True)


def test_a_task_that_is_not_supported_is_not_run_and_says_why(inside, partly):
    done = inside("run", "--webarena", partly, "--task", "webarena/2", "--llm", "rules")
    assert done.code == 2
    assert "webarena/2 is not supported (partly.json, line " in done.err


def test_the_window_takes_several_files_of_each_kind(inside, monkeypatch):
    opened: list[WindowArguments] = []
    app = core.cli.app.make_app(
        open_window=lambda arguments, settings: opened.append(arguments) or 0, with_embedded=lambda: None
    )
    words = ["--tasks-file", "a.toml", "--tasks-file", "b.json", "--webarena", "0.json", "--webarena", "c"]
    monkeypatch.setattr("sys.argv", ["main.py", *words])
    assert core.cli.app.run_app(app) == 0
    (arguments,) = opened
    folder = inside.folder
    assert arguments.task_files == (folder / "a.toml", folder / "b.json")
    assert arguments.webarena == (folder / "0.json", folder / "c")


@pytest.mark.parametrize("wrong", ['task_files = "x"', "task_files = [3]", 'task_files = [""]'])
def test_a_list_that_is_none_is_reported_with_its_key(inside, wrong):
    (inside.folder / "config" / "settings.toml").write_text(wrong + "\n")
    done = inside("tasks")
    assert done.code == 2
    assert "task_files" in done.err
