"""Regular expressions of files: what they match is what Python matches, and no text keeps them busy."""

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from core.agent.gates import load_gates
from core.agent.policies.catalogue import POLICIES
from core.agent.policies.file import read_policy
from core.agent.spaces.file import SPACES, read_space
from core.browser.checkpoints.comparison import load_volatile
from core.schema.errors import DataError
from core.schema.expression import LONGEST, compiled, expression_problem
from core.schema.pattern import Expression, PatternText, parse_pattern
from tests.core.agent.spaces.pages import element

SLOW_FOR_PYTHON = [
    "a*" * 60 + "b",
    "(a*)*b",
    "(a+)+$",
    "(a|aa)+c",
    "(?:(?:a?)?b)*!",
    r"(\w+\s?)*$c",
    ".*.*.*.*x",
    "(a{1,9}){1,20}b",
    r"(?i)\b(?:a+A?)*\bz",
]


@pytest.mark.parametrize("expression", SLOW_FOR_PYTHON)
def test_a_long_text_is_searched_whatever_the_expression(expression):
    text = "a" * 200_000
    found = []
    matcher = compiled(expression)
    searching = threading.Thread(target=lambda: found.append(matcher.search(text)), daemon=True)
    searching.start()
    searching.join(120)
    assert found


def same(expression: str, text: str, flags: int = 0) -> None:
    expected, found = re.compile(expression, flags).search(text), compiled(expression, flags).search(text)
    assert (found is None) == (expected is None), (expression, text)
    if expected is not None and found is not None:
        assert (found.text, found.named) == (expected[0], expected.groupdict())
    fits = re.compile(expression, flags).fullmatch(text) is not None
    assert compiled(expression, flags).fullmatch(text) == fits


SIGNS = "aAbßſsKkéÉЖж购_1٣²-. \t\n\u00a0\u2028\u0301\ud800\U0001f600"
PARTS = st.recursive(
    st.sampled_from(
        [
            *"abéЖ购1",
            *("\ud800", ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", "^", r"\A", r"\Z", "[^a]"),
            *("[a-z]", r"[\w-]", r"[^\s_]", "[é-ж]", "(?i:k)", "(?s:.)", r"(?a:\w)", r"\n", r"\."),
        ]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        inner.map(lambda one: f"(?:{one})*"),
        inner.map(lambda one: f"(?:{one})+?"),
        inner.map(lambda one: f"({one})?"),
        inner.map(lambda one: f"(?:{one}){{1,2}}"),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
    ),
    max_leaves=5,
)


@given(
    expression=PARTS,
    text=st.text(SIGNS, max_size=8),
    flags=st.sampled_from([0, re.IGNORECASE, re.MULTILINE, re.DOTALL, re.IGNORECASE | re.DOTALL]),
)
def test_it_is_found_where_python_finds_it(expression, text, flags):
    fits = re.compile(expression, flags).search(text) is not None
    assert (compiled(expression, flags).search(text) is not None) == fits


@pytest.mark.parametrize("expression", [r"(?a:\w)", r"(?a:(?i:\w)+)", r"(?a:\w(?u:\w))"])
@pytest.mark.parametrize("text", ["²", "é", "٣", "a", "aé", "-"])
def test_a_group_of_ascii_is_found_where_python_finds_it(expression, text):
    fits = re.search(expression, text) is not None
    assert (compiled(expression).search(text) is not None) == fits


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (r"\bкупить\b", "Хочу купить!"),
        (r"\bкупить\b", "перекупить"),
        (r"\border\b", "préorder"),
        (r"\border\b", "place the order"),
        (r"\d+", "٣٤"),
        (r"^\w+$", "naïveté"),
        (r"a\sb", "a\u00a0b"),
        ("x.z", "x\ud800z"),
        ("[\ud800]", "a\ud800"),
        ("(?i)ÉTÉ", "été"),
        ("(?i)k", "\u212a"),
        (r"price (?P<value>\d+)(?: (?P<unit>€))?", "the price 12 €"),
        (r"price (?P<value>\d+)(?: (?P<unit>€))?", "the price 12"),
        ("end$", "the end\nof it"),
        ("(?m)end$", "the end\nof it"),
        ("[^]]", "]]x"),
        (r"[\]\\^-]+", "a]\\^-"),
        ("a{3}", "aaaa"),
        ("", ""),
        (r"[^\s\S]", "abc"),
        (r"(a)(?:b|(?P<c>c))", "zab"),
    ],
)
def test_letters_of_all_languages_and_named_groups_are_as_in_python(expression, text):
    same(expression, text)


