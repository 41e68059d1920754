"""The pages on exemplars in use: what they show, and what they ask for."""

import pytest

from core.debugger.evaluations.records import Subject, WorthResult
from core.debugger.exemplars.trying.views import AttributionSum, ReplayResult, ReplayRow, TryingResults
from gui.exemplars.analyses.page import View
from gui.exemplars.analyses.trying import CreditPage, ReplayPage, WorthPage

GOOD = ReplayRow(result=ReplayResult(id="a/1", task="t/x", seed=3, success=True, looks=2, when=5.0))
BAD = ReplayRow(
    result=ReplayResult(
        id="b/1", task="t/y", success=False, problem="It was gone.", guessed=("x",), when=6.0
    ),
    is_old=True,
)
AWAY = ReplayRow(result=ReplayResult(id="c/1", task="t/z", success=False), is_there=False)
UNTRIED = ReplayRow(result=ReplayResult(id="d/1", problem="Its source names no task."))
WORTH = WorthResult(
    subject=Subject(name="a/1"),
    trace="/t.db",
    evaluation=7,
    name="worth of a/1",
    when=5.0,
    preset="synapse",
    llm="rules",
    cases=10,
    judged=10,
    used=9,
    to_success=6,
    low=0.2,
    high=0.8,
)
VIEW = View(
    result=TryingResults(
        trace="/t.db",
        replays=(BAD, AWAY, UNTRIED, GOOD),
        worths=(WORTH, WORTH.replace(trace="/u.db")),
        attributions=(AttributionSum(id="a/1", family="f", steps=2, total=1.5, mean=0.75),),
    )
)


def cells(page) -> list[tuple[str, ...]]:
    return [line.cells for line in page.table.lines_model.lines]


@pytest.fixture
def replay(theme, qtbot) -> ReplayPage:
    page = ReplayPage(theme)
    qtbot.addWidget(page)
    page.show_view(VIEW)
    return page


def test_replays_show_what_became_of_each_exemplar(replay):
    shown = {line[1]: line for line in cells(replay)}
    assert shown["a/1"][0] == "success"
    assert shown["b/1"][0] == "no success, changed since"
    assert shown["b/1"][-1] == "It was gone. Uncertain: x"
    assert shown["c/1"][0] == "no success, retired"
    assert shown["d/1"][0] == "not tried"
    assert shown["d/1"][3] == ""


def test_one_all_or_those_that_failed_are_replayed(replay, qtbot):
    with qtbot.waitSignal(replay.replay_requested) as asked:
        replay.failed_button.click()
    assert asked.args == [("b/1",)]
    with qtbot.waitSignal(replay.replay_requested) as asked:
        replay.all_button.click()
    assert asked.args == [()]
    replay.table.choose("a/1")
    with qtbot.waitSignal(replay.replay_requested) as asked:
        replay.one_button.click()
    assert asked.args == [("a/1",)]


def test_a_replay_that_goes_on_can_be_cancelled_but_no_other_can_be_begun(replay, qtbot):
    replay.show_view(VIEW.replace(busy=True, doing="Replaying exemplars", done=1, of=4))
    assert "1 of 4" in replay.words.text()
    assert not replay.all_button.isEnabled()
    with qtbot.waitSignal(replay.cancel_requested):
        replay.cancel_button.click()


@pytest.mark.parametrize(
    ("kind", "words"), [(ReplayPage, "Replay all"), (WorthPage, "Measure…"), (CreditPage, "press Credit")]
)
def test_without_results_each_part_says_what_to_do(theme, qtbot, kind, words):
    page = kind(theme)
    qtbot.addWidget(page)
    assert page.body.words.text() == "Reading the library…"
    page.show_view(View(result=TryingResults()))
    assert words in page.body.words.text()


def test_a_replay_that_goes_on_or_failed_is_shown_only_in_its_own_part(theme, qtbot):
    page = WorthPage(theme)
    qtbot.addWidget(page)
    page.show_view(View(result=TryingResults(), busy=True, doing="Replaying exemplars"))
    assert "Measure…" in page.body.words.text()
    page.show_view(View(result=TryingResults(), problem="Replaying failed."))
    assert page.problem.text() == ""
    page.show_view(View(problem="The library is damaged."))
    assert page.problem.text() == "The library is damaged."


def test_what_exemplars_were_worth_leads_to_the_evaluations_of_this_database(theme, qtbot):
    page = WorthPage(theme)
    qtbot.addWidget(page)
    page.show_view(VIEW)
    assert cells(page)[0][:6] == ("a/1", "+60 points", "+20 to +80", "10", "▲ 6", "9 of 10")
    page.table.choose(("/t.db", 7))
    with qtbot.waitSignal(page.evaluation_opened) as opened:
        page.runs_button.click()
    assert opened.args == [7]
    page.table.choose(("/u.db", 7))
    assert not page.runs_button.isEnabled()
    with qtbot.waitSignal(page.worth_requested):
        page.measure_button.click()


def test_credits_are_summed_for_each_exemplar(theme, qtbot):
    page = CreditPage(theme)
    qtbot.addWidget(page)
    page.show_view(VIEW)
    assert cells(page) == [("a/1", "2", "+1.50", "+0.75", "f")]
    with qtbot.waitSignal(page.exemplar_opened) as opened:
        page.table.opened.emit("a/1")
    assert opened.args == ["a/1"]
