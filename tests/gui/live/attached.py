"""An agent written by someone else, as a separate program, in a real window."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.debugger.attach.service import AttachService
from core.debugger.attach.views import AttachRequest, AttachView
from core.debugger.steps.views import StepView
from tests.gui.live.test_window import LiveWindow
from tests.llm_server import LLMServer

LLM = """
import json, os, urllib.request

def ask(text):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": "test-model", "messages": [{"role": "user", "content": text}]}).encode(),
        {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]
"""
"""The file ``llm.py`` beside an agent: to import the openai package takes a second of processor time."""
AGENT = """
import os
from llm import ask
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["BACKSTEP_CDP_URL"])
    page = browser.contexts[0].pages[0]
    print("attached to", page.url, flush=True)
    while True:
        prompt = os.environ["BACKSTEP_TASK"] + "\\n" + page.inner_text("body")
        reply = ask(prompt)
        print("told", reply, flush=True)
        if reply == "done":
            break
        for name in reply.split(", "):
            page.get_by_role("button", name=name, exact=True).click()
"""
"""It clicks the buttons that its LLM names."""


class AttachedWindow(LiveWindow):
    """A window on a session, with an agent attached."""

    def __init__(self, qtbot: QtBot, folder: Path, server: LLMServer) -> None:
        super().__init__(qtbot, folder, server)
        self.folder = folder
        self.service = AttachService(self.session)
        self.view = AttachView()
        self._ran = False
        self.browser = ""
        """The browser to attach in, unless the caller specifies one."""
        self.service.changed.connect(self._keep)

    def _keep(self, view: AttachView) -> None:
        self.view = view
        self._ran = self._ran or view.running

    def attach(self, agent: str = AGENT, *, command: tuple[str, ...] = (), **more: object) -> None:
        """Write the agent's file, start it attached, and wait until it is held or has ended."""
        program = self.folder / "agent.py"
        program.write_text(agent, encoding="utf-8")
        (self.folder / "llm.py").write_text(LLM, encoding="utf-8")
        words = command or (sys.executable, str(program))
        asked: dict[str, object] = {"command": words, "folder": str(self.folder), "browser": self.browser}
        self._ran = False
        self.service.attach(AttachRequest.model_validate(asked | more))
        # One that fails at once may have ended by the time it is looked at.
        self.wait_until(lambda: self._ran or bool(self.view.problem))
        self.wait_for("waiting")

    def at_review_of(self, step: int) -> StepView:
        """Return a step when it is under review and can be changed."""
        self.wait_until(
            lambda: (
                (self.window.view.step, self.window.view.phase) == (step, "review")
                and self.window.step_in_view is not None
                and self.window.step_in_view.number == step
                and self.window.action.editable
            )
        )
        return self.window.step_in_view

    def branched(self, *left: int | None) -> int:
        """Wait until another run than these is in view and can be stepped, and return it."""
        self.wait_until(lambda: self.window.view.run not in (None, *left))
        self.wait_for("waiting")
        assert self.window.view.run is not None
        return self.window.view.run

    def ran(self) -> int:
        """Let the run go on to its end, and return it."""
        self.trigger("run")
        self.wait_for("ended")
        assert self.window.view.run is not None
        return self.window.view.run

    def edit_to(self, name: str) -> None:
        """Choose the click on a button in place of the action under review."""
        rows = self.window.step_in_view.permissible.rows
        other = next(row.text for row in rows if row.name == "click" and name in row.label)
        self.session.edits.edit_action(other)
        self.wait_until(lambda: self.window.step_in_view.action.action == other)

    def recorded(self, run: int, step: int) -> StepView:
        """Show a stored step and return it."""
        self.session.trace.show_step(run, step)
        self.wait_until(
            lambda: (
                self.window.step_in_view is not None
                and (self.window.step_in_view.run, self.window.step_in_view.number) == (run, step)
                and not self.window.step_in_view.live
            )
        )
        return self.window.step_in_view


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path, llm_server: LLMServer) -> Iterator[AttachedWindow]:
    desk = AttachedWindow(qtbot, tmp_path, llm_server)
    yield desk
    desk.close()
