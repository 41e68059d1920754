import json

import pytest

from core.environments.registry import Environments
from core.schema.errors import DataError, UsageError

MINE = '[[tasks]]\nid = "find-lamp"\ninstruction = "Find it."\nurl = "example.org"\n'


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    return path


def webarena_task(number: int) -> dict:
    return {
        "task_id": number,
        "intent": "Do it.",
        "start_url": "__SHOPPING__",
        "eval": {"eval_types": ["string_match"], "reference_answers": {"exact_match": "x"}},
    }


def test_all_tasks_are_listed_under_ids_that_are_never_used_twice(mine, tmp_path):
    (tmp_path / "test.raw.json").write_text(json.dumps([webarena_task(0), webarena_task(1)]))
    environments = Environments(task_files=[mine], webarena=[tmp_path / "test.raw.json"])
    ids = [task.id for task in environments.tasks()]
    assert len(ids) == len(set(ids))
    assert {"miniwob/click-test", "web/open", "mine/find-lamp", "webarena/1"} <= set(ids)
    assert [member.id for member in environments.members] == [
        "miniwob",
        "shop",
        "airline",
        "web",
        "mine",
        "webarena",
    ]


def test_a_task_is_found_by_its_id_with_its_environment(mine):
    environments = Environments(task_files=[mine])
    for id in ("miniwob/book-flight", "web/open", "mine/find-lamp"):
        task = environments.find(id)
        assert task.id == id
        assert environments.environment_of(task).id == id.split("/")[0]


@pytest.mark.parametrize(
    ("wanted", "nearest"),
    [
        ("miniwob/book-fligt", "miniwob/book-flight"),
        ("book-flight", "miniwob/book-flight"),
        ("miniwob/clicktest2", "miniwob/click-test-2"),
        ("find-lamb", "mine/find-lamp"),
        ("inbox-star", "miniwob/email-inbox-star-reply"),
        ("FLIGHT-AA", "miniwob/flight-aa"),
    ],
)
def test_an_unknown_id_is_answered_with_the_nearest_ones(mine, wanted, nearest):
    with pytest.raises(UsageError) as caught:
        Environments(task_files=[mine]).find(wanted)
    assert f'There is no task "{wanted}"' in str(caught.value)
    assert nearest in str(caught.value)


def test_an_id_that_is_like_none_points_to_the_list():
    with pytest.raises(UsageError, match="lists all"):
        Environments().find("zzzzqqqq")


def test_the_open_web_takes_its_url_and_instruction_when_it_is_found():
    task = Environments().find("web/open", url="example.org", instruction="Look around.")
    assert (task.start_url, task.instruction) == ("https://example.org", "Look around.")


def test_another_task_refuses_a_url_of_ones_own():
    with pytest.raises(UsageError, match="use them with web/open"):
        Environments().find("miniwob/click-test", url="example.org")


def test_the_problems_of_all_files_are_reported_together(tmp_path, mine):
    (tmp_path / "broken.toml").write_text("[[tasks]]\n")
    (tmp_path / "0.json").write_text("{}")
    with pytest.raises(DataError) as caught:
        Environments(task_files=[mine, tmp_path / "broken.toml"], webarena=[tmp_path / "0.json"])
    assert "broken.toml" in str(caught.value)
    assert "0.json" in str(caught.value)


def test_two_files_of_one_name_are_a_problem(tmp_path, mine):
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.toml").write_text(MINE)
    with pytest.raises(DataError, match='Two environments are called "mine"'):
        Environments(task_files=[mine, other / "mine.toml"])


def test_a_task_of_a_file_that_is_gone_has_no_environment(mine):
    task = Environments(task_files=[mine]).find("mine/find-lamp")
    with pytest.raises(UsageError, match='The environment "mine"'):
        Environments().environment_of(task)


async def test_closing_lets_go_of_the_server_and_can_be_repeated():
    environments = Environments()
    await environments.close()
    await environments.close()
