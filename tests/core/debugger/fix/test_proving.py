"""Fix: a change is proved by real runs before anything is written."""

import pytest

import core.debugger.job_process
from core.system.program import ROOT
from tests.core.debugger.fix.test_service import Fix
from tests.core.debugger.live import live_session, settings_in
from tests.core.stage import config_folder_in, on
from tests.llm_server import Reply

pytestmark = pytest.mark.browser
PROMPT = "prompts/plain/system.j2"


PROGRAM = """
import runpy, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.core.debugger.evaluations.carrying_out import carry_out
carry_out(Path({database!r}), sys.argv[sys.argv.index("--name") + 1], until={until})
runpy.run_path({root!r} + "/main.py", run_name="__main__")
"""
"""The program, for which most runs of a proof are made already."""


def by_prompt(request) -> Reply:
    """Press the right button where the system prompt says so."""
    return on('button "ONE"' if "Press ONE." in request.texts[0] else 'button "TWO"')(request)


@pytest.fixture
def live(tmp_path, llm_server, monkeypatch):
    """A session whose LLM processes of their own find as well."""
    config = config_folder_in(tmp_path / "config")
    entry = f'[llms.test]\nbase_url = "{llm_server.base_url}"\nmodel = "test-model"\nattempts = 1\n'
    (config / "settings.toml").write_text(entry)
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(config))
    monkeypatch.setenv("BACKSTEP_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    live = live_session(tmp_path, settings_in(tmp_path, llm_server, browser="chromium"), config)
    live.session.start()
    live.wait(lambda: live.view.message.startswith("Choose a task"))
    yield live
    live.session.close().result(60)
    live.session.stop_worker()


def test_a_text_is_proved_before_it_is_written_and_kept_and_put_back_by_one_command_each(
    live, llm_server, tmp_path, monkeypatch
):
    program = tmp_path / "main.py"
    program.write_text(PROGRAM.format(root=str(ROOT), database=str(live.database), until=18))
    monkeypatch.setattr(core.debugger.job_process, "_MAIN", program)
    llm_server.otherwise = by_prompt
    fix = Fix(live)
    live.open()
    live.session.run_commands.run()
    live.wait_mode("ended")
    assert live.view.success is False
    wrong = live.view.run
    fix.open(wrong)
    fix.service.choose_place(PROMPT)
    live.wait(lambda: fix.view.place.name == PROMPT)
    fixed = f"Press ONE.\n{fix.view.text.text}"
    fix.service.prove(PROMPT, fixed, 5)
    live.wait(lambda: fix.view.proving)
    live.wait(lambda: not fix.view.proving, seconds=240)
    clue = fix.view.clue
    assert (fix.view.problem, clue.proof.outcome) == ("", "proven"), clue.proof
    assert clue.proof.sentence.startswith("unchanged 0 of 5, changed 5 of 5, sealed 4 of 4")
    assert (fix.view.chosen, clue.what) == (0, f"Your change of {PROMPT}.")
    assert not (live.config / PROMPT).exists()
    # It is known when Fix is opened again.
    view = fix.open(wrong)
    assert view.clue.proof == clue.proof
    assert view.place.name == PROMPT
    fix.service.keep()
    live.wait(lambda: "Kept" in fix.view.notice)
    assert (live.config / PROMPT).read_text() == fixed
    assert fix.view.clue.in_use
    assert not fix.view.clue.can_be_kept
    fix.service.keep()
    live.wait(lambda: "Nothing to keep" in fix.view.problem)
    fix.service.revert()
    live.wait(lambda: fix.view.saved == ())
    assert not (live.config / PROMPT).exists()
    assert fix.view.clue.can_be_kept
