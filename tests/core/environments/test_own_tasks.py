import json
from pathlib import Path

import pytest

from core.environments.own_tasks import kind_of
from core.environments.registry import Environments
from core.schema.errors import DataError, UsageError
from tests.core.environments.test_registry import webarena_task

TASK = '[[tasks]]\nid = "{id}"\ninstruction = "Find it."\nurl = "example.org"\n'


def task_file(folder, name="mine.toml", *ids):
    path = folder / name
    path.write_text("".join(TASK.format(id=id) for id in ids or ("lamp",)))
    return path


def config_file(folder, name="test.raw.json", *numbers):
    path = folder / name
    path.write_text(json.dumps([webarena_task(number) for number in numbers or (0,)]))
    return path


def own(environments):
    return [id for source in environments.sources for id in source.tasks]


def test_the_two_kinds_are_told_apart_by_what_is_in_them(tmp_path):
    (tmp_path / "webarena.json").write_text(json.dumps([{"id": "a", "instruction": "b", "url": "c"}]))
    (tmp_path / "tasks.json").write_text(json.dumps(webarena_task(3)))
    (tmp_path / "whole.json").write_text(json.dumps({"name": "x", "tasks": []}))
    assert kind_of(tmp_path / "webarena.json") == "tasks"
    assert kind_of(tmp_path / "tasks.json") == "webarena"
    assert kind_of(tmp_path / "whole.json") == "tasks"
    assert kind_of(task_file(tmp_path)) == "tasks"
    assert kind_of(tmp_path) == "webarena"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.toml", "[[tasks]\n", "this is not TOML"),
        ("a.json", '{"tasks": [', "this is not JSON"),
        ("a.json", "[1, 2]", "contains no tasks"),
        ("a.json", "[" * 100_000, "nested too deep"),
        ("a.toml", "\xff", "is not UTF-8 text"),
        ("a.toml", '[[tasks]]\nid = "x"\n', 'the key "instruction" is missing in [tasks]; add it.'),
        ("a.txt", TASK.format(id="x"), "end the name of a TOML file in .toml"),
    ],
)
def test_a_bad_file_is_reported_and_changes_nothing(tmp_path, name, content, said):
    environments = Environments(task_files=[task_file(tmp_path)])
    before = environments.tasks()
    path = tmp_path / name
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError) as caught:
        environments.add_file(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert (environments.tasks(), len(environments.sources)) == (before, 1)


def test_an_added_file_s_tasks_are_there_at_once_and_gone_when_it_is_taken_out(tmp_path):
    environments = Environments()
    mine = environments.add_file(task_file(tmp_path, "mine.toml", "lamp", "desk"))
    config_file(tmp_path, "0.json", 7)
    theirs = environments.add_file(tmp_path)
    assert (mine.kind, theirs.kind) == ("tasks", "webarena")
    assert environments.find("mine/desk").instruction == "Find it."
    assert environments.environment_of(environments.find("webarena/7")).id == "webarena"
    environments.remove_file(mine.path)
    with pytest.raises(UsageError):
        environments.find("mine/desk")
    assert own(environments) == ["webarena/7"]
    with pytest.raises(UsageError, match="not in the list"):
        environments.remove_file(mine.path)


def test_an_edit_holds_after_the_next_reading(tmp_path):
    path = task_file(tmp_path)
    environments = Environments(task_files=[path])
    assert not environments.refresh()
    task_file(tmp_path, "mine.toml", "lamp", "chair")
    assert environments.refresh("mine/chair")
    assert environments.find("mine/chair").id == "mine/chair"
    assert not environments.refresh()


def test_the_tasks_of_a_folder_are_read_again_when_a_file_is_added_to_it(tmp_path):
    config_file(tmp_path, "0.json", 0)
    environments = Environments(webarena=[tmp_path])
    config_file(tmp_path, "1.json", 1)
    assert environments.refresh()
    assert own(environments) == ["webarena/0", "webarena/1"]


def test_opening_a_built_in_task_reads_no_file(tmp_path):
    path = task_file(tmp_path)
    environments = Environments(task_files=[path])
    task_file(tmp_path, "mine.toml", "chair")
    assert not environments.refresh("miniwob/click-test")
    assert own(environments) == ["mine/lamp"]


def test_a_file_damaged_by_an_edit_keeps_its_tasks_and_says_why_they_cannot_be_opened(tmp_path):
    path = task_file(tmp_path)
    environments = Environments(task_files=[path])
    path.write_text("[[tasks]\n")
    assert environments.refresh()
    assert own(environments) == ["mine/lamp"]
    with pytest.raises(DataError, match="not TOML"):
        environments.find("mine/lamp")
    task_file(tmp_path)
    assert environments.refresh()
    assert environments.find("mine/lamp").id == "mine/lamp"


def test_a_remembered_file_that_is_gone_hinders_nothing(tmp_path):
    gone = tmp_path / "gone.toml"
    environments = Environments(task_files=[task_file(tmp_path)], remembered_task_files=[gone])
    assert environments.find("mine/lamp")
    (problem,) = [source.problem for source in environments.sources if source.problem]
    assert str(gone) in problem
    assert "Restore it" in problem
    task_file(tmp_path, "gone.toml")
    assert environments.refresh()
    assert environments.find("gone/lamp")


@pytest.mark.parametrize("name", ["~nobody-of-this-name/x.toml", "a" * 300 + ".toml", "a\0b.toml"])
def test_a_remembered_path_that_cannot_be_one_hinders_nothing(tmp_path, name):
    environments = Environments(task_files=[task_file(tmp_path)], remembered_task_files=[Path(name)])
    assert own(environments) == ["mine/lamp"]
    assert [bool(source.problem) for source in environments.sources] == [False, True]


def test_a_file_asked_for_that_is_bad_is_a_failure_only_where_that_is_wanted(tmp_path):
    gone = tmp_path / "gone.toml"
    with pytest.raises(DataError, match=r"gone\.toml"):
        Environments(task_files=[gone])
    (source,) = Environments(task_files=[gone], strict=False).sources
    assert source.problem


def test_a_file_both_asked_for_and_remembered_is_read_once(tmp_path):
    path = task_file(tmp_path)
    (source,) = Environments(task_files=[path], remembered_task_files=[path]).sources
    assert (source.given, source.remembered) == (True, True)


def test_two_files_with_one_name_are_reported_until_one_of_them_is_taken_out(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    first, second = task_file(tmp_path), task_file(other)
    environments = Environments(remembered_task_files=[first, second])
    assert [bool(source.problem) for source in environments.sources] == [False, True]
    assert str(first) in environments.sources[1].problem
    environments.remove_file(first)
    assert [source.problem for source in environments.sources] == [""]


def test_a_task_of_webarena_that_two_files_have_is_reported(tmp_path):
    environments = Environments(webarena=[config_file(tmp_path, "a.json", 0, 1)])
    with pytest.raises(DataError, match=r"both have WebArena's task 1; keep one of the two"):
        environments.add_file(config_file(tmp_path, "b.json", 1, 2))
    assert own(environments) == ["webarena/0", "webarena/1"]


def test_a_file_that_is_added_again_is_read_anew(tmp_path):
    environments = Environments(task_files=[task_file(tmp_path)])
    environments.add_file(task_file(tmp_path, "mine.toml", "chair"))
    assert own(environments) == ["mine/chair"]