def test_what_is_found_is_replaced_everywhere_and_the_replacement_taken_as_it_is():
    assert compiled(r"\d+").sub(r"\1…", "ä12 ö٣ 7") == r"ä\1… ö\1… \1…"
    assert compiled("x*").sub("-", "abc") == "-a-b-c-"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("(?=a)b", "look-around such as (?=…) is not supported; write what stands there as a part"),
        ("(?<!a)b", "look-around such as"),
        ("(?!)", "look-around such as"),
        (r"(a)\1", r"a reference to a group such as \1 is not supported; write the group's expression again"),
        ("(?P<n>x)(?P=n)", "a reference to a group"),
        ("(?P<n>x)?(?(n)y|z)", "a condition such as (?(1)…) is not supported; write both ways"),
        ("(?>a+)b", "an atomic group (?>…) is not supported; write (?:…)"),
        ("(?:a*(?:b++))", "a possessive repeat such as a++ is not supported; write a+"),
        ("(", "it is not a regular expression"),
        ("a{99999999999999999999}", "it is not a regular expression"),
        ("a{1,2000}", "it is too large"),
        ("(?:(?:a{1,900}){1,900}){1,900}", "it is too large"),
        ("a" * (LONGEST + 1), "4001 characters, but at most 4000 are allowed"),
        ("(" * 1900 + ")" * 1900, "its groups are nested too deep"),
        (r"\b" + "".join(map(chr, range(0x4E00, 0x4E80))), r"it has \b and more than 63 different letters"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_write_instead(expression, why):
    assert why in expression_problem(expression)


def test_many_letters_are_no_trouble_without_a_word_boundary():
    text = "".join(map(chr, range(0x4E00, 0x4F00)))
    assert compiled(f"{text}$").search(f"买{text}").text == text
    assert compiled(f"{text}$").search(f"{text}买") is None


def test_files_with_such_an_expression_are_refused():
    class File(BaseModel):
        url: Expression = ""
        button: PatternText = ""

    for values in ({"url": "(?=a)b"}, {"button": 'button ~"(?=a)b"'}):
        with pytest.raises(ValidationError, match="look-around such as"):
            File.model_validate(values)


def test_a_state_space_with_look_around_is_refused_with_file_and_line(tmp_path):
    shipped = next(path for path in sorted(SPACES.glob("*.toml")) if "\nurl = " in path.read_text())
    lines = shipped.read_text().splitlines()
    number = next(at for at, line in enumerate(lines) if line.startswith("url = "))
    lines[number] = "url = '(?!cart)item'"
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=rf"mine\.toml, line {number + 1}\b.*look-around such as"):
        read_space(path)


def test_a_named_group_of_a_pattern_gives_a_part_of_the_name():
    fit = parse_pattern(r'button ~"Buy (?P<value>\w+)"').fits(element(1, "button", "Buy thé"))
    assert fit.named == {"value": "thé"}


@pytest.mark.parametrize(
    "rest", ["", "/", "/a", "/ad", "/adm", "/admi", "/admit", "/x", "/cart?a=b", "/adze/admin"]
)
def test_policies_for_the_shop_are_for_all_of_it_but_its_administration(rest):
    (expression,) = read_policy(POLICIES / "webarena/shopping.md", POLICIES).applies.urls
    matcher = compiled(expression.replace("__SHOPPING__", re.escape("http://shop:7770")))
    assert matcher.search(f"http://shop:7770{rest}")
    for other in (
        f"http://shop:7770/admin{rest}",
        f"http://shop:77701{rest}",
        f"http://x/http://shop:7770{rest}",
    ):
        assert not matcher.search(other)


def test_no_file_of_the_installation_is_refused():
    load_gates()
    load_volatile()
    assert [read_space(path) for path in sorted(SPACES.glob("*.toml"))]
    policies = [path for path in POLICIES.rglob("*.md") if path.name != "README.md"]
    assert [read_policy(path, POLICIES) for path in policies]
