import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.schema.action import Type, XPathTarget
from core.schema.task import Verdict
from tests.core.trace.making import start, write_run, write_step


@pytest.fixture
def runs(store):
    """Three runs: a flight with an answer, a letter, and one under way with a typed text."""
    flight = write_run(store, instruction="Book the cheapest flight to Málaga", answer="EUR 81.50")
    letter = write_run(store, instruction="Forward the e-mail of O'Neil")
    typed = store.begin_run(start("Fill in the form", task="miniwob/enter-text"))
    action = Type(target=XPathTarget(xpath="//input"), text="quarterly report")
    write_step(store, typed, 1, thought="The heading says zebra crossing.", action=action)
    return {"flight": flight, "letter": letter, "typed": typed}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["typed", "letter", "flight"]),
        ("   ", ["typed", "letter", "flight"]),
        ("flight", ["flight"]),
        ("FLIGHT", ["flight"]),
        ("flig", ["flight"]),
        ("flig cheapest", []),
        ("cheapest flig", ["flight"]),
        ("malaga", ["flight"]),
        ("81.50", ["flight"]),
        ("e-mail", ["letter"]),
        ("o'neil", ["letter"]),
        ("zebra", ["typed"]),
        ("quarterly", ["typed"]),
        ("form zebra quarterly", ["typed"]),
        ("enter-text", ["typed"]),
        ("zebra flight", []),
        ("draft", ["letter", "flight"]),
        ("*", ["typed", "letter", "flight"]),
        ('"', ["typed", "letter", "flight"]),
        ('flight"', ["flight"]),
        ("flight AND", []),
        ("NOT zebra", []),
        ("(flight", ["flight"]),
        ("thought:zebra", []),
        ("zeb\0ra", []),
    ],
)
def test_a_run_is_found_by_the_words_in_it(store, runs, query, found):
    assert [row.run for row in store.runs(query)] == [runs[name] for name in found]
    assert len(store.find_runs(query)) == len(found)


@given(query=st.text(alphabet=st.characters(exclude_categories=()), max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_is_too_strange_to_search_for(store, query):
    assert store.runs(query) == ()


def test_a_query_of_very_many_words_is_answered(store, runs):
    assert [row.run for row in store.runs("flight " * 5000)] == [runs["flight"]]


def test_an_answer_given_at_the_end_is_found_and_one_replaced_is_not(store, runs):
    store.end_run(
        runs["flight"], outcome="done", verdict=Verdict(), answer="Iberia", seconds=1, seconds_in_llm=0
    )
    assert [row.run for row in store.runs("iberia")] == [runs["flight"]]
    assert store.runs("EUR") == ()


def test_runs_come_newest_first_and_no_more_than_asked_for(store):
    numbers = [write_run(store, steps=0) for _ in range(7)]
    assert [row.run for row in store.runs(limit=3)] == numbers[:-4:-1]
    assert len(store.runs()) == 7


def test_a_task_must_be_met_exactly(store, runs):
    assert [row.run for row in store.runs(task="miniwob/enter-text")] == [runs["typed"]]
    assert store.runs(task="miniwob/enter") == ()
    assert [row.run for row in store.runs("draft", task="miniwob/save")] == [runs["letter"], runs["flight"]]
