"""The built-in LLM answers every purpose of every preset, without a network."""

import pytest

from core.agent.presets import Presets
from core.agent.state import Budget
from core.debugger.headless import run_headless
from tests.core.stage import llms_for, page_file, settings_for

pytestmark = pytest.mark.browser

PRESETS = Presets().names()


def with_rules(stage, preset, task="", url="", instruction="", steps=30):
    """Run to the end and return the report."""
    services = stage.services
    found = services.environments.find(task or "web/open", url=url, instruction=instruction)
    return stage.thread.run(
        run_headless(
            services,
            found,
            0,
            preset=preset,
            llm=llms_for(settings_for(stage.settings.database)).routed("rules"),
            budget=Budget(steps),
            on_gate="refuse",
        )
    )


def purposes(stage, report):
    return {one.purpose for one in stage.services.store.calls.of(report.run)}


@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_comes_to_a_success(stage, preset):
    report = with_rules(stage, preset, "miniwob/click-tab-2")
    assert (report.outcome, report.success) == ("done", True)


def test_a_wrong_first_click_of_the_rules_is_mended_by_their_remedy(stage, tmp_path):
    page = page_file(
        tmp_path,
        '<p>Two of a kind</p><button>Save</button><button onclick="done.hidden=false">Save</button>'
        "<p id=done hidden>It was saved.</p>",
    )
    report = with_rules(stage, "reflect", url=page, instruction='Click the "Save" button.')
    steps = stage.services.store.steps(report.run)
    assert [(step.effect, step.origin) for step in steps][:3] == [
        ("page action", "agent"),
        ("go back", "remedy"),
        ("page action", "remedy"),
    ]
    first, third = (
        next(one for one in stage.services.store.step(report.run, number).records if one.phase == "align")
        for number in (1, 3)
    )
    assert first.aligned is False  # Nothing had changed.
    assert third.aligned is True
    assert report.outcome == "done"
    assert {"plan", "remedies", "aligned", "task", "answer"} <= purposes(stage, report)
