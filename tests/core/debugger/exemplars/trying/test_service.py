"""Trying exemplars at the window: a process replays them, and what is known of them is shown."""

import pytest

import core.debugger.job_process
from core.debugger.evaluations.records import Subject, WorthResult
from core.debugger.evaluations.worth import keep_worth
from core.debugger.exemplars.trying.service import TryingService
from core.debugger.exemplars.trying.views import ReplayResult
from tests.core.debugger.live import live_session, settings_in
from tests.core.stage import config_folder_in, need_chromium

pytestmark = pytest.mark.browser
ONE = "miniwob/click-link/0"
WORTH = WorthResult(
    subject=Subject(name=ONE), trace="t.db", evaluation=3, when=1.0, preset="synapse", llm="rules", cases=2
)


@pytest.fixture
def live(tmp_path, llm_server):
    settings = settings_in(tmp_path, llm_server, browser=need_chromium())
    live = live_session(tmp_path, settings, config_folder_in(tmp_path / "config"))
    live.session.start()
    live.wait(lambda: live.view.message.startswith("Choose a task"))
    live.service = TryingService(live.session)
    live.trying = live.service.view
    live.service.changed.connect(lambda view: live._keep("trying", view))
    yield live
    live.session.close().result(60)
    live.session.stop_worker()


def test_what_is_known_is_read_from_the_library(live):
    library = live.session.services().resources.memory.library()
    keep_worth(live.session.services().resources.memory, WORTH)
    keep_worth(live.session.services().resources.memory, WORTH.replace(cases=4))
    library.proofs.save("worth", ONE, 2.0, '{"made": "by another version"}')
    result = ReplayResult(id=ONE, task="miniwob/click-link", success=False, problem="It was gone.", when=1.0)
    library.proofs.save("replay", ONE, 1.0, result.model_dump_json())
    live.service.read_again()
    live.wait(lambda: live.trying.result)
    assert live.trying.result.worths == (WORTH.replace(cases=4),)
    assert [row.result for row in live.trying.result.replays] == [result]


def test_exemplars_are_replayed_by_the_program_and_the_result_is_told(live):
    live.service.replay((ONE,))
    live.wait(lambda: live.trying.busy and live.trying.of == 1)
    live.service.replay((ONE,))
    live.wait(lambda: "still running" in live.trying.problem)
    live.wait(lambda: live.trying.notice)
    assert live.trying.notice == "1 of 1 still succeed."
    assert [(row.result.id, row.result.success) for row in live.trying.result.replays] == [(ONE, True)]
    assert not live.trying.busy


def test_a_process_that_fails_is_reported_with_its_own_words(live, tmp_path, monkeypatch):
    main = tmp_path / "main.py"
    main.write_text("import sys; print('The browser has ended.', file=sys.stderr); sys.exit(3)")
    monkeypatch.setattr(core.debugger.job_process, "_MAIN", main)
    live.service.replay((ONE,))
    live.wait(lambda: live.trying.problem and not live.trying.busy)
    assert live.trying.problem == "Replaying failed: The browser has ended."
