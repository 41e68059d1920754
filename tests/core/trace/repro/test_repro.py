"""A repro file holds a run whole, without secrets, and comes into any database."""

import sqlite3
from pathlib import Path

import pytest

from core.browser.checkpoints.page_state import PageState
from core.browser.log.records import PageLog, RequestEntry
from core.browser.recorded.exchange import Answers, Exchange, Taken, hash_of
from core.debugger.attach.agent import agent_of
from core.schema.action import RefTarget, Type
from core.schema.element_identity import ElementMark, RecordedInput
from core.schema.errors import DataError, UsageError
from core.schema.observation import Box, Element, Observation
from core.schema.step import Acted, Decided, Observed, Reviewed, record_of
from core.trace.calls import stored_prompt, stored_reply
from core.trace.evaluations import create_evaluation
from core.trace.records import ATTACHED_NAME, Case, CaseAttempt
from core.trace.repro.exporter import export_repro
from core.trace.repro.importer import import_repro, import_summary, is_repro
from core.trace.store import TraceStore
from tests.core.trace.making import page, start, write_run, write_step

COOKIE = "cookie-secret-1"
PASSWORD = 'pass"word<2>'
PAGE = f"<form><input type=password value='x'><p>{COOKIE}</p></form>".encode()


@pytest.fixture
def other(tmp_path):
    store = TraceStore.open(tmp_path / "other.db")
    yield store
    store.close()


def secret_run(store):
    """A run with a cookie, a password that was typed, and answers of a server."""
    run = write_run(store)
    number = store.steps(run)[-1].number
    exchange = Exchange(
        method="GET",
        url="https://a.test/",
        status=200,
        headers=(("set-cookie", f"sid={COOKIE}; Path=/"), ("content-type", "text/html")),
        body=hash_of(PAGE),
        opening=True,
    )
    store.pages.save_network(run, 0, [Taken(exchange, PAGE)])
    page = PageState(cookies=({"name": "sid", "value": COOKIE, "url": "https://a.test/"},))
    store.pages.save(run, number, page.model_dump_json().encode())
    return run


def written(store, tmp_path, run):
    path = tmp_path / "run.backstep"
    path.write_bytes(export_repro(store, run))
    return path


def everything(path):
    """Return all text of a database, its blobs unpacked."""
    store = TraceStore.open(path)
    try:
        rows = store._database.rows("SELECT id FROM blobs")
        blobs = [store._database.blobs.content(row["id"]) for row in rows]
    finally:
        store.close()
    return path.read_bytes() + b"\n".join(blobs)


def test_a_run_comes_back_whole_in_another_database(store, other, tmp_path):
    write_run(other)
    run = secret_run(store)
    content, copy = import_repro(other, written(store, tmp_path, run))
    assert (content.steps, content.answers, content.known) == (len(store.steps(run)), 1, None)
    for number in [row.number for row in store.steps(run)]:
        was, now = store.step(run, number), other.step(copy, number)
        assert now.records == was.records
        assert [one.model_dump(exclude={"messages", "reply"}) for one in now.calls] == [
            one.model_dump(exclude={"messages", "reply"}) for one in was.calls
        ]
    for was, now in zip(store.calls.of(run), other.calls.of(copy), strict=True):
        assert stored_prompt(other, now) == stored_prompt(store, was)
        assert stored_reply(other, now) == stored_reply(store, was)
    same = {"run", "offline"}
    assert other.run(copy).model_dump(exclude=same) == store.run(run).model_dump(exclude=same)
    assert other.run(copy).offline
    assert [one.run for one in other.runs("draft")] != []
    other.check()


def test_secrets_are_nowhere_in_the_file_and_one_name_stands_for_each(store, tmp_path):
    path = written(store, tmp_path, secret_run(store))
    assert COOKIE.encode() not in everything(path)
    found = TraceStore.open(path)
    try:
        exchange = found.pages.network(1)[0]
        assert dict(exchange.headers)["set-cookie"] == "sid=removed-cookie-1; Path=/"
        assert b"removed-cookie-1" in found.blob(exchange.body)
    finally:
        found.close()


def test_a_typed_password_goes_from_action_and_pages(store, tmp_path, password_step):
    run = password_step(store, PASSWORD)
    path = written(store, tmp_path, run)
    text = everything(path).decode(errors="replace")
    assert "pass" not in text.replace("password", "")
    assert "removed-password-1" in text


def test_a_token_in_the_address_of_a_request_in_the_pages_log_goes(store, tmp_path):
    run = write_run(store)
    url = "https://a.test/?access_token=url-secret-9"
    entry = RequestEntry(time=1.0, method="GET", url=url)
    store.pages.save_log(run, 1, "in the action", PageLog(entries=(entry,)))
    assert b"url-secret-9" not in everything(written(store, tmp_path, run))


def test_a_branch_brings_what_it_branched_from(store, other, tmp_path):
    root = write_run(store)
    branch = store.begin_run(start().replace(parent_run=root, parent_step=2))
    write_step(store, branch, 2)
    write_run(other)
    content, copy = import_repro(other, written(store, tmp_path, branch))
    assert [one.run for one in content.ancestors] == [root]
    assert [(one.number, one.run == copy) for one in other.steps(copy)] == [(1, False), (2, True)]


