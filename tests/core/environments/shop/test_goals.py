import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.environments.shop.application import PAGE_SIZE
from core.environments.shop.catalogue import Product, ProductOptions, bundled_catalogue
from core.environments.shop.goals import PurchaseGoal, bundled_goals, make_goals, score
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


# What a purchase is worth


BOTTLE = Product(
    id="BK00000001",
    type="water bottle",
    department="Kitchen",
    shelf="Drinkware",
    icon="cup",
    brand="Varlow",
    series="Tide",
    title="Varlow Tide Water Bottle",
    base_price=1999,
    attributes=("bpa free", "leak proof"),
    groups=(
        ProductOptions(name="color", title="Color", values=("navy", "teal")),
        ProductOptions(name="capacity", title="Capacity", values=("12 oz", "24 oz"), factors=(1.0, 1.5)),
    ),
)
GOAL = PurchaseGoal(
    product=BOTTLE.id,
    department="Kitchen",
    shelf="Drinkware",
    type="water bottle",
    attributes=("bpa free", "leak proof"),
    options={"color": "teal"},
    price_limit=2500,
)
TEAL = {"color": "teal", "capacity": "12 oz"}


def test_what_was_asked_for_earns_the_full_reward():
    assert score(GOAL, BOTTLE, TEAL, 1999).reward == 1.0


@pytest.mark.parametrize(
    ("changes", "options", "price", "reward"),
    [
        ({"attributes": ("leak proof",)}, TEAL, 1999, 3 / 4),
        ({}, {"color": "navy", "capacity": "12 oz"}, 1999, 3 / 4),
        ({}, TEAL, 2501, 3 / 4),
        ({}, TEAL, 2500, 1),
        ({"type": "travel mug"}, TEAL, 1999, 0.5),
        ({"type": "frying pan", "shelf": "Cookware"}, TEAL, 1999, 0.1),
        ({"type": "table lamp", "shelf": "Lighting", "department": "Home"}, TEAL, 1999, 0),
        ({"attributes": ()}, {"color": "navy"}, 3000, 0),
        ({"type": "travel mug", "attributes": ()}, TEAL, 3000, 0.5 * 1 / 4),
    ],
)
def test_each_part_missed_costs_its_share(changes, options, price, reward):
    bought = BOTTLE.replace(**changes)
    assert score(GOAL, bought, options, price).reward == pytest.approx(reward)


def test_the_reason_names_every_part():
    parts = score(GOAL, BOTTLE.replace(attributes=("leak proof",)), {"color": "navy"}, 2999)
    assert parts.reason() == (
        "type 1 (water bottle); attributes 1 of 2 (missing BPA free); options 0 of 1 (missing color: teal); "
        "price 0 of 1 ($29.99 is above $25.00); reward 0.250"
    )


def test_a_value_that_the_product_does_not_offer_meets_nothing():
    goal = GOAL.replace(options={"color": "pink"})
    assert score(goal, BOTTLE, {"color": "pink"}, 1999).options_met == ()


NAMES = st.lists(st.sampled_from(["bpa free", "leak proof", "vegan", "travel"]), unique=True).map(tuple)


@given(
    asked=NAMES,
    has=NAMES,
    color=st.sampled_from(["navy", "teal"]),
    price=st.integers(1, 5000),
    type_=st.sampled_from(["water bottle", "travel mug"]),
)
def test_the_reward_is_a_share_and_full_only_if_nothing_is_missed(asked, has, color, price, type_):
    goal = GOAL.replace(attributes=asked)
    bought = BOTTLE.replace(attributes=has, type=type_)
    parts = score(goal, bought, {"color": color, "capacity": "12 oz"}, price)
    assert 0 <= parts.reward <= 1
    all_met = set(asked) <= set(has) and color == "teal" and price <= 2500 and type_ == "water bottle"
    assert (parts.reward == 1) is all_met
