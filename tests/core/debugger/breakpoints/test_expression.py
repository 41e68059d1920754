"""The language of conditions: what it says, what it refuses, and that nothing gets out of it."""

import ast
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.debugger.breakpoints.expression import LONGEST, compile_expression, evaluate, is_true
from core.debugger.breakpoints.names import SUBJECT
from core.debugger.breakpoints.operations import FUNCTIONS, text_of_value
from core.debugger.breakpoints.subject import (
    ActionPart,
    EventSubject,
    LastPart,
    PagePart,
    RunPart,
    StatePart,
    StepPart,
)
from core.schema.errors import UsageError
from core.schema.observation import Box, Element

SECONDS = 5.0
"""Far more than an evaluation takes, and far less than one that does not end."""


def element(ref, role, name):
    return Element(ref=ref, role=role, name=name, box=Box(x=0, y=0, width=1, height=1))


def page(*elements):
    return PagePart(url="https://shop.example/cart?id=7", title="Cart", elements=elements)


SEEN = {
    **dict.fromkeys(EventSubject.model_fields),
    "run": RunPart(
        number=4,
        task="shop/goal-000",
        instruction="Buy it.",
        seed=2**62,
        preset="laser",
        llm="rules",
        cost=None,
        tokens=1200,
        seconds=2.5,
        llm_calls=3,
        page_actions=2,
    ),
    "step": StepPart(number=3, trial=1, phase="review", where="before"),
    "page": page(
        element(1, "heading", "Cart"), element(2, "button", "Delete all"), element(3, "button", "Buy now")
    ),
    "state": StatePart(name="item", space="shop"),
    "permissible": ("click", "buy_now"),
    "action": ActionPart(
        name="click", written="click [2]", text="", target='button "Delete all"', url="", origin="agent"
    ),
    "thought": "Away with it.",
    "stack": ("shop", "search_shop"),
    "last": LastPart(outcome="failed", message="It is covered."),
}


def value(text, seen=SEEN):
    return evaluate(compile_expression(text), seen)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("step.number == 3", True),
        ("  step.number * 2 + 1 ", 7),
        ("1 < step.number <= 3", True),
        ("state.name in ('cart', 'item') and not (step.trial > 1)", True),
        ("'buy_now' in permissible", True),
        ("'Delete' in action.target or False", True),
        ("contains(action.target, 'DELETE')", True),
        ("contains(stack, 'SHOP')", True),
        ("stack[-1]", "search_shop"),
        ("stack[7]", None),
        ("page.elements[1].name", "Delete all"),
        (r"matches(page.url, '[?]id=\d+$')", True),
        ("matches(page.title, 'Basket')", False),
        ("any(e.role == 'button' and lower(e.name) == 'buy now' for e in page.elements)", True),
        ("all(e.name for e in page.elements)", True),
        ("count(e.role == 'button' for e in page.elements)", 2),
        ("len(e for e in page.elements if e.role == 'button')", 2),
        ("[e.name for e in page.elements if e.role == 'button']", ("Delete all", "Buy now")),
        ("max(len(e.name) for e in page.elements)", 10),
        ("min(3, 1, 2)", 1),
        ("abs(-step.number)", 3),
        ("run.seed > 10", True),
        ("step.number if policy is None else policy.depth", 3),
        ("thought or 'none'", "Away with it."),
        ("len(page.title)", 4),
        ("any(a.name == b.name for a in page.elements for b in page.elements if a.ref != b.ref)", False),
    ],
)
def test_an_expression_has_the_value_that_it_has_in_python(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "policy.depth > 3",
        "policy.depth <= 3",
        "run.cost > 0.5",
        "run.cost * 2 + 1 >= 0",
        "'x' in plan.current",
        "plan.current in thought",
        "contains(plan.current, 'x')",
        "matches(plan.current, 'x')",
        "lower(plan.current) == 'x'",
        "any(call.seconds > 1 for e in page.elements)",
        "any(e for e in retrieval.exemplars)",
        "max(retrieval.distance, policy.depth) > 0",
        "-run.cost < 1",
        "retrieval.exemplars[0] == 'a'",
        "abs(run.cost) > 0",
    ],
)
def test_what_is_not_there_compares_as_false(text):
    assert is_true(compile_expression(text), SEEN) is False