def test_a_run_that_is_here_already_is_not_brought_in_again(store, tmp_path):
    run = write_run(store)
    content, same = import_repro(store, written(store, tmp_path, run))
    assert (content.known, same) == (run, run)
    assert len(store.runs()) == 1


def test_a_run_without_answers_is_not_offline(store, other, tmp_path):
    _, copy = import_repro(other, written(store, tmp_path, write_run(store)))
    assert not other.run(copy).offline


@pytest.mark.parametrize(
    ("environment", "url", "offline"),
    [
        ("web", "file:///home/somebody/.ssh/id_rsa", True),
        ("web", "http://169.254.169.254/latest/", True),
        ("web", "http://localhost:9222/json", True),
        ("web", "https://example.org/", False),
        ("shop", "http://127.0.0.1:4000/", False),
    ],
)
def test_a_run_of_others_opens_no_file_or_address_of_this_machine_by_itself(
    store, other, tmp_path, environment, url, offline
):
    run = write_run(store)
    with sqlite3.connect(store.path) as connection:
        connection.execute(
            "UPDATE runs SET environment = ?, start_url = ? WHERE run = ?", (environment, url, run)
        )
    content, copy = import_repro(other, written(store, tmp_path, run))
    assert other.run(copy).offline == offline
    assert ("only with --live" in import_summary("run.backstep", content, copy)) == offline


def test_the_users_own_folder_goes_and_addresses_and_answers_of_sites_stay(
    store, other, tmp_path, monkeypatch
):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ann b"))
    url, path = "http://127.0.0.1:1/home/ann b/x.html", "/home/ann b/notes.txt"
    run = store.begin_run(start().replace(start_url=url))
    thought = f"I read {path} and /srv/home/ann b/x.\n{path}\té{path}"
    write_step(store, run, 1, thought=thought, observation=page("a", url=url))
    body = f'<a href="{path}">file://~/x'.encode()
    store.pages.save_network(
        run, 0, [Taken(Exchange(method="GET", url=url, status=200, body=hash_of(body)), body)]
    )
    _, copy = import_repro(other, written(store, tmp_path, run))
    assert (other.run(copy).start_url, other.steps(copy)[0].url) == (url, url)
    assert other.pages.network(copy)[0].url == url
    assert other.blob(other.pages.network(copy)[0].body) == body
    told = f"I read ~/notes.txt and /srv/home/ann b/x.\n~/notes.txt\té{path}"
    assert other.steps(copy)[0].thought == told
    assert record_of(Decided, other.step(copy, 1).records).proposal.thought == told


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/?dir=/home/ann/notes",
        "https://h/#/home/ann/x",
        "https://h//home/ann/x",
        "https://h/a;/home/ann",
    ],
)
def test_an_address_of_a_site_keeps_a_path_that_is_also_the_users_own_folder(
    store, other, tmp_path, monkeypatch, url
):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ann"))
    run = store.begin_run(start().replace(start_url=url))
    write_step(store, run, 1, thought=f"At {url}\n/home/ann/x", observation=page("a", url=url))
    store.pages.save_network(run, 0, [Taken(Exchange(method="GET", url=url, status=204), b"")])
    _, copy = import_repro(other, written(store, tmp_path, run))
    assert (other.run(copy).start_url, other.steps(copy)[0].url) == (url, url)
    assert other.steps(copy)[0].thought == f"At {url}\n~/x"
    assert Answers(other.pages.network(copy)).take("GET", other.run(copy).start_url).remark == ""


