"""A repro file, from one copy of the program to another that has neither the server nor the LLM."""

import shlex
from contextlib import closing

import pytest
from werkzeug import Response

from core.trace.store import TraceStore
from tests.core.browser.site import Site
from tests.core.stage import need_chromium, on, stop

pytestmark = pytest.mark.browser


class Shop:
    """A page with a login cookie whose button posts to a server that counts."""

    def __init__(self, site):
        self.asked = 0
        add = site.serve(self._add)
        button = f"fetch('{add}', {{method: 'POST'}}).then(r => r.text()).then(t => p.textContent = t)"
        self._body = f'<button onclick="{button}">Add</button><p id=p></p>'
        self.url = site.serve(self._page)

    def _page(self, request):
        self.asked += 1
        kept = {"Set-Cookie": "login=cookie-4711-secret; Path=/"}
        return Response(f"<title>shop</title>{self._body}", content_type="text/html", headers=kept)

    def _add(self, request):
        self.asked += 1
        return Response(f"order {self.asked}", content_type="text/plain")


@pytest.fixture
def sent(inside, llm_server, tmp_path):
    """A repro file of a run whose site has gone by now, and the site."""
    with Site() as site:
        shop = Shop(site)
        llm_server.script(on('button "Add"'), on('button "Add"'), stop("Ordered."))
        done = inside(*inside.run("--url", shop.url, "--instruction", "Add two."))
        assert done.code == 0, done.err
        run, path = done.json["run"], tmp_path / "run.backstep"
        done = inside("export", run, "--format", "repro", "--to", path)
        assert "It does not contain the cookies, passwords and keys that could be recognised." in done.err
        assert b"cookie-4711-secret" not in path.read_bytes()
        yield path, shop


def printed_command(done) -> list[str]:
    """Return the words of the command that an import has printed, for an installed Chromium."""
    _, _, command = done.err.strip().partition("Repeat it with: python3 main.py ")
    return [*shlex.split(command), "--browser", need_chromium(), "--json"]


def test_it_is_imported_into_any_database_and_repeated_without_server_and_llm(inside, sent, llm_server):
    path, shop = sent
    asked, llm_calls = shop.asked, len(llm_server.requests)
    other = inside.folder / "a folder's other.db"
    done = inside("import", path, "--dry-run", "--json", "--db", other)
    assert done.json["run"] is None
    assert (done.json["content"]["steps"], done.json["content"]["known"]) == (3, None)
    assert "nothing was stored" in done.err
    assert not other.exists()
    for imported, words in ((1, ("--db", other)), (2, ())):
        done = inside("import", path, *words)
        assert done.code == 0, done.err
        assert f"was imported as run {imported}; its pages get the recorded answers of servers" in done.err
        assert f"already exists as run {imported}; nothing was stored." in inside("import", path, *words).err
        done = inside(*printed_command(done))
        assert done.code == 0, done.err
        assert ", offline" in done.err
        assert (done.json["answer"], done.json["outcome"]) == ("Ordered.", "done")
        assert done.json["llm_calls"] == 3
    assert (shop.asked, len(llm_server.requests)) == (asked, llm_calls)
    with closing(TraceStore.open(other, read_only=True)) as store:
        assert store.run(2).offline
        first, last = (store.step(run, 3).records[0].observation for run in (1, 2))
    assert [one.name for one in last.elements] == [one.name for one in first.elements]
    assert "order 3" in [one.name for one in last.elements]


@pytest.mark.parametrize("limit", ["page actions", "LLM calls"])
def test_a_run_that_a_limit_ended_is_repeated_to_that_end(inside, llm_server, tmp_path, limit):
    flags = ("--max-steps", 2)
    if limit == "LLM calls":
        (inside.config / "settings.toml").write_text("max_llm_calls = 2\n")
        flags = ()
    with Site() as site:
        llm_server.otherwise = on('button "Add"')
        page = site.page("<button onclick='p.textContent += 1'>Add</button><p id=p></p>")
        done = inside(*inside.run("--url", page, "--instruction", "Add for ever.", *flags))
    (inside.config / "settings.toml").unlink(missing_ok=True)
    assert (done.code, done.json["outcome"], done.json["steps"]) == (1, "budget", 2), done.err
    path = tmp_path / "run.backstep"
    assert inside("export", done.json["run"], "--format", "repro", "--to", path).code == 0
    again = inside(*printed_command(inside("import", path)))
    assert (again.json["outcome"], again.json["steps"], again.json["error"]) == ("budget", 2, ""), again.err
    if limit == "page actions":
        whole = inside(*printed_command(inside("import", path)), "--max-steps", 9)
        assert "ended here (budget): it has no further call for decide" in whole.json["error"]


def test_it_is_opened_as_a_database_and_repeated_from_the_middle_and_what_nobody_recorded_is_held_back(
    inside, sent
):
    path, shop = sent
    asked = shop.asked
    assert "Add two." in inside("show", 1, "--db", path).out
    done = inside(
        "fork", 1, "--step", 2, "--llm", "replay:1", "--browser", need_chromium(),
        "--json", "--db", path,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Back at step 2 by replay with recorded answers: equivalent" in done.err
    assert done.json["answer"] == "Ordered."
    done = inside(
        "fork", 1, "--step", 3, "--llm", "rules", "--max-steps", 1, "--offline", "--browser", need_chromium(),
        "--json", "--db", path,
    )  # fmt: skip
    assert done.json["run"] == 3, done.err
    assert shop.asked == asked


def test_offline_says_where_nothing_was_recorded(inside, llm_server, tmp_path):
    (inside.config / "settings.toml").write_text("record_network = false\n")
    with Site() as site:
        llm_server.script(stop())
        run = inside(*inside.run("--url", site.page("<p>page</p>"), "--instruction", "Look.")).json["run"]
        done = inside("fork", run, "--step", 1, "--offline", "--browser", need_chromium())
    assert done.code != 0
    assert f"The answers of servers were not recorded in run {run}" in done.err
