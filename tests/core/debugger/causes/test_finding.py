"""The causes of runs that really failed: of the built-in LLM, and of agents whose files have a fault."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.agent.resources import agent_resources_of
from core.debugger.causes.facts import FileTexts
from core.debugger.causes.finding import _with_edits, causes_of
from core.debugger.causes.kinds.changes import FileWrong, _changes
from core.debugger.causes.kinds.replies import _is_shown
from core.debugger.causes.records import Cause, Patch
from core.debugger.editing.files import AgentFiles
from core.schema.errors import UsageError
from core.schema.secrets import is_text_of
from core.storage.resources import RESOURCES
from tests.core.debugger.live import Live
from tests.core.stage import on

SHOP = "state_spaces/shop.toml"
BUNDLED = (RESOURCES / SHOP).read_text("utf-8")
"""The agent does not find what it needs in this task: an item without the resealable bag is bought."""
FAILS = "shop/goal-013"
_SUCCESSES: dict[Path, int] = {}


def line_of(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


@pytest.fixture(autouse=True)
def without_own_space(live: Live) -> Iterator[None]:
    yield
    (live.config / SHOP).unlink(missing_ok=True)


def run_task(live: Live, *, text: str = BUNDLED, steps: int = 30, task: str = FAILS) -> int:
    """Run a task to its end with a state space, and return the run's number."""
    folder = live.config / "state_spaces"
    folder.mkdir(exist_ok=True)
    (folder / "shop.toml").write_text(text, "utf-8")
    live.session.agent.set_preset("laser")
    live.session.agent.set_llm("rules")
    live.open(task)
    live.session.run_commands.set_max_steps(steps)
    live.session.run_commands.run()
    live.wait_mode("ended")
    run = live.view.run
    assert run is not None
    return run


@pytest.fixture
def success(live: Live) -> int:
    """Return a success of the bundled agent at ``shop/goal-004``, the only one there: one run for all tests."""
    run = _SUCCESSES.get(live.database) or run_task(live, task="shop/goal-004")
    _SUCCESSES[live.database] = run
    with closing(sqlite3.connect(live.database)) as database, database:
        database.execute("UPDATE runs SET success = NULL WHERE success AND task = 'shop/goal-004'")
        database.execute("UPDATE runs SET success = 1 WHERE run = ?", (run,))
    return run


def causes(live: Live, run: int) -> tuple[Cause, ...]:
    with closing(live.store()) as store:
        return causes_of(store, run, agent_resources_of(live.config), AgentFiles(live.config))


def test_the_step_that_had_what_the_judge_misses_is_the_cause_and_each_is_told_in_whole_sentences(
    live: Live,
) -> None:
    first, *others = causes(live, run_task(live))
    assert (first.kind, first.step, first.certainty) == ("judge", 2, "likely")
    assert "resealable bag" in first.what.lower()
    assert all("resealable bag" in one.text.lower() for one in first.evidence if one.part == "page")
    assert first.place.startswith(SHOP)
    assert [one.kind for one in others][-1] == "last-step"
    for cause in (first, *others):
        assert cause.what[0].isupper()
        assert cause.why.endswith(".")
        assert cause.evidence
        assert cause.file or cause.field


def test_a_rule_that_is_too_strict_is_named_with_its_line_and_a_patch_that_takes_it_out(live: Live) -> None:
    strict = BUNDLED.replace(
        """must = ['heading ~"^Results for "', 'link "Back to search"']""",
        """must = ['heading ~"^Results for "', 'link "Back to the shelves"']""",
    )
    assert strict != BUNDLED
    cause = causes(live, run_task(live, text=strict))[0]
    assert (cause.kind, cause.step) == ("state-not-recognised", 2)
    assert (cause.file, cause.line) == (SHOP, line_of(strict, "Back to the shelves"))
    assert 'there is no link "Back to the shelves"' in cause.what
    assert cause.patch is not None
    assert strict.count(cause.patch.find) == 1
    mended = strict.replace(cause.patch.find, cause.patch.put)
    assert line_of(mended, """must = ['heading ~"^Results for "']""")
    # With the patch, the page of the step is recognised.
    again = run_task(live, text=mended, steps=3)
    assert "state-not-recognised" not in [one.kind for one in causes(live, again)]