def test_the_users_own_folder_goes_whatever_stands_behind_it(store, other, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ann"))
    kept = "/home/anna /home/ann-b /home/ann.smith/x"
    beside = "url=http://h;cwd=/home/ann/p http://127.0.0.1:8000,/home/ann/x [a](http://h):/home/ann/x"
    thought = (
        f"{beside} It is in /home/ann. Or /home/ann, (/home/ann) `/home/ann`, /home/ann:/home/ann/x; {kept}"
    )
    run = store.begin_run(start())
    write_step(store, run, 1, thought=thought)
    _, copy = import_repro(other, written(store, tmp_path, run))
    told = "url=http://h;cwd=~/p http://127.0.0.1:8000,~/x [a](http://h):~/x"
    assert other.steps(copy)[0].thought == f"{told} It is in ~. Or ~, (~) `~`, ~:~/x; {kept}"


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize(
    ("home", "there"), [("/root", "file:///root/tasks/p.html"), ("/", "file:///tasks/p.html")]
)
def test_a_task_in_the_users_own_folder_is_repeated_in_that_of_whoever_imports_it(
    store, other, tmp_path, monkeypatch, home, there, answered
):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ann b"))
    url = "file:///home/ann%20b/tasks/p.html"
    run = store.begin_run(start().replace(environment="web", start_url=url))
    write_step(store, run, 1)
    if answered:
        page_of_file = Exchange(method="GET", url=url, status=200, body=hash_of(b"x"))
        store.pages.save_network(run, 0, [Taken(page_of_file, b"x")])
    path = written(store, tmp_path, run)
    assert b"ann" not in everything(path)
    monkeypatch.setattr(Path, "home", lambda: Path(home))
    content, copy = import_repro(other, path)
    assert other.run(copy).start_url == there
    assert [one.url for one in other.pages.network(copy)] == [there] * answered
    assert answered or f"it opens {there}" in import_summary("run.backstep", content, copy)


@pytest.mark.parametrize("change", ["grade = 'weird'", "outcome = '<b>'", "differences = '{'"])
def test_an_invalid_value_is_told_of_the_file_that_was_given(store, other, tmp_path, change):
    path = written(store, tmp_path, write_run(store))
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE runs SET {change}")
    connection.close()
    with pytest.raises(DataError, match=r"run\.backstep is damaged, or not a trace; get a new export"):
        import_repro(other, path)
    assert other.runs() == ()


def test_nothing_is_brought_in_of_a_damaged_file(store, other, tmp_path):
    path = written(store, tmp_path, write_run(store))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE blobs SET data = x'00' WHERE id = (SELECT max(id) FROM blobs)")
    connection.close()
    with pytest.raises(DataError, match=r"run\.backstep is damaged"):
        import_repro(other, path)
    assert other.runs() == ()


@pytest.mark.parametrize("content", [b"", b"{}", b"SQLite format 3\x00" + b"\0" * 100])
def test_other_files_are_no_repro_files(tmp_path, content):
    path = tmp_path / "x.backstep"
    path.write_bytes(content)
    assert not is_repro(path)


def test_a_file_that_only_looks_like_one_says_so(other, tmp_path):
    path = tmp_path / "x.backstep"
    store = TraceStore.open(path)
    store.close()
    with pytest.raises(DataError, match="contains no run"):
        import_repro(other, path)
    path.write_bytes(path.read_bytes()[:200])
    assert is_repro(path)
    with pytest.raises(DataError, match=r"x\.backstep"):
        import_repro(other, path)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER more AFTER UPDATE ON runs BEGIN DELETE FROM steps; END",
        "CREATE VIRTUAL TABLE more USING fts5 (words)",
    ],
)
def test_tables_that_are_none_and_foreign_triggers_are_refused(store, other, tmp_path, statement):
    path = written(store, tmp_path, write_run(store))
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(DataError, match="not those of a trace"):
        import_repro(other, path)


@pytest.fixture
def password_step():
    field = Element(
        ref=3, role="textbox", name="Password", uses=("type",), box=Box(x=0, y=0, width=9, height=9)
    )

    def make(store, password):
        run = store.begin_run(start())
        store.begin_step(run, 1)
        page = Observation(url="https://a.test/", elements=(field,))
        action = Type(target=RefTarget(ref=3), text=password)
        done = RecordedInput(step=1, action=action, marks={"target": ElementMark(element=field)})
        for record in (
            Observed(observation=page),
            Reviewed(origin="agent", action=action),
            Acted(effect="page action", outcome="done", inputs=(done,), message=f"typed {password}"),
        ):
            store.save_phase(run, 1, record)
        return run

    return make


def test_the_users_own_files_are_kept_with_a_run_and_are_in_no_file_of_it(store, other, tmp_path):
    texts = {"policies/mine.md": "Zebras are counted here."}
    run = store.begin_run(start().replace(own_files=texts))
    write_step(store, run, 1)
    assert store.own_files(run) == texts
    assert store.own_files(store.begin_run(start().replace(own_files={}))) == {}
    assert store.own_files(store.begin_run(start())) is None
    path = written(store, tmp_path, run)
    assert b"Zebras" not in everything(path)
    _, copy = import_repro(other, path)
    assert other.own_files(copy) is None
    attempt = CaseAttempt(
        evaluation=create_evaluation(other, "mine", "{}"), case=Case(variant="a", task="b", seed=1)
    )
    assert other.own_files(store.copy_to(other, run, attempt=attempt)) == texts


def test_the_program_of_an_attached_agent_is_in_no_file_and_none_that_a_file_names_comes_in(
    store, other, tmp_path
):
    command = '{"command": ["rm", "-rf", "."]}'
    run = store.begin_run(start().replace(preset=ATTACHED_NAME, preset_text=command))
    write_step(store, run, 1)
    assert b"rm" in everything(store.path)
    path = written(store, tmp_path, run)
    assert b'"rm"' not in everything(path)
    forged = TraceStore.open(path)
    with forged._write():
        blob, _ = forged._database.blobs.put(command.encode(), "text/plain")
        forged._database.execute("UPDATE runs SET preset_text = ?", (blob,))
    forged.close()
    _, copy = import_repro(other, path)
    assert other.run(copy).preset == ATTACHED_NAME
    assert other.preset_text(copy) == ""
    with pytest.raises(UsageError, match="was started elsewhere"):
        agent_of(other, other.run(copy))
