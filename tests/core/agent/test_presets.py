import shutil

import pytest

from core.agent.presets import PRESETS, TABLES, Presets, read_preset
from core.agent.prompts import PROMPTS, Prompts
from core.agent.spaces.file import Spaces
from core.llm.honoured import Honoured
from core.schema.errors import DataError, UsageError

GOOD = (PRESETS / "plain.toml").read_text()
NAMES = (
    *("plain", "combined", "laser", "laser-one-call", "laser-paper", "reflect", "reflect-paper"),
    *("step", "step-paper", "step-paper-flat", "synapse", "synapse-paper"),
)


@pytest.fixture
def own(tmp_path):
    (tmp_path / "presets").mkdir()
    (tmp_path / "prompts").mkdir()
    return tmp_path


@pytest.fixture
def presets(own):
    return Presets((PRESETS, own / "presets"), Prompts((own / "prompts", PROMPTS)), Spaces())


def test_the_presets_of_the_installation_are_whole(presets):
    assert presets.names() == NAMES
    assert presets.get("plain").calls == 1
    assert presets.get("laser").calls == 2
    assert presets.get("laser").space == "auto"
    having = {name: [one for one in TABLES if presets.get(name).has(one)] for name in presets.names()}
    assert having == {
        "plain": [],
        "combined": [*TABLES],
        "laser": [],
        "laser-one-call": [],
        "laser-paper": [],
        "reflect": ["plan", "remedies", "judgement"],
        "reflect-paper": ["plan", "remedies", "judgement"],
        "step": ["policies"],
        "step-paper": ["policies"],
        "step-paper-flat": ["policies"],
        "synapse": ["abstraction", "memory"],
        "synapse-paper": ["abstraction", "memory"],
    }


def test_the_users_preset_wins_over_one_of_the_same_name(presets, own):
    (own / "presets" / "plain.toml").write_text(GOOD.replace('title = "Plain"', 'title = "Mine"'))
    assert presets.get("plain").title == "Mine"
    assert presets.names() == NAMES


def test_an_edited_preset_is_read_anew(presets, own):
    path = own / "presets" / "mine.toml"
    path.write_text(GOOD)
    assert presets.get("mine").history == 20
    path.write_text(GOOD.replace("history = 20", "history = 3"))
    assert presets.get("mine").history == 3


def test_an_unknown_preset_names_the_nearest(presets):
    with pytest.raises(UsageError, match='There is no preset "lazer"; did you mean laser'):
        presets.get("lazer")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("history = 20", "histroy = 20", 'no key "histroy"; did you mean history'),
        ('system = "plain/system.j2"', 'sytem = "plain/system.j2"', "did you mean system"),
        ('space = "none"', 'space = "genral"', "did you mean general"),
        ("calls = 1", "calls = 3", "calls"),
        ("calls = 1", "calls = 2", 'need the prompt "rationale"'),
        ("temperature = 0.0", "temprature = 0.0", "did you mean temperature"),
        ("[sampling.decide]", "[sampling.decyde]", "did you mean decide"),
        ('title = "Plain"', 'title = "Plain', "not TOML"),
        ("history = 20", "history = -1", "history"),
        ("history = 20", 'actions = ["clik"]', 'there is no action "clik"; did you mean click'),
        ('user = "plain/user.j2"', 'user = "plain/usr.j2"', "did you mean plain/user.j2"),
    ],
)
def test_a_wrong_preset_is_reported_with_file_line_and_nearest_name(presets, own, old, new, said):
    path = own / "presets" / "mine.toml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new))
    line = GOOD[: GOOD.index(old)].count("\n") + 1
    with pytest.raises(DataError) as refused:
        presets.get("mine")
    assert f"{path}, line {line}: " in str(refused.value)
    assert said in str(refused.value)


def test_a_preset_that_is_not_text_is_reported(own):
    path = own / "presets" / "mine.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="not UTF-8"):
        read_preset(path)


def test_a_preset_mended_after_an_error_is_taken(presets, own):
    path = own / "presets" / "mine.toml"
    path.write_text("nonsense")
    with pytest.raises(DataError):
        presets.get("mine")
    path.write_text(GOOD)
    assert presets.get("mine").title == "Plain"


def test_a_template_that_the_preset_names_is_checked_with_it(presets, own):
    shutil.copytree(PROMPTS / "plain", own / "prompts" / "plain")
    user = own / "prompts" / "plain" / "user.j2"
    user.write_text("Task: {{ objective }}\n{% if notes %}")
    with pytest.raises(DataError, match=rf"{user}, line 2: "):
        presets.get("plain")


@pytest.mark.parametrize(
    ("name", "best", "by_schema", "form"),
    [
        ("plain", "tools", True, "tools"),
        ("plain", "lines", False, "lines"),
        ("step", "tools", True, "json"),
        ("step", "tools", False, "lines"),
        ("synapse", "json", True, "json"),
    ],
)
def test_the_form_of_replies_follows_from_what_the_llm_was_seen_to_do(name, best, by_schema, form):
    assert Presets().get(name).answered_in(best, by_schema=by_schema).reply_format == form


@pytest.mark.parametrize(
    ("level", "tested", "follows"),
    [("strict", 0.0, None), ("strict", 1.0, True), ("object with schema", 1.0, True), ("object", 0.0, False)],
)
def test_only_a_test_shows_that_a_server_follows_a_schema(level, tested, follows):
    assert Honoured(schema_level=level, tested=tested).follows_schema is follows
