"""Two runs beside each other: aligned by page and action, parted where they part, and read pair by pair."""

import pytest

from core.agent.branching import RunSetup, open_branch
from core.debugger.compare.alignment import compare_runs, compare_steps
from core.debugger.compare.service import CompareService
from tests.core.stage import on, page_file, stop
from tests.llm_server import LLMServer, Reply

pytestmark = pytest.mark.browser


class Asked:
    """A service with what it has sent."""

    def __init__(self, session) -> None:
        self.session = session
        self.runs, self.pairs, self.diffs = [], [], []
        self.service = CompareService(session)
        self.service.changed.connect(self.runs.append)
        self.service.paired.connect(self.pairs.append)
        self.service.diffed.connect(self.diffs.append)


ARCHIVE, ORDERS, START = (on(f'link "{name}"', thought=name) for name in ("Archive", "Orders", "Start"))


def run_of(stage, server, page, *replies):
    server.script(*replies)
    run = stage.open(server, url=page, instruction="Find the orders.")
    stage.to_the_end(run)
    return run


def page_in(folder):
    page_file(folder, "<h1>Orders</h1>", "orders.html")
    page_file(folder, "<h1>Archive</h1><a href='start.html'>Start</a>", "archive.html")
    links = "<h1>Start</h1><a href='archive.html'>Archive</a> <a href='orders.html'>Orders</a>"
    return page_file(folder, links, "start.html")


@pytest.fixture(scope="module")
def made(whole_stage, tmp_path_factory):
    """The numbers of runs on the same page, by what they did."""
    page = page_in(tmp_path_factory.mktemp("pages"))
    with LLMServer() as server:
        found = {
            name: run_of(whole_stage, server, page, *replies).state.run
            for name, replies in {
                "detour": (ARCHIVE, START, ORDERS, stop("there")),
                "orders": (ORDERS, stop("there")),
                "orders again": (ORDERS, stop("there")),
                "asked again": (Reply(text="What now?"), ORDERS, stop("there")),
                "archive": (ARCHIVE, stop("nothing")),
            }.items()
        }
        whole_stage.clear()
    return found


@pytest.fixture
def runs(made):
    return made["archive"], made["orders"]


@pytest.fixture
def asked(stage, stand_in):
    return Asked(stand_in(store=stage.services.store, thread=stage.thread))


def test_two_runs_are_announced_at_once_and_then_aligned(asked, runs):
    asked.service.compare(*runs)
    asked.session.done()
    waiting, done = asked.runs
    assert waiting.compared is None
    assert (waiting.left, waiting.right) == tuple(runs)
    assert done.compared.first_difference == 0
    assert done.compared.pairs[0].differs == ("action",)


def test_a_pair_comes_with_its_parts_and_both_pictures(asked, runs):
    asked.service.pair((runs[0], 1), (runs[1], 1))
    asked.session.done()
    (pair,) = asked.pairs
    parts = {part.name: part for part in pair.parts}
    assert (parts["thought"].left, parts["thought"].right) == ("Archive", "Orders")
    assert pair.left_picture
    assert pair.right_picture


def test_a_step_without_counterpart_is_read_alone(asked, runs):
    asked.service.pair(None, (runs[1], 2))
    asked.session.done()
    (pair,) = asked.pairs
    assert {part.left for part in pair.parts} == {""}
    assert pair.left_picture == b""
    assert pair.right_picture


def test_of_many_pairs_asked_for_in_a_row_the_last_is_answered(asked, runs):
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


def aligned(compared):
    return [
        (pair.left and pair.left.number, pair.right and pair.right.number, pair.differs)
        for pair in compared.pairs
    ]


def test_a_detour_of_one_stands_alone_and_what_follows_is_together_again(stage, made):
    compared = compare_runs(stage.services.store, made["detour"], made["orders"])
    assert aligned(compared) == [(1, None, ()), (2, None, ()), (3, 1, ()), (4, 2, ())]
    assert compared.first_difference == 0


def test_a_step_done_otherwise_stands_beside_what_was_done_in_its_place(stage, runs):
    one, other = runs
    compared = compare_runs(stage.services.store, one, other)
    assert aligned(compared) == [(1, 1, ("action",)), (2, 2, ("page", "action"))]
    parts = {part.name: part for part in compare_steps(stage.services.store, (one, 1), (other, 1))}
    assert (parts["thought"].left, parts["thought"].right) == ("Archive", "Orders")
    assert parts["page"].same
    assert parts["prompt"].same
    assert not parts["reply"].same


def test_the_reply_that_chose_the_action_is_compared_and_not_one_that_could_not_be_used(stage, made):
    steps = (made["asked again"], 1), (made["orders"], 1)
    (reply,) = (part for part in compare_steps(stage.services.store, *steps) if part.name == "reply")
    assert reply.same, reply.left


def test_two_equal_runs_do_not_part(stage, made):
    compared = compare_runs(stage.services.store, made["orders"], made["orders again"])
    assert compared.first_difference is None


def test_branches_share_the_steps_before_they_part(stage, llm_server, tmp_path):
    run = run_of(stage, llm_server, page_in(tmp_path), ARCHIVE, START, stop("nothing"))
    llm_server.script(ORDERS, stop("found"))
    setup = RunSetup(
        preset=run.state.preset, llm=run._asker.llm, resources=stage.services.resources, browser="chromium"
    )
    branch, restored = stage.thread.run(
        open_branch(
            stage.services.store, run.world, run.state.episode, run=run.state.run, step=3, setup=setup
        )
    )
    assert restored.verified
    stage.to_the_end(branch)
    compared = compare_runs(stage.services.store, run.state.run, branch.state.run)
    assert [pair.shared for pair in compared.pairs] == [True, True, False, False]
    assert compared.first_difference == 2


def test_a_step_without_counterpart_is_shown_alone(stage, made):
    parts = compare_steps(stage.services.store, (made["orders"], 1), None)
    assert {part.right for part in parts} == {""}
    assert any(part.left.startswith("click") for part in parts if part.name == "action")


def test_any_two_steps_show_page_clean_observation_and_prompt(stage, made):
    number = made["detour"]
    for left, right in ((1, 2), (4, 1), (2, 2)):
        parts = {
            part.name: part for part in compare_steps(stage.services.store, (number, left), (number, right))
        }
        for name in ("page", "clean observation", "prompt"):
            assert parts[name].left
            assert parts[name].right
            assert parts[name].same is (left == right)
