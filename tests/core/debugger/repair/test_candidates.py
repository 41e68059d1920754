"""Changes that may mend a run: what blocks may touch, and what is written when one is kept."""

import pytest

from core.agent.resources import agent_resources_of
from core.debugger.causes.kinds.kind import patch_of
from core.debugger.causes.records import Cause, Patch
from core.debugger.editing.files import AgentFiles
from core.debugger.repair.candidates import (
    applied,
    blocks_of,
    from_blocks,
    from_causes,
    from_files,
    keep,
    together,
)
from core.schema.errors import DataError, UsageError
from core.storage.resources import RESOURCES

PROMPT = "prompts/plain/system.j2"
FIRST = (RESOURCES / PROMPT).read_text().splitlines()[0]


@pytest.fixture
def agent(tmp_path):
    return AgentFiles(tmp_path), agent_resources_of(tmp_path)


def block(file: str, find: str, put: str) -> str:
    return f"{file}\n<<<<<<< SEARCH\n{find}\n=======\n{put}\n>>>>>>> REPLACE\n"


def test_blocks_are_read_with_and_without_what_llms_write_around_them():
    text = block("a/b.toml", "x = 1", "x = 2")
    wanted = [("a/b.toml", "x = 1\n", "x = 2\n")]
    assert blocks_of(f"I change x.\n\n{text}") == wanted
    fenced = text.replace("\n<<<", "\n```toml\n<<<") + "```"
    assert blocks_of(f"**{fenced.replace('a/b.toml', 'a/b.toml**')}") == wanted
    assert blocks_of(text.replace("\n", "\r\n")) == wanted
    assert blocks_of(text + "\n" + text) == wanted * 2


@pytest.mark.parametrize(
    "line", ["File: {}", "**File:** `{}`", "### `{}`:", "{}\n", "```toml\n{}", "First:\n\n{}\n\n```toml"]
)
@pytest.mark.parametrize("name", ["a/b.toml", "policies/mine/my policy (2).md"])
def test_the_name_of_a_file_is_read_as_it_is_written(line, name):
    named = block("", "x = 1", "x = 2")
    assert blocks_of(line.format(name) + named) == [(name, "x = 1\n", "x = 2\n")]


def test_a_block_without_a_name_is_of_the_file_before(agent):
    second = (RESOURCES / PROMPT).read_text().splitlines()[-1]
    text = block(PROMPT, FIRST, "First.") + "And then this:" + block("", second, "Second.")
    candidate = from_blocks(text, *agent)
    assert candidate.files[PROMPT].startswith("First.\n")
    assert candidate.files[PROMPT].endswith("\nSecond.\n")


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (lambda text: text.replace("=======\n", "", 1), "Block 1 is not whole"),
        (lambda text: "<<<< SEARCH".join(text.rsplit("<<<<<<< SEARCH", 1)), "Block 2 is not whole"),
        (lambda text: text.removesuffix(">>>>>>> REPLACE\n"), "Block 2 is not whole"),
        (lambda text: text.removeprefix(PROMPT), "Block 1 is of no file"),
    ],
)
def test_half_a_change_is_none(agent, broken, why):
    with pytest.raises(UsageError, match=why):
        from_blocks(broken(block(PROMPT, FIRST, "First.") + block(PROMPT, "of", "to")), *agent)


@pytest.mark.parametrize(("end", "put"), [("\n", "Four."), ("\r\n", "Four.\nFive.")])
def test_the_last_line_of_a_file_may_have_no_end(agent, tmp_path, end, put):
    own = tmp_path / PROMPT
    own.parent.mkdir(parents=True)
    own.write_bytes(end.join(("One.", "Two.", "Three.")).encode())
    candidate = from_blocks(block(PROMPT, "Two.\nThree.", put), *agent)
    assert candidate.files == {PROMPT: f"One.{end}{put.replace(chr(10), end)}"}


@pytest.mark.parametrize(
    "name", ["settings/settings.toml", "settings.toml", "../settings.toml", "/etc/passwd"]
)
def test_no_block_reads_or_writes_what_is_no_file_of_an_agent(agent, tmp_path, name):
    (tmp_path / "settings.toml").write_text('api_key = "sk-4711"\non_gate = "stop"\n')
    for find in ("api_key", 'on_gate = "stop"'):
        texts, (refused,) = applied([(name, find, "x")], *agent)
        assert texts == {}
        assert "sk-4711" not in refused.why
        assert refused.why.startswith("This is no file that can be changed")


@pytest.mark.parametrize(
    ("find", "why"),
    [
        ("no such line at all\n", "is not there"),
        ("", "searches for nothing"),
        ("e", "times; it has to be there exactly once"),
        (f"{FIRST}\nand what is not there\n", "is not there, although its first line is"),
    ],
)
def test_a_block_that_does_not_fit_is_refused_with_the_reason(agent, find, why):
    _, (refused, *_) = applied([(PROMPT, find, "x")], *agent)
    assert why in refused.why


