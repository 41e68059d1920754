"""Which regular expressions may be used: what can take exponentially long is refused, and nothing else."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from core.agent.gates import load_gates
from core.agent.policies.catalogue import POLICIES
from core.agent.policies.file import read_policy
from core.agent.spaces.file import SPACES, read_space
from core.browser.checkpoints.comparison import load_volatile
from core.schema.backtracking import LONGEST, expression_problem
from core.schema.pattern import Expression, PatternText

EXPONENTIAL = [
    "(a+)+$",
    "(a*)*b",
    "(a|aa)+$",
    "(a|a)*$",
    "(?:(?:a?)?b)*!",
    r"(?:(?:(?:\b)+)?){15}x",
    "(.*)*x",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(\w+\s?)*$",
    r"(\w+,?)+;",
    r"(\s*\w+\s*)*$",
    "(?:a|ab|b)*c",
    "(a?){50}b",
    "(a{1,9}){1,20}b",
    "x(?=(a+)+$)",
    "(?:(?:a+)*+|(b+)+)c",
]
HARMLESS = [
    "",
    "^Page [0-9]+$",
    "a+b+a+",
    ".*products.*reviews.*",
    r"(\w+\s+)*$",
    r"(?:\w+,)+",
    r"(\d{1,3},)*\d{1,3}",
    r"^(?:[^/]+/)*item$",
    "(?:foo|bar|baz)+",
    "(?:food|foot)*",
    "(?:[0-9a-f]{4}-)+",
    r'(?:[^"\\]|\\.)*',
    r'(?:[^"\\]++|\\.)*',
    "(?>a+)b",
    "(?:ab?c)*",
    r"(?i)add to (?:cart|basket)\b",
    r"(a)(?:\1)?b",
    r"https?://[^/]+/(?:shop|store)/\d+(?:\?.*)?$",
    "[a-z]{1,64}",
    "(?P<n>x)?(?(n)y|z)",
    "(?!x)a*",
    "é+Ж*",
    # The matcher takes one of several characters for a set of characters.
    "(?i:(a|A)+)$",
    "(?:[a-m]|[k-z])*!",
]


@pytest.mark.parametrize("expression", EXPONENTIAL)
def test_what_can_take_exponentially_long_is_refused(expression):
    re.compile(expression)
    assert "it can take exponentially long" in expression_problem(expression)


@pytest.mark.parametrize("expression", HARMLESS)
def test_other_expressions_are_taken(expression):
    assert expression_problem(expression) == ""


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("(", "it is not a regular expression"),
        ("a" * (LONGEST + 1), "4001 characters, but at most 4000 are allowed"),
        ("(" * 1900 + ")" * 1900, "its groups are nested too deep"),
        ("a{99999999999999999999}", "it is not a regular expression"),
        ("(?:" + "x" * 500 + ")*", "one of its loops has 500 characters"),
        ("(?:" * 9 + "a" + "){8}" * 9, "its repeated part is too large"),
        ("(?:(?:|)" * 300 + "a" + ")" * 300 + "*", "it can take exponentially long"),
        ("(?:" + "|".join(f".{chr(97 + n % 26)}{n}|{chr(97 + n % 26)}.{n}" for n in range(16)) + ")*", ""),
    ],
)
def test_what_is_none_or_too_large_is_refused_in_a_sentence(expression, why):
    assert why in expression_problem(expression)


def test_files_with_such_an_expression_are_refused():
    class File(BaseModel):
        url: Expression = ""
        button: PatternText = ""

    for values in ({"url": "(a+)+$"}, {"button": 'button ~"(a+)+$"'}):
        with pytest.raises(ValidationError, match="it can take exponentially long"):
            File.model_validate(values)


def test_no_file_of_the_installation_is_refused():
    load_gates()
    load_volatile()
    assert [read_space(path) for path in sorted(SPACES.glob("*.toml"))]
    policies = [path for path in POLICIES.rglob("*.md") if path.name != "README.md"]
    assert [read_policy(path, POLICIES) for path in policies]


parts = st.recursive(
    st.sampled_from(["a", "b", "[ab]", "."]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        inner.map(lambda one: f"(?:{one})*"),
        inner.map(lambda one: f"(?:{one})+"),
        inner.map(lambda one: f"(?:{one})?"),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
    ),
    max_leaves=5,
)


@settings(max_examples=200)
@given(expression=parts, text=st.text("ab", min_size=24, max_size=24))
def test_what_is_taken_ends_soon_on_any_text(expression, text):
    if expression_problem(expression):
        return
    begun = time.process_time()
    re.match(f"{expression}!", text)
    assert time.process_time() - begun < 2
