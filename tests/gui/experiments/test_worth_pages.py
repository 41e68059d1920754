"""The pages on which exemplars are measured and replayed: what is asked, what came of it, and what can be opened."""

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from core.debugger.experiments.views import ReplayRow, WorthView
from core.debugger.experiments.worth_records import (
    Arm,
    AttributionSum,
    Pair,
    ReplayReport,
    ReplayResult,
    Subject,
    Worth,
    WorthRequest,
)
from core.debugger.snapshots import Catalogue, PresetOption
from core.schema.messages import LLMChoice
from gui.experiments.replays import AttributionPage, ReplayPage
from gui.experiments.worth import WorthPage

CATALOGUE = Catalogue(
    presets=(
        PresetOption(name="plain", title="Plain"),
        PresetOption(name="combined", title="Combined", recalls=True),
        PresetOption(name="synapse", title="Synapse", recalls=True),
    ),
    llms=(LLMChoice(name="rules", title="Built-in rules"), LLMChoice(name="person", title="You")),
)
SUBJECT = Subject(name="shop/goal-013/run-4")


def pair(seed: int, with_it: bool | None, without_it: bool | None) -> Pair:
    return Pair(
        task="shop/goal-013",
        seed=seed,
        with_it=Arm(run=20 + seed, success=with_it, used=True, steps=3),
        without_it=Arm(run=40 + seed, success=without_it, steps=5),
    )


WORTH = Worth(
    number=3,
    subject=SUBJECT,
    tasks=("shop/goal-013",),
    seeds=(1, 2, 3),
    preset="synapse",
    llm="rules",
    when=1.7e9,
    trace="traces.db",
    state="done",
    pairs=(pair(1, True, False), pair(2, True, True), pair(3, False, True)),
)
VIEW = WorthView(
    ready=True,
    subject=SUBJECT,
    recorded_at=(("shop/goal-013", 0),),
    versions=(1, 2),
    families=("goal-013", "click-link"),
    tasks=("shop/goal-013",),
    kept=(WORTH,),
    trace="traces.db",
    replays=(
        ReplayRow(found=ReplayResult(id="a/1", task="t", success=False, problem="It was gone.")),
        ReplayRow(found=ReplayResult(id="b/1", task="t", success=True), is_old=True),
        ReplayRow(found=ReplayResult(id="c/1", problem="It does not say which task.")),
    ),
    attributions=(AttributionSum(id="a/1", family="book", steps=2, total=1.5, mean=0.75),),
)


@pytest.fixture
def worth(qtbot: QtBot, theme) -> WorthPage:
    page = WorthPage(theme)
    qtbot.addWidget(page)
    page.show_catalogue(CATALOGUE)
    page.show_view(VIEW)
    return page


@pytest.fixture
def replay(qtbot: QtBot, theme) -> ReplayPage:
    page = ReplayPage(theme)
    qtbot.addWidget(page)
    page.show_view(VIEW)
    return page


def cells(table, column: int) -> list[str]:
    return [line.cells[column] for line in table.lines]


def test_which_runs_flip_is_reported_with_the_interval(worth: WorthPage):
    assert cells(worth.table, 0) == ["to success", "", "to failure"]
    assert "2 of 3 succeed with it, 2 without: +0 points (95 %:" in worth.sentence.text()
    assert SUBJECT.name in worth.sentence.text()


def test_both_runs_of_a_pair_are_opened_and_compared(worth: WorthPage, qtbot: QtBot):
    assert not worth.with_button.isEnabled()
    worth.table.choose(("shop/goal-013", 3, 1))
    with qtbot.waitSignal(worth.run_opened) as opened:
        worth.without_button.click()
    assert opened.args == [43, 1]
    with qtbot.waitSignal(worth.compare_requested) as compared:
        worth.compare_button.click()
    assert compared.args == [23, 43]


def test_runs_of_another_database_are_not_opened(worth: WorthPage):
    worth.show_view(VIEW.replace(trace="other.db"))
    worth.table.choose(("shop/goal-013", 3, 1))
    assert not worth.with_button.isEnabled()


def test_only_presets_with_memory_are_offered_and_never_the_person(worth: WorthPage):
    form = worth.form
    assert [form.preset.itemData(at) for at in range(form.preset.count())] == ["combined", "synapse"]
    assert form.preset.currentData() == "synapse"
    assert "person" not in [form.llm.itemData(at) for at in range(form.llm.count())]