def test_a_limit_of_the_state_space_goes_before_what_it_took_from_the_offer(live: Live, success: int) -> None:
    lowered = BUNDLED.replace("choose_at = 13", "choose_at = 1")
    first, *others = causes(live, run_task(live, text=lowered, task="shop/goal-004"))
    assert (first.kind, first.certainty) == ("budget", "sure")
    assert first.place == f"{SHOP}:{line_of(lowered, 'choose_at')}"
    assert "no candidate was set aside" in first.what
    assert first.patch is not None
    assert first.patch.put == first.patch.find.replace("choose_at = 1", "choose_at = 13")
    assert not {"action-not-permissible", "reply-unusable", "action-failed"} & {one.kind for one in others}


def test_a_limit_is_not_doubled_beyond_what_the_file_allows_but_gets_the_bundled_value_back(
    live: Live,
) -> None:
    low = BUNDLED.replace("transitions = 15", "transitions = 1").replace("choose_at = 13", "choose_at = 1")
    kinds = {one.kind: one for one in causes(live, run_task(live, text=low))}
    budget = kinds["budget"]
    assert budget.place == f"{SHOP}:{line_of(low, 'choose_at')}"
    assert budget.patch is not None
    assert low.replace(budget.patch.find, budget.patch.put) == BUNDLED


def test_values_that_an_action_does_not_find_on_the_page_are_named_with_their_line(
    live: Live, success: int
) -> None:
    lost = BUNDLED.replace("element = 'listitem ~", "element = 'article ~")
    first = causes(live, run_task(live, text=lost, task="shop/goal-004"))[0]
    assert (first.kind, first.certainty, first.step) == ("action-not-permissible", "sure", 2)
    assert first.place == f"{SHOP}:{line_of(lost, 'article ~')}"
    assert "select_item takes item_id from article ~" in first.what
    assert "finds none on the page in results" in first.what


def test_a_state_that_ends_runs_is_named_where_a_success_went_on_from_it(live: Live, success: int) -> None:
    stopping = BUNDLED.replace('name = "results"\n', 'name = "results"\nstops = true\n')
    run = run_task(live, text=stopping, task="shop/goal-004")
    first, *others = causes(live, run)
    assert (first.kind, first.certainty) == ("state-stops", "sure")
    assert first.place == f"{SHOP}:{line_of(stopping, 'stops = true')}"
    assert first.patch is not None
    assert stopping.replace(first.patch.find, first.patch.put) == BUNDLED
    # The success was made without the edit.
    edited = next(one for one in others if one.kind == "file-edited")
    assert (edited.place, edited.certainty) == (first.place, "likely")
    assert (
        edited.what == f"{SHOP} was another one when run {success}, a success, began: “stops = true” is new."
    )
    assert edited.patch == first.patch
    # What is said of a file holds of the run only as long as its text is that of the run.
    os.utime(live.config / SHOP)
    assert causes(live, run)[0] == first
    (live.config / SHOP).write_text(stopping + "# Changed.\n", "utf-8")
    first, *others = causes(live, run)
    assert (first.kind, first.certainty) == ("state-stops", "likely")
    assert "The file is another one now than when the run began." in first.why
    assert [one.patch for one in others if one.kind == "file-edited"] == [None]


@pytest.mark.parametrize("hidden", ["removed-password-1", "<secret:password>", "••••"])
def test_what_is_hidden_in_a_stored_text_is_no_change(hidden: str) -> None:
    before, after = "Log in with kiwi.\nAs emma.\n", f"Log in with {hidden}.\nAs Emma.\n"
    for old, new in ((before, after), (after, before)):
        assert list(_changes(old, new)) == []
    assert [change.came for change in _changes(before, "Log in with mango.\nAs emma.\n")] == [
        "Log in with mango."
    ]
    assert is_text_of(after, before.replace("emma", "Emma"))
    assert not is_text_of(after, before)
    # What both have is no secret: it was written so.
    written = f"Type {hidden}.\n"
    assert [change.came for change in _changes(written, f"Now type {hidden}.\n")] == [f"Now type {hidden}."]
    assert not is_text_of(written, f"Now type {hidden}.\n")


