import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debugger.evaluations.records import EvaluationPlan, Variant, variants_of, words_of
from core.debugger.evaluations.selection import readable_suites, selected, suites_in
from core.environments.registry import Environments
from core.schema.errors import DataError, UsageError

TASKS = Environments().tasks()
IDS = [task.id for task in TASKS]


def chosen(*words: str, config: Path = Path("nowhere")) -> tuple[str, ...]:
    return selected(words, TASKS, config)


@pytest.mark.parametrize(
    ("suite", "count"), [("miniwob-synapse", 64), ("miniwob-step", 45), ("shop", 240), ("airline", 6)]
)
def test_the_suites_of_the_installation_name_tasks_that_are_there(suite, count):
    assert len(chosen(f"suite:{suite}")) == count


def test_words_may_be_ids_patterns_tags_suites_and_files(tmp_path):
    (tmp_path / "ids.txt").write_text("# mine\nminiwob/click-link  # one\n\nairline/*\n")
    assert chosen("miniwob/click-tab") == ("miniwob/click-tab",)
    assert "miniwob/click-tab" in chosen("miniwob/click-tab*")
    assert set(chosen("tag:email")) == {task.id for task in TASKS if "email" in task.tags}
    assert chosen(f"@{tmp_path / 'ids.txt'}") == ("miniwob/click-link", *chosen("suite:airline"))


@given(st.lists(st.sampled_from(IDS), min_size=1, max_size=20))
def test_ids_come_back_in_their_order_each_once_however_they_are_parted(ids):
    expected = tuple(dict.fromkeys(ids))
    assert chosen(*ids) == expected
    assert chosen(*words_of(", ".join(ids))) == expected
    assert chosen(*words_of(" ".join(ids))) == expected


@given(st.text(alphabet="abc:@*?[]/, -", max_size=12))
def test_any_text_selects_tasks_or_is_refused_with_a_sentence(text):
    with contextlib.suppress(UsageError, DataError):
        found = chosen(*words_of(text))
        assert found
        assert set(found) <= set(IDS)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("suite:miniwob-sinapse", "did you mean miniwob-synapse?"),
        ("tag:emial", "did you mean email?"),
        ("miniwob/no-such", "There is no task miniwob/no-such"),
        ("nothing/*", "There is no task nothing/*"),
    ],
)
def test_what_selects_nothing_is_refused_with_the_nearest_name(word, said):
    with pytest.raises(UsageError, match=said.replace("*", r"\*").replace("?", r"\?")):
        chosen(word)


def test_a_suite_of_ones_own_goes_before_and_its_mistakes_have_file_and_line(tmp_path):
    (tmp_path / "suites").mkdir()
    own = tmp_path / "suites" / "shop.toml"
    own.write_text('tasks = ["miniwob/click-link"]\n')
    assert chosen("suite:shop", config=tmp_path) == ("miniwob/click-link",)
    assert suites_in(tmp_path)["shop"] == own
    own.write_text('tasks = [\n    "miniwob/click-link",\n    "miniwob/klick",\n]\n')
    with pytest.raises(DataError, match=r"shop\.toml, line 3: There is no task miniwob/klick"):
        chosen("suite:shop", config=tmp_path)
    own.write_text('task = ["miniwob/click-link"]\n')
    assert set(readable_suites(tmp_path)) == {"airline", "miniwob-step", "miniwob-synapse"}
    with pytest.raises(DataError, match=r'line 1: there is no key "task"; did you mean tasks\?'):
        chosen("suite:shop", config=tmp_path)


@given(
    presets=st.lists(st.sampled_from(["plain", "laser", "step"]), min_size=1, max_size=4),
    llms=st.lists(st.sampled_from(["rules", "other"]), min_size=1, max_size=3),
    tasks=st.lists(st.sampled_from(IDS), min_size=1, max_size=4, unique=True),
    seeds=st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True),
    times=st.integers(1, 3),
)
def test_each_variant_meets_each_task_seed_and_time_once(presets, llms, tasks, seeds, times):
    variants = variants_of(tuple(presets), tuple(llms), ("own", "none"))
    plan = EvaluationPlan(variants=variants, tasks=tuple(tasks), seeds=tuple(seeds), times=times)
    cases = [case for _, case in plan.cases()]
    assert len(cases) == len(set(cases)) == plan.total
    assert len({variant.name for variant in variants}) == len(variants)


def test_a_variant_without_exemplars_says_so():
    variant = Variant(preset="synapse", llm="rules", exemplars="none")
    assert variant.name == "synapse, rules, no exemplars"
    assert variant.changes.exemplars == "none"
