"""The size in which pages are seen: the task's own, or the preset's, or the one that is given; kept for branches."""

import pytest

from core.schema.viewport import VIEWPORT
from core.trace.store import TraceStore
from tests.core.stage import page_file, stop

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


@pytest.mark.parametrize(
    ("words", "size"),
    [((), VIEWPORT), (("--viewport", "800x600"), (800, 600)), (("--viewport", "800×600"), (800, 600))],
)
def test_it_is_as_given_and_stored_with_the_run(cli, llm_server, tmp_path, words, size):
    llm_server.script(stop("x"))
    done = cli(*cli.run("--url", page_file(tmp_path, PAGE), "--instruction", "Stop.", *words))
    assert done.code in (0, 1), done.err
    assert seen(cli, done.json["run"]) == (size, size)


def test_that_of_the_task_goes_first(cli, llm_server, tmp_path):
    llm_server.script(stop("x"))
    tasks = tmp_path / "mine.toml"
    tasks.write_text(TASKS.format(url=page_file(tmp_path, PAGE)), encoding="utf-8")
    given = ("--tasks-file", tasks, "--task", "mine/narrow", "--viewport", "800x600")
    done = cli(*cli.run(*given))
    assert done.code in (0, 1), done.err
    assert seen(cli, done.json["run"]) == ((390, 844), (390, 844))


def test_a_branch_has_the_size_of_its_run_whatever_holds_by_now(cli, llm_server, tmp_path):
    llm_server.script(stop("x"), stop("y"))
    done = cli(
        *cli.run("--url", page_file(tmp_path, PAGE), "--instruction", "Stop.", "--viewport", "390x844")
    )
    run = done.json["run"]
    forked = cli("fork", run, "--step", 1, "--llm", "test-model", "--json", "--viewport", "1000x600")
    assert forked.code in (0, 1), forked.err
    assert seen(cli, forked.json["run"]) == ((390, 844), (390, 844))


def test_a_size_that_cannot_be_is_refused_with_what_to_write(cli, inside, tmp_path):
    done = cli(*cli.run("--url", page_file(tmp_path, PAGE), "--instruction", "Stop.", "--viewport", "wide"))
    assert done.code == 2
    assert 'such as "1280x720"' in done.err