def test_files_that_were_changed_during_the_success_are_not_known(live: Live) -> None:
    live.session.agent.set_preset("laser")
    live.session.agent.set_llm("rules")
    live.open("shop/goal-004")
    live.to_review()
    (live.config / "state_spaces").mkdir(exist_ok=True)
    (live.config / SHOP).write_text(BUNDLED + "# The edit that made it succeed.\n", "utf-8")
    live.session.run_commands.run()
    live.wait_mode("ended")
    with closing(live.store()) as store:
        assert store.own_files(live.view.run or 0) == {SHOP: None}


def test_an_edit_that_a_success_had_as_well_is_no_cause(live: Live) -> None:
    edited = BUNDLED.replace('name = "results"\n', 'name = "results"\n# Mine.\n')
    run_task(live, text=edited, task="shop/goal-004")
    run = run_task(live, text=edited, task="shop/goal-004", steps=2)
    assert "file-edited" not in [one.kind for one in causes(live, run)]


def test_what_the_prompts_of_a_success_lacked_as_well_is_no_cause(live: Live) -> None:
    name, task = "prompts/laser/user.j2", "shop/goal-004"
    own = live.config / name
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text((RESOURCES / name).read_text("utf-8").replace("{{ page.text }}", ""), "utf-8")
    try:
        failed = run_task(live, task=task, steps=2)
        with closing(sqlite3.connect(live.database)) as database, database:
            database.execute("UPDATE runs SET success = NULL WHERE success AND task = ?", (task,))
        assert "prompt-lacks" in [one.kind for one in causes(live, failed)]
        # The built-in LLM reads what is permissible, and not the page.
        assert causes(live, run_task(live, task=task)) == ()
        assert "prompt-lacks" not in [one.kind for one in causes(live, failed)]
    finally:
        own.unlink()


def test_a_prompt_that_was_edited_since_a_success_gets_the_way_back(live: Live, success: int) -> None:
    name = "prompts/laser/user.j2"
    bundled, own = (RESOURCES / name).read_text("utf-8"), live.config / name
    edited = f"Be quick.\n{bundled}"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(edited, "utf-8")
    try:
        found = causes(live, run_task(live, task="shop/goal-004", steps=2))
    finally:
        own.unlink()
    cause = found[0]
    assert (cause.kind, cause.place, cause.certainty) == ("prompt-differs", f"{name}:1", "sure")
    assert "Be quick." in cause.what
    assert cause.patch is not None
    assert edited.replace(cause.patch.find, cause.patch.put) == bundled


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("prompts/laser/user.j2", "{{ page.text }}\n", ""),
        ("presets/laser.toml", 'user = "laser/user.j2"', 'user = "laser/rationale.j2"'),
    ],
)
def test_a_prompt_without_the_page_is_laid_to_the_edit_that_took_it_out(
    live: Live, name: str, old: str, new: str
) -> None:
    bundled, own = (RESOURCES / name).read_text("utf-8"), live.config / name
    edited = bundled.replace(old, new, 1)
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(edited, "utf-8")
    try:
        found = causes(live, run_task(live, steps=2))
        cause = next(one for one in found if one.kind == "prompt-lacks")
        assert (cause.file, cause.certainty) == (name, "likely")
        assert abs(cause.line - line_of(bundled, old.strip())) <= 1
        assert cause.why.endswith(
            "Your own copy of the file differs there from the bundled one, which shows it."
        )
        assert cause.patch is not None
        assert edited.replace(cause.patch.find, cause.patch.put) == bundled
        # What the file says now says nothing of the run, if it was changed meanwhile.
        own.write_text(f"{edited}{{# later #}}\n" if name.endswith(".j2") else f"{edited}# later\n", "utf-8")
        assert (
            next(one for one in causes(live, live.view.run or 0) if one.kind == "prompt-lacks").patch is None
        )
    finally:
        own.unlink()