def test_what_is_not_there_is_none():
    assert value("policy.name") is None
    assert value("policy is None and policy.depth is None and state is not None") is True


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("polcy.name == 'x'", "At character 1: there is no “polcy”; did you mean policy?"),
        ("state.name == 'x' and page.ulr", "At character 28: page has no “ulr”; did you mean url?"),
        ("'ä€😀' == page.ulr", "At character 15: page has no “ulr”"),
        ("any(e.nme for e in page.elements)", "At character 7: e has no “nme”; did you mean name?"),
        (
            "containz(page.url, 'x')",
            "At character 1: there is no function “containz”; did you mean contains?",
        ),
        ("state.name = 'x'", "At character 12: invalid syntax; write == to compare."),
        ("page.url ==", "At character 12: "),
        ("(page.url", "was never closed"),
        ("page.url.upper()", "At character 1: only these functions can be called"),
        ("len", "At character 1: len is a function; write len(value)."),
        ("len(1, 2)", "At character 1: wrong number of arguments (2); write len(value)."),
        ("state.name.upper", "At character 12: state.name has no “upper”; it is text."),
        ("step.number.name", "step.number has no “name”; it is a number."),
        (
            "page.elements.name",
            "page.elements has no “name”; it is a list. Use one item, as in page.elements[0], or a function of all",
        ),
        ("matches(page.url, '(a')", "At character 19: this is not a regular expression"),
        ("matches(page.url, thought)", "At character 19: the regular expression must be written here"),
        ("page.url is 'x'", "At character 13: “is” works only with None"),
        ("any(run for run in page.elements)", "the name “run” is already used"),
        ("", "The expression is empty"),
        ("1\n2", "in one"),
        ("'" + "a" * LONGEST + "'", "longer than 1000 characters"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place_and_what_was_near(text, sentence):
    with pytest.raises(UsageError, match=re.escape(sentence)):
        compile_expression(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("thought > 3", "text and a number cannot be compared with >"),
        ("1 / (step.number - 3)", "division by zero"),
        ("thought + 1", "use numbers"),
        ("any(thought)", "text is not a list"),
        ("min(1, 'a')", "takes either numbers or texts"),
        ("lower(3)", "lower takes text, not a number"),
        ("[(a, a, a) for a in [(b, b) for b in stack]]", "a list cannot contain lists"),
    ],
)
def test_what_cannot_be_evaluated_says_why(text, sentence):
    with pytest.raises(UsageError, match=re.escape(sentence)):
        value(text)


HOSTILE = [
    "().__class__.__bases__[0].__subclasses__()",
    "page.__class__",
    "page.model_fields",
    "page.model_copy",
    "run.model_dump()",
    "page.elements[0].line()",
    "page.elements[0].box",
    "stack.__len__()",
    "any.__globals__",
    "any.__self__",
    "any(e for e in stack).gi_frame.f_back.f_builtins",
    "[e for e in stack].__class__",
    "any(e.__class__ for e in page.elements)",
    "(thought or page).__class__",
    "(page if thought else stack).__init__",
    "any(1 for __builtins__ in stack)",
    "any(1 for __debug__ in stack)",
    "any(1 for any in stack)",
    "__builtins__",
    "globals()",
    "vars(page)",
    "str(page)",
    "list(stack)",
    "part(page, '__class__')",
    "walk(stack, -999)",
    "_spend(-999999)",
    "thought.format(page)",
    "matches.__func__",
    "page['__class__'].url",
    "matches(page.url, 'x' * 999999999)",
    "__import__('os').system('true')",
    "open('/etc/passwd')",
    "eval('1')",
    "getattr(page, 'url')",
    "(lambda: 1)()",
    "lambda: 1",
    "(x := 1)",
    "f'{page.__class__}'",
    "f'{9:>999999999}'",
    "'{0.__class__}'.format(page)",
    "'%999999999d' % 1",
    "9**9**9",
    "10**10**10",
    "2 << 999999999",
    "'a' * 10**9",
    "'a' * 999999999",
    "(1,) * 999999999",
    "[0] * 999999999",
    "*page.elements",
    "{page.url: 1}",
    "{e.name for e in page.elements}",
    "{e.name: e for e in page.elements}",
    "[*page.elements]",
    "len(*page.elements)",
    "len(value=1)",
    "page.elements[0:9999]",
    "page.elements[::-1]",
    "await page",
    "yield",
    "any(e async for e in page.elements)",
    "any(e for e.name in page.elements)",
    "any(a for (a, b) in page.elements)",
    "any(e for e in (x for x in page.elements))",
    "...",
    "b'bytes'",
    "1j",
    "9" * 900,
    "9" * 31 + " + 1",
    "~1",
    "1; 2",
    "import os",
    "page.url = 1",
    "del page",
    "\x00",
    "\ud800",
    "page\u202e.url",
    "(" * 400 + ")" * 400,
    "[" * 400 + "]" * 400,
    "-" * 900 + "1",
    "not " * 240 + "1",
    "1" + "+1" * 400,
    "page" + ".url" * 240,
    "any(" * 150 + "1" + ")" * 150,
    "1 if 1 else " * 80 + "1",
]


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text[:30]) for text in HOSTILE])
def test_hostile_text_is_refused_before_anything_is_evaluated(text):
    with pytest.raises(UsageError) as refused:
        compile_expression(text)
    assert "\n" not in str(refused.value)


