"""Comparing at the window: runs aligned, steps read pair by pair, and what is said where that fails."""

import pytest

from core.debugger.compare.service import CompareService
from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser

BUTTONS = "<button>Save</button><button>Delete</button>"


class Asked:
    """A service with what it has sent."""

    def __init__(self, session) -> None:
        self.session = session
        self.runs, self.pairs, self.diffs = [], [], []
        self.service = CompareService(session)
        self.service.changed.connect(self.runs.append)
        self.service.paired.connect(self.pairs.append)
        self.service.diffed.connect(self.diffs.append)


@pytest.fixture
def runs(stage, llm_server, tmp_path):
    page = page_file(tmp_path, BUTTONS)
    found = []
    for name in ("Save", "Delete"):
        llm_server.script(on(f'button "{name}"', thought=name), stop())
        run = stage.open(llm_server, url=page, instruction="Keep the draft.")
        stage.to_the_end(run)
        found.append(run.state.run)
    return found


@pytest.fixture
def asked(stage, stand_in):
    return Asked(stand_in(store=stage.services.store, thread=stage.thread))


def test_two_runs_are_announced_at_once_and_then_aligned(asked, runs):
    asked.service.compare(*runs)
    asked.session.done()
    waiting, told = asked.runs
    assert waiting.compared is None
    assert (waiting.left, waiting.right) == tuple(runs)
    assert told.compared.first_difference == 0
    assert told.compared.pairs[0].differs == ("action",)


def test_a_pair_comes_with_its_parts_and_both_pictures(asked, runs):
    asked.service.pair((runs[0], 1), (runs[1], 1))
    asked.session.done()
    (told,) = asked.pairs
    parts = {part.name: part for part in told.parts}
    assert (parts["thought"].left, parts["thought"].right) == ("Save", "Delete")
    assert told.left_picture
    assert told.right_picture


def test_a_step_without_counterpart_is_read_alone(asked, runs):
    asked.service.pair(None, (runs[1], 2))
    asked.session.done()
    (told,) = asked.pairs
    assert {part.left for part in told.parts} == {""}
    assert told.left_picture == b""
    assert told.right_picture


def test_of_many_pairs_asked_for_in_a_row_the_last_is_told(asked, runs):
    with asked.session.at_once():
        for _ in range(5):
            asked.service.pair((runs[0], 1), (runs[1], 1))
        asked.service.pair((runs[0], 2), (runs[1], 2))
    asked.session.done()
    assert [view.left for view in asked.pairs] == [(runs[0], 2)]


def test_a_pair_for_diff_does_not_overtake_one_for_compare(asked, runs):
    with asked.session.at_once():
        asked.service.pair((runs[0], 1), (runs[1], 1))
        asked.service.diff((runs[0], 1), (runs[0], 2))
    asked.session.done()
    assert [(view.left, view.right) for view in asked.pairs] == [((runs[0], 1), (runs[1], 1))]
    assert [(view.left, view.right) for view in asked.diffs] == [((runs[0], 1), (runs[0], 2))]


def test_a_run_or_a_step_that_is_not_there_is_said(asked, runs):
    asked.service.compare(runs[0], 999_999)
    asked.service.pair((runs[0], 1), (runs[0], 99))
    asked.session.done()
    assert "no run 999999" in asked.runs[-1].problem
    assert "no step 99" in asked.pairs[-1].problem


def test_before_the_database_is_open_it_says_so(stand_in):
    asked = Asked(stand_in())
    asked.service.compare(1, 2)
    asked.session.done()
    assert "not open yet" in asked.runs[-1].problem
