import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.environments.shop.product import Product, ProductOptions
from core.environments.shop.reward import PurchaseGoal, score

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
