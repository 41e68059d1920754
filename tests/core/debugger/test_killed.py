"""What is left of a run when its whole process is killed, in phases with and without pages, calls and actions."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from core.schema.step import PHASES, Acted, Decided
from core.trace.calls import stored_prompt, stored_reply
from core.trace.exports.html_page import export_html
from core.trace.exports.json_export import export_json
from core.trace.store import TraceStore
from tests.core.stage import need_chromium, on, page_file

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def doomed(tmp_path_factory):
    """Start the doomed program; calling it has one run die, with its browser."""
    said = tmp_path_factory.mktemp("doomed") / "stderr.txt"
    # What the browsers leave behind goes with this folder; a long path would be too much for their sockets.
    left_behind = tempfile.mkdtemp()
    with said.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.core.debugger.doomed"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "TMPDIR": left_behind},
            text=True,
        )

    def run(*words):
        process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
        process.stdin.flush()
        assert select.select([process.stdout], [], [], 60)[0], "it did not die"
        code = process.stdout.readline().strip()
        assert code == str(-signal.SIGKILL), said.read_text()

    yield run
    process.stdin.close()
    try:
        process.wait(10)
    finally:
        process.kill()
        process.stdout.close()
        shutil.rmtree(left_behind, ignore_errors=True)


@pytest.mark.parametrize("phase", ["observe", "decide", "act", "commit"])
def test_what_was_stored_before_the_kill_is_there_and_the_run_is_interrupted(
    llm_server, doomed, tmp_path, phase
):
    need_chromium()
    llm_server.otherwise = on('button "Go"', thought="I press Go.")
    page = page_file(tmp_path, "<button onclick='document.title += \"!\"'>Go</button>")
    doomed(tmp_path, llm_server.base_url, page, phase)

    reader = TraceStore.open(tmp_path / "traces.db", read_only=True)
    assert [row.outcome for row in reader.runs()] == ["interrupted"]
    reader.close()

    store = TraceStore.open(tmp_path / "traces.db")
    assert store.recover() == (1,)
    store.check()
    row = store.run(1)
    assert (row.outcome, row.error) == ("interrupted", "The program ended before the run did.")
    first, second = store.step(1, 1), store.step(1, 2)
    assert [step.sealed for step in store.steps(1)] == [True, False]
    assert [record.phase for record in first.records] == list(PHASES)
    assert first.row.outcome == "done"
    # The phase under way is not there, each one before it is, with all that it names.
    before = PHASES[: PHASES.index(phase)]
    assert tuple(record.phase for record in second.records) == before
    asked = 1 + (PHASES.index(phase) >= PHASES.index("decide"))
    assert (row.llm_calls, [call.error for call in store.calls.of(1)]) == (asked, [""] * asked)
    assert all(
        stored_reply(store, call) is not None and stored_prompt(store, call).messages
        for call in store.calls.of(1)
    )
    for record in second.records:
        assert not isinstance(record, Decided) or record.proposal.thought == "I press Go."
        assert not isinstance(record, Acted) or record.outcome == "done"
    assert "Step 2" in export_html(store, 1)
    assert '"outcome": "interrupted"' in export_json(store, 1)
    store.close()
