import subprocess
from pathlib import Path

from core.storage.lock import locked


def is_free(folder: Path) -> bool:
    return subprocess.run(["flock", "-n", str(folder), "true"]).returncode == 0


def test_the_folder_is_locked_inside_and_free_after(tmp_path):
    with locked(tmp_path, lambda: None):
        assert not is_free(tmp_path)
    assert is_free(tmp_path)


def test_the_wait_is_announced_only_when_there_is_one(tmp_path):
    said: list[str] = []
    with locked(tmp_path, lambda: said.append("wait")):
        pass
    assert said == []


def test_a_command_that_was_handed_the_lock_keeps_it(tmp_path):
    with locked(tmp_path, lambda: None) as descriptors:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=descriptors)
    assert not is_free(tmp_path)
    child.communicate()
    assert is_free(tmp_path)