def test_a_cause_at_a_value_of_several_lines_gets_the_edit_in_it() -> None:
    text = 'x = 1\ndoes = [\n  "a",\n  "b",\n  "c",\n  "d",\n  "e",\n]\ny = [1]\n\n\n\n\nz = 1\n'
    facts: Any = SimpleNamespace(texts=SimpleNamespace(now=lambda _name: text))
    patch = Patch(file=SHOP, find='"e"', put='"f"')
    edit = Cause(kind="file-edited", step=1, what="", file=SHOP, line=7, patch=patch)
    places = {2: (7, True), 5: (5, True), 6: (6, True), 9: (9, True), 14: (14, False), 0: (0, False)}
    for line, (told, has_change) in places.items():
        cause = _with_edits([edit, Cause(step=1, what="", file=SHOP, line=line)], facts)[1]
        assert (cause.line, cause.patch is not None) == (told, has_change)
    elsewhere = Cause(step=1, what="", file="policies/shop/shop.md", line=7)
    assert _with_edits([edit, elsewhere], facts)[1] == elsewhere


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("Task: Pay the flight with the card •••••••••••••••••••, expiry 06/31.\nPage: •••", True),
        ("Task: Pay the flight with the card 9360 0997 0108 1140, expiry 06/31.\nPage", True),
        ("Task: Pay the flight with the card\n  9360 0997 0108 1140, expiry 06/31.\nPage", True),
        ("Task: Pay the fl\nPage: card •••", False),
        ("Task: Pay the fl\nPage: card", False),
    ],
)
def test_a_task_of_which_a_part_is_hidden_is_shown(prompt: str, shown: bool) -> None:
    assert _is_shown("Pay the flight with the card 9360 0997 0108 1140, expiry 06/31.", prompt) is shown


def test_where_the_files_of_runs_are_not_stored_an_edit_is_possible_and_a_later_save_is_told(
    live: Live, success: int
) -> None:
    stopping = BUNDLED.replace('name = "results"\n', 'name = "results"\nstops = true\n')
    run = run_task(live, text=stopping, task="shop/goal-004")
    own_files = "UPDATE runs SET own_files = ? WHERE run = ?"
    with closing(sqlite3.connect(live.database)) as database, database:
        (kept,) = database.execute("SELECT own_files FROM runs WHERE run = ?", (success,)).fetchone()
        database.executemany(own_files, [(None, success), (None, run)])
    try:
        first, *others = causes(live, run)
        assert (first.kind, first.certainty) == ("state-stops", "sure")
        edited = next(one for one in others if one.kind == "file-edited")
        assert (edited.place, edited.certainty) == (first.place, "possible")
        assert "is not stored" in edited.why
        os.utime(live.config / SHOP)
        first = causes(live, run)[0]
        assert (first.kind, first.certainty) == ("state-stops", "likely")
        assert "was saved after the run began" in first.why
    finally:
        with closing(sqlite3.connect(live.database)) as database, database:
            database.execute(own_files, (kept, success))


def test_an_action_that_does_something_else_gets_what_it_did_in_the_success(live: Live, success: int) -> None:
    does = """does = ['click [xpath=//a[@data-item-id="{item_id}"]]']"""
    swapped = BUNDLED.replace(does, """does = ['click [link "Back to search"]']""")
    assert swapped != BUNDLED
    first = causes(live, run_task(live, text=swapped, task="shop/goal-004"))[0]
    assert (first.kind, first.place) == ("macro", f"{SHOP}:{line_of(BUNDLED, does)}")
    assert first.patch is not None
    mended = swapped.replace(first.patch.find, first.patch.put)
    assert causes(live, run_task(live, text=mended, task="shop/goal-004")) == ()


