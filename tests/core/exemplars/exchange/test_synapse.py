import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.exemplars.exchange.exports.synapse import export_synapse
from core.exemplars.index import ExemplarIndex
from core.exemplars.library.beside import numbered
from core.exemplars.retrieval import recall
from core.llm.embedding import HashedWords
from core.schema.exemplar import (
    AbstractionPair,
    Contrast,
    Exemplar,
    ExemplarReview,
    ExemplarStep,
    KeptPrompt,
    RecallSettings,
)
from tests.core.exemplars.exchange.files import CLICK_GO, PAGE, demo, read, saved

PROGRAM = "soup = state\nobs = 'Go'"
CODE_PROMPT = (
    "Write code.\nWrite code within three backticks '```' to Press Go & wait\nCode:\n```python\n"
    f"{PROGRAM}\n```\n\nNow, write code within three backticks '```' to <task>\nCode:"
)


def exemplars_of(path, **options):
    return [one.exemplar for one in read(path, **options).candidates]


def test_a_page_alone_is_observation_and_tells_the_task(tmp_path):
    (one,) = exemplars_of(saved(tmp_path, {"click-go": {"demo": [demo()]}}))
    assert (one.family, one.task, one.environment) == ("click-go", "Press Go & wait", "miniwob")
    assert one.steps == (ExemplarStep(observation=PAGE, actions=(r"click [xpath=//button\[text()='Go'\]]",)),)
    assert (one.abstraction, one.id, one.source) == ((), "synapse/click-go/0", "Synapse, click-go.demo[0]")


def test_a_page_with_its_clean_observation_is_an_abstraction_pair(tmp_path):
    prompts = {"filter_prompt": "Keep what matters.", "code_filter_prompt": CODE_PROMPT}
    (one,) = exemplars_of(saved(tmp_path, {"f": {**prompts, "demo": [demo(obs="Go is there")]}}))
    assert one.abstraction == (AbstractionPair(state=PAGE, observation="Go is there"),)
    assert one.steps[0].observation == "Go is there"
    assert one.parser == PROGRAM
    assert one.prompts == (
        KeptPrompt(name="filter_prompt", texts=("Keep what matters.",)),
        KeptPrompt(name="code_filter_prompt", texts=(CODE_PROMPT,)),
    )


def test_a_trajectory_has_a_step_for_each_look_and_prompts_may_be_lists(tmp_path):
    looks = [{"state": PAGE, "obs": "one", "act": CLICK_GO}, {"obs": "two", "act": "agent.press('enter')"}]
    family = {"filter_prompt": ["", "Extract it."], "demo": [{"task": "Do both", "trajectory": looks}]}
    (one,) = exemplars_of(saved(tmp_path, {"f": family}))
    assert (one.task, [step.observation for step in one.steps]) == ("Do both", ["one", "two"])
    assert len(one.abstraction) == 1
    assert one.prompts[0].texts == ("", "Extract it.")


async def test_each_metadata_text_finds_its_family_and_a_shared_trajectory_is_written_once(tmp_path):
    texts = [
        "Task: Press Go & wait\nState:\nzebra",
        "Task: other\nState:\nquokka",
        "Task: third\nState:\nnumbat",
    ]
    others = {"g": {"demo": [{"obs": "ping", "act": "agent.type('pong')", "task": "Play"}]}}
    path = saved(tmp_path, {"f": {"demo": [demo(), demo("Second")]}, **others}, "exemplars_all.json")
    saved(tmp_path, {"f": texts}, "specifiers_all.json")
    found = exemplars_of(path)
    assert sorted(one.metadata for one in found if one.family == "f") == sorted(texts)
    assert next(one.task for one in found if one.metadata == texts[0]) == "Press Go & wait"
    index = ExemplarIndex(HashedWords())
    await index.refresh(numbered(tuple(found)))
    for text in texts:
        recalled = await recall(text, index, RecallSettings(votes=1))
        assert recalled.family == "f"
        assert len({one.task for one in recalled.used}) == len(recalled.used) == 2


def test_a_faulty_entry_is_reported_with_its_place_and_leaves_the_others(tmp_path):
    looks = [{"obs": "one", "act": CLICK_GO}, {"obs": 3, "act": CLICK_GO}]
    families = {
        "good": {"demo": [demo()]},
        "typed": {"demo": [demo(), demo(act=None), {"trajectory": looks}, "text", {"trajectory": []}]},
        "idle": {"demo": [demo(act="x = 1")]},
        "listed": [],
        "none": {"demo": []},
        "odd": {"demo": [demo()], "filter_prompt": 7},
        "half": {"demo": [demo("\ud800")]},
    }
    saved(tmp_path, {"good": "text", "typed": ["", 4], "gone": ["Task: x"]}, "specifiers.json")
    reading = read(saved(tmp_path, families, "exemplars.json"))
    assert [one.position for one in reading.candidates] == ["good.demo[0]", "typed.demo[0]"]
    assert {one.position: one.why for one in reading.faulty} == {
        "specifiers: good": "it must be a list, not a text",
        "specifiers: typed[0]": "it must be a text",
        "specifiers: typed[1]": "it must be a text",
        "typed.demo[1].act": "it must be a text, not null",
        "typed.demo[2].trajectory[1].obs": "it must be a text, not a number",
        "typed.demo[3]": "it must be an object, not a text",
        "typed.demo[4].trajectory": "it has no steps",
        "idle.demo[0].act": "it has no action",
        "listed": "it must be an object, not a list",
        "odd.filter_prompt": "a prompt must be a text, or a list of texts",
        "half.demo[0].task": "it contains half a character (a surrogate)",
    }
    assert {"none", "specifiers: gone"} <= {one.position for one in reading.left_out}


