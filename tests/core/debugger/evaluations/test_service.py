"""Evaluations in a session: begun, interrupted and resumed by processes of their own, and read from the database."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from core.debugger.evaluations.records import EvalRequest, EvaluationPlan, Variant
from core.debugger.evaluations.service import make_service
from core.debugger.job_process import JobProcess
from core.llm.endpoints import load_endpoints, take_keys
from core.settings.settings import load_settings
from core.trace.evaluations import create_evaluation, note_plan, process_doing
from core.trace.store import TraceStore
from tests.core.debugger.live import live_session, settings_in
from tests.core.stage import config_folder_in, on
from tests.llm_server import Reply

RIGHT, WRONG = on('button "ONE"', thought="ONE."), on('button "TWO"', thought="TWO.")
REQUEST = EvalRequest(
    name="mine", tasks=("miniwob/click-test-2",), seeds="0-2", preset=("plain",), llm=("test",)
)


class Watched:
    """The service of a session that waits for what its view says."""

    def __init__(self, live) -> None:
        self.live = live
        self.service = make_service(live.session)
        self.sent = {"previewed": None, "opened": None}
        for name in self.sent:
            getattr(self.service, name).connect(lambda value, name=name: live._keep(name, value))
        self.service.changed.connect(lambda view: live._keep("evaluations", view))
        live.evaluations, live.previewed, live.opened = self.service.view, None, None

        self._closed = False

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self.live.session.close().result(60)
            self.live.session.stop_worker()

    @property
    def view(self):
        return self.live.evaluations

    def wait(self, condition, what: str = ""):
        try:
            self.live.wait(condition, what)
        except AssertionError as error:
            raise AssertionError(f"{error} {self.view.replace(chosen=None)}") from error

    def wait_state(self, state: str):
        self.wait(lambda: self.view.item is not None and self.view.item.state == state, state)
        return self.view.item


@pytest.fixture
def watched(tmp_path, llm_server, monkeypatch):
    config = config_folder_in(tmp_path / "config")
    entry = f'[llms.test]\nbase_url = "{llm_server.base_url}"\nmodel = "test-model"\nattempts = 1\n'
    (config / "settings.toml").write_text(entry)
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(config))
    monkeypatch.setenv("BACKSTEP_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    live = live_session(tmp_path, settings_in(tmp_path, llm_server, browser="chromium"), config)
    live.session.start()
    live.wait(lambda: live.view.message.startswith("Choose a task"))
    watched = Watched(live)
    watched.service.watch()
    yield watched
    watched.close()


@pytest.mark.browser
def test_an_evaluation_is_begun_interrupted_and_resumed_and_its_failures_done_again(watched, llm_server):
    service = watched.service
    llm_server.script(RIGHT, WRONG, Reply(hold=True))
    service.begin(REQUEST)
    llm_server.wait_for_requests(3)
    watched.wait(lambda: watched.view.item is not None and watched.view.item.done == 2)
    assert (watched.view.item.state, watched.view.item.mine) == ("under way", True)
    assert "mine" in watched.view.said
    service.end(watched.view.number)
    watched.wait_state("interrupted")
    watched.wait(lambda: not watched.view.started)
    assert watched.view.problem == ""
    llm_server.otherwise = RIGHT
    service.resume(EvalRequest(name="mine", concurrency=2))
    item = watched.wait_state("finished")
    assert (item.done, item.total, item.successes, item.failed) == (3, 3, 2, 1)
    watched.wait(lambda: watched.view.chosen.matrix.totals.cells[0].cases == 3)

    (failed,) = [
        one.run for one in watched.view.chosen.matrix.tries["miniwob/click-test-2", 0] if one.success is False
    ]
    service.open_run(failed)
    watched.wait(lambda: watched.live.opened is not None)
    assert (watched.live.opened.run, watched.live.opened.step) == (failed, 1)

    watched.wait(lambda: not watched.view.started)
    service.begin(EvalRequest(name="again", failures_of="mine"))
    watched.wait(lambda: watched.view.item is not None and watched.view.item.name == "again")
    assert watched.wait_state("finished").total == 1
    watched.wait(
        lambda: watched.view.chosen is not None and watched.view.chosen.matrix.totals.cells[-1].cases == 1
    )
    assert watched.view.chosen.matrix.totals.change.to_success == 1
    watched.wait(lambda: not watched.view.started)
    service.delete(watched.view.number)
    watched.wait(lambda: [one.name for one in watched.view.items] == ["mine"])


@pytest.mark.browser
def test_one_that_another_program_does_is_seen_and_stopped_just_the_same(watched, llm_server):
    llm_server.otherwise = Reply(hold=True)
    words = [*REQUEST.arguments(), "--db", str(watched.live.database), "--browser", "chromium"]
    process = subprocess.Popen([*JobProcess().program, *words], stderr=subprocess.PIPE)
    watched.wait_state("under way")
    llm_server.wait_for_requests(1)
    assert not watched.view.item.mine
    watched.service.end(watched.view.number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, b"Traceback" in errors) == (130, False)
    watched.wait_state("interrupted")


@pytest.mark.browser
def test_a_preview_says_how_many_runs_it_would_be_and_what_cannot_be_begun_and_a_plan_that_grows_is_read_anew(
    watched,
):
    for changes, said in (
        ({"tasks": ("suite:nothing",)}, 'There is no suite "nothing"'),
        ({"seeds": "x"}, "is not a list of seeds"),
        ({"tasks": (), "failures_of": "none"}, "There is no evaluation none"),
    ):
        request = REQUEST.replace(**changes)
        watched.service.preview(request)
        watched.wait(lambda: watched.live.previewed is not None)
        assert said in watched.live.previewed.problem
        watched.live.previewed = None
        watched.service.begin(request)
        watched.wait(lambda said=said: said in watched.view.problem)
        assert not watched.view.started

    request = REQUEST.replace(tasks=("miniwob/click-test*",), exemplars=("own", "none"), times=2)
    watched.service.preview(request)
    watched.wait(lambda: watched.live.previewed is not None)
    preview = watched.live.previewed
    assert preview.problem == ""
    assert preview.runs == len(preview.tasks) * 3 * 2 * 2
    assert "--tasks 'miniwob/click-test*' --seeds 0-2" in preview.command
    assert preview.cost is None

    plan = EvaluationPlan(variants=(Variant(preset="plain", llm="test"),), tasks=("t",), seeds=(0,))
    with closing(TraceStore.open(watched.service.services.settings.database)) as store:
        number = create_evaluation(store, "growing", plan.model_dump_json())
        watched.wait(lambda: watched.view.item is not None and watched.view.item.total == 1)
        note_plan(store, number, plan.replace(seeds=(0, 1)).model_dump_json())
        watched.wait(lambda: watched.view.item.total == 2)


KEYS = {
    "BKEY": "key-of-the-llm-asked-4711",
    "OTHER_KEY": "key-of-another-llm-4711",
    "GROQ_API_KEY": "key-4711",
}


@pytest.mark.browser
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_the_process_of_an_evaluation_gets_the_key_that_it_needs_and_no_other_and_ends_with_the_session(
    tmp_path, llm_server, monkeypatch
):
    config = config_folder_in(tmp_path / "config")
    mine = f'[llms.test]\nbase_url = "{llm_server.base_url}"\nmodel = "test-model"\nkey_name = "BKEY"\n'
    other = '[llms.other]\nbase_url = "http://127.0.0.1:9/v1"\nkey_name = "OTHER_KEY"\n'
    (config / "settings.toml").write_text(mine + other)
    surroundings = {"BACKSTEP_CONFIG_DIR": str(config), "BACKSTEP_DATA_DIR": str(tmp_path), **KEYS}
    for name, value in {**surroundings, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}.items():
        monkeypatch.setenv(name, value)
    settings = load_settings({"browser": "chromium"})
    take_keys(settings, load_endpoints())
    live = live_session(tmp_path, settings, config)
    live.session.start()
    live.wait(lambda: live.view.message.startswith("Choose a task"))
    watched = Watched(live)
    watched.service.watch()
    try:
        llm_server.key = KEYS["BKEY"]
        llm_server.otherwise = Reply(hold=True)
        watched.service.begin(REQUEST)
        llm_server.wait_for_requests(1)
        watched.wait_state("under way")
        with closing(TraceStore.open(live.database)) as store:
            process = process_doing(store, watched.view.number)
        environment = Path(f"/proc/{process}/environ").read_text()
    finally:
        watched.close()
    assert {name for name, value in KEYS.items() if value in environment} == {"BKEY"}
    with pytest.raises(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
