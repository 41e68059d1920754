"""Forking at the window: what is chosen holds on the branch and is kept with it; what goes wrong is shown."""

import pytest

from core.debugger.branching.service import ForkService
from core.debugger.branching.views import ForkView
from core.exemplars.files import write_exemplars
from core.schema.changes import Changes
from core.schema.exemplar import Exemplar, ExemplarStep
from core.trace.store import TraceStore
from tests.core.debugger.live import Live
from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

POLICY = """+++
top = true
description = "Keeps the draft."
[applies]
environments = ["web"]
+++
# Instruction
{words}
"""


def click(words, thought="So."):
    return lambda request: Reply(text=f"REASON: {thought}\nACTION: click [{ref_in(request, words)}]")


class Forks:
    """The service of a live session, with its views."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.service = ForkService(live.session)
        self.views: list[ForkView] = []
        self.service.changed.connect(self._keep)

    def _keep(self, view: ForkView) -> None:
        with self.live._changed:
            self.views.append(view)
            self.live._changed.notify_all()

    def open(self, run: int, step: int) -> ForkView:
        self.views.clear()
        self.service.open(run, step)
        self.live.wait(lambda: self.views, "what can be chosen")
        return self.views[-1]

    def fork(self, run: int, step: int, *, confirmed: bool = False, **changes) -> ForkView:
        self.views.clear()
        self.service.fork(run, step, Changes(**changes), confirmed=confirmed)
        self.live.wait(lambda: self.views and (self.views[-1].made or self.views[-1].problem), "a fork")
        return self.views[-1]


@pytest.fixture
def forks(live) -> Forks:
    return Forks(live)


@pytest.fixture
def run(live, server, tmp_path):
    """A run whose first step has clicked Delete; its second is under review."""
    server.script(click('button "Delete"'), Reply(text="REASON: Done.\nACTION: stop []"))
    live.session.agent.set_preset("step")
    page = page_file(tmp_path, "<button>Save</button><button>Delete</button>")
    live.open("web/open", url=page, instruction="Keep the draft.")
    for number in (1, 2):
        live.session.run_commands.step()
        live.wait(lambda number=number: live.step.number == number and live.view.phase == "review")
    live.wait_mode("waiting")
    return live.view.run


def stored(live, question):
    store: TraceStore = live.store()
    try:
        return question(store)
    finally:
        store.close()


def test_a_step_is_opened_with_what_the_run_had_there(forks, run):
    view = forks.open(run, 1)
    assert (view.ready, view.preset, view.llm, view.problem) == (True, "step", "test", "")
    assert view.action.startswith("click")
    memory = next(one for one in view.amounts if one.mechanism == "memory")
    assert (memory.least, memory.value) == (1, 3)
    assert any(one.id == "shop/shop" for one in view.policies)


def test_a_branch_goes_on_with_what_was_chosen_and_says_how_it_differs(forks, live, server, run):
    made = forks.fork(run, 1, preset="plain", llm="other", amounts={"plan": 2}).made
    live.wait(lambda: live.view.run == made and live.view.mode == "waiting", "the branch")
    assert (live.view.preset, live.view.llm) == ("plain", "other")
    row = stored(live, lambda store: store.run(made))
    assert (row.parent_run, row.parent_step) == (run, 1)
    assert [str(one) for one in row.differences] == [
        "preset plain (was step)",
        "LLM other (was test)",
        "plan trials 2",
    ]


def test_a_branch_that_only_goes_back_differs_in_nothing_and_an_llm_repeats_the_run(forks, live, server, run):
    made = forks.fork(run, 1).made
    assert stored(live, lambda store: store.run(made)).differences == ()
    made = forks.fork(run, 1, llm=f"replay:{run}:test").made
    live.wait(lambda: live.view.run == made and live.view.mode == "waiting", "the branch")
    server.reset()
    step = live.to_review()
    assert "click" in step.action.action
    assert server.requests == []


def test_policies_of_a_folder_win_and_a_rewritten_one_is_kept_with_the_branch(
    forks, live, server, run, tmp_path
):
    folder = tmp_path / "library"
    (folder / "web").mkdir(parents=True)
    (folder / "web" / "drafts.md").write_text(POLICY.format(words="Never click Delete, I say."))
    made = forks.fork(run, 1, policies=str(folder)).made
    live.wait(lambda: live.view.run == made and live.view.mode == "waiting", "the branch")
    server.script(click('button "Save"'))
    live.to_review()
    text = stored(live, lambda store: store.changes(made)).policies
    assert text == str(folder)
    view = forks.open(made, 1)
    assert "web/drafts" in [one.id for one in view.policies]
    rewritten = POLICY.format(words="Save at once, I say.")
    again = forks.fork(made, 1, policy_texts={"web/drafts": rewritten}).made
    assert again is not None, forks.views[-1].problem
    kept = stored(live, lambda store: store.changes(again))
    assert (kept.policies, kept.policy_texts) == (str(folder), {"web/drafts": rewritten})
    assert str(stored(live, lambda store: store.run(again)).differences[0]) == "policy web/drafts rewritten"


def test_other_exemplars_are_recalled_anew_on_the_branch(forks, live, server, run, tmp_path):
    write_exemplars(
        tmp_path / "mine.jsonl",
        [
            Exemplar(
                id="mine-1",
                family="mine",
                task="Keep the draft of Ada.",
                steps=(ExemplarStep(observation='[1] button "Save"', actions=("click [1]",)),),
            )
        ],
    )
    made = forks.fork(run, 1, preset="synapse", exemplars=str(tmp_path / "mine.jsonl")).made
    live.wait(lambda: live.view.run == made and live.view.mode == "waiting", "the branch")
    server.script(Reply(text='[1] button "Save"'), click('button "Save"'))
    step = live.to_review()
    assert [one.id for one in step.exemplars.rows if one.used] == ["mine-1"]
    assert any("Keep the draft of Ada." in text for text in server.requests[-1].texts)
    none = forks.fork(made, 1, exemplars="none").made
    live.wait(lambda: live.view.run == none and live.view.mode == "waiting", "the branch")
    server.script(Reply(text='[1] button "Save"'), click('button "Save"'))
    live.to_review()
    assert not any("Keep the draft of Ada." in text for text in server.requests[-1].texts)


def test_what_cannot_be_is_reported_before_anything_is_left(forks, live, run):
    for changes, words in (
        ({"preset": "nothing"}, 'no preset "nothing"'),
        ({"exemplars": "/nowhere/at/all"}, "/nowhere/at/all contains no exemplars"),
        ({"policies": "/nowhere/at/all"}, "is not a folder; choose a folder of policies"),
        ({"policy_texts": {"shop/shop": "no policy"}}, "shop.md"),
        ({"amounts": {"plan": 0}}, "plan takes a number from 1"),
        ({"amounts": {"states": 2}}, '"states" is not a number'),
    ):
        view = forks.fork(run, 1, **changes)
        assert words in view.problem
        assert (view.made, view.busy) == (None, False)
        assert (live.view.run, live.view.mode) == (run, "waiting")
    assert "no step 9" in forks.open(run, 9).problem


def test_what_stays_done_is_reported_first_and_has_to_be_known(forks, live, server, tmp_path):
    page = page_file(
        tmp_path, "<button onclick=\"navigator.sendBeacon('http://127.0.0.1:9/order', 'x')\">Order</button>"
    )
    server.script(click('button "Order"'), Reply(text="REASON: Done.\nACTION: stop []"))
    live.session.agent.set_preset("step")
    live.open("web/open", url=page, instruction="Order it.")
    for number in (1, 2):
        live.session.run_commands.step()
        live.wait(lambda number=number: live.step.number == number and live.view.phase == "review")
    live.wait_mode("waiting")
    run = live.view.run
    sent = "POST http://127.0.0.1:9/order (step 1)"
    for is_stored in (False, True):
        if is_stored:
            live.open()
        assert sent in forks.open(run, 1).irreversible
        assert forks.open(run, 2).irreversible == ""
        refused = forks.fork(run, 1)
        assert f"does not undo {sent}" in refused.problem
        assert refused.made is None
    made = forks.fork(run, 1, confirmed=True).made
    live.wait(lambda: live.view.run == made, "the branch")
    assert stored(live, lambda store: store.run(made)).parent_run == run
