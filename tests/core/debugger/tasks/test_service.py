"""The user's files of tasks, added and removed as the task chooser asks for it."""

import threading

import pytest

from core.debugger.tasks.service import TaskFilesService
from core.debugger.tasks.views import TaskFilesAnswer
from core.environments.registry import Environments
from core.settings.settings import load_settings, settings_path
from tests.core.environments.test_own_tasks import config_file, own, task_file


class Asked:
    """A service with what it has answered."""

    def __init__(self, session) -> None:
        self.session = session
        self.environments = session.services().environments
        self.answers: list[TaskFilesAnswer] = []
        self.service = TaskFilesService(session)
        self.service.changed.connect(self.answers.append)

    def add(self, *paths) -> TaskFilesAnswer:
        self.service.add(tuple(map(str, paths)))
        self.session.done()
        return self.answers[-1]

    def remove(self, path) -> TaskFilesAnswer:
        self.service.remove(str(path))
        self.session.done()
        return self.answers[-1]

    def refresh(self) -> None:
        self.service.refresh()
        self.session.done()


@pytest.fixture
def asked(tmp_path, monkeypatch, stand_in) -> Asked:
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("BACKSTEP_DATA_DIR", str(tmp_path))
    return Asked(stand_in(environments=Environments()))


def test_what_is_added_is_announced_and_remembered_by_its_kind(asked: Asked, tmp_path):
    mine, theirs = task_file(tmp_path), config_file(tmp_path, "tasks.json")
    answer = asked.add(mine, theirs)
    assert answer.ok
    assert answer.task == "mine/lamp"
    assert asked.session.offered == 1
    assert (load_settings().task_files, load_settings().webarena) == ((mine,), (theirs,))
    assert all(source.remembered for source in asked.environments.sources)


def test_a_bad_file_among_good_ones_is_reported_and_the_good_ones_are_added(asked: Asked, tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text("tasks = 3")
    answer = asked.add(bad, task_file(tmp_path))
    assert not answer.ok
    assert "bad.toml was not added" in answer.text
    assert str(bad) in answer.text
    assert own(asked.environments) == ["mine/lamp"]
    assert load_settings().task_files == (tmp_path / "mine.toml",)


def test_a_removed_file_is_forgotten_and_stays_on_the_disk(asked: Asked, tmp_path):
    path = task_file(tmp_path)
    asked.add(path)
    assert asked.remove(path).ok
    assert own(asked.environments) == []
    assert load_settings().task_files == ()
    assert path.exists()


def test_what_a_person_wrote_in_the_settings_stays(asked: Asked, tmp_path):
    own_lines = 'task_files = [\n  "../other.toml",  # the old ones\n]\n\n[llms.fast]\nmodel = "m"\n'
    settings_path().parent.mkdir()
    settings_path().write_text(own_lines)
    path = task_file(tmp_path)
    asked.add(path)
    assert '"../other.toml",  # the old ones' in settings_path().read_text()
    assert load_settings().task_files == (tmp_path / "other.toml", path)
    asked.remove(path)
    assert "# the old ones" in settings_path().read_text()
    assert load_settings().task_files == (tmp_path / "other.toml",)


def test_tasks_that_cannot_be_remembered_are_there_for_this_time(asked: Asked, tmp_path):
    settings_path().parent.mkdir()
    settings_path().write_text("them = 1\n")
    answer = asked.add(task_file(tmp_path))
    assert not answer.ok
    assert "only until the window closes" in answer.text
    assert own(asked.environments) == ["mine/lamp"]


def test_reading_again_announces_only_what_has_changed(asked: Asked, tmp_path):
    asked.add(task_file(tmp_path))
    asked.refresh()
    assert asked.session.offered == 1
    task_file(tmp_path, "mine.toml", "lamp", "chair")
    asked.refresh()
    assert asked.session.offered == 2
    assert own(asked.environments) == ["mine/lamp", "mine/chair"]


@pytest.mark.browser
def test_an_edit_of_a_task_file_holds_when_one_of_its_tasks_is_opened(live, tmp_path, monkeypatch):
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    page = tmp_path / "page.html"
    page.write_text("<button>Go</button>")
    path = tmp_path / "edited.toml"
    lines = '[[tasks]]\nid = "{id}"\ninstruction = "{words}"\nurl = "./page.html"\n'
    path.write_text(lines.format(id="one", words="Press it."))
    service = TaskFilesService(live.session)
    service.add((str(path),))
    live.wait(lambda: "edited/one" in {task.id for task in live.catalogue.tasks}, "the added task")
    live.open("edited/one")
    assert live.view.instruction == "Press it."
    path.write_text(lines.format(id="one", words="Press it twice.") + lines.format(id="two", words="x"))
    live.open("edited/one")
    assert live.view.instruction == "Press it twice."
    live.wait(lambda: "edited/two" in {task.id for task in live.catalogue.tasks}, "the new task")
    path.write_text("[[tasks]\n")
    live.session.tasks.open("edited/one", 0)
    live.wait(lambda: live.view.mode == "failed" and "not TOML" in live.view.message, "the problem")
    service.remove(str(path))
    live.wait(lambda: not live.catalogue.sources, "an empty list")


def test_what_is_asked_for_while_a_file_is_read_waits_for_it(asked: Asked, tmp_path, monkeypatch):
    mine, read = task_file(tmp_path), threading.Event()
    add_file = asked.environments.add_file

    def add_late(path):
        read.wait(10)
        return add_file(path)

    monkeypatch.setattr(asked.environments, "add_file", add_late)
    asked.service.add((str(mine),))
    asked.service.remove(str(mine))
    read.set()
    asked.session.done()
    assert [answer.ok for answer in asked.answers] == [True, True]
    assert "was removed from the list" in asked.answers[-1].text
    assert asked.environments.sources == ()
    assert load_settings().task_files == ()