MANY = {**SEEN, "page": page(*(element(number, "link", "a" * 40 + "!") for number in range(2000)))}
ENDLESS = [
    "count(a in page.elements for a in page.elements)",
    "count(contains([e.name for e in page.elements], a.role) for a in page.elements)",
    "count(a.name == b.name for a in page.elements for b in page.elements)",
    "count(1 for a in page.elements for b in page.elements for c in page.elements for d in page.elements)",
    "max([1 for a in page.elements for b in page.elements])",
    "any(count(b.name == a.name for b in page.elements) < 0 for a in page.elements)",
    "any(contains(thought, a.name) for a in page.elements for b in (1, 2, 3, 4, 5, 6, 7, 8, 9))",
]


@pytest.mark.parametrize("text", ENDLESS)
def test_what_looks_at_too_much_is_given_up(text):
    compiled = compile_expression(text)
    began = time.perf_counter()
    with pytest.raises(UsageError, match="it processes too much data"):
        evaluate(compiled, {**MANY, "thought": "b" * 1_000_000})
    assert time.perf_counter() - began < SECONDS


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"(a|a)*b", r"(a|aa)+$", r"(.*)*x", r"a*a*a*a*a*a*b", r"(\w+\s?)*$", r"(x+x+)+y"]
)
def test_no_regular_expression_takes_time_beyond_the_length_of_the_text(pattern):
    compiled = compile_expression(f"any(matches(e.name, {pattern!r}) and False for e in page.elements)")
    began = time.perf_counter()
    assert evaluate(compiled, MANY) is False
    value(f"matches(thought, {pattern!r})", {**SEEN, "thought": "a" * 1_000_000})
    assert time.perf_counter() - began < SECONDS


@pytest.mark.parametrize(
    "pattern", [r"(?=a)b", r"(a)\\1", "(?:(?:(?:a{900}){900}){900})", "a{0,99999999}", "(?P<n"]
)
def test_regular_expressions_that_cannot_be_bounded_are_refused(pattern):
    with pytest.raises(UsageError, match="this is not a regular expression"):
        compile_expression(f"matches(page.url, '{pattern}')")


def test_halves_of_surrogate_pairs_in_a_page_can_be_searched():
    odd = {**SEEN, "thought": "a\ud800b"}
    assert value("matches(thought, 'a.b')", odd) is True
    assert text_of_value(value("thought", odd)) == "a\ud800b"


WORDS = [
    *SUBJECT.parts,
    *FUNCTIONS,
    *"e.name page.elements url __class__ for in if else and or not is None True lambda".split(),
    *"== < + - * ** % // @ . , ( ) [ ] { } : := 'a' \" 1 1e999 99999999 f'' \\ #".split(),
]


def value_or_sentence(text):
    """Return the value as text, or why there is none; anything else that is raised is a mistake."""
    try:
        return f"it is {text_of_value(value(text))}"
    except UsageError as error:
        return str(error)


@given(st.text() | st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join))
@example("1e999 - 1e999")
@example("1e999 // 1")
@example("min(1e999 - 1e999, 1)")
@settings(max_examples=150)
def test_any_text_has_a_value_or_is_refused_in_one_sentence(text):
    assert value_or_sentence(text).strip()


def expressions():
    """Expressions that are well formed and mostly have a value."""
    leaves = st.sampled_from(
        "step.number run.tokens run.cost policy.depth thought state.name stack page 3".split()
    ) | st.integers(-9, 10**12).map(str)

    def grown(inner):
        pairs = st.tuples(
            inner, st.sampled_from(["+", "-", "*", "/", "%", "<", "==", "in", "and", "or"]), inner
        )
        return (
            pairs.map(lambda three: f"({' '.join(three)})")
            | inner.map(lambda one: f"(not {one})")
            | st.tuples(st.sampled_from(["len", "lower", "abs", "any", "count"]), inner).map(
                lambda two: f"{two[0]}({two[1]})"
            )
            | inner.map(lambda one: f"any({one} for e in page.elements)")
        )

    return st.recursive(leaves, grown, max_leaves=12)


@given(expressions())
@settings(max_examples=150)
def test_what_is_well_formed_has_a_value_or_says_why_not(text):
    if len(text) > LONGEST:
        return
    ast.parse(text, mode="eval")
    assert value_or_sentence(text).strip()
