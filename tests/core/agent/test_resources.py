"""The files an agent goes by, as the doctor looks at them all at once."""

from core.agent.resources import agent_resources_of
from core.doctor import check_agent_files
from core.exemplars.files import write_exemplars
from tests.core.exemplars.making import ALL


def test_all_files_that_come_along_can_be_used():
    assert agent_resources_of().problems() == ()


def test_files_of_exemplars_are_found_wherever_the_traces_are(tmp_path):
    here, there = tmp_path / "data" / "exemplars", tmp_path / "elsewhere"
    write_exemplars(here / "a.jsonl", ALL[:2])
    write_exemplars(there / "exemplars" / "b.jsonl", [ALL[1].replace(note="beside the traces"), ALL[2]])
    memory = agent_resources_of(tmp_path, data=there, exemplars=here).memory
    own = [one for one in memory.files.all() if one.id in {known.id for known in ALL}]
    assert [(one.id, one.note) for one in own] == [
        (ALL[0].id, ""),
        (ALL[1].id, "beside the traces"),
        (ALL[2].id, ""),
    ]


def test_each_file_of_the_users_that_is_wrong_is_reported_and_the_others_hold(tmp_path, monkeypatch):
    for folder in ("presets", "state_spaces", "policies"):
        (tmp_path / folder).mkdir()
    (tmp_path / "presets" / "mine.toml").write_text("nonsense")
    (tmp_path / "state_spaces" / "mine.toml").write_text('titel = "x"')
    (tmp_path / "policies" / "mine.md").write_text("no front matter")
    problems = agent_resources_of(tmp_path).problems()
    assert [
        str(tmp_path / name) in text
        for name, text in zip(("presets", "state_spaces", "policies"), problems, strict=True)
    ] == [True] * 3
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path))
    note = check_agent_files()
    assert note.level == "warn"
    assert "There are 2 more." in note.text