def test_a_file_that_would_be_wrong_is_refused_with_its_problem(agent):
    with pytest.raises(UsageError, match=r"prompts/plain/system\.j2: .*line 1"):
        from_blocks(block(PROMPT, FIRST, "{% if %}"), *agent)
    with pytest.raises(UsageError, match="There is no block in these edits"):
        from_blocks("Make it better.", *agent)


def test_lines_of_a_file_with_carriage_returns_are_found_and_stay_so(agent, tmp_path):
    own = tmp_path / PROMPT
    own.parent.mkdir(parents=True)
    own.write_bytes(b"One.\r\nTwo.\r\nThree.\r\n")
    candidate = from_blocks(block(PROMPT, "One.\nTwo.", "One.\nSix."), *agent)
    assert candidate.files == {PROMPT: "One.\r\nSix.\r\nThree.\r\n"}


def test_files_that_need_one_another_are_checked_together(agent):
    preset = (RESOURCES / "presets/plain.toml").read_text()
    texts = {
        "presets/mine.toml": f'{preset}\n[prompts]\nsystem = "plain/mine.j2"\n',
        "prompts/plain/mine.j2": "Press it.",
    }
    if "[prompts]" in preset:
        texts["presets/mine.toml"] = preset.replace("plain/system.j2", "plain/mine.j2")
    candidate = from_files(texts, *agent, "two files")
    assert set(candidate.files) == set(texts)
    assert candidate.base == {}


def test_a_patch_that_does_not_fit_the_file_any_more_makes_no_candidate(agent):
    fits, not_any_more = Patch(file=PROMPT, find=FIRST, put="Now."), Patch(file=PROMPT, find="gone", put="")
    causes = [Cause(step=1, what="x", patch=patch) for patch in (not_any_more, fits, fits, None)]
    (candidate,) = from_causes(causes, *agent)
    assert candidate.files[PROMPT].startswith("Now.")
    assert candidate.base[PROMPT].startswith(FIRST)


def test_changes_of_two_places_are_also_tried_together(agent):
    user = "prompts/plain/user.j2"
    line = (RESOURCES / user).read_text().splitlines()[0]
    first = Cause(step=1, what="x", file=PROMPT, line=1, patch=Patch(file=PROMPT, find=FIRST, put="Now."))
    other = Cause(step=2, what="y", file=user, line=1, patch=Patch(file=user, find=line, put=f"Now. {line}"))
    assert together([first, first], *agent) == ()
    (candidate,) = together([first, other, Cause(step=3, what="z")], *agent)
    assert set(candidate.files) == {PROMPT, user}
    assert candidate.what == f"The changes of {PROMPT}:1 and {user}:1 together."
    unfit = other.replace(patch=Patch(file=user, find="gone", put=""))
    assert together([first, unfit], *agent) == ()


def test_a_candidate_is_kept_in_the_users_own_file(agent, tmp_path):
    candidate = from_blocks(block(PROMPT, FIRST, "Now."), *agent)
    assert keep(candidate, agent[0]) == (str(tmp_path / PROMPT),)
    assert (tmp_path / PROMPT).read_text().startswith("Now.")
    assert keep(candidate, agent[0])  # It is there: nothing is lost by it.


def test_a_file_that_was_changed_since_is_not_written_over(agent, tmp_path):
    candidate = from_blocks(block(PROMPT, FIRST, "Now."), *agent)
    other = from_blocks(block(PROMPT, FIRST, "Then."), *agent)
    keep(other, agent[0])
    with pytest.raises(UsageError, match="was changed since this was proved"):
        keep(candidate, agent[0])
    assert (tmp_path / PROMPT).read_text().startswith("Then.")


def test_all_files_are_kept_or_none(agent, tmp_path, monkeypatch):
    user = "prompts/plain/user.j2"
    line = (RESOURCES / user).read_text().splitlines()[0]
    candidate = from_blocks(block(PROMPT, FIRST, "Now.") + block(user, line, f"Now. {line}"), *agent)
    write = AgentFiles.write

    def failing(files, name, text):
        if name == user:
            raise DataError("The disk is full.")
        write(files, name, text)

    monkeypatch.setattr(AgentFiles, "write", failing)
    with pytest.raises(DataError, match="The disk is full"):
        keep(candidate, agent[0])
    assert not (tmp_path / PROMPT).exists()


@pytest.mark.parametrize("at", [0, 2, 4, 8])
def test_a_patch_is_of_a_part_that_is_there_once(at):
    text = "a\nb\na\nb\nc\n"
    patch = patch_of("f", text, at, at + 1, "x")
    assert text.count(patch.find) == 1
    assert text.replace(patch.find, patch.put) == f"{text[:at]}x{text[at + 1 :]}"


def test_a_patch_can_put_something_at_the_top():
    patch = patch_of("f", "a\nb\n", 0, 0, "x\n")
    assert "a\nb\n".replace(patch.find, patch.put) == "x\na\nb\n"
