import asyncio
import threading

import pytest

from core.doctor.report import Check, CheckNote, Finding, examine, exit_code, fail, ok, warn
from core.schema.errors import BrowserError


async def findings(checks: dict[str, Check], seconds: float = 30.0) -> list[Finding]:
    return [finding async for finding in examine(checks, seconds=seconds)]


async def fine() -> CheckNote:
    return ok("All is well.")


async def test_each_check_gives_one_finding_under_its_name_in_order():
    found = await findings({"first": lambda: ok("one"), "second": fine})
    assert [(finding.name, finding.text) for finding in found] == [
        ("first", "one"),
        ("second", "All is well."),
    ]


async def test_a_check_that_raises_does_not_keep_the_next_from_being_made():
    def broken() -> CheckNote:
        raise BrowserError("The browser has died; start it again.")

    found = await findings({"broken": broken, "after": fine})
    assert [(finding.level, finding.text) for finding in found] == [
        ("fail", "The browser has died; start it again."),
        ("ok", "All is well."),
    ]


async def test_an_error_that_is_no_sentence_of_ours_names_its_kind():
    def broken() -> CheckNote:
        raise ModuleNotFoundError("No module named 'lxml'\nmore")

    assert (await findings({"broken": broken}))[0].text == "ModuleNotFoundError: No module named 'lxml'"


async def test_a_coroutine_that_never_ends_is_left_at_its_limit():
    async def hanging() -> CheckNote:
        await asyncio.Event().wait()
        raise AssertionError

    found = await findings({"hanging": hanging, "after": fine}, seconds=0.05)
    assert [finding.level for finding in found] == ["fail", "ok"]
    assert "No answer within 0.05 seconds" in found[0].text


async def test_a_function_that_never_returns_is_left_at_its_limit():
    release = threading.Event()

    def hanging() -> CheckNote:
        release.wait()
        return ok("late")

    try:
        found = await findings({"hanging": hanging, "after": fine}, seconds=0.05)
    finally:
        release.set()
    assert [finding.level for finding in found] == ["fail", "ok"]


async def test_a_timeout_inside_a_check_is_not_taken_for_its_limit():
    def slow_server() -> CheckNote:
        raise TimeoutError("the server said nothing")

    assert (await findings({"server": slow_server}))[0].text == "TimeoutError: the server said nothing"


async def test_a_finding_is_told_before_the_next_check_is_made():
    made: list[str] = []
    checks: dict[str, Check] = {
        "first": lambda: ok("one"),
        "second": lambda: (made.append("second"), ok("two"))[1],
    }
    async for finding in examine(checks):
        if finding.name == "first":
            assert made == []
    assert made == ["second"]


@pytest.mark.parametrize(
    ("notes", "code"), [((ok("a"), warn("b")), 0), ((), 0), ((ok("a"), fail("b"), ok("c")), 3)]
)
def test_only_a_failure_makes_the_exit_code_3(notes, code):
    assert exit_code([Finding(name="x", level=note.level, text=note.text) for note in notes]) == code
