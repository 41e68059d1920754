"""What a file of a stranger may be: regular, of bounded size and depth, read in bounded time."""

import os
import time
from pathlib import Path

import pytest

from core.environments.task_file import TaskFile
from core.schema.errors import DataError
from core.schema.record import Record
from core.settings import user_file
from core.settings.user_file import DEEPEST, UserFile, read_bytes, read_model, read_text


class Form(Record):
    title: str = ""


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.toml")
    with pytest.raises(
        DataError, match=r"a\.toml is a pipe or a device, and only files are read; save its content"
    ):
        read_model(tmp_path / "a.toml", Form)


def test_a_device_is_refused_though_it_has_no_size():
    with pytest.raises(DataError, match="/dev/zero is a pipe or a device"):
        read_bytes(Path("/dev/zero"))


def test_a_name_with_a_nul_is_no_path(tmp_path):
    with pytest.raises(DataError, match="is not a path"):
        read_text(tmp_path / "a\0b.toml")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.truncate(5 << 30)
    with pytest.raises(DataError, match=r"a\.json has 5120 MB, but at most 16 MB are read; check"):
        UserFile.read(path)


def test_a_file_that_grows_while_it_is_read_is_refused_too(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_bytes(b"[1, 2, 3]")
    monkeypatch.setattr(user_file.os, "fstat", lambda _: os.stat_result((0o100644, *(0,) * 9)))
    with pytest.raises(DataError, match="at most 0 MB"):
        read_bytes(path, most=3)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", "[" * 100_000, "nested too deep"),
        ("a.json", "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), f"nested deeper than {DEEPEST} levels"),
        ("a.json", '{"title":' * 150 + "1" + "}" * 150, f"nested deeper than {DEEPEST} levels"),
        ("a.toml", "a = " + "[" * 100_000, "nested too deep"),
        ("a.toml", "x = 1\n" + ".".join("a" * 100_000) + " = 1", r"line 2: a key has at most 100 parts"),
        ("a.toml", "[" + " . ".join(['"\\""'] * 100_000) + "]", r"line 1: a key has at most 100 parts"),
        ("a.toml", "a=1\n" * 2_000_000, "of TOML are read; split it"),
        ("a.json", "[" + "1," * 300_000 + "1]", "it contains more than 250000 values"),
    ],
)
def test_what_is_nested_too_deep_or_holds_too_much_is_refused_at_once(name, text, said):
    begun = time.process_time()
    with pytest.raises(DataError, match=said):
        UserFile(Path(name), text).content()
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("depth", [2, DEEPEST - 1])
def test_what_is_nested_less_deep_is_read(depth):
    assert UserFile(Path("a.json"), "[" * depth + "]" * depth).content()
    assert UserFile(Path("a.toml"), ".".join("a" * depth) + " = 1").content()


def test_the_line_of_a_mistake_is_found_in_long_lines_of_spaces():
    begun = time.process_time()
    text = ("[" + " " * 200_000 + "\n" + "k" + " " * 200_000 + "\n") * 5 + "titel = 1\n"
    assert UserFile(Path("a.toml"), text).line(("titel",)) == 11
    assert time.process_time() - begun < 5


def test_of_very_many_mistakes_the_first_are_told(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("[" + "1," * 5000 + "1]")
    with pytest.raises(DataError) as caught:
        TaskFile.read(path)
    lines = str(caught.value).splitlines()
    assert (lines[0], len(lines)) == (f"{path} has 5001 problems:", 22)
    assert lines[-1] == "  and 4981 more; correct these first."
