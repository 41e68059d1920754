"""What is offered where an expression is being written."""

from hypothesis import given
from hypothesis import strategies as st

from core.debugger.breakpoints.names import SUBJECT, completions
from core.debugger.breakpoints.operations import FUNCTIONS


@given(st.text(max_size=60), st.integers(0, 60))
def test_completion_of_any_text_offers_names_or_nothing(text, cursor):
    assert all(one.name for one in completions(text, min(cursor, len(text))))


def test_every_function_and_part_has_a_sentence_of_help():
    assert all(doc.startswith(f"{name}(") and doc.endswith(".") for name, doc in FUNCTIONS.items())

    def parts(shape):
        for name in shape.parts:
            assert shape.help(name).endswith("."), (shape.word, name)
            part = shape.part(name)
            parts(part.items or part)

    parts(SUBJECT)


def test_completion_knows_parts_variables_and_functions():
    def names(text):
        return [one.name for one in completions(text, len(text))]

    assert names("page.") == ["url", "title", "elements"]
    assert names("page.elements[0].ro") == ["role"]
    assert names("st") == ["step", "state", "stack"]
    assert names("not contai") == ["contains"]
    assert names("page.url == 'pa") == []
    assert names("nothing.") == []
    inside = "any(el.na for el in page.elements)"
    assert [one.name for one in completions(inside, 9)] == ["name"]
    (variable,) = (one for one in completions(inside, 6) if one.kind == "variable")
    assert variable.name == "el"
    (policy,) = completions("polic", 5)
    assert (policy.kind, policy.doc) == ("part", "The policy at work.")
    (depth,) = completions("policy.dep", 10)
    assert (depth.kind, depth.doc) == ("value", "How many policies are on the stack, including this one.")
