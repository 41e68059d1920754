"""Explanations are read beside the run: the last that was asked for, and failures said."""

import pytest

from core.debugger.provenance.service import ProvenanceService
from core.debugger.provenance.views import WhyQuestion
from core.trace.store import TraceStore
from tests.core.trace.making import write_run


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db", busy_seconds=0)
    yield store
    store.close()


@pytest.fixture
def ask(store, stand_in):
    """Put questions all at once, and return what was sent."""

    def ask(*questions, session=None):
        session = session or stand_in(store=store)
        service, views = ProvenanceService(session), []
        service.changed.connect(views.append)
        with session.at_once():
            for question in questions:
                service.explain(question)
        session.done()
        return views

    return ask


def test_words_are_found_in_what_the_step_was_made_from(ask, store):
    (view,) = ask(WhyQuestion(run=write_run(store), step=1, text="draft"))
    assert [place.kind for place in view.places] == ["task"]
    assert view.problem == ""


def test_of_many_asked_in_a_row_the_last_is_answered(ask, store):
    run = write_run(store)
    views = ask(*(WhyQuestion(run=run, step=1, text=text) for text in ("a", "b", "draft")))
    assert [view.text for view in views] == ["draft"]


def test_a_run_that_is_not_there_is_said_with_the_question(ask):
    (view,) = ask(WhyQuestion(run=99, step=1, text="x", ref=3))
    assert "no run 99" in view.problem
    assert (view.run, view.step, view.text, view.ref) == (99, 1, "x", 3)


def test_before_the_database_is_open_it_says_so(ask, stand_in):
    (view,) = ask(WhyQuestion(run=1, step=1, text="x"), session=stand_in())
    assert "not open yet" in view.problem
