import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core.doctor import (
    Check,
    CheckNote,
    Finding,
    check_chromium,
    check_database,
    check_display,
    check_folders,
    check_llm,
    check_pyside,
    check_python,
    check_settings,
    check_shared_memory,
    examine,
    exit_code,
    fail,
    ok,
    standard_checks,
    warn,
)
from core.schema.errors import BackstepError, BrowserError, DataError, TraceError
from core.settings.settings import Settings, load_settings


def findings(checks: dict[str, Check], seconds: float = 30.0) -> list[Finding]:
    return list(examine(checks, seconds=seconds))


def test_each_check_gives_one_finding_under_its_name_in_order():
    found = findings({"first": lambda: ok("one"), "second": lambda: ok("two")})
    assert [(finding.name, finding.text) for finding in found] == [
        ("first", "one"),
        ("second", "two"),
    ]


def test_a_check_that_raises_does_not_keep_the_next_from_being_made():
    def broken() -> CheckNote:
        raise BrowserError("The browser has died; start it again.")

    found = findings({"broken": broken, "after": lambda: ok("All is well.")})
    assert [(finding.level, finding.text) for finding in found] == [
        ("fail", "The browser has died; start it again."),
        ("ok", "All is well."),
    ]


def test_an_error_that_is_no_sentence_of_ours_names_its_kind():
    def broken() -> CheckNote:
        raise ModuleNotFoundError("No module named 'lxml'\nmore")

    assert (findings({"broken": broken}))[0].text == "ModuleNotFoundError: No module named 'lxml'"


def test_a_function_that_never_returns_is_left_at_its_limit():
    release = threading.Event()

    def hanging() -> CheckNote:
        release.wait()
        return ok("late")

    try:
        found = findings({"hanging": hanging, "after": lambda: ok("All is well.")}, seconds=0.05)
    finally:
        release.set()
    assert [finding.level for finding in found] == ["fail", "ok"]
    assert "No answer within 0.05 seconds" in found[0].text


def test_a_timeout_inside_a_check_is_not_taken_for_its_limit():
    def slow_server() -> CheckNote:
        raise TimeoutError("the server said nothing")

    assert (findings({"server": slow_server}))[0].text == "TimeoutError: the server said nothing"


def test_a_finding_is_reported_before_the_next_check_is_made():
    made: list[str] = []
    checks: dict[str, Check] = {
        "first": lambda: ok("one"),
        "second": lambda: (made.append("second"), ok("two"))[1],
    }
    for finding in examine(checks):
        if finding.name == "first":
            assert made == []
    assert made == ["second"]


@pytest.mark.parametrize(
    ("notes", "code"), [((ok("a"), warn("b")), 0), ((), 0), ((ok("a"), fail("b"), ok("c")), 3)]
)
def test_only_a_failure_makes_the_exit_code_3(notes, code):
    assert exit_code([Finding(name="x", level=note.level, text=note.text) for note in notes]) == code


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


def test_a_pyside6_outside_the_range_fails(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["PySide6>=5,<5.1"]\n')
    assert check_pyside(tmp_path).level == "fail"
    assert check_pyside(ROOT).level == "ok"


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
    found = {finding.name: finding for finding in examine(checks)}
    assert found["settings"].text == "settings.toml: line 3 is wrong."
    assert [found[name].level for name in ("settings", "database", "LLM")] == ["fail", "warn", "warn"]


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