def test_another_state_space_than_in_the_success_is_named(live: Live, success: int) -> None:
    draft = live.config / "state_spaces" / "a_draft.toml"
    draft.write_text(
        BUNDLED.replace('name = "results"', 'name = "listed"').replace('"results"', '"listed"'), "utf-8"
    )
    try:
        run = run_task(live, task="shop/goal-004", steps=2)
        first, *others = causes(live, run)
    finally:
        draft.unlink()
    assert (first.kind, first.certainty) == ("wrong-state", "sure")
    assert first.what == "The state space is a_draft; in the success it is shop."
    assert first.place == f"state_spaces/a_draft.toml:{line_of(BUNDLED, 'environments')}"
    new = next(one for one in others if one.kind == "file-edited")
    assert new.what == f"state_spaces/a_draft.toml is new since run {success}, a success, began."
    assert new.patch is None


def test_a_file_that_ended_the_run_is_its_cause(live: Live) -> None:
    path = live.config / "prompts" / "mine.j2"
    facts = SimpleNamespace(
        row=SimpleNamespace(run=1, error=f"{path}, line 7: 'page' has no attribute 'txt'."),
        steps=[SimpleNamespace(number=2)],
        store=SimpleNamespace(steps=lambda _run: [SimpleNamespace(number=3)]),
        texts=FileTexts(AgentFiles(live.config)),
    )
    (cause,) = FileWrong().find(facts)  # type: ignore[arg-type]
    assert (cause.place, cause.step, cause.certainty) == ("prompts/mine.j2:7", 3, "sure")
    assert cause.what == "prompts/mine.j2 cannot be used: 'page' has no attribute 'txt'."


def test_without_a_success_the_own_copy_of_a_bundled_file_is_held_against_the_bundled_one(live: Live) -> None:
    edits = {
        'heading "Your orders"': 'heading "My orders"',
        "Search the shop for keywords": "Look for keywords",
    }
    text = BUNDLED
    for old, new in edits.items():
        text = text.replace(old, new, 1)
    found = [one for one in causes(live, run_task(live, text=text, steps=3)) if one.kind == "file-edited"]
    # The run came to the page of the search, and not to that of the orders.
    places = [f"{SHOP}:{line_of(text, words)}" for words in ("Look for keywords", "My orders")]
    assert [(one.place, one.certainty) for one in found] == [(place, "possible") for place in places]
    assert found[0].step == 1
    for one in found:
        assert one.patch is not None
        text = text.replace(one.patch.find, one.patch.put)
    assert text == BUNDLED
    # An agent whose files are the bundled ones has nothing of the kind, but a limit that ended the run.
    kinds = {one.kind: one for one in causes(live, run_task(live, steps=3))}
    assert "file-edited" not in kinds
    assert kinds["budget"].certainty in ("likely", "sure")
    assert "3 steps" in kinds["budget"].what


def test_a_success_has_no_cause_and_a_run_under_way_is_refused(live: Live, success: int) -> None:
    assert causes(live, success) == ()
    live.open("shop/goal-004")
    assert live.view.run is not None
    with pytest.raises(UsageError, match="has not ended yet"):
        causes(live, live.view.run)


def test_an_llm_that_replies_otherwise_to_the_same_prompt_is_told_with_how_often_it_succeeds(
    live: Live, server
) -> None:
    for words in ("ONE", "TWO"):
        server.otherwise = on(f'button "{words}"')
        live.open(seed=4711)
        live.session.run_commands.run()
        live.wait_mode("ended")
    assert live.view.run is not None
    kinds = {one.kind: one for one in causes(live, live.view.run)}
    assert "for the same prompt click button" in kinds["seeds-differ"].what
    assert "1 of 2 runs succeeded" in kinds["seeds-differ"].what


def test_a_preset_that_was_changed_since_a_success_is_named_with_its_line(live: Live, success: int) -> None:
    file = "presets/laser.toml"
    text = (RESOURCES / file).read_text("utf-8")
    own = live.config / file
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(text.replace("history = 20", "history = 2"), "utf-8")
    try:
        first = causes(live, run_task(live, task="shop/goal-004", steps=2))[0]
    finally:
        own.unlink()
    assert (first.kind, first.place) == ("preset-changed", f"{file}:{line_of(text, 'history = 20')}")
    assert first.certainty == "sure"
    assert "history = 2" in first.what
