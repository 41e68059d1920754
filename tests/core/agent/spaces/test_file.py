import re

import pytest

from core.agent.spaces.file import SPACES, read_space
from core.schema.errors import DataError
from tests.core.agent.spaces.pages import SHOP


def test_a_space_keeps_its_name_its_states_and_its_text(space):
    assert space.name == "corner"
    assert [state.name for state in space.state] == ["search", "results", "item", "bought"]
    assert space.text == SHOP


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('leads_to = ["bought"]', 'leads_to = ["bouhgt"]', 'no state "bouhgt"; did you mean bought?'),
        ("must = ['button \"Buy\"']", "must = ['button Buy']", "is not a pattern"),
        ('[link "Next"]', '[link "{nxt}"]', 'uses "nxt"'),
        ("does = ['click [link \"Back\"]']", "does = ['clikc [link \"Back\"]']", "did you mean click?"),
        ("does = ['click [link \"Back\"]']", "does = ['click']", "lacks target"),
        ("does = ['click [link \"Back\"]']", "does = ['type [3]']", "lacks text"),
        ("does = ['click [link \"Back\"]']", "does = ['click [3']", "bracket that is not closed"),
        (
            "does = ['click [link \"Next\"]']",
            "does = ['scroll [{way}]']\nparameter = [{ name = 'way', choices = ['a', 'b'] }]",
            "cannot use direction",
        ),
        ('name = "max_price"', 'name = "words"', 'two arguments called "words"'),
        ('sets_aside = "item"', 'sets_aside = "itme"', 'no candidate "itme"; did you mean item?'),
        ('marks = "item"', 'marks = "itme"', 'no argument "itme"; did you mean item?'),
        ('sets_aside = "item"', 'sets_asde = "item"', 'no key "sets_asde"'),
        ('shows = ["words", "max_price"]', 'shows = ["word"]', 'no action remembers "word"'),
        ('last_actions = ["buy"]', 'last_actions = ["by"]', "did you mean buy?"),
        ("url = '/item'", "url = '/item('", "is not a regular expression"),
        ('name = "back"', 'name = "click"', "is the name of a page action"),
        ('name = "back"', 'name = "buy"', 'two actions called "buy"'),
        ("choose_at = 4", 'choose_at = 4\nreturns = "goto [{address}]"', 'uses "address"'),
        ("choose_at = 4", 'choose_at = 4\nreturns = "gotoo [{url}]"', "did you mean goto?"),
        ("choose_at = 4", "choose_at = 9", "is greater than transitions"),
        ("must = ['heading \"Thank you\"']", "", "matches every page"),
        ('sets_aside = "item"', 'sets_aside = "item"\nreads = "price"', '"item" does not keep "price"'),
        ("url = '/results'", "url = '/results'\nkeeps = { price = 'link' }", "has no candidate"),
        ('candidate = "item"', 'candidate = "item"\ncandidate_from = { css = "p" }', "attribute to read"),
        ('candidate = "item"', "candidate = \"item\"\nkeeps = { price = 'link x' }", "is not a pattern"),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_the_nearest_name(space_path, old, new, expected):
    assert old in SHOP
    text = SHOP.replace(old, new, 1)
    space_path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as failed:
        read_space(space_path)
    message = str(failed.value)
    assert expected in message
    assert message.startswith(f"{space_path}, line ")


@pytest.mark.parametrize(
    "step",
    [
        "scroll [{words}]",
        "answer_dialog [{words}]",
        "click_at [{words}] [2]",
        "click [1] [at={words}]",
        "scroll [{words}] [{max_price}]",
        "{part} [up]",
    ],
)
def test_an_argument_may_stand_for_any_part_of_an_action(space_path, step):
    part = '[[state.action.parameter]]\nname = "part"\nchoices = ["scroll"]\n\n'
    text = SHOP.replace("[[state.action.parameter]]", f"{part}[[state.action.parameter]]", 1)
    text = text.replace("does = [", f"does = ['{step}', ", 1)
    space_path.write_text(text, encoding="utf-8")
    assert read_space(space_path).state[0].action[0].does[0] == step


def test_the_line_that_is_reported_is_the_line_of_the_mistake(space_path):
    space_path.write_text(SHOP.replace('marks = "item"', 'marks = "itme"'), encoding="utf-8")
    with pytest.raises(DataError) as failed:
        read_space(space_path)
    line = next(number for number, one in enumerate(SHOP.splitlines(), 1) if one.startswith("marks"))
    assert f"line {line}:" in str(failed.value)


def test_the_example_that_explains_the_format_can_be_read(space_path):
    (example,) = re.findall(
        r"```toml\n(.*?)```", (SPACES / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    space_path.write_text(example, encoding="utf-8")
    assert [state.name for state in read_space(space_path).state] == ["results", "book", "reserved"]
