"""MiniWoB++ tasks about places, words and the mouse, solved with what their pages permit."""

import pytest

from core.debugger.exemplars.scripted import perform, world_for
from core.environments.registry import Environments
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.exemplars.solvers import BY_MOUSE
from tests.core.exemplars.solvers.permitted import permitted

TASKS = (
    "circle-center",
    "drag-items",
    "drag-shapes",
    "draw-line",
    "highlight-text-2",
    "hot-cold",
    "resize-textarea",
    "text-editor",
    "use-slider",
)


@pytest.mark.parametrize("name", TASKS)
@in_browser
async def test_a_task_by_mouse_is_solved(browser: Browsing, name: str) -> None:
    environments = Environments()
    task = environments.find(f"miniwob/{name}")
    world = world_for(browser.tabs, environments, task)
    try:
        done = await perform(world, task, 1, permitted(BY_MOUSE[name]))
    finally:
        await environments.close()
    assert done.problem == ""
