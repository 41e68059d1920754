import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core.doctor import (
    Check,
    CheckNote,
    check_chromium,
    check_database,
    check_display,
    check_folders,
    check_llm,
    check_python,
    check_settings,
    check_shared_memory,
    examine,
    ok,
    standard_checks,
)
from core.schema.errors import BackstepError, BrowserError, DataError, TraceError
from core.settings.settings import Settings, load_settings


def test_each_check_gives_one_note_under_its_name_in_order_whatever_happens_in_it():
    release = threading.Event()

    def broken() -> CheckNote:
        raise BrowserError("The browser has died; start it again.")

    def damaged() -> CheckNote:
        raise ModuleNotFoundError("No module named 'lxml'\nmore")

    def slow_server() -> CheckNote:
        raise TimeoutError("the server said nothing")

    def hanging() -> CheckNote:
        release.wait()
        return ok("late")

    checks: dict[str, Check] = {
        "first": lambda: ok("one"),
        "broken": broken,
        "damaged": damaged,
        "server": slow_server,
        "hanging": hanging,
        "last": lambda: ok("All is well."),
    }
    try:
        notes = [(name, note.level, note.text) for name, note in examine(checks, seconds=0.05)]
    finally:
        release.set()
    assert notes[:4] == [
        ("first", "ok", "one"),
        ("broken", "fail", "The browser has died; start it again."),
        ("damaged", "fail", "ModuleNotFoundError: No module named 'lxml'"),
        ("server", "fail", "TimeoutError: the server said nothing"),
    ]
    assert notes[4][:2] == ("hanging", "fail")
    assert "No answer within 0.05 seconds" in notes[4][2]
    assert notes[5:] == [("last", "ok", "All is well.")]


def test_a_note_is_reported_before_the_next_check_is_made():
    made: list[str] = []
    checks: dict[str, Check] = {
        "first": lambda: ok("one"),
        "second": lambda: (made.append("second"), ok("two"))[1],
    }
    for name, _ in examine(checks):
        if name == "first":
            assert made == []
    assert made == ["second"]


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch) -> Path:
    """Keep settings, keys and traces of the machine out."""
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("BACKSTEP_DATA_DIR", str(tmp_path / "data"))
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def loading(**flags: object) -> Callable[[], Settings]:
    return lambda: load_settings(flags)


def unreadable() -> Settings:
    raise DataError("settings.toml: line 3 is wrong.")


def test_the_packages_are_named_with_their_versions():
    note = check_python(ROOT)
    assert note.level == "ok"
    assert "playwright 1." in note.text


def test_a_missing_package_is_named_with_the_command(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["no-such-package>=1"]\n')
    note = check_python(tmp_path)
    assert note.level == "fail"
    assert "no-such-package>=1" in note.text
    assert "pip install" in note.text


def test_a_package_outside_its_range_fails(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["PySide6>=5,<5.1"]\n')
    note = check_python(tmp_path)
    assert note.level == "fail"
    assert "PySide6>=5,<5.1" in note.text


def test_no_display_is_a_warning_with_the_command_that_works(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert check_display().level == "warn"
    assert "main.py run" in check_display().text
    monkeypatch.setenv("DISPLAY", ":7")
    assert check_display().text == "DISPLAY=:7."


def test_shared_memory_that_is_not_there_fails(tmp_path):
    assert check_shared_memory(tmp_path / "gone").level == "fail"


def test_little_shared_memory_is_a_warning(tmp_path, monkeypatch):
    assert check_shared_memory(tmp_path).level == "ok"
    monkeypatch.setattr("core.doctor._SMALL_SHARED_BYTES", 10**18)
    assert check_shared_memory(tmp_path).level == "warn"


def test_an_installed_chromium_is_optional(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check_chromium(loading()).level == "ok"


def test_a_browser_in_the_settings_that_is_not_there_fails(tmp_path):
    note = check_chromium(loading(browser=str(tmp_path / "gone")))
    assert note.level == "fail"
    assert str(tmp_path / "gone") in note.text


def test_a_browser_in_the_settings_is_asked_for_its_version(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\necho Chromium 1.2.3\n")
    browser.chmod(0o755)
    assert check_chromium(loading(browser=str(browser))).text.startswith("Chromium 1.2.3 at ")


def test_the_settings_in_use_are_reported(folders):
    note = check_settings(loading(llm="rules"))
    assert note.level == "ok"
    assert str(folders / "config") in note.text
    assert "LLM rules" in note.text


def test_folders_that_cannot_be_written_fail(folders):
    assert check_folders().level == "ok"
    (folders / "data").rmdir()
    (folders / "data").touch()
    assert check_folders().level == "fail"
    assert str(folders / "data") in check_folders().text


def test_a_database_that_is_not_there_is_made(folders):
    note = check_database(loading())
    assert note.level == "ok"
    assert "traces.db, new," in note.text
    assert (folders / "data" / "traces.db").exists()
    assert "traces.db, new," not in check_database(loading()).text


def test_a_database_of_another_program_fails_with_the_sentence_of_the_trace(folders):
    path = folders / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.commit()
    with pytest.raises(TraceError, match=r"other\.db"):
        check_database(loading(db=path))


def test_little_room_for_the_database_is_a_warning(monkeypatch):
    monkeypatch.setattr("core.doctor._LITTLE_BYTES", 10**18)
    assert check_database(loading()).level == "warn"


def test_settings_that_cannot_be_read_fail_once_and_not_in_each_check():
    checks = {
        name: check
        for name, check in standard_checks(ROOT, unreadable).items()
        if name in ("settings", "database", "LLM")
    }
    notes = dict(examine(checks))
    assert notes["settings"].text == "settings.toml: line 3 is wrong."
    assert [notes[name].level for name in ("settings", "database", "LLM")] == ["fail", "warn", "warn"]


def test_a_server_that_has_the_model_is_well(httpserver):
    httpserver.expect_request("/v1/models").respond_with_json({"object": "list", "data": [{"id": "small"}]})
    note = check_llm(loading(llm="small", base_url=httpserver.url_for("/v1")))
    assert note.level == "ok"
    assert "has small" in note.text


def test_a_server_without_the_model_is_a_warning(httpserver):
    httpserver.expect_request("/v1/models").respond_with_json({"object": "list", "data": [{"id": "small"}]})
    note = check_llm(loading(llm="large", base_url=httpserver.url_for("/v1")))
    assert note.level == "warn"
    assert "large" in note.text


def test_a_server_that_refuses_fails_with_the_reason(httpserver):
    httpserver.expect_request("/v1/models").respond_with_json(
        {"error": {"message": "no such key"}}, status=401
    )
    note = check_llm(loading(llm="small", base_url=httpserver.url_for("/v1")))
    assert note.level == "fail"
    assert note.text.startswith("small: ")


def test_an_llm_that_nobody_answers_for_fails():
    with pytest.raises(BackstepError, match="ruels"):
        check_llm(loading(llm="ruels"))