def test_what_is_asked_is_reported_before_it_is_begun(worth: WorthPage, qtbot: QtBot):
    form = worth.form
    assert "4 pairs of runs" in form.total.text()
    assert "Left out: 1" in form.total.text()
    form.seeds.setText("1-3, 7")
    form.tasks.setText("shop/*, miniwob/click-link")
    form.times.setValue(2)
    with qtbot.waitSignal(worth.start_requested) as started:
        worth.start_button.click()
    [request] = started.args
    assert request == WorthRequest(
        subject=SUBJECT, tasks=("shop/*", "miniwob/click-link"), seeds=(1, 2, 3, 7), times=2
    )


@pytest.mark.parametrize("seeds", ["", "x", "3-1", "1-", "0-99999"])
def test_seeds_that_are_none_keep_it_from_beginning(worth: WorthPage, seeds: str):
    worth.form.seeds.setText(seeds)
    assert not worth.start_button.isEnabled()
    assert worth.form.problem == worth.form.total.text() != ""


def test_a_change_is_tried_by_two_versions(worth: WorthPage, qtbot: QtBot):
    form = worth.form
    with qtbot.waitSignal(form.subject_chosen) as chosen:
        form.kind.setCurrentIndex(form.kind.findData("change"))
    assert chosen.args == [Subject(kind="change", name=SUBJECT.name, before=1, after=2)]
    form.after.setValue(1)
    assert "two different versions" in form.problem


def test_how_far_it_is_shows_while_it_goes_on(worth: WorthPage):
    going = WORTH.replace(number=4, state="running", pairs=WORTH.pairs[:1])
    worth.show_view(VIEW.replace(under_way=going))
    assert (worth.foot.progress.value(), worth.foot.progress.maximum()) == (1, 3)
    assert worth.shown == going
    assert worth.cancel_button.isEnabled()
    assert not worth.start_button.isEnabled()
    worth.show_view(VIEW.replace(kept=(WORTH, going)))
    assert not worth.cancel_button.isEnabled()


def test_an_earlier_experiment_is_shown_again(worth: WorthPage):
    later = WORTH.replace(number=4, pairs=())
    worth.show_view(VIEW.replace(kept=(WORTH, later)))
    assert worth.shown == later
    worth.choice.setCurrentIndex(worth.choice.findData(3))
    worth.choice.activated.emit(worth.choice.currentIndex())
    assert worth.shown == WORTH


def test_the_pairs_are_exported(worth: WorthPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("worth.csv", ""))
    with qtbot.waitSignal(worth.export_requested) as asked:
        worth.export_button.click()
    assert asked.args == [WORTH, "worth.csv"]


def test_empty_pages_say_what_to_do(qtbot: QtBot, theme):
    for page, words in (
        (WorthPage(theme), "press Try"),
        (ReplayPage(theme), "Replay all"),
        (AttributionPage(theme), "press Credit"),
    ):
        qtbot.addWidget(page)
        page.show_view(WorthView(ready=True))
        assert words in page.or_words.words.text()


def test_what_failed_stands_first_and_what_was_changed_since_says_so(replay: ReplayPage, qtbot: QtBot):
    assert cells(replay.table, 0) == ["no success", "not tried", "success, changed since"]
    with qtbot.waitSignal(replay.replay_requested) as asked:
        replay.failed_button.click()
    assert asked.args == [("a/1",)]
    replay.table.choose("b/1")
    with qtbot.waitSignal(replay.replay_requested) as asked:
        replay.one_button.click()
    assert asked.args == [("b/1",)]


def test_what_is_replayed_now_stands_above_what_is_known(replay: ReplayPage):
    report = ReplayReport(wanted=5).with_result(ReplayResult(id="z/1", task="t", success=True))
    replay.show_view(VIEW.replace(replay=report))
    assert cells(replay.table, 1)[0] == "z/1"
    assert replay.foot.words.text() == "1 of 5"
    assert not replay.all_button.isEnabled()


def test_attributions_are_shown_with_their_sums(qtbot: QtBot, theme):
    page = AttributionPage(theme)
    qtbot.addWidget(page)
    page.show_view(VIEW)
    assert [line.cells for line in page.table.lines] == [("a/1", "book", "2", "+1.50", "+0.75")]
