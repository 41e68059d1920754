"""The files an agent goes by, as the doctor looks at them all at once."""

from core.agent.resources import agent_resources_of, with_files
from core.doctor import check_agent_files
from core.exemplars.files import write_exemplars
from core.schema.changes import NONE, Changes
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


def test_the_own_texts_are_those_that_go_before_the_bundled_files(tmp_path):
    config, draft = tmp_path / "config", tmp_path / "draft"
    for folder, name, text in (
        (config, "prompts/mine.j2", "a\r\n"),
        (config, "policies/web/one.md", "b"),
        (config, "other/c.md", "no file of an agent"),
        (draft, "prompts/mine.j2", "d"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (config / "policies" / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    resources = agent_resources_of(config)
    assert resources.own_texts() == {"prompts/mine.j2": "a\r\n", "policies/web/one.md": "b"}
    assert with_files(resources, config, draft / "none").own_texts() == resources.own_texts()
    assert with_files(resources, config, draft).own_texts() == {
        "prompts/mine.j2": "d",
        "policies/web/one.md": "b",
    }
    assert agent_resources_of().own_texts() == {}


def test_own_texts_are_those_that_agents_read(tmp_path, monkeypatch):
    config, team = tmp_path / "config", tmp_path / "team"
    for folder in (config / "policies", config / "prompts", team):
        folder.mkdir(parents=True)
    (team / "linked.md").write_text("a")
    (config / "policies" / "team").symlink_to(team, target_is_directory=True)
    (config / "policies" / "notes.txt").write_text("no policy")
    (config / "policies" / "latin.md").write_bytes("ü".encode("latin-1"))
    (config / "policies" / "broken.md").symlink_to(tmp_path / "nowhere")
    (config / "policies" / "folder.md").mkdir()
    resources = agent_resources_of(config)
    assert resources.own_texts() == {"policies/team/linked.md": "a"}
    monkeypatch.setattr("core.agent.resources._MOST_OF_OWN", 0)
    assert resources.own_texts() is None


def test_with_the_policies_of_a_branch_the_own_texts_are_not_known(tmp_path):
    id = agent_resources_of().policies.names()[0]
    policy = agent_resources_of().policies.get(id)
    text = policy.path.read_text("utf-8")
    changed = agent_resources_of(tmp_path).changed(Changes(policy_texts={id: text}))
    assert changed.own_texts() is None
    assert agent_resources_of(tmp_path).changed(Changes(exemplars=NONE)).own_texts() == {}


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
