import hashlib

import pytest

from core.environments.shop.catalogue import bundled_catalogue
from core.environments.shop.goals import bundled_goals, make_goals
from core.environments.shop.pages import PAGE_SIZE
from core.environments.shop.reward import score
from core.environments.shop.words import spoken

GOALS = bundled_goals()
WITHIN_PAGES = 3
every_goal = pytest.mark.parametrize("task", GOALS, ids=[task.name for task in GOALS])


def test_there_are_two_hundred_goals_each_in_words_of_its_own():
    assert len(GOALS) >= 200
    assert len({task.instruction for task in GOALS}) == len(GOALS)
    assert [task.name for task in GOALS] == [f"goal-{number:03}" for number in range(len(GOALS))]


def test_the_goals_are_the_same_on_every_machine():
    whole = "\n".join(repr(task.model_dump()) for task in GOALS)
    assert hashlib.sha256(whole.encode()).hexdigest()[:16] == "2059509395c131b1"
    assert make_goals(bundled_catalogue()) == GOALS


def test_the_first_goals_cover_all_types_with_departments_taking_turns():
    assert len({task.goal.type for task in GOALS[:40]}) == 40
    assert len({task.goal.department for task in GOALS[:8]}) == 8


@every_goal
def test_the_full_reward_is_reached_by_its_own_product(task):
    product = bundled_catalogue().product(task.goal.product)
    chosen = dict(task.goal.options)
    for group in product.unchosen(chosen):
        chosen[group.name] = min(
            group.values,
            key=lambda value, name=group.name: product.price_range({**chosen, name: value})[0],
        )
    low, high = product.price_range(chosen)
    assert low == high
    assert score(task.goal, product, chosen, low).reward == 1.0


@every_goal
def test_its_product_is_found_within_a_few_pages_by_type_and_attributes(task, index):
    words = " ".join((*task.goal.attributes, task.goal.type))
    for limit in (None, task.goal.price_limit):
        found = index.find(words, limit)
        assert found.index(task.goal.product) < WITHIN_PAGES * PAGE_SIZE


@every_goal
def test_the_instruction_says_all_that_is_asked(task):
    said = task.instruction
    goal = task.goal
    asked = [goal.type, *(spoken(name) for name in goal.attributes), *goal.options.values()]
    for part in (*asked, str(goal.price_limit // 100)):
        assert part.lower() in said.lower()
    assert goal.price_limit % 100 == 0
    assert "{" not in said
    assert "  " not in said
    assert said.endswith((".", "?"))


def test_some_goals_are_met_by_one_product_only_and_none_by_most():
    catalogue = bundled_catalogue()
    met = [
        sum(
            score(task.goal, product, task.goal.options, product.price_range(task.goal.options)[0]).reward
            == 1
            for product in catalogue.of_type(task.goal.type)
        )
        for task in GOALS
    ]
    assert met.count(1) > len(GOALS) / 5
    assert min(met) >= 1
    assert max(met) <= 20
