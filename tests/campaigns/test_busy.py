"""The campaign of the busy machine, as it is run by hand."""

import subprocess
import sys

import pytest

from tests.core.stage import need_chromium

pytestmark = [pytest.mark.browser, pytest.mark.program]


@pytest.mark.parametrize("browser", ["chromium", "embedded"])
def test_tasks_end_alike_on_an_idle_and_on_a_busy_machine(browser: str) -> None:
    path = need_chromium() if browser == "chromium" else browser
    command = [sys.executable, "-m", "tests.campaigns.busy", "--browser", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "22 episodes, 21 with success" in done.stdout
