"""The user's files of tasks, added and removed as the task chooser asks for it."""

from collections.abc import Coroutine
from typing import Any

import pytest
from core.debugger.commands import TaskDeskAnswer

from core.debugger.tasks.service import TaskDesk
from core.environments.registry import Environments
from core.settings.settings import load_settings, settings_path
from tests.core.environments.test_own_tasks import config_file, own, task_file


class Asked:
    """A desk with what it has answered and announced."""

    def __init__(self) -> None:
        self.jobs: list[Coroutine[Any, Any, None]] = []
        self.answers: list[TaskDeskAnswer] = []
        self.announced = 0
        self.environments = Environments()
        self.desk = TaskDesk(self.jobs.append, lambda: self.environments, self._announce)
        self.desk.answered.connect(self.answers.append)

    def _announce(self) -> None:
        self.announced += 1

    async def done(self) -> None:
        for job in self.jobs:
            await job
        self.jobs.clear()

    async def add(self, *paths) -> TaskDeskAnswer:
        self.desk.add(tuple(map(str, paths)))
        await self.done()
        return self.answers[-1]


@pytest.fixture
def asked(tmp_path, monkeypatch) -> Asked:
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("BACKSTEP_DATA_DIR", str(tmp_path))
    return Asked()


async def test_what_is_added_is_announced_and_remembered_by_its_kind(asked: Asked, tmp_path):
    mine, theirs = task_file(tmp_path), config_file(tmp_path, "tasks.json")
    answer = await asked.add(mine, theirs)
    assert answer.ok
    assert answer.task == "mine/lamp"
    assert asked.announced == 1
    assert (load_settings().task_files, load_settings().webarena) == ((mine,), (theirs,))
    assert all(source.remembered for source in asked.environments.sources)


async def test_a_bad_file_among_good_ones_is_told_and_the_good_ones_are_added(asked: Asked, tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text("tasks = 3")
    answer = await asked.add(bad, task_file(tmp_path))
    assert not answer.ok
    assert "bad.toml was not added" in answer.text
    assert str(bad) in answer.text
    assert own(asked.environments) == ["mine/lamp"]
    assert load_settings().task_files == (tmp_path / "mine.toml",)


async def test_a_removed_file_is_forgotten_and_stays_on_the_disk(asked: Asked, tmp_path):
    path = task_file(tmp_path)
    await asked.add(path)
    asked.desk.remove(str(path))
    await asked.done()
    assert asked.answers[-1].ok
    assert own(asked.environments) == []
    assert load_settings().task_files == ()
    assert path.exists()


async def test_what_a_person_wrote_in_the_settings_stays(asked: Asked, tmp_path):
    own_lines = 'task_files = [\n  "../other.toml",  # the old ones\n]\n\n[llms.fast]\nmodel = "m"\n'
    settings_path().parent.mkdir()
    settings_path().write_text(own_lines)
    path = task_file(tmp_path)
    await asked.add(path)
    assert '"../other.toml",  # the old ones' in settings_path().read_text()
    assert load_settings().task_files == (tmp_path / "other.toml", path)
    asked.desk.remove(str(path))
    await asked.done()
    assert "# the old ones" in settings_path().read_text()
    assert load_settings().task_files == (tmp_path / "other.toml",)


async def test_tasks_that_cannot_be_remembered_are_there_for_this_time(asked: Asked, tmp_path):
    settings_path().parent.mkdir()
    settings_path().write_text("them = 1\n")
    answer = await asked.add(task_file(tmp_path))
    assert not answer.ok
    assert "for this time only" in answer.text
    assert own(asked.environments) == ["mine/lamp"]


async def test_reading_again_announces_only_what_has_changed(asked: Asked, tmp_path):
    await asked.add(task_file(tmp_path))
    asked.desk.refresh()
    await asked.done()
    assert asked.announced == 1
    task_file(tmp_path, "mine.toml", "lamp", "chair")
    asked.desk.refresh()
    await asked.done()
    assert asked.announced == 2
    assert own(asked.environments) == ["mine/lamp", "mine/chair"]


@pytest.mark.browser
def test_an_edit_of_a_task_file_holds_when_one_of_its_tasks_is_opened(live, tmp_path, monkeypatch):
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    page = tmp_path / "page.html"
    page.write_text("<button>Go</button>")
    path = tmp_path / "edited.toml"
    lines = '[[tasks]]\nid = "{id}"\ninstruction = "{words}"\nurl = "./page.html"\n'
    path.write_text(lines.format(id="one", words="Press it."))
    desk = TaskDesk(live.session.queue, live.session.environments, live.session.offer)
    desk.add((str(path),))
    live.wait(lambda: "edited/one" in {task.id for task in live.catalogue.tasks}, "the added task")
    live.open("edited/one")
    assert live.view.instruction == "Press it."
    path.write_text(lines.format(id="one", words="Press it twice.") + lines.format(id="two", words="x"))
    live.open("edited/one")
    assert live.view.instruction == "Press it twice."
    live.wait(lambda: "edited/two" in {task.id for task in live.catalogue.tasks}, "the new task")
    path.write_text("[[tasks]\n")
    live.session.open_task("edited/one", 0)
    live.wait(lambda: live.view.mode == "failed" and "not TOML" in live.view.message, "the problem")
    desk.remove(str(path))
    live.wait(lambda: not live.catalogue.sources, "an empty list")
