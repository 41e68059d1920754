"""The size in which pages are seen: the task's own, or the preset's, or the one that is given; kept for branches."""

import pytest

from core.schema.viewport import VIEWPORT
from core.trace.store import TraceStore
from tests.core.stage import need_chromium, page_file, stop

pytestmark = pytest.mark.browser

PAGE = "<p>Any</p>"
TASKS = """[[tasks]]
id = "narrow"
instruction = "Stop."
url = "{url}"
viewport = "390x844"
"""


def seen(cli, run):
    """Return the size that was stored with a run, and the one that its first step observed."""
    store = TraceStore.open(cli.db, read_only=True)
    try:
        return store.run(run).viewport, store.observed(run, 1).viewport
    finally:
        store.close()


def test_it_is_stored_with_the_run_and_that_of_the_task_goes_first(cli, inside, llm_server, tmp_path):
    llm_server.otherwise = stop("x")
    url = page_file(tmp_path, PAGE)
    done = inside(*cli.run("--url", url, "--instruction", "Stop."))
    assert done.code in (0, 1), done.err
    assert seen(cli, done.json["run"]) == (VIEWPORT, VIEWPORT)
    tasks = tmp_path / "mine.toml"
    tasks.write_text(TASKS.format(url=url), encoding="utf-8")
    done = inside(*cli.run("--tasks-file", tasks, "--task", "mine/narrow", "--viewport", "800x600"))
    assert done.code in (0, 1), done.err
    assert seen(cli, done.json["run"]) == ((390, 844), (390, 844))


def test_a_branch_has_the_size_of_its_run_whatever_holds_by_now(cli, inside, llm_server, tmp_path):
    llm_server.otherwise = stop("x")
    page = ("--url", page_file(tmp_path, PAGE), "--instruction", "Stop.")
    run = inside(*cli.run(*page, "--viewport", "390x844")).json["run"]
    assert seen(cli, run) == ((390, 844), (390, 844))
    words = ("--llm", "test-model", "--json", "--viewport", "1000x600", "--browser", need_chromium())
    forked = inside("fork", run, "--step", 1, *words)
    assert forked.code in (0, 1), forked.err
    assert seen(cli, forked.json["run"]) == ((390, 844), (390, 844))


def test_a_size_that_cannot_be_is_refused_with_what_to_write(cli, inside, tmp_path):
    page = ("--url", page_file(tmp_path, PAGE), "--instruction", "Stop.")
    done = inside(*cli.run(*page, "--viewport", "wide"))
    assert done.code == 2
    assert 'such as "1280x720"' in done.err