def test_families_may_be_given_anew(tmp_path):
    path = saved(tmp_path, {"a": {"demo": [demo()]}, "b": {"demo": [demo("Other")]}})
    assert {one.family for one in exemplars_of(path, family="mine")} == {"mine"}


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
ACTION = st.one_of(
    TEXT, st.sampled_from(["click [12]", "press [Enter]", "type [3] [x]", "hover [xpath=//a]"])
)
STEP = st.builds(
    ExemplarStep,
    observation=st.one_of(TEXT, st.just("<b>"), st.just("clean")),
    raw=st.one_of(st.just(""), TEXT),
    thought=TEXT,
    actions=st.lists(ACTION, min_size=1, max_size=2).map(tuple),
)
PROMPT = st.builds(
    KeptPrompt,
    name=st.sampled_from(["filter_prompt", "demo", "x"]),
    texts=st.lists(TEXT, max_size=2).map(tuple),
)
EXEMPLAR = st.builds(
    Exemplar,
    format=st.just(1),
    id=st.from_regex(r"[a-z0-9][a-z0-9._/-]{0,8}", fullmatch=True),
    family=st.one_of(st.sampled_from(["f", "g"]), TEXT.filter(bool)),
    task=st.one_of(st.just("Go"), TEXT.filter(bool)),
    environment=st.sampled_from(["", "miniwob", "shop"]),
    metadata=st.one_of(TEXT, st.just("Task: Go\nState:\nclean")),
    steps=st.lists(STEP, min_size=1, max_size=2).map(tuple),
    abstraction=st.lists(
        st.builds(AbstractionPair, state=TEXT, observation=st.one_of(TEXT, st.just("clean"))), max_size=2
    ).map(tuple),
    parser=TEXT,
    prompts=st.lists(PROMPT, max_size=2).map(tuple),
    source=TEXT,
    tags=st.lists(TEXT, max_size=2).map(tuple),
    note=TEXT,
    review=st.builds(ExemplarReview, status=st.sampled_from(("new", "reviewed", "retired"))),
    contrasts=st.lists(st.just(Contrast(tried="click [3]", right="click [12]")), max_size=1).map(tuple),
)


@given(st.lists(EXEMPLAR, min_size=1, max_size=4, unique_by=lambda one: one.id))
def test_what_is_exported_is_read_the_same(tmp_path_factory, exemplars):
    folder = tmp_path_factory.mktemp("synapse")
    for name, text in export_synapse(tuple(exemplars)).items():
        (folder / name).write_text(text, encoding="utf-8")
    reading = read(folder / "exemplars.json")
    assert (reading.faulty, reading.left_out) == ((), ())
    assert {one.exemplar.id: one.exemplar for one in reading.candidates} == {one.id: one for one in exemplars}


def test_what_is_changed_in_an_export_counts_and_what_synapse_lacks_is_kept(tmp_path):
    step = ExemplarStep(observation="[12] button", thought="There.", actions=("click [12]", "fly"))
    mistake = Contrast(observation="[12] button", tried="click [3]", right="click [12]")
    one = Exemplar(id="a", family="f", task="Go", steps=(step,), note="mine", contrasts=(mistake,))
    files = {name: json.loads(text) for name, text in export_synapse((one,)).items()}
    (entry,) = files["exemplars.json"]["f"]["demo"]
    entry["act"] = "agent.press('enter')"
    files["exemplars.json"]["f"]["demo"].append(demo("Added"))
    files["specifiers.json"]["f"] = ["Task: Go there\nState:\n"]
    saved(tmp_path, files["specifiers.json"], "specifiers.json")
    changed, added = exemplars_of(saved(tmp_path, files["exemplars.json"], "exemplars.json"))
    assert (changed.id, changed.note, changed.contrasts) == ("a", "mine", (mistake,))
    assert changed.steps == (ExemplarStep(observation="[12] button", actions=("press [Enter]",)),)
    assert changed.metadata == "Task: Go there\nState:\n"
    assert (added.id, added.metadata) == ("synapse/f/1", "")


def test_synapse_finds_its_own_fields_in_an_export():
    step = ExemplarStep(
        observation="<button>", thought="It is there.", actions=("click [12]", "press [Enter]")
    )
    one = Exemplar(id="a", family="f", task="Go", steps=(step,), metadata="Task: Go\nState:\n<button>")
    files = {name: json.loads(text) for name, text in export_synapse((one,)).items()}
    (entry,) = files["exemplars.json"]["f"]["demo"]
    assert entry["state"] == "<button>"
    assert (
        entry["act"] == "# It is there.\nagent.click_xpath(\"//*[@data-wob_ref='12']\")\nagent.press('enter')"
    )
    assert files["specifiers.json"] == {"f": ["Task: Go\nState:\n<button>"]}


@pytest.mark.parametrize("steps", [1, 2])
def test_a_family_has_trajectories_only_where_one_look_is_not_enough(steps):
    looks = tuple(ExemplarStep(observation="x", actions=("click [1]",)) for _ in range(steps))
    one = Exemplar(id="a", family="f", task="Go", steps=looks)
    (entry,) = json.loads(export_synapse((one,))["exemplars.json"])["f"]["demo"]
    assert ("trajectory" in entry) is (steps > 1)
