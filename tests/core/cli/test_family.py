"""The command family: the task of a run at other seeds, by an earlier prompt and by the one there is now."""

import pytest

from core.storage.resources import RESOURCES
from core.trace.store import TraceStore
from tests.core.stage import need_chromium, on
from tests.core.trace.making import start

pytestmark = pytest.mark.browser
PROMPT = "prompts/plain/system.j2"


def by_prompt(request):
    """Press the right button where the system prompt was put right."""
    words = 'button "ONE"' if "Press ONE." in request.texts[0] else 'button "TWO"'
    return on(words)(request)


def test_each_seed_is_done_with_the_files_as_they_were_and_as_they_are(inside, llm_server):
    llm_server.otherwise = by_prompt
    run = inside(*inside.run("--task", "miniwob/click-test-2", "--seed", 3)).json["run"]
    before = inside.folder / "before"
    bundled = (RESOURCES / PROMPT).read_text()
    for folder, text in ((before, bundled), (inside.config, f"Press ONE.\n{bundled}")):
        (folder / PROMPT).parent.mkdir(parents=True, exist_ok=True)
        (folder / PROMPT).write_text(text)
    words = ("family", run, "--before", before, "--count", 2, "--browser", need_chromium())
    done = inside(*words, "--name", "mine", "--json")
    assert done.code == 0, done.err
    assert [(one["seed"], one["variant"], one["success"]) for one in done.json["runs"]] == [
        (4, "before", False),
        (4, "after", True),
        (5, "after", True),
        (5, "before", False),
    ]
    shares = {one["variant"]: (one["successes"], one["judged"]) for one in done.json["variants"]}
    assert shares == {"before": (0, 2), "after": (2, 2)}
    again = inside(*words, "--name", "mine")  # It is done.
    assert "after against before: +100.0 points" in again.out


@pytest.mark.parametrize("kind", ["missing", "file", "empty", "another"])
def test_without_the_earlier_files_nothing_is_measured(inside, kind):
    store = TraceStore.open(inside.db)
    run = store.begin_run(start())
    store.close()
    before = inside.folder / "old"
    if kind == "file":
        before.write_text("x")
    elif kind != "missing":
        before.mkdir()
    if kind == "another":
        (before / "documents").mkdir()
    done = inside("family", run, "--before", before)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"{before} is no folder with files of an agent.")
