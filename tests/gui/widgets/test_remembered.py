from PySide6.QtCore import QByteArray, QSettings

from core.debugger.attach.views import AttachRequest
from gui.widgets.remembered import OpenedTask, Remembered


def test_recent_tasks_come_newest_first_and_each_once(settings: QSettings):
    remembered = Remembered(settings)
    for task in ("a", "b", "a"):
        remembered.add_recent(OpenedTask(task=task, seed=1))
    assert [one.task for one in Remembered(settings).recent] == ["a", "b"]


def test_a_single_recent_task_survives_the_ini_file(tmp_path):
    path = str(tmp_path / "one.ini")
    first = QSettings(path, QSettings.Format.IniFormat)
    Remembered(first).add_recent(
        OpenedTask(task="web/open", url="http://x/?a=1,2", instruction='say "hi", then stop')
    )
    first.sync()
    second = Remembered(QSettings(path, QSettings.Format.IniFormat))
    assert second.last_task == OpenedTask(
        task="web/open", url="http://x/?a=1,2", instruction='say "hi", then stop'
    )


def test_damaged_entries_count_as_not_remembered(settings: QSettings):
    settings.setValue("last/tasks", ["{", '{"task": "a", "seed": "x"}'])
    settings.setValue("last/pace", "fast")
    remembered = Remembered(settings)
    assert remembered.recent == ()
    assert remembered.pace == 0.0


def test_a_layout_of_another_version_is_not_used(settings: QSettings):
    remembered = Remembered(settings)
    remembered.keep_layout("watch", QByteArray(b"state"), 1)
    assert remembered.layout("watch", 1) == QByteArray(b"state")
    assert remembered.layout("watch", 2) is None


def test_a_key_in_the_command_of_an_agent_is_not_remembered(settings: QSettings):
    Remembered(settings).attach = AttachRequest(command=("env", "GROQ_API_KEY=gsk_1a2b", "python", "a.py"))
    assert Remembered(settings).attach.command == ("env", "GROQ_API_KEY=[key]", "python", "a.py")
